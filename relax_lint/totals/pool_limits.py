"""Limits of what the pooled allocator obtains, for where there is no formula of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import sympy

from relax_lint.model.program import Function, Program
from relax_lint.symbolic.evaluation import compile_expr
from relax_lint.symbolic.quantity import Unknown
from relax_lint.totals.formula import greatest, never_negative_symbols, total
from relax_lint.totals.peaks import peak, rounded
from relax_lint.totals.quantities import Quantity
from relax_lint.totals.walk import Walk
from relax_lint.totals.workspaces import storage_walks


@dataclass(frozen=True)
class PoolLimits:
    """`least`: whole pages of all that lives at one time. `most`: those of every storage, none reused."""

    least: Quantity
    most: Quantity


def pool_limits(
    program: Program, function: Function, page_size: int, binding: Mapping[str, int] | None = None
) -> PoolLimits | Unknown:
    """What the pool of one function obtains at least and at most; Unknown where a size is not known."""
    walks = storage_walks(program, function, binding=binding)
    if isinstance(walks, Unknown):
        return walks
    positive = never_negative_symbols(function)
    paged = [_in_pages(walk, page_size) for walk in walks]
    most = greatest([total(a.size for a in walk.allocations) for walk in paged], positive)
    return PoolLimits(peak(paged, positive).size, most)


def _in_pages(walk: Walk, page_size: int) -> Walk:
    sizes = [replace(a, size=rounded(a.size, page_size)) for a in walk.allocations]
    return Walk(allocations=sizes, events=walk.events)


class PoolAt:
    """What the pool obtains at each value of one symbol, along the only path of a function: as `pooled`, in
    plain numbers, so that thousands of values can be tried. `steps` is the work of one value.
    """

    def __init__(self, walk: Walk, page_size: int, symbol: sympy.Symbol) -> None:
        self._page = page_size
        self._events = walk.events
        self._devices = [allocation.device for allocation in walk.allocations]
        distinct = {allocation.size: None for allocation in walk.allocations}
        compiled = {
            size: size if isinstance(size, int) else compile_expr(size, (symbol,)) for size in distinct
        }
        self._sizes = [compiled[allocation.size] for allocation in walk.allocations]
        self.steps = len(walk.events) + 1

    def __call__(self, value: int) -> int:
        """The bytes at a value of the symbol."""
        pages = [
            (device, int(rounded(size if isinstance(size, int) else size(value), self._page)))
            for device, size in zip(self._devices, self._sizes, strict=True)
        ]
        live: dict[tuple[int, int], int] = dict.fromkeys(pages, 0)
        most = dict(live)
        for event in self._events:
            kind = pages[abs(event) - 1]
            live[kind] += 1 if event > 0 else -1
            most[kind] = max(most[kind], live[kind])
        return sum(size * number for (_, size), number in most.items())


def pool_at(program: Program, function: Function, page_size: int, symbol: sympy.Symbol) -> PoolAt | None:
    """The pool of a function of one symbol; None where it has other symbols or several paths."""
    walks = storage_walks(program, function)
    if isinstance(walks, Unknown) or len(walks) != 1:
        return None
    symbols = {
        each for a in walks[0].allocations if not isinstance(a.size, int) for each in a.size.free_symbols
    }
    return PoolAt(walks[0], page_size, symbol) if symbols <= {symbol} else None
