"""Workspaces and the memory of packed functions in the result model."""

from __future__ import annotations

from collections.abc import Mapping

from relax_lint.results.memory_figures import (
    Amount,
    CallWorkspace,
    OnChipMemory,
    PackedFunctions,
    PackedMemory,
    Workspaces,
)
from relax_lint.symbolic.printing import expr_text
from relax_lint.symbolic.quantity import Size, Unknown
from relax_lint.totals.amounts import amount
from relax_lint.totals.packed_memory import PackedCall, PackedTotals
from relax_lint.totals.quantities import Quantity
from relax_lint.totals.workspaces import WorkspaceTotals
from relax_lint.vm.allocators import Allocator


def workspaces(found: WorkspaceTotals, here: WorkspaceTotals) -> Workspaces:
    """The totals as formulas (`found`), with their values at the binding of the request (`here`)."""
    values = {call.op.place.index: call.size for call in here.calls}
    return Workspaces(
        requested=amount(found.requested, here.requested),
        held=amount(found.held, here.held),
        per_worker=amount(found.per_worker, here.per_worker),
        together={each.value: amount(found.together[each], here.together[each]) for each in Allocator},
        calls=tuple(
            CallWorkspace(
                call.op.callee,
                call.op.place.binding,
                None if call.op.place.location is None else call.op.place.location.line,
                amount(call.size, values.get(call.op.place.index, 0)),
            )
            for call in found.calls
        ),
        on_chip=tuple(OnChipMemory(o.kernel, o.scope, _bytes(o.size), o.limit) for o in found.on_chip),
    )


def packed(found: PackedTotals, here: PackedTotals) -> PackedFunctions:
    """What packed functions take, as formulas (`found`) with their values at the binding (`here`)."""
    values = {call.op.place.index: call for call in here.calls}
    return PackedFunctions(
        amount(found.objects[0], here.objects[0]),
        amount(found.objects[1], here.objects[1]),
        tuple(_packed_call(call, values.get(call.op.place.index, call)) for call in found.calls),
        dict(found.uncounted),
    )


def _packed_call(call: PackedCall, there: PackedCall) -> PackedMemory:
    place = call.op.place
    line = None if place.location is None else place.location.line
    device, host = amount(call.device, there.device), amount(call.host, there.host)
    return PackedMemory(call.callee, place.binding, line, device, host, call.scratch)


def named(found: WorkspaceTotals) -> Mapping[str, Quantity | Unknown]:
    """The totals by the names that they have in the JSON output."""
    return {
        "workspaces.requested": found.requested,
        "workspaces.held": found.held,
        "workspaces.per_worker": found.per_worker,
        **{f"workspaces.together.{each.value}": found.together[each] for each in Allocator},
    }


def of_calls(found: WorkspaceTotals) -> Mapping[str, Quantity | Unknown]:
    """What each call requests, by its position."""
    return {f"workspaces.calls.{number}": call.size for number, call in enumerate(found.calls)}


def of_packed(found: PackedTotals) -> Mapping[str, Quantity | Unknown]:
    """What packed functions take, together and each by its position."""
    sums = {"packed.device": found.objects[0], "packed.host": found.objects[1]}
    device = {f"packed.calls.{number}.device": call.device for number, call in enumerate(found.calls)}
    return {**sums, **device, **{f"packed.calls.{n}.host": call.host for n, call in enumerate(found.calls)}}


def _bytes(size: Size) -> Amount | None:
    if isinstance(size, Unknown):
        return None
    return Amount(expr_text(size), int(size) if size.is_Integer else None)
