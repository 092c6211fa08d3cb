"""What memory holds in one call, and what kernels make of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from tests.oracle.memory import Memory, Placed

Where: TypeAlias = tuple[str, str]
"""A function and a binding in it."""
Chain: TypeAlias = tuple[Where, ...]
"""The calls around an operation, and the operation."""
SHOWN = 3.0


@dataclass(frozen=True)
class Point:
    """One call: how many elements `x` has, and the condition."""

    n: int
    c: bool


class Stop(Exception):
    """The call ends here; the text is what ends it."""


class Senseless(Exception):
    """The program means nothing, or nothing that is followed here."""


@dataclass(frozen=True)
class Overwritten:
    """A read of something else than what was written for it, or of nothing (`writer` is then empty)."""

    writer: Chain
    reader: Chain


@dataclass
class Outcome:
    """`wrong` has the rules that each operation breaks, once for each time; `reached` how often it was executed, and by
    which calls; `ends` is `ok`, `refused`, `stopped` or `undefined`.
    """

    wrong: dict[Where, list[str]] = field(default_factory=lambda: defaultdict(list))
    reached: dict[Where, list[Chain]] = field(default_factory=lambda: defaultdict(list))
    overwritten: list[Overwritten] = field(default_factory=list)
    ends: str = "ok"
    results: list[list[float | None]] = field(default_factory=list)


class Contents:
    """The writes of one call, and who made them."""

    def __init__(self) -> None:
        self._writes = 0
        self._writers: dict[int, Chain] = {}
        self._declared = False
        """Whether a call in place declares what it overwrites."""
        self._made: dict[int, int] = {}
        """The writes of the last kernel to its output."""
        self.outcome = Outcome()

    # -- memory ------------------------------------------------------------------------------------

    def _new(
        self, count: int, values: Sequence[float | None] | None = None, dtype: str = "float32"
    ) -> Placed:
        tensor = Placed(Memory(4 * count), 0, count, dtype)
        for index, value in enumerate(values or ()):
            tensor.expected[index] = self._store(tensor, index, value, ())
        return tensor

    def _store(self, tensor: Placed, index: int, value: float | None, chain: Chain) -> int:
        self._writes += 1
        self._writers[self._writes] = chain
        size = 1 if tensor.dtype == "bool" else 4
        at = tensor.offset + size * index
        for near in range(at - 3, at + size):
            tensor.memory.values.pop(near, None)
            if near in tensor.memory.history or near == at:
                tensor.memory.history[near].append(self._writes)
        if value is not None:
            tensor.memory.values[at] = value
        return self._writes

    def _read(self, tensor: Placed, index: int, chain: Chain) -> float | None:
        at = tensor.offset + (1 if tensor.dtype == "bool" else 4) * index
        expected = tensor.expected.get(index)
        if expected is None:
            self.outcome.overwritten.append(Overwritten((), chain))
            return None
        history = tensor.memory.history[at]
        for later in history[history.index(expected) + 1 :]:
            self.outcome.overwritten.append(Overwritten(self._writers[later], chain))
        return tensor.memory.values.get(at)

    # -- kernels -----------------------------------------------------------------------------------

    def _kernel(self, kernel: str, tensors: list[Placed], here: Chain) -> None:
        flags = [tensor.dtype == "bool" for tensor in tensors]
        if flags != [False] * (len(tensors) - 1) + [kernel == "above"]:
            raise Senseless
        wrong = self.outcome.wrong[here[-1]]
        vectors = tensors[:-1] if kernel == "above" else tensors
        differ = len({tensor.count for tensor in vectors}) > 1
        if differ:
            wrong.append("RLX301")
        moved = kernel == "from_zero" and tensors[0].offset != 0
        beside = any(tensor.offset % 4 and tensor.count for tensor in vectors)
        if moved or beside:
            wrong.append("RLX303")
        if differ or moved:
            raise Stop("refused")
        if beside:
            raise Stop("undefined")
        target = tensors[0] if kernel == "sly" else tensors[-1]
        if kernel == "sly" and _overlap(*tensors):
            # It clears what it has made.
            wrong.append("RLX206")
        writes: dict[int, int] = {}
        sources = tensors[1:] if kernel == "sly" else tensors[:-1]
        if kernel in ("twice", "sly"):
            sources = [target, *sources]
        also: dict[int, int] = {}
        for index in range(target.count):
            at = target.count - 1 - index if kernel == "turn" else index
            if kernel == "above":
                writes[0] = self._store(target, 0, float(vectors[0].count > 3), here)
                continue
            read = [self._read(source, at, here) for source in sources]
            history = target.memory.history[target.offset + 4 * index]
            if kernel in ("copy", "from_zero") and _is_one(target, sources[0]) and history:
                # It stays what it was.
                writes[index] = history[-1]
                continue
            writes[index] = self._store(target, index, _computed(kernel, read), here)
            if kernel == "sly":
                also[index] = self._store(tensors[1], index, 1.0, here)
        if kernel == "sly" and not self._declared:
            self._update(tensors[1], also)
        if not self._declared:
            self._update(target, writes)
        self._made = writes

    @staticmethod
    def _update(tensor: Placed, writes: dict[int, int]) -> None:
        for version in tensor.versions:
            version.update(writes)


def _computed(kernel: str, read: list[float | None]) -> float | None:
    if kernel == "fill":
        return 7.0
    if None in read:
        return None
    one, *more = (value for value in read if value is not None)
    return {
        "twice": lambda: one * 2,
        "copy": lambda: one,
        "turn": lambda: one,
        "from_zero": lambda: one,
        "add": lambda: one + more[0] * 3,
        "sly": lambda: one + more[0],
    }[kernel]()


def _overlap(one: Placed, other: Placed) -> bool:
    first, last = (
        max(one.offset, other.offset),
        min(one.offset + 4 * one.count, other.offset + 4 * other.count),
    )
    return one.memory is other.memory and first < last


def _is_one(one: Placed, other: Placed) -> bool:
    return one.memory is other.memory and one.offset == other.offset
