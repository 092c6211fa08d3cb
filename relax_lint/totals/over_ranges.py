"""All totals of one function over the ranges of its symbols: from formulas, else followed value by value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import sympy

from relax_lint.model.operations import AllocStorage, AllocTensor, FunctionCall
from relax_lint.model.program import Function, Program
from relax_lint.results.memory_figures import OVER_RANGE, OverRange
from relax_lint.settings.memory_request import MemoryRequest
from relax_lint.symbolic.quantity import Size, Unknown
from relax_lint.totals.bounded import bounded
from relax_lint.totals.formula import is_never_negative, never_negative_symbols, total
from relax_lint.totals.kernel_memory import KernelMemory
from relax_lint.totals.pool_limits import concrete_pool, pool_limits
from relax_lint.totals.quantities import Indeterminate, Quantity, Scope, evaluate, impossible, match_arguments
from relax_lint.totals.tried import tried
from relax_lint.totals.workspaces import concrete_workspaces, held_at_most

_NOT_ALLOCATED = ("parameters.bytes", "constants.bytes", "io_used_memory")
_OF_TENSORS = ("unplanned.dynamic_bytes", "lower_bound")
_POOLS = {"reserved.pooled": 1, "repeated.pooled": 2}
"""The totals of the pooled allocator, and over how many calls."""
_TOGETHER = {
    "workspaces.together.naive": "reserved.naive",
    "workspaces.together.pooled": "reserved.pooled",
}


def over_ranges(
    program: Program,
    function: Function,
    every: Mapping[str, Quantity | Unknown],
    request: MemoryRequest,
    within: MemoryRequest,
) -> tuple[dict[str, OverRange], dict[str, str]]:
    """The maxima of what has a formula over the ranges, and why some are missing."""
    found: dict[str, OverRange] = {}
    missing: dict[str, str] = {}
    if not within.bindings:
        return found, missing
    storages, tensors = _perhaps_negative(program, function)
    for name, size in every.items():
        if isinstance(size, Unknown):
            continue
        try:
            over = bounded(size, request, within)
        except Indeterminate as reason:
            missing[f"{name}{OVER_RANGE}"] = str(reason)
            continue
        if over is None:
            continue
        why = None
        if not over.is_limit and name not in _NOT_ALLOCATED:
            sizes = tensors if name in _OF_TENSORS else storages
            why = impossible(over.maximum) or _impossible(sizes, {**within.point, **over.at})
        if why is None:
            found[name] = over
        elif over.at:
            missing[f"{name}{OVER_RANGE}"] = why
    return found, missing


def _perhaps_negative(program: Program, function: Function) -> tuple[list[sympy.Expr], list[sympy.Expr]]:
    """The sizes that may be negative at some values, of what every call of a function allocates, and of the
    tensors: its own and those of the functions that it always calls.
    """
    positive = never_negative_symbols(function)
    functions = program.by_name
    allocated: list[sympy.Expr] = []
    of_tensors: list[sympy.Expr] = []
    pending, seen = [(function, Scope(None))], {function.name}
    while pending:
        active, scope = pending.pop()
        for op in active.body.ops:
            if isinstance(op, FunctionCall) and op.target in functions and op.target not in seen:
                callee = functions[op.target]
                seen.add(callee.name)
                pending.append((callee, match_arguments(active, scope, callee, op.arguments)))
            elif isinstance(op, AllocStorage):
                allocated += _open_size(op.size, scope, positive)
            elif isinstance(op, AllocTensor):
                found = _open_size(op.bytes, scope, positive)
                of_tensors += found
                allocated += found if op.storage is None else ()
    return allocated, of_tensors


def _open_size(size: Size, scope: Scope, positive: frozenset[sympy.Symbol]) -> list[sympy.Expr]:
    """A size in the terms of the outermost function, if it may be negative."""
    if isinstance(size, Unknown) or size.is_Integer:
        return []
    try:
        found = scope.quantity(size)
    except Indeterminate:
        return []
    return [] if isinstance(found, int) or is_never_negative(found, positive) else [found]


def _impossible(sizes: Iterable[sympy.Expr], at: Mapping[str, int]) -> str | None:
    """Why no call allocates what is asked for at some values: what a formula gives there was never taken."""
    for size in sizes:
        try:
            reason = impossible(evaluate(size, at))
        except Indeterminate:
            # Other symbols, or a division by zero, of which the formula of the total tells.
            continue
        if reason is not None:
            names = sorted(symbol.name for symbol in size.free_symbols)
            return f"{reason}, as it would at {', '.join(f'{name} = {at[name]}' for name in names)}"
    return None


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
