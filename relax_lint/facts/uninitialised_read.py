"""RLX205: is every tensor written before it is read or returned?

Event: a tensor that was allocated is read, and on some path nothing was written to it (`UnwrittenRead`,
from the walk over contents). Claim: the tensor has no bytes. Verdict: that of the provers, and never
`always-wrong` where it is written on some paths, or holds what another tensor left on its storage.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.analysis.certainty import Certainty
from relax_lint.analysis.effects import outputs_of
from relax_lint.analysis.events import UnwrittenRead
from relax_lint.analysis.flow import FunctionFlow
from relax_lint.analysis.presumption import Presumption
from relax_lint.facts.at_return import UNSHOWN, by_who_gets_it, read_perhaps, why_written
from relax_lint.facts.claims import Claim, not_negative
from relax_lint.facts.coverage import (
    initialised,
    is_exact,
    left_alone,
    presumed_writes,
    relied_types,
    written_again,
)
from relax_lint.facts.judge import Decided, Judge
from relax_lint.facts.worst import worst_of
from relax_lint.model.operations import AllocTensor, FunctionCall, KernelCall, ValueId
from relax_lint.model.types import extents_of
from relax_lint.results.verdict import Verdict
from relax_lint.symbolic.decision import certain
from relax_lint.symbolic.quantity import Unknown
from relax_lint.vm.builtins import SHAPE_HEAP

_NOT_EMPTY = Presumption("no reduction is empty")


def uninitialised_reads(flow: FunctionFlow, judge: Judge) -> Iterator[Decided[UnwrittenRead]]:
    """The tensors that are read before they are written, each with the first such read that some input
    reaches. What a private function returns is for its caller to write, and so is what a function returns
    that is called in the module, where it only allocates or the tensor lies on a storage that it is given.
    """
    return iter(worst_of(_uninitialised_reads(flow, judge), partial(_about, flow)))


def _about(flow: FunctionFlow, event: UnwrittenRead) -> tuple[ValueId, frozenset[ValueId], int | None]:
    """What an event is told once of."""
    op, roots = event.reading.op, flow.aliases.roots_of(event.reading.value)
    return event.tensor.result, roots, None if op is None else op.place.index


def _uninitialised_reads(flow: FunctionFlow, judge: Judge) -> Iterator[Decided[UnwrittenRead]]:
    inside = flow.knows_callers or bool(flow.captured) or (bool(flow.calls_of_this) and only_allocates(flow))
    known, in_part, in_views = set[ValueId](), set[ValueId](), set[ValueId]()
    # What is certain tells more than what is not, and that more than what TVM may leave out, or nobody needs.
    for event in sorted(flow.contents.unwritten_reads, key=partial(_rank, flow)):
        tensor = event.tensor.result
        if tensor in known or (event.reading.op is None and (inside or _is_on_given(event, flow))):
            continue
        if tensor in in_part and event.mended:
            continue
        decided = _decided(event, flow, judge)
        if tensor in in_views and decided.decision.verdict is Verdict.NEEDS_RUNTIME_CHECK:
            # That some view has no elements was told.
            continue
        if decided.decision.reachable:
            if decided.decision.verdict is not Verdict.ALWAYS_FINE and not event.reading.unsure:
                # Where all of it is written in the end it may still be read before that.
                by_size = decided.decision.safe_when is not None and not decided.only_empty
                is_view = (
                    decided.decision.safe_when is not None and event.reading.value in flow.aliases.windows
                )
                (in_part if event.mended and by_size else in_views if is_view else known).add(tensor)
            yield decided


def _rank(flow: FunctionFlow, event: UnwrittenRead) -> int:
    """The lower, the earlier an event is told."""
    reading = event.reading
    if not flow.is_left_out(reading.op) and flow.is_shown(reading.op, reading.value, made=event.tensor):
        return int(event.certainty is not Certainty.MUST or bool(event.mended) or reading.unsure)
    is_opaque = isinstance(reading.op, KernelCall) and not flow.effect_of(reading.op).known
    if is_opaque or (reading.unsure and not flow.is_left_out(reading.op)):
        return 1
    return 2 if by_who_gets_it(reading, flow) else 3


def _is_on_given(event: UnwrittenRead, flow: FunctionFlow) -> bool:
    """Whether a tensor lies on a storage that the calls in the module pass, as they do to what
    RewriteCUDAGraph makes. AttachGlobalSymbol gives such a function a name for others, too.
    """
    storage = event.tensor.storage if isinstance(event.tensor, AllocTensor) else None
    return storage is not None and bool(flow.calls_of_this) and flow.is_passed_in(storage)


def _decided(event: UnwrittenRead, flow: FunctionFlow, judge: Judge) -> Decided[UnwrittenRead]:
    op = event.reading.op
    nothing, exact = _empty(event, flow)
    if event.reading.unsure:
        why_not = "the kernel writes it as well, and may read it before"
        return Decided(event, judge.judge_event(judge.claim_at(nothing, op), Certainty.MAY, why_not))
    if event.mended:
        return _perhaps_written(event, nothing, flow, judge)
    if leftovers(event, flow):
        return Decided(event, judge.harm(op, Certainty.MAY, "it reads what another tensor wrote"))
    claim = judge.claim_at(nothing, op)
    if event.by_others:
        why_not = "it may read what another function wrote"
        return Decided(event, judge.judge_event(claim, Certainty.MAY, why_not))
    denied = why_written(event.reading, flow, event.tensor.place.index)
    certainty, why_not = event.certainty, denied or "written only on some paths"
    if isinstance(op, KernelCall) and _is_read_perhaps(op, event, flow):
        why_not = read_perhaps(op.callee)
    elif not flow.is_shown(op, event.reading.value, made=event.tensor):
        certainty, why_not = Certainty.MAY, by_who_gets_it(event.reading, flow) or UNSHOWN
    if not exact:
        certainty, why_not = Certainty.MAY, "the extents of what is read are unknown"
    decision = judge.judge_event(claim, certainty, why_not)
    return Decided(event, decision, event.reading.presumptions, decision.safe_when is not None)


def _is_read_perhaps(op: KernelCall, event: UnwrittenRead, flow: FunctionFlow) -> bool:
    perhaps = flow.effect_of(op).unsure_reads
    return any(value == event.reading.value for p, value in enumerate(op.arguments) if p in perhaps)


def _empty(event: UnwrittenRead, flow: FunctionFlow) -> tuple[Boolean, bool]:
    """When nothing is read because what is read has no bytes, and whether something is read otherwise."""
    value = event.reading.value
    empty = flow.memory.range(value).empty
    if not isinstance(empty, Unknown):
        return empty, True
    # Another name of the tensor may have a type that says less.
    empty = flow.memory.range(event.tensor.result).empty
    if isinstance(empty, Unknown):
        return sympy.false, False
    return empty, value not in flow.aliases.windows


def _perhaps_written(
    event: UnwrittenRead, nothing: Boolean, flow: FunctionFlow, judge: Judge
) -> Decided[UnwrittenRead]:
    """Some call may have written it: all of it, or a part."""
    written, types = (
        written_again(event.mended, event.reading, flow),
        relied_types(event.mended, event.reading, flow),
    )
    claim = judge.claim_at(sympy.Or(nothing, written), event.reading.op)
    decision = judge.judge_event(claim, Certainty.MAY, "it may be written in part only")
    if (
        is_exact(event.mended, event.reading, flow)
        and judge.judge(claim).verdict is Verdict.NEEDS_RUNTIME_CHECK
    ):
        decision = judge.judge(claim)
    elif _is_part(event, claim, flow, judge):
        decision = judge.judge(claim)
        if decision.verdict is not Verdict.ALWAYS_FINE:
            only_empty = decision.safe_when is not None and written == sympy.false
            # Who is given more than is filled may know how much that is.
            is_certain = only_empty or decision.verdict is Verdict.ALWAYS_WRONG
            event = replace(event, part=is_certain)
            return Decided(event, decision, (*event.reading.presumptions, *types), only_empty)
    presumed = presumed_writes(event.mended, claim, event.reading, flow, judge)
    if presumed and decision.verdict is not Verdict.ALWAYS_FINE:
        fine = certain(Verdict.ALWAYS_FINE, "written by a call with otherwise unknown effects")
        return Decided(event, fine, (*event.reading.presumptions, *types, *presumed))
    if decision.verdict is not Verdict.ALWAYS_FINE:
        told = initialised(event.mended, flow)
        read = flow.function.tensor_type(event.reading.value)
        domain = not_negative(claim.domain, extents_of(read))
        if told is not None and judge.implies(domain, told, sympy.Or(nothing, written)):
            fine = certain(Verdict.ALWAYS_FINE, "written unless a reduction is empty")
            return Decided(event, fine, (*event.reading.presumptions, *types, _NOT_EMPTY))
    return Decided(event, decision, (*event.reading.presumptions, *types))


def _is_part(event: UnwrittenRead, claim: Claim, flow: FunctionFlow, judge: Judge) -> bool:
    """Whether something that nobody wrote is returned wherever the claim does not hold, by the stores of a
    kernel and not only for want of a proof.
    """
    value = event.reading.value
    if event.reading.op is not None or event.certainty is not Certainty.MUST or event.left or event.by_others:
        return False
    if not flow.is_shown(None, value, made=event.tensor) or why_written(
        event.reading, flow, event.tensor.place.index
    ):
        return False
    left = left_alone(event.mended, value, flow)
    if left == sympy.false or isinstance(claim.condition, Unknown):
        return False
    return left == sympy.true or judge.implies(claim.domain, sympy.Not(claim.condition), left)


def leftovers(event: UnwrittenRead, flow: FunctionFlow) -> tuple[ValueId, ...]:
    """The tensors that were written before on bytes of the tensor that was not."""
    ours = flow.memory.range(event.tensor.result)
    return tuple(v for v in event.left if ours.disjoint(flow.memory.range(v)) != sympy.true)


def only_allocates(flow: FunctionFlow) -> bool:
    """Whether a function computes nothing: what it returns is meant to be written by those who call it."""
    return not any(_computes(call, flow) for call in flow.calls) and all(
        _only_makes_storages(call, flow) for call in flow.function_calls
    )


def _computes(call: KernelCall, flow: FunctionFlow) -> bool:
    """Whether a call does more than to check a type, or to compute shapes."""
    if call.callee == SHAPE_HEAP:
        return False
    effect, count = flow.effect_of(call), len(call.arguments)
    touched = effect.reads | effect.writes
    return any(position >= count or not _is_heap(call.arguments[position], flow) for position in touched)


def _is_heap(value: ValueId, flow: FunctionFlow) -> bool:
    made = [flow.paths.definitions.get(root) for root in flow.aliases.roots_of(value)]
    return bool(made) and all(isinstance(op, KernelCall) and op.callee == SHAPE_HEAP for op in made)


def _only_makes_storages(call: FunctionCall, flow: FunctionFlow) -> bool:
    """Whether a call touches no tensor and returns none, as what RewriteCUDAGraph makes of allocations."""
    summary = flow.summary_of(call)
    if summary is None or outputs_of(call.type) > 0:
        return False
    touched = (summary.reads, summary.writes, summary.superseded, summary.passed, summary.handed_on)
    return not any(touched)


def stubs_given(event: UnwrittenRead, flow: FunctionFlow) -> tuple[str, ...]:
    """The kernels without a body that are given the tensor before it is read: they would write it."""
    if isinstance(event.tensor, FunctionCall):
        return _stubs_in(event.tensor, flow)
    end = event.reading.op.place.index if event.reading.op is not None else None
    found = {
        call.callee: None
        for call in flow.calls
        if (end is None or call.place.index < end)
        and (kernel := flow.effects.kernel_of(call)) is not None
        and kernel.is_stub
        and any(event.tensor.result in flow.aliases.roots_of(argument) for argument in call.arguments)
    }
    return tuple(found)


def _stubs_in(call: FunctionCall, flow: FunctionFlow) -> tuple[str, ...]:
    """The kernels without a body that the function calls which made a tensor."""
    functions = [function for function in flow.program.functions if function.name == call.target]
    calls = [op for function in functions for op in function.body.of(KernelCall)]
    kernels = {op.callee: flow.effects.kernel_of(op) for op in calls}
    return tuple(name for name, kernel in kernels.items() if kernel is not None and kernel.is_stub)
