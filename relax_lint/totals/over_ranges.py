"""All totals of one function over the ranges of its symbols: from formulas, else followed value by value."""

from __future__ import annotations

from collections.abc import Mapping

from relax_lint.model.program import Function, Program
from relax_lint.results.memory_figures import OverRange
from relax_lint.settings.memory_request import MemoryRequest
from relax_lint.symbolic.quantity import Unknown
from relax_lint.totals.bounded import bounded
from relax_lint.totals.formula import total
from relax_lint.totals.kernel_memory import KernelMemory
from relax_lint.totals.pool_limits import concrete_pool, pool_limits
from relax_lint.totals.quantities import Indeterminate, Quantity
from relax_lint.totals.tried import tried
from relax_lint.totals.workspaces import concrete_workspaces, held_at_most

_POOLS = {"reserved.pooled": 1, "repeated.pooled": 2}
"""The totals of the pooled allocator, and over how many calls."""
_TOGETHER = {
    "workspaces.together.naive": "reserved.naive",
    "workspaces.together.pooled": "reserved.pooled",
}


def over_ranges(
    every: Mapping[str, Quantity | Unknown], request: MemoryRequest, within: MemoryRequest
) -> tuple[dict[str, OverRange], dict[str, str]]:
    """The maxima of what has a formula over the ranges, and why some are missing."""
    found: dict[str, OverRange] = {}
    missing: dict[str, str] = {}
    for name, size in every.items() if within.bindings else ():
        if isinstance(size, Unknown):
            continue
        try:
            over = bounded(size, request, within)
        except Indeterminate as reason:
            missing[f"{name} over the range"] = str(reason)
            continue
        if over is not None:
            found[name] = over
    return found, missing


def limits_of(
    program: Program,
    function: Function,
    kernels: KernelMemory,
    every: Mapping[str, Quantity | Unknown],
    page_size: int,
) -> dict[str, Quantity]:
    """What the totals that have no formula never exceed."""
    found: dict[str, Quantity] = {}
    if isinstance(every["reserved.pooled"], Unknown):
        limits = pool_limits(program, function, page_size)
        if not isinstance(limits, Unknown):
            found["reserved.pooled"] = limits.most
    if isinstance(every["workspaces.held"], Unknown):
        held = held_at_most(program, function, kernels)
        if not isinstance(held, Unknown):
            found["workspaces.held"] = held
    for name, allocated in _TOGETHER.items():
        parts = [_known(found, every, allocated), _known(found, every, "workspaces.held")]
        if isinstance(every[name], Unknown) and None not in parts:
            found[name] = total(part for part in parts if part is not None)
    return found


def _known(
    limits: Mapping[str, Quantity], every: Mapping[str, Quantity | Unknown], name: str
) -> Quantity | None:
    size = limits.get(name, every[name])
    return None if isinstance(size, Unknown) else size


def followed(
    program: Program,
    function: Function,
    kernels: KernelMemory,
    missing: set[str],
    within: MemoryRequest,
    limits: Mapping[str, Quantity],
    page_size: int,
) -> dict[str, OverRange]:
    """What has no formula, followed at the values of the ranges."""
    found: dict[str, OverRange] = {}
    for name, calls in _POOLS.items():
        pool = concrete_pool(program, function, page_size, calls) if name in missing else None
        if pool is not None:
            found |= tried(pool, [name], within, limits)
    wanted = {name for name in missing if name.startswith("workspaces.")}
    kernel_pool = concrete_workspaces(program, function, kernels, page_size=page_size) if wanted else None
    if kernel_pool is not None:
        found |= tried(kernel_pool, wanted, within, limits)
    return found
