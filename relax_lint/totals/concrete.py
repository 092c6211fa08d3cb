"""Totals at concrete values of the symbols where no formula says them: what the pools do is followed there.

Walks are made once; only their sizes are computed again for each value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import sympy

from relax_lint.support.lazy_dataclass import dataclass
from relax_lint.symbolic.evaluation import compile_expr
from relax_lint.totals.kernel_memory import CallWorkspaces
from relax_lint.totals.quantities import Quantity
from relax_lint.totals.walk import Walk

Figures = Mapping[str, int]
"""Totals by the names that they have in the JSON output."""


@dataclass(frozen=True)
class Path:
    """A walk, and the calls in it that request something from the workspace pool."""

    walk: Walk
    requests: tuple[CallWorkspaces, ...] = ()

    @property
    def symbols(self) -> set[sympy.Symbol]:
        """The symbols of all sizes."""
        return {symbol for size in self._sizes() if not isinstance(size, int) for symbol in size.free_symbols}

    @property
    def steps(self) -> int:
        """The work of following it."""
        return len(self.walk.events) + sum(len(call.events) for call in self.requests) + 1

    def at(self, number: Callable[[Quantity], int]) -> Path:
        """The path with numbers for sizes."""
        allocations = [replace(a, size=number(a.size)) for a in self.walk.allocations]
        walk = replace(self.walk, allocations=allocations)
        return Path(
            walk, tuple(replace(call, sizes=tuple(map(number, call.sizes))) for call in self.requests)
        )

    def _sizes(self) -> Iterator[Quantity]:
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
        known: dict[Quantity, int] = {}

        def number(size: Quantity) -> int:
            if isinstance(size, int):
                return size
            if size not in known:
                known[size] = compile_expr(size, self.symbols)(*arguments)
            return known[size]

        return self._figures([path.at(number) for path in self._paths])
