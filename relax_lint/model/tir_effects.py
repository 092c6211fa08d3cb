"""What a kernel's body does to its parameters, gathered statement by statement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy

from relax_lint.model.kernels import BufferParameter, KernelParameter
from relax_lint.model.program import Unknown


class Effects:
    """Which parameters are read and written.

    A parameter that is stored to before it is loaded from, unconditionally and in program order, is not
    read: what it held before the call does not matter. That each element is stored before it is loaded is
    not shown.
    """

    def __init__(self) -> None:
        self.reads: set[int] = set()
        self.writes: set[int] = set()
        self.opaque: dict[int, str] = {}
        self._initialised: set[int] = set()

    def read(self, parameter: int) -> None:
        """A load."""
        if parameter not in self._initialised:
            self.reads.add(parameter)

    def write(self, parameter: int, *, guarded: bool) -> None:
        """A store; a `guarded` one may not happen."""
        self.writes.add(parameter)
        if not guarded:
            self._initialised.add(parameter)

    def lose(self, parameter: int, why: str) -> None:
        """The parameter's address goes where it cannot be followed."""
        self.reads.add(parameter)
        self.writes.add(parameter)
        self.opaque.setdefault(parameter, why)


@dataclass(frozen=True)
class Store:
    """One store: `target` and the buffers of `sources` are parameter positions, or a local buffer's
    variable. `once` says that no element is stored twice.
    """

    target: Any
    indices: tuple[sympy.Expr | None, ...]
    sources: tuple[tuple[Any, tuple[sympy.Expr | None, ...]], ...]
    once: bool


class DataFlow:
    """From which elements of the parameters each stored element is computed, through local buffers."""

    def __init__(self) -> None:
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
        flows = self._flows.setdefault(store.target, {})
        for source, at in store.sources:
            same = at == store.indices and None not in at
            if isinstance(source, int):
                self._loaded.add(source)
                origins: Mapping[int, bool] = {source: True}
            else:
                origins = dict(self._flows.get(source, {}))
            for parameter, exact in origins.items():
                flows[parameter] = flows.get(parameter, True) and exact and same
        if isinstance(store.target, int):
            self._stores.setdefault(store.target, []).append(store)

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
                    and _same_layout(parameters[source], parameters[target])
                ):
                    found.add((source, target))
        return frozenset(found)

    def _keeps_apart(self, target: int) -> bool:
        """Whether the elements of a stored parameter are read, if at all, for the same element of its own."""
        if target not in self._loaded:
            return True
        elsewhere = any(target in self._flows[other] for other in self._stores if other != target)
        return not elsewhere and self._flows[target].get(target, False)


def _same_layout(one: KernelParameter, other: KernelParameter) -> bool:
    return (
        isinstance(one, BufferParameter)
        and isinstance(other, BufferParameter)
        and not isinstance(one.shape, Unknown)
        and one.shape == other.shape
        and one.dtype.bits * one.dtype.lanes == other.dtype.bits * other.dtype.lanes
    )
