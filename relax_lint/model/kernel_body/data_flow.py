"""What a kernel's body does to its parameters, gathered statement by statement."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import sympy

from relax_lint.model.kernel_body.sure_reads import Sure
from relax_lint.model.kernels import BufferParameter, KernelParameter
from relax_lint.support.lazy_dataclass import record


class Effects:
    """Which parameters are read and written, apart from loads that follow a store.

    A parameter in `first_reads` is loaded from before anything is stored to it at all; True where that
    happens whenever it has an element, False where it takes a loop that may have no step.
    """

    def __init__(self) -> None:
        self.reads: set[int] = set()
        self.writes: set[int] = set()
        self.first_reads: dict[int, bool] = {}
        self.opaque: dict[int, str] = {}
        self.lent: dict[int, bool] = {}
        """Those whose address is given away by a pointer that says what for; True: to be read only."""
        self.sure: Sure = {}
        """Those that are loaded from in some step, whatever the data is."""

    def read(self, parameter: int, *, guarded: bool = True, certain: bool = False) -> None:
        """A load; a `guarded` one may not happen, a `certain` one does if there is an element."""
        if not guarded and parameter not in self.writes:
            self.first_reads[parameter] = certain or self.first_reads.get(parameter, False)

    def write(self, parameter: int) -> None:
        """A store."""
        self.writes.add(parameter)

    def lose(self, parameter: int, why: str) -> None:
        """The parameter's address goes where it cannot be followed."""
        self.reads.add(parameter)
        self.writes.add(parameter)
        self.sure[parameter] = sympy.true
        self.opaque.setdefault(parameter, why)


@record(frozen=True)
class Element:
    """An element of a buffer: of a parameter by its position, or of a local buffer by its variable. An index
    that cannot be read is None.
    """

    buffer: Any
    indices: tuple[sympy.Expr | None, ...]


Same: TypeAlias = Callable[[Element, Element], bool]
"""Whether two elements are at the same distance from the starts of their buffers."""


@record(frozen=True)
class Store:
    """One store, of a value that is computed from the elements `sources`. `copies` says that it is the one
    source as it is.
    """

    target: Element
    sources: tuple[Element, ...]
    copies: bool = False


class DataFlow:
    """From which elements of the parameters each stored element is computed, through local buffers.

    Stores to a local buffer are taken together: which of them a load sees is not asked. So this tells how a
    kernel is meant, not that it works in place.
    """

    def __init__(self, same: Same) -> None:
        self._same = same
        self._flows: dict[Any, dict[int, bool]] = {}
        """For each buffer the parameters that it depends on, and whether always on the same element."""
        self._stores: dict[int, list[Store]] = {}
        self._given_up: set[int] = set()

    def give_up(self, parameter: int | None) -> None:
        """The parameter is used in another way than element for element."""
        if parameter is not None:
            self._given_up.add(parameter)

    def copied(self, store: Store) -> int | None:
        """The parameter of which a store copies the element at the same place."""
        source = store.sources[0].buffer if store.copies else None
        return source if isinstance(source, int) and self._same(store.sources[0], store.target) else None

    def store(self, store: Store) -> None:
        """Record a store."""
        target = store.target.buffer
        flows = self._flows.setdefault(target, {})
        for element in store.sources:
            source, same = element.buffer, self._same(element, store.target)
            if isinstance(source, int):
                origins: Mapping[int, bool] = {source: True}
            else:
                origins = dict(self._flows.get(source, {}))
            for parameter, exact in origins.items():
                flows[parameter] = flows.get(parameter, True) and exact and same
        if isinstance(target, int):
            self._stores.setdefault(target, []).append(store)

    def per_element(self, source: int, target: int) -> bool:
        """Whether every element of a target depends on no other element of a source."""
        return self._given_up.isdisjoint((source, target)) and self._flows[target].get(source, True)

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
            if same_width(parameters[source], parameters[target]):
                found.add((source, target))
        return frozenset(found)


def same_width(one: KernelParameter, other: KernelParameter) -> bool:
    """Whether equal distances from the start are equal numbers of bytes."""
    return (
        isinstance(one, BufferParameter)
        and isinstance(other, BufferParameter)
        and one.compact
        and other.compact
        and one.dtype.bits * one.dtype.lanes == other.dtype.bits * other.dtype.lanes
    )
