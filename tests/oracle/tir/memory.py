"""Memory of which each element knows who touched it, and what was seen that must not be."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tests.oracle.tir.numbers import Overflow, bits_of, rounding

Path: TypeAlias = "tuple[tuple[ParallelLoop, int], ...]"
Tag: TypeAlias = tuple[tuple[int, int, int], ...]
Held: TypeAlias = "int | Callable[[str, int], int]"
"""What is loaded where nothing was stored: one number, or one for each buffer and element."""
_MOST = 200
"""Races that are told of one buffer."""


@dataclass(eq=False)
class ParallelLoop:
    """One run of a loop whose steps come in any order. `epoch` rises at each barrier; `shared` holds the
    memory that its threads have together.
    """

    number: int
    kind: str
    epoch: int = 0
    shared: dict[Any, Memory] = field(default_factory=dict)

    @property
    def is_of_threads(self) -> bool:
        """Whether a barrier waits for all of its steps."""
        return self.kind.startswith("threadIdx")


@dataclass(frozen=True)
class Outside:
    """An access outside a buffer, on one axis; `loops` are the values of the loop variables around it."""

    buffer: str
    axis: int
    indices: tuple[int, ...]
    shape: tuple[int, ...]
    loops: tuple[tuple[str, int], ...]
    writes: bool


@dataclass(frozen=True)
class Early:
    """A read of an element of an internal buffer before anything wrote it."""

    buffer: str
    indices: tuple[int, ...]
    loops: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Race:
    """Two steps of a parallel loop that touch one element. `same_value`: both store the same."""

    buffer: str
    kind: str
    indices: tuple[int, ...]
    loops: tuple[tuple[str, int], ...]
    read: bool
    same_value: bool


@dataclass
class Report:
    """What was seen in a run. Of each load and store the first access outside is told, also by its node in
    `sites`.
    """

    outside: list[Outside] = field(default_factory=list)
    sites: dict[int, tuple[Any, Outside]] = field(default_factory=dict)
    early: list[Early] = field(default_factory=list)
    races: list[Race] = field(default_factory=list)
    raced: Counter[str] = field(default_factory=Counter)
    """How often steps met in a buffer; of each buffer the first times are in `races`."""
    diverged: bool = False
    undefined: str | None = None
    failed_assert: bool = False
    broken_assumption: bool = False
    written: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)
    left: set[int] = field(default_factory=set)
    """Those of `sites` that were outside the memory of their buffer too."""
    unwritten: Held = 0
    """What is loaded where nothing was stored."""
    overflow: Overflow = Overflow.UNDEFINED
    """What a signed integer of 32 or 64 bits is that is too large."""
    overflowed: bool = False
    """Whether there was such an integer."""
    is_mixed: bool = False
    """Whether some memory was accessed with several dtypes: what the bytes of one are as another is not known."""


@dataclass(eq=False)
class Memory:
    """Bytes of one allocation. `watched`: internal memory that holds nothing at first."""

    size: int
    watched: bool
    races: bool
    cells: dict[int, Any] = field(default_factory=dict)
    readers: dict[int, dict[Tag, None]] = field(default_factory=dict)
    writers: dict[int, dict[Tag, Any]] = field(default_factory=dict)
    dtype: str = ""
    """The dtype of its elements, of what it is accessed with first if it is nothing's."""
    product: tuple[int, int, int] | None = None
    """The extents of the products of the matrices that are in it."""


def _are_concurrent(one: Tag, other: Tag) -> int | None:
    """The number of the loop of which two accesses are different steps, with no barrier between them."""
    for a, b in zip(one, other, strict=False):
        if a != b:
            return a[0] if a[:2] == b[:2] else None
    return None


@dataclass(frozen=True, eq=False)
class View:
    """A buffer on a memory: `offset` and `strides` in elements of its dtype."""

    name: str
    memory: Memory
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0
    source: View | None = None
    """The buffer of which this one is a region that begins at `starts`."""
    starts: tuple[int, ...] = ()

    @property
    def width(self) -> int:
        """Bytes of an element; those of fewer than 8 bits count as one."""
        return max(1, bits_of(self.dtype) // 8)

    def position(self, indices: Sequence[int]) -> int:
        """The element's distance from the start of the memory, in elements."""
        return self.offset + sum(index * stride for index, stride in zip(indices, self.strides, strict=True))

    def contents(self) -> list[Any]:
        """The elements in row-major order, if the buffer is compact."""
        return [self.memory.cells.get((self.offset + at) * self.width) for at in range(math.prod(self.shape))]


def compact_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides of a row-major buffer."""
    found: list[int] = []
    step = 1
    for extent in reversed(shape):
        found.append(step)
        step *= extent
    return tuple(reversed(found))


class Access:
    """Carries out the accesses of one step, and reports."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.site: Any = None
        """The node of the load or store that is carried out."""

    def cell(self, view: View, indices: tuple[int, ...], loops: Any, writes: bool) -> int | None:
        """The byte at which an element starts; None where it is outside of the memory."""
        self._inside(view, indices, loops, writes)
        view.memory.dtype = view.memory.dtype or view.dtype
        self.report.is_mixed |= view.memory.dtype != view.dtype
        cell = view.position(indices) * view.width
        is_there = 0 <= cell <= view.memory.size - view.width
        if not is_there:
            self.report.left.add(id(self.site))
            self._outside(view, -1, indices, loops, writes)
        return cell if is_there else None

    def _inside(self, view: View, indices: tuple[int, ...], loops: Any, writes: bool) -> None:
        for axis, (index, extent) in enumerate(zip(indices, view.shape, strict=True)):
            if not 0 <= index < extent:
                self._outside(view, axis, indices, loops, writes)
                return
        if view.source is not None:
            free = len(view.starts) - len(indices)
            steps = (*(0,) * free, *indices)
            there = tuple(start + step for start, step in zip(view.starts, steps, strict=True))
            self._inside(view.source, there, loops, writes)

    def _outside(self, view: View, axis: int, indices: tuple[int, ...], loops: Any, writes: bool) -> None:
        if id(self.site) not in self.report.sites:
            found = Outside(view.name, axis, indices, view.shape, tuple(loops()), writes)
            self.report.outside.append(found)
            self.report.sites[id(self.site)] = (self.site, found)

    def leaves(self, site: Any, view: View, indices: tuple[int, ...], loops: Any, writes: bool) -> None:
        """What is called touches something that is outside of the memory of a buffer."""
        self.site = site
        self.report.left.add(id(site))
        self._outside(view, -1, indices, loops, writes)

    def load(self, view: View, indices: tuple[int, ...], path: Path, loops: Any, atomic: bool = False) -> Any:
        """The value of an element."""
        self.report.read.add(view.name)
        cell = self.cell(view, indices, loops, False)
        if cell is None:
            return 0
        memory = view.memory
        if memory.watched and cell not in memory.cells:
            self.report.early.append(Early(view.name, indices, tuple(loops())))
        if path and memory.races and not atomic:
            tag = tuple((loop.number, loop.epoch, value) for loop, value in path)
            for other in memory.writers.get(cell, ()):
                if _are_concurrent(tag, other) is not None:
                    self._race(view, indices, path, loops, tag, other, True, False)
            memory.readers.setdefault(cell, {})[tag] = None
        if cell in memory.cells:
            return memory.cells[cell]
        held = self.report.unwritten
        return rounding(view.dtype)(held if isinstance(held, int) else held(view.name, cell // view.width))

    def store(
        self, view: View, indices: tuple[int, ...], value: Any, path: Path, loops: Any, atomic: bool = False
    ) -> None:
        """Put a value into an element."""
        self.report.written.add(view.name)
        cell = self.cell(view, indices, loops, True)
        if cell is None:
            return
        memory = view.memory
        if path and memory.races and not atomic:
            tag = tuple((loop.number, loop.epoch, value) for loop, value in path)
            for other in memory.readers.get(cell, ()):
                if _are_concurrent(tag, other) is not None:
                    self._race(view, indices, path, loops, tag, other, True, False)
            for other, stored in memory.writers.get(cell, {}).items():
                if _are_concurrent(tag, other) is not None:
                    same = stored == value or (stored != stored and value != value)
                    self._race(view, indices, path, loops, tag, other, False, same)
            memory.writers.setdefault(cell, {})[tag] = value
        memory.cells[cell] = value

    def _race(
        self,
        view: View,
        indices: tuple[int, ...],
        path: Path,
        loops: Any,
        tag: Tag,
        other: Tag,
        read: bool,
        same: bool,
    ) -> None:
        self.report.raced[view.name] += 1
        if self.report.raced[view.name] > _MOST:
            return
        number = _are_concurrent(tag, other)
        kind = next(loop.kind for loop, _ in path if loop.number == number)
        self.report.races.append(Race(view.name, kind, indices, tuple(loops()), read, same))
