"""Totals at concrete values of the symbols where no formula says them: what the pools do is followed there.

Walks are made once; only their sizes are computed again for each value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import sympy

from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.evaluation import compile_condition, compile_expr
from relax_lint.totals.cases import Chosen
from relax_lint.totals.kernel_memory import CallWorkspaces
from relax_lint.totals.quantities import Quantity
from relax_lint.totals.walk import Allocation, Walk

Figures = Mapping[str, int]
"""Totals by the names that they have in the JSON output."""


@record(frozen=True)
class Path:
    """A walk, and the calls in it that request something from the workspace pool."""

    walk: Walk
    requests: tuple[CallWorkspaces, ...] = ()

    @property
    def chosen(self) -> Chosen:
        """The conditions on symbols along the walk."""
        return self.walk.chosen

    @property
    def symbols(self) -> set[sympy.Symbol]:
        """The symbols of all sizes and conditions."""
        conditions = {symbol for condition, _ in self.chosen for symbol in condition.free_symbols}
        sizes = (size for size in self.sizes() if not isinstance(size, int))
        return conditions.union(*(size.free_symbols for size in sizes))

    @property
    def steps(self) -> int:
        """The work of following it."""
        return len(self.walk.events) + sum(len(call.events) for call in self.requests) + 1

    def at(self, number: Callable[[Quantity], int]) -> Path:
        """The path with numbers for sizes."""
        # Thousands of them: `replace` takes ten times as long.
        allocations = [
            Allocation(number(a.size), a.place, a.scope, a.device, a.unknown) for a in self.walk.allocations
        ]
        requests = [
            CallWorkspaces(call.point, tuple(map(number, call.sizes)), call.events, call.threaded)
            for call in self.requests
        ]
        return Path(replace(self.walk, allocations=allocations), tuple(requests))

    def sizes(self) -> Iterator[Quantity]:
        """Every size."""
        yield from (a.size for a in self.walk.allocations)
        yield from (size for call in self.requests for size in call.sizes)


class Concrete:
    """Some paths of a function, and the `figures` that these have once their sizes are numbers."""

    def __init__(self, paths: Sequence[Path], figures: Callable[[Sequence[Path]], Figures]) -> None:
        self._paths = paths
        self._figures = figures
        found: set[sympy.Symbol] = set().union(*(path.symbols for path in paths))
        self.symbols = tuple(sorted(found, key=str))
        self.steps = sum(path.steps for path in paths)
        every = {id(size): size for path in paths for size in path.sizes() if not isinstance(size, int)}
        self._computed = {key: compile_expr(size, self.symbols) for key, size in every.items()}
        """What gives the number of each size, which the paths keep alive."""
        self._followed: dict[tuple[int, ...], Figures] = {}
        """What came of values before: several totals are asked at the same ones."""

    @property
    def is_single(self) -> bool:
        """Whether there is one path only: what it takes is then exact, not the most over all paths."""
        return len(self._paths) == 1

    def at(self, values: Mapping[str, int]) -> Figures:
        """The totals at a value of every symbol. Raises ZeroDivisionError where a size has no value."""
        arguments = tuple(values[symbol.name] for symbol in self.symbols)
        found = self._followed.get(arguments)
        if found is None:
            found = self._followed[arguments] = self._follow(arguments)
        return found

    def _follow(self, arguments: tuple[int, ...]) -> Figures:
        known: dict[Callable[..., int], int] = {}
        for computed in self._computed.values():
            if computed not in known:
                known[computed] = computed(*arguments)

        def number(size: Quantity) -> int:
            return size if isinstance(size, int) else known[self._computed[id(size)]]

        return self._figures([path.at(number) for path in self._paths if self._is_taken(path, arguments)])

    def _is_taken(self, path: Path, arguments: tuple[int, ...]) -> bool:
        """Whether the symbols choose the branches of a path, as far as they choose any."""
        return all(
            compile_condition(condition, self.symbols)(*arguments) is holds
            for condition, holds in path.chosen
        )
