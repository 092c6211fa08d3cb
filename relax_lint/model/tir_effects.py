"""What a kernel's body does to its parameters, gathered statement by statement."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.model.kernels import BufferParameter, KernelParameter


class Effects:
    """Which parameters are read and written.

    A parameter that is stored to before it is loaded from, unconditionally and in program order, is not
    read: what it held before the call does not matter. That each element is stored before it is loaded is
    not shown. A parameter in `first_reads` is loaded from before anything is stored to it at all; True where
    that happens whenever it has an element, False where it takes a loop that may have no step.
    """

    def __init__(self) -> None:
        self.reads: set[int] = set()
        self.writes: set[int] = set()
        self.first_reads: dict[int, bool] = {}
        self.opaque: dict[int, str] = {}
        self._initialised: set[int] = set()
        self._phase = 0
        self._last_read: dict[int, int] = {}
        self._first_write: dict[int, int] = {}

    def read(self, parameter: int, *, guarded: bool = True, certain: bool = False) -> None:
        """A load; a `guarded` one may not happen, a `certain` one does if there is an element."""
        self._last_read[parameter] = self._phase
        if parameter not in self._initialised:
            self.reads.add(parameter)
        if not guarded and parameter not in self.writes:
            self.first_reads[parameter] = certain or self.first_reads.get(parameter, False)

    def write(self, parameter: int, *, guarded: bool) -> None:
        """A store; a `guarded` one may not happen."""
        self._first_write.setdefault(parameter, self._phase)
        self.writes.add(parameter)
        if not guarded:
            self._initialised.add(parameter)

    @property
    def whole_writes(self) -> dict[int, Boolean]:
        """For each written parameter, when all of it is certainly written."""
        return {
            parameter: sympy.true if parameter in self._initialised else sympy.false
            for parameter in sorted(self.writes)
        }

    def next_phase(self) -> None:
        """All that came before is done when the next statement begins."""
        self._phase += 1

    @property
    def read_before(self) -> frozenset[tuple[int, int]]:
        """The pairs (read, written) of which everything is read before anything is written."""
        return frozenset(
            (source, target)
            for source, last in self._last_read.items()
            for target, first in self._first_write.items()
            if last < first and source not in self.writes and self.opaque.keys().isdisjoint((source, target))
        )

    def lose(self, parameter: int, why: str) -> None:
        """The parameter's address goes where it cannot be followed."""
        self.reads.add(parameter)
        self.writes.add(parameter)
        self.opaque.setdefault(parameter, why)


@dataclass(frozen=True)
class Element:
    """An element of a buffer: of a parameter by its position, or of a local buffer by its variable. An index
    that cannot be read is None.
    """

    buffer: Any
    indices: tuple[sympy.Expr | None, ...]


Same: TypeAlias = Callable[[Element, Element], bool]
"""Whether two elements lie at the same distance from the starts of their buffers."""


@dataclass(frozen=True)
class Store:
    """One store, of a value that is computed from the elements `sources`. `once` says that no element is
    stored twice, `copies` that the value is the one source as it is.
    """

    target: Element
    sources: tuple[Element, ...]
    once: bool
    copies: bool = False


class DataFlow:
    """From which elements of the parameters each stored element is computed, through local buffers."""

    def __init__(self, same: Same) -> None:
        self._same = same
        self._flows: dict[Any, dict[int, bool]] = {}
        """For each buffer the parameters that it depends on, and whether always on the same element."""
        self._stores: dict[int, list[Store]] = {}
        self._loaded: set[int] = set()
        self._given_up: set[int] = set()

    def give_up(self, parameter: int | None) -> None:
        """The parameter is used in another way than element for element."""
        if parameter is not None:
            self._given_up.add(parameter)

    def store(self, store: Store) -> None:
        """Record a store."""
        target = store.target.buffer
        flows = self._flows.setdefault(target, {})
        for element in store.sources:
            source, same = element.buffer, self._same(element, store.target)
            if isinstance(source, int):
                self._loaded.add(source)
                origins: Mapping[int, bool] = {source: True}
            else:
                origins = dict(self._flows.get(source, {}))
            for parameter, exact in origins.items():
                flows[parameter] = flows.get(parameter, True) and exact and same
        if isinstance(target, int):
            self._stores.setdefault(target, []).append(store)

    def elementwise(
        self, parameters: Sequence[KernelParameter], opaque: Mapping[int, str]
    ) -> frozenset[tuple[int, int]]:
        """The pairs (read, written) of parameters that may be the same memory."""
        found = set()
        lost = self._given_up | set(opaque)
        for target, stores in self._stores.items():
            if len(stores) > 1 or not stores[0].once or target in lost or not self._keeps_apart(target):
                continue
            for source, same in self._flows[target].items():
                elsewhere = any(source in self._flows[other] for other in self._stores if other != target)
                written = source in self._stores or source in lost
                if (
                    same
                    and not elsewhere
                    and not written
                    and _same_width(parameters[source], parameters[target])
                ):
                    found.add((source, target))
        return frozenset(found)

    def copies(self, parameters: Sequence[KernelParameter]) -> frozenset[tuple[int, int]]:
        """The pairs (read, written) of parameters of which the kernel does nothing else to the written one
        than to store elements of the read one, each at its own distance from the start.
        """
        found = set()
        for target, stores in self._stores.items():
            if not all(store.copies and self._same(store.sources[0], store.target) for store in stores):
                continue
            source, *others = {store.sources[0].buffer for store in stores}
            kept = source not in self._stores and self._given_up.isdisjoint((source, target))
            if others or not isinstance(source, int) or not kept:
                continue
            if _same_width(parameters[source], parameters[target]):
                found.add((source, target))
        return frozenset(found)

    def _keeps_apart(self, target: int) -> bool:
        """Whether the elements of a stored parameter are read, if at all, for the same element of its own."""
        if target not in self._loaded:
            return True
        elsewhere = any(target in self._flows[other] for other in self._stores if other != target)
        return not elsewhere and self._flows[target].get(target, False)


def _same_width(one: KernelParameter, other: KernelParameter) -> bool:
    """Whether equal distances from the start are equal numbers of bytes."""
    return (
        isinstance(one, BufferParameter)
        and isinstance(other, BufferParameter)
        and one.dtype.bits * one.dtype.lanes == other.dtype.bits * other.dtype.lanes
    )
