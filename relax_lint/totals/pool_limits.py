"""Limits of what the pooled allocator obtains, for where there is no formula of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from relax_lint.model.program import Function, Program
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.quantity import Unknown
from relax_lint.totals.concrete import Concrete, Path
from relax_lint.totals.formula import greatest, never_negative_symbols, total
from relax_lint.totals.kernel_memory import KernelMemory
from relax_lint.totals.peaks import peak
from relax_lint.totals.pool_numbers import pool_of
from relax_lint.totals.pool_profile import rounded
from relax_lint.totals.pools import is_pooled, require_pooled
from relax_lint.totals.quantities import Indeterminate, Quantity
from relax_lint.totals.walk import Allocation, Walk
from relax_lint.totals.workspaces import held_at_most, storage_walks
from relax_lint.vm.scopes import SHARED_BUFFER_BYTES


@record(frozen=True)
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
    try:
        require_pooled(walks)
        return PoolLimits(peak(paged, positive).size, most)
    except Indeterminate as reason:
        return Unknown(str(reason))


def with_kernels(
    limits: PoolLimits, program: Program, function: Function, kernels: KernelMemory
) -> PoolLimits:
    """The limits of both pools together, as far as it is known what the kernels request."""
    held = held_at_most(program, function, kernels)
    return limits if isinstance(held, Unknown) else PoolLimits(limits.least, total([limits.most, held]))


def _in_pages(walk: Walk, page_size: int) -> Walk:
    sizes = [replace(a, size=rounded(a.size, page_size) + _besides(a)) for a in walk.allocations]
    return Walk(allocations=sizes, events=walk.events, chosen=walk.chosen)


def _besides(allocation: Allocation) -> int:
    return SHARED_BUFFER_BYTES if allocation.pool[1] else 0


def concrete_pool(program: Program, function: Function, page_size: int, calls: int = 1) -> Concrete | None:
    """What the pool obtains at any values of the symbols, over one call or several; None where a size is not
    known at all.
    """
    walks = storage_walks(program, function, calls=calls)
    if isinstance(walks, Unknown) or not is_pooled(walks):
        return None
    name = "reserved.pooled" if calls == 1 else "repeated.pooled"

    def figures(paths: Sequence[Path]) -> dict[str, int]:
        return {name: max((pool_of(path.walk, page_size) for path in paths), default=0)}

    return Concrete([Path(walk) for walk in walks], figures)
