"""The memory that packed functions take besides the VM's allocator, for each call of a function and of what
it calls.

What has no formula is listed as not counted, with the reason, and never as nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from relax_lint.analysis.kernel_operands import operand_types
from relax_lint.analysis.results import returns_something_new
from relax_lint.model.operations import AllocTensor, FunctionCall, KernelCall, View
from relax_lint.model.program import Function, Program
from relax_lint.model.types import may_hold_memory
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.quantity import Unknown
from relax_lint.totals.cases import Chosen, by_cases
from relax_lint.totals.formula import greatest, never_negative_symbols, total
from relax_lint.totals.kernel_memory import KernelMemory
from relax_lint.totals.packed_formulas import FORMULAS, Arguments, Bytes
from relax_lint.totals.quantities import Indeterminate, Quantity
from relax_lint.totals.walk import CallPoint
from relax_lint.totals.workspaces import storage_walks
from relax_lint.vm.builtins import BUILTINS, ViewKind
from relax_lint.vm.calls import CallKind
from relax_lint.vm.packed_memory import NO_ROW, PACKED_MEMORY, Takes
from relax_lint.vm.scopes import ZERO_OFFSET_STEP

_PACKED = (CallKind.PACKED, CallKind.BUILTIN, CallKind.CALL_DPS_PACKED, CallKind.CALL_INPLACE_PACKED)
_GRAPHS = "vm.builtin.cuda_graph."


@record(frozen=True)
class PackedCall:
    """What one call takes: as long as the object lives that it returns, or (`scratch`) at most, until it
    returns.
    """

    op: KernelCall
    callee: str
    device: Quantity
    host: Quantity
    scratch: bool = False


@record(frozen=True)
class PackedTotals:
    """`calls` are those that take something, `objects` what they make together (on the device, on the host),
    `uncounted` the functions whose memory is not counted, with the reason.
    """

    calls: tuple[PackedCall, ...]
    objects: tuple[Quantity | Unknown, Quantity | Unknown]
    uncounted: tuple[tuple[str, str], ...]


@record(frozen=True)
class _Made:
    """The bytes of the objects that are made along one path."""

    device: Quantity
    host: Quantity
    chosen: Chosen


def measure_packed(
    program: Program,
    function: Function,
    kernels: KernelMemory,
    binding: Mapping[str, int] | None = None,
) -> PackedTotals:
    """What the packed functions take that a function and its callees call, over all paths."""
    walks = storage_walks(program, function, binding=binding)
    positive = never_negative_symbols(function)
    uncounted = dict(_uncounted(program, function, kernels))
    calls: dict[KernelCall, PackedCall] = {}
    sums: list[_Made] = []
    # Most kernels call no function, and the layers of a model repeat each other.
    plain: dict[str, bool] = {}
    for walk in [] if isinstance(walks, Unknown) else walks:
        made: list[PackedCall] = []
        for point in walk.calls:
            name = point.op.callee
            if name not in plain:
                plain[name] = kernels.runs(name) and not kernels.uncounted_calls(name)
            if plain[name] and isinstance(point.op, KernelCall) and point.op.kind.runs_kernel:
                continue
            try:
                found = _taken(point, kernels)
            except Indeterminate as reason:
                uncounted.setdefault(point.op.callee, str(reason))
                continue
            made += found
            calls |= {call.op: call for call in found}
        kept = [call for call in made if not call.scratch]
        device, host = total(call.device for call in kept), total(call.host for call in kept)
        sums.append(_Made(device, host, walk.chosen))
    objects: tuple[Quantity | Unknown, Quantity | Unknown]
    try:
        objects = (
            by_cases(sums, lambda alike: greatest([each.device for each in alike], positive)),
            by_cases(sums, lambda alike: greatest([each.host for each in alike], positive)),
        )
    except Indeterminate as reason:
        objects = Unknown(str(reason)), Unknown(str(reason))
    return PackedTotals(tuple(calls.values()), objects, tuple(sorted(uncounted.items())))


def may_hand_on(program: Program, function: Function) -> tuple[str, ...]:
    """The packed functions that may return or keep memory which they are given, for all that is known."""
    found = dict.fromkeys(
        op.callee
        for each in _reached(program, function)
        for op in each.body.of(KernelCall)
        if returns_something_new(op) is not None
        and any(may_hold_memory(each.type_of(argument)) for argument in op.arguments)
    )
    return tuple(found)


def _taken(point: CallPoint, kernels: KernelMemory) -> list[PackedCall]:
    """What one call takes; empty for most. Raises Indeterminate."""
    op = point.op
    if not isinstance(op, KernelCall):
        return []
    if op.kind.runs_kernel and kernels.runs(op.callee):
        return [PackedCall(op, name, 0, size, scratch=True) for name, size in kernels.scratch(point).items()]
    formula = FORMULAS.get(op.callee) if op.kind in _PACKED else None
    if formula is None:
        return []
    types = operand_types(op, point.function)
    merged = kernels.target_name in ("cpu", "cuda")
    found: Bytes = formula(Arguments(types, point.scope), merged)
    return [PackedCall(op, op.callee, found.device, found.host)]


def _uncounted(program: Program, function: Function, kernels: KernelMemory) -> Iterator[tuple[str, str]]:
    """The functions without a row, or with one that says why their memory cannot be told."""
    for each in _reached(program, function):
        placed = each.body.of(View, AllocTensor)
        copies = any(isinstance(op, View) and op.kind is ViewKind.ZERO_OFFSET for op in placed)
        if copies and any(map(_is_moved, placed)):
            yield "vm.builtin.ensure_zero_offset", "it copies what does not start at a multiple of 64 bytes"
        seen: dict[str, CallKind] = {}
        for op in each.body.of(FunctionCall, KernelCall):
            if isinstance(op, FunctionCall) and op.target is None and op.callee.startswith(_GRAPHS):
                yield op.callee, PACKED_MEMORY[op.callee].note
            if not isinstance(op, KernelCall) or seen.get(op.callee) is op.kind:
                continue
            seen[op.callee] = op.kind
            names = [op.callee] if op.kind in _PACKED else []
            if op.kind.runs_kernel and kernels.runs(op.callee):
                names = list(kernels.uncounted_calls(op.callee))
            for name in names:
                reason = _why(name)
                if reason is not None:
                    yield name, reason


def _is_moved(op: View | AllocTensor) -> bool:
    """Whether a tensor starts where a copy of it would be made."""
    if isinstance(op, View) and op.kind is not ViewKind.MEMORY_VIEW:
        return False
    if isinstance(op.offset, Unknown):
        return True
    return not op.offset.is_Integer or int(op.offset) % ZERO_OFFSET_STEP != 0


def _why(name: str) -> str | None:
    """Why the memory of a packed function is not counted; None where it is, or where there is none."""
    row = PACKED_MEMORY.get(name)
    if row is not None:
        return row.note if row.takes is Takes.UNCOUNTED else None
    return None if name in BUILTINS and BUILTINS[name].allocates else NO_ROW


def _reached(program: Program, function: Function) -> list[Function]:
    """The function and those that it calls, directly or not."""
    known = program.by_name
    found, pending = {function.name: function}, [function]
    while pending:
        for op in pending.pop().body.walk():
            target = op.target if isinstance(op, FunctionCall) else None
            if target is not None and target in known and target not in found:
                found[target] = known[target]
                pending.append(known[target])
    return list(found.values())
