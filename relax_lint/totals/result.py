"""The totals of one function in the result model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import replace

from relax_lint.model.program import BoundKind, Function, Program
from relax_lint.results.memory_figures import (
    AT_VALUES,
    OVER_RANGE,
    Amount,
    CallMemory,
    MemoryTotals,
    PlaceOfPeak,
    SymbolRange,
)
from relax_lint.results.memory_why import Why
from relax_lint.settings.memory_request import MemoryRequest
from relax_lint.symbolic.quantity import Unknown
from relax_lint.totals.amounts import amount
from relax_lint.totals.bound_price import halved_bounds, remarks_of
from relax_lint.totals.bounded import with_bounds
from relax_lint.totals.compute import Totals, measure_planned, size_of
from relax_lint.totals.kernel_memory import KernelMemory
from relax_lint.totals.over_ranges import followed, limits_of, over_ranges
from relax_lint.totals.packed_memory import measure_packed
from relax_lint.totals.peaks import Peak
from relax_lint.totals.quantities import Quantity, impossible
from relax_lint.totals.timeline import timelines
from relax_lint.totals.why import why
from relax_lint.totals.workspace_result import named, of_calls, of_packed, packed, workspaces
from relax_lint.totals.workspaces import measure_workspaces
from relax_lint.vm.allocators import Allocator

_TOTALS_ONLY = MemoryRequest()


def function_totals(
    program: Program,
    function: Function,
    totals: Totals,
    request: MemoryRequest = _TOTALS_ONLY,
    *,
    page_size: int,
    path: str = "",
    kernels: KernelMemory | None = None,
) -> MemoryTotals:
    """The `totals` of a function, measured without a binding, in the result model.

    Where the request binds symbols every `value` is the exact number there. A total that has no formula,
    because it depends on symbols in a way too involved to write down, still has a value there; its `expr` is
    then that number. With `kernels` there are the totals of workspaces too.
    """
    here = totals
    if request.point:
        here = measure_planned(program, function, page_size=page_size, binding=request.point)
    every = dict(_named(totals)) | _groups(totals)
    asked, taken = None, None
    if kernels is not None:
        own = there = measure_workspaces(program, function, kernels, page_size=page_size)
        made = at = measure_packed(program, function, kernels)
        if request.point:
            there = measure_workspaces(program, function, kernels, page_size=page_size, binding=request.point)
            at = measure_packed(program, function, kernels, request.point)
        asked, taken = workspaces(own, there), packed(made, at)
        every |= {**named(own), **of_calls(own), **of_packed(made)}
    reasons = {name: total.reason for name, total in every.items() if isinstance(total, Unknown)}
    within = with_bounds(function, request) if request.details else request
    limits = {} if kernels is None else limits_of(program, function, kernels, every, page_size)
    ranges, unknown = over_ranges(program, function, every, request, within)
    # At one point the walk knows better than the formula.
    told = {*ranges, *unknown} if within.ranges else set(unknown)
    lost = _lost(every, dict(_named(here)) | _groups(here), told)
    ranges = {name: over for name, over in ranges.items() if f"{name}{AT_VALUES}" not in lost}
    unknown |= lost
    if kernels is not None and within.ranges:
        ranges |= followed(program, function, kernels, set(reasons), within, limits, page_size)
    return MemoryTotals(
        path=path,
        module=program.module,
        function=function.name,
        parameter_count=len(function.parameters),
        parameter_bytes=amount(totals.parameters, here.parameters),
        constant_count=len(function.constants),
        constant_bytes=amount(totals.constants, here.constants) or Amount("0", 0),
        io_used_memory=amount(totals.io_used_memory, here.io_used_memory),
        unplanned_static_count=totals.unplanned.static_count,
        unplanned_static_bytes=totals.unplanned.static_bytes,
        unplanned_dynamic_count=totals.unplanned.dynamic_count,
        unplanned_dynamic_bytes=amount(totals.unplanned.dynamic_bytes, here.unplanned.dynamic_bytes),
        planned_static_count=totals.planned.static_count,
        planned_static_bytes=totals.planned.static_bytes,
        planned_dynamic_count=totals.planned.dynamic_count,
        planned_dynamic_bytes=amount(totals.planned.dynamic_bytes, here.planned.dynamic_bytes),
        reserved={a.value: amount(totals.reserved[a], here.reserved[a]) for a in Allocator},
        by_scope=_amounts(totals.by_scope, here.by_scope),
        by_device=_amounts(totals.by_device, here.by_device),
        peak_live=amount(size_of(totals.peak_live), size_of(here.peak_live)),
        peak_at=_place(here.peak_live),
        lower_bound=amount(size_of(totals.lower_bound), size_of(here.lower_bound)),
        calls=_call_amounts(totals, here),
        symbols=_symbols(function),
        bindings=request.point,
        unknown=reasons | unknown,
        over_range=ranges,
        at_most={
            name: found for name, limit in limits.items() if (found := amount(limit, limit)) is not None
        },
        why=_why(program, function, totals, within) if request.details else None,
        timelines=timelines(program, function, page_size) if request.timelines else (),
        repeated={a.value: amount(totals.repeated[a], here.repeated[a]) for a in Allocator},
        workspaces=asked,
        packed=taken,
    )


def _why(program: Program, function: Function, totals: Totals, within: MemoryRequest) -> Why | None:
    """The reasons where every symbol is at its value or at the end of its range."""
    if isinstance(totals.peak_live, Unknown):
        return None
    ranges = {span.name: span for span in within.ranges}
    at = {**within.point, **{name: span.high for name, span in ranges.items()}}
    found = why(program, function, at)
    if found is None:
        return None
    own = {name: span for name, span in ranges.items() if name in found.at}
    needed = size_of(totals.lower_bound)
    if any(impossible(tensor.bytes) for tensor in found.tensors):
        return None
    changes = sorted((*found.changes, *halved_bounds(needed, own, at)), key=lambda each: -each.saves)
    declared = {span.name: span for span in with_bounds(function, _TOTALS_ONLY).ranges}
    inputs = {name: within.point.get(name, max(span.low, 1)) for name, span in declared.items()}
    remarks = remarks_of(size_of(totals.peak_live), needed, declared, inputs, at)
    return replace(found, changes=tuple(changes), remarks=tuple(remarks))


def outside_declared(function: Function, request: MemoryRequest) -> Iterator[str]:
    """A note for every value that was asked for and that a declared bound rules out."""
    for binding in request.bindings:
        for bound in function.bounds:
            if bound.symbol is None or bound.value is None or bound.symbol.name != binding.name:
                continue
            is_upper = bound.kind is BoundKind.UPPER
            if binding.high > bound.value if is_upper else binding.low < bound.value:
                declared = f"{bound.name} {bound.relation} {bound.value}"
                yield f"`{binding}` violates the declared bound `{declared}` of `{function.name}`"


def _lost(
    every: Mapping[str, Quantity | Unknown], here: Mapping[str, Quantity | Unknown], told: Set[str]
) -> dict[str, str]:
    """Why a total that has a formula has no value at the binding, where nothing is `told` over ranges."""
    return {
        f"{name}{AT_VALUES}": size.reason
        for name, size in here.items()
        if isinstance(size, Unknown)
        and not isinstance(every.get(name), Unknown)
        and told.isdisjoint((name, f"{name}{OVER_RANGE}"))
    }


def _named(totals: Totals) -> Iterator[tuple[str, Quantity | Unknown]]:
    """Every total by the name that it has in the JSON output."""
    yield "parameters.bytes", totals.parameters
    yield "constants.bytes", totals.constants
    yield "io_used_memory", totals.io_used_memory
    yield "unplanned.dynamic_bytes", totals.unplanned.dynamic_bytes
    yield "planned.dynamic_bytes", totals.planned.dynamic_bytes
    yield from _largest(totals)


def _largest(totals: Totals) -> Iterator[tuple[str, Quantity | Unknown]]:
    """The totals that are the largest of several sums."""
    yield "peak_live", size_of(totals.peak_live)
    yield "lower_bound", size_of(totals.lower_bound)
    for allocator in Allocator:
        yield f"reserved.{allocator.value}", totals.reserved[allocator]
    for allocator in Allocator:
        yield f"repeated.{allocator.value}", totals.repeated[allocator]


def _groups(totals: Totals) -> dict[str, Quantity | Unknown]:
    """The peaks by scope and by device."""
    scopes = {f"by_scope.{name}": size for name, size in totals.by_scope.items()}
    return {**scopes, **{f"by_device.{name}": size for name, size in totals.by_device.items()}}


def _symbols(function: Function) -> tuple[SymbolRange, ...]:
    found = []
    for info in function.symbols:
        values = [b for b in function.bounds if b.symbol == info.symbol]
        lows = [b.value for b in values if b.kind is not BoundKind.UPPER and b.value is not None]
        highs = [b.value for b in values if b.kind is BoundKind.UPPER and b.value is not None]
        found.append(SymbolRange(info.symbol.name, max(lows, default=None), min(highs, default=None)))
    return tuple(found)


def _amounts(
    formulas: Mapping[str, Quantity | Unknown], values: Mapping[str, Quantity | Unknown]
) -> dict[str, Amount | None]:
    """Groups that only the formulas have are on paths that the binding rules out."""
    return {group: amount(formulas[group], values.get(group, 0)) for group in formulas}


def _call_amounts(totals: Totals, here: Totals) -> tuple[CallMemory, ...]:
    values = {call.op.place.index: call.size for call in here.calls}
    return tuple(
        CallMemory(
            call.op.callee,
            call.op.place.binding,
            amount(call.size, values.get(call.op.place.index, 0)),
        )
        for call in totals.calls
    )


def _place(reached: Peak | Unknown) -> PlaceOfPeak | None:
    if isinstance(reached, Unknown) or reached.place is None:
        return None
    return PlaceOfPeak(reached.place.binding, reached.place.location)
