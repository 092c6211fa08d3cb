"""RLX203: does a write leave the tensors alone that are read later?

Event: a kernel or an in-place call writes one tensor while another one on its storage is still to be read
as it was (`Overwriting`, from the walk over contents). Claim: the bytes that are written and those that
are read do not overlap. Verdict: that of the provers, and never `always-wrong` where the read does not
follow on every path.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TypeAlias

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.analysis.access_paths import AccessPath
from relax_lint.analysis.certainty import Certainty, weakest
from relax_lint.analysis.events import Apart, Overwriting
from relax_lint.analysis.flow import FunctionFlow
from relax_lint.analysis.liveness import operands
from relax_lint.analysis.overlaps import ByteRange, either_empty
from relax_lint.analysis.presumption import Presumption
from relax_lint.analysis.same_contents import SameContents
from relax_lint.facts.asking import apart
from relax_lint.facts.at_return import (
    UNUSED,
    USED_PERHAPS,
    WHAT_IS_THERE,
    may_not_write,
    use_by_callers,
    why_not_read,
)
from relax_lint.facts.claims import either
from relax_lint.facts.coverage import presumed_writes, relied_types, written_again
from relax_lint.facts.in_parts import reads_elsewhere
from relax_lint.facts.judge import Decided, Judge
from relax_lint.facts.who_writes import is_known_to_write
from relax_lint.facts.worst import worst_of
from relax_lint.model.operations import AllocTensor, FunctionCall, If, KernelCall, ValueId
from relax_lint.model.sizes import is_packed
from relax_lint.results.verdict import Verdict
from relax_lint.symbolic.asked import Asked, every
from relax_lint.symbolic.decision import certain
from relax_lint.symbolic.quantity import Unknown

_ASSUMED = certain(Verdict.ALWAYS_FINE, "another tensor, or written again, by all that is assumed")


def live_overlaps(flow: FunctionFlow, judge: Judge) -> Iterator[Decided[Overwriting]]:
    """Every write over a tensor that is read later."""
    same = SameContents(flow)
    found = (_decided(event, flow, judge, same) for event in flow.overwritings)
    yield from worst_of(found, partial(_about, flow))


def _about(flow: FunctionFlow, event: Overwriting) -> tuple[int, ValueId, ValueId, ByteRange]:
    """What an event is told once of."""
    read = flow.memory.range(event.reading.value)
    return event.write.place.index, event.written, event.tensor.result, read


def _decided(
    event: Overwriting, flow: FunctionFlow, judge: Judge, contents: SameContents
) -> Decided[Overwriting]:
    use = use_by_callers(event.reading, flow)
    if use is None:
        return Decided(event, UNUSED)
    certainty, why_not = event.certainty, why_not_read(event.reading, flow, (event.write, event.written))
    if use is Certainty.MAY:
        why_not = USED_PERHAPS
    same = _writes_what_is_there(event, flow)
    if same is Certainty.MUST:
        return Decided(event, certain(Verdict.ALWAYS_FINE, "each byte is rewritten with its own value"))
    if same is Certainty.MAY:
        certainty, why_not = Certainty.MAY, "each byte may be rewritten with its own value"
    written, read = _written(event, flow), _read(event, flow)
    elsewhere = reads_elsewhere(event.reading, [one for _, one in written], flow)
    again = sympy.Or(written_again(event.mended, event.reading, flow), elsewhere)
    asked = partial(_asked_apart, written, read, again, flow)
    claim = judge.claim_at(either(_disjoint(written, read[1]), again), event.write, asked)
    if event.mended:
        why_not = "it may be written again in between"
    elif not _is_whole(event, flow):
        why_not = "it may be written in part only"
    if not is_known_to_write(event, flow):
        certainty, why_not = Certainty.MAY, may_not_write(event.write)
    if any(_is_chosen(value, flow) for value in (event.written, event.reading.value)):
        certainty, why_not = Certainty.MAY, "which tensor it is depends on the branch taken"
    if any(_is_on_several(value, flow) for value in (event.written, event.reading.value)):
        why_not = "which storage it lies on depends on the branch taken"
    if _depends_on_who_counts(event, flow):
        certainty, why_not = Certainty.MAY, "who is no kernel counts the bytes of so few bits otherwise"
    if _writes_both(event, flow):
        certainty, why_not = Certainty.MAY, "the call writes both, and which of them it writes last decides"
    decision = judge.judge_event(claim, certainty, why_not)
    is_sure = certainty is Certainty.MUST and decision.verdict is not Verdict.ALWAYS_FINE
    if is_sure and contents.may_be(event):
        decision = judge.judge_event(claim, Certainty.MAY, WHAT_IS_THERE)
    presumed = presumed_writes(event.mended, claim, event.reading, flow, judge)
    presumed += () if event.harmless is None else (event.harmless,)
    if presumed and decision.verdict is not Verdict.ALWAYS_FINE:
        return Decided(event, _ASSUMED, (*event.reading.presumptions, *presumed))
    only_empty = judge.safe_only_if(decision, claim, partial(either_empty, written[0][1], read[1]))
    types = () if again == sympy.false else relied_types(event.mended, event.reading, flow)
    presumptions = (*event.reading.presumptions, *_presumed(event, flow), *types)
    return Decided(event, decision, presumptions, only_empty)


_Range: TypeAlias = "tuple[ValueId, ByteRange]"
"""A value that bytes belong to, and these."""


def _read(event: Overwriting, flow: FunctionFlow) -> _Range:
    """The bytes of the damaged tensor that are read: of what a branch chooses it is that tensor, or a part of
    it, that counts.
    """
    value, tensor = event.reading.value, event.tensor.result
    is_part = _is_chosen(value, flow) and tensor in flow.aliases.roots_of(value)
    return _range(tensor if is_part else value, flow)


def _range(value: ValueId, flow: FunctionFlow) -> _Range:
    return value, flow.memory.range(value)


def _written(event: Overwriting, flow: FunctionFlow) -> list[_Range]:
    """The bytes that are written: of what a branch chooses those of each tensor beside the damaged one, or of
    each part of one tensor.
    """
    if not _is_chosen(event.written, flow):
        return [_range(event.written, flow)]
    if len(flow.aliases.roots_of(event.written)) == 1:
        return [_range(one, flow) for one in _ways(event.written, flow)]
    tensor = event.tensor.result
    owners = flow.memory.owners(tensor)
    others = flow.aliases.roots_of(event.written) - {tensor}
    beside = [root for root in sorted(others) if not owners.isdisjoint(flow.memory.owners(root))]
    return [_range(root, flow) for root in beside or [event.written]]


def _is_chosen(value: ValueId, flow: FunctionFlow) -> bool:
    """Whether a value is one of several tensors, or parts of one, that start at different bytes."""
    if not isinstance(flow.memory.range(value).start, Unknown):
        return False
    return len(flow.aliases.roots_of(value)) > 1 or len(_ways(value, flow)) > 1


def _ways(value: ValueId, flow: FunctionFlow) -> tuple[ValueId, ...]:
    """The values of which branches choose one; itself where none does."""
    pending, found = [value], dict[ValueId, None]()
    while pending:
        name = flow.aliases.identity(pending.pop())
        op = flow.paths.definitions.get(name)
        if isinstance(op, If):
            pending += (op.then_result, op.else_result)
        else:
            found[name] = None
    return tuple(found)


def _disjoint(written: Sequence[_Range], read: ByteRange) -> Boolean | Unknown:
    found = [one.disjoint(read) for _, one in written]
    unknown = next((one for one in found if isinstance(one, Unknown)), None)
    return sympy.And(*found) if unknown is None else unknown


def _asked_apart(written: Sequence[_Range], read: _Range, again: Boolean, flow: FunctionFlow) -> Asked:
    values = flow.function.values
    asked = [
        apart(one, read[1], [f"`{values[value].name}`" for value in (root, read[0])], again)
        for root, one in written
    ]
    names = {name: size for one in asked for name, size in one.names.items()}
    return asked[0] if len(asked) == 1 else Asked(every(one.statement for one in asked), names)


def _is_on_several(value: ValueId, flow: FunctionFlow) -> bool:
    """Whether a tensor lies on one of several storages."""
    return len(flow.aliases.roots_of(value)) == 1 < len(flow.memory.owners(value))


def _depends_on_who_counts(event: Overwriting, flow: FunctionFlow) -> bool:
    """Whether what is written, or read, has more bytes for a kernel than for others, who may write it."""
    written, read = event.written, event.reading.value
    if flow.memory.range(written).same_start(flow.memory.range(read)):
        return False
    by_kernel = isinstance(event.write, KernelCall) and flow.effects.kernel_of(event.write) is not None
    types = [flow.function.tensor_type(value) for value in ((read,) if by_kernel else (read, written))]
    return any(type_ is not None and type_.dtype is not None and is_packed(type_.dtype) for type_ in types)


def _writes_both(event: Overwriting, flow: FunctionFlow) -> bool:
    """Whether the call that writes over a tensor writes that tensor as well."""
    if isinstance(event.write, KernelCall):
        arguments = event.write.arguments
        written = [i for i in flow.effect_of(event.write).writes if i < len(arguments)]
        roots = [flow.aliases.roots_of(arguments[i]) for i in written]
    elif isinstance(event.write, FunctionCall) and (summary := flow.summary_of(event.write)) is not None:
        roots = [flow.aliases.roots.of(summary.path(path)) for path in summary.writes]
    else:
        return False
    return any(event.tensor.result in found for found in roots)


def _presumed(event: Overwriting, flow: FunctionFlow) -> tuple[Presumption, ...]:
    """What is assumed of a call of which it is not known what it writes."""
    if not isinstance(event.write, KernelCall) or (effect := flow.effect_of(event.write)).known:
        return ()
    presumed = Presumption(effect.why)
    return () if presumed in event.reading.presumptions else (presumed,)


def apart_writes(flow: FunctionFlow, judge: Judge) -> Iterator[Decided[Apart]]:
    """The writes that overlap no tensor on their storage: numbers that are compared."""
    for event in flow.contents.apart:
        claim = judge.claim_at(sympy.true, event.write, partial(_each_apart, event, flow))
        yield Decided(event, judge.judge(claim))


def _each_apart(event: Apart, flow: FunctionFlow) -> Asked:
    values, written = flow.function.values, flow.memory.range(event.written)
    asked = [
        apart(written, flow.memory.range(other), [f"`{values[one].name}`" for one in (event.written, other)])
        for other in event.others()
    ]
    names = {name: size for one in asked for name, size in one.names.items()}
    return Asked(every(one.statement for one in asked), names)


def _is_whole(event: Overwriting, flow: FunctionFlow) -> bool:
    """Whether all of the tensor that is given to the call is certainly written."""
    if not isinstance(event.write, KernelCall):
        return False
    whole = flow.effect_of(event.write).whole
    at = [i for i, argument in enumerate(event.write.arguments) if argument == event.written]
    return any(whole.get(position) == sympy.true for position in at)


def _writes_what_is_there(event: Overwriting, flow: FunctionFlow) -> Certainty | None:
    """Whether a call copies another argument on the same bytes, each element to its own place; None where it
    does not.
    """
    if not isinstance(event.write, KernelCall):
        return None
    sources = _copied(event.write, event.written, flow)
    found = [flow.memory.same_place(event.written, source) for source in sources]
    known = [certainty for certainty in found if certainty is not None]
    return weakest(*known) if known and len(known) == len(found) else None


def _copied(call: KernelCall, written: ValueId, flow: FunctionFlow) -> list[ValueId]:
    """The arguments that an argument is a copy of after a call; none where it is something else."""
    effect, count = flow.effect_of(call), len(call.arguments)
    targets = {p for p in effect.writes if p < count and call.arguments[p] == written}
    sources = {
        target: call.arguments[source]
        for source, target in effect.copies
        if target in targets and source < count
    }
    return list(sources.values()) if effect.known and targets == sources.keys() else []


def harmless_reuses(flow: FunctionFlow) -> Iterator[Decided[AllocTensor | FunctionCall]]:
    """The tensors on reused storages that overwrite nothing which is read later: fine without a question,
    unless somebody kept what was there and writes it later. Of functions that put tensors on storages only
    those are told of which that is assumed.
    """
    keepers, writers = tuple(_keepers(flow)), tuple(_perhaps_writers(flow))
    fine = certain(Verdict.ALWAYS_FINE, "nothing written to its storage before is read afterwards")
    seen: set[ValueId] = set()
    written = {event.written for event in flow.overwritings} | {e.written for e in flow.contents.apart}
    blamed = {root for value in written for root in flow.aliases.roots_of(value)}
    for op in flow.function.body.of(AllocTensor, FunctionCall):
        storages = _placed_on(op, flow)
        presumptions = _not_kept(op, storages, keepers, writers, flow) if storages else ()
        is_reuse = isinstance(op, AllocTensor) and op.result not in blamed
        if presumptions or (is_reuse and not storages.isdisjoint(seen)):
            yield Decided(op, fine, presumptions)
        if isinstance(op, AllocTensor):
            seen |= storages


def _placed_on(op: AllocTensor | FunctionCall, flow: FunctionFlow) -> frozenset[ValueId]:
    """The storages on which a tensor is put, or a function puts tensors."""
    if isinstance(op, AllocTensor):
        return frozenset() if op.storage is None else flow.aliases.roots_of(op.storage)
    summary = flow.summary_of(op)
    places = () if summary is None else map(summary.path, summary.places)
    return frozenset[ValueId]().union(*map(flow.memory.owners_at, places))


_Keeper: TypeAlias = "tuple[KernelCall | FunctionCall, frozenset[ValueId], str]"
"""A call that may keep what it is given, the memory that it is given, and that it does not, in words."""


def _keepers(flow: FunctionFlow) -> Iterator[_Keeper]:
    for call in flow.calls:
        effect, kernel = flow.effect_of(call), flow.effects.kernel_of(call)
        given_away = frozenset[int]() if kernel is None else effect.opaque | kernel.lent.keys()
        if given_away or not effect.known:
            away = [a for p, a in enumerate(call.arguments) if p in given_away or kernel is None]
            text = f"nobody keeps the addresses that `{call.callee}` gives away" if kernel else effect.why
            yield call, frozenset[ValueId]().union(*map(flow.memory.owners, away)), text
    for invoked in flow.function_calls:
        summary = flow.summary_of(invoked)
        paths = [*map(AccessPath, operands(invoked, flow.function))]
        if summary is not None:
            paths = [summary.path(path) for path in (*summary.passed, *summary.handed_on)]
            if flow.may_call_unknown(invoked):
                # It may have put there, or made, what it passes on.
                paths += [*map(summary.path, summary.places), AccessPath(invoked.result)]
        if paths:
            given = (flow.memory.owners_at(path) for path in paths)
            text = f"nobody keeps what `{invoked.callee}` passes on"
            yield invoked, frozenset[ValueId]().union(*given), text


def _perhaps_writers(flow: FunctionFlow) -> Iterator[KernelCall | FunctionCall]:
    """The calls that may write what somebody kept, whatever they are given themselves."""
    for call in flow.calls:
        kernel = flow.effects.kernel_of(call)
        if not flow.effect_of(call).known or (kernel is not None and kernel.lent):
            yield call
    yield from (call for call in flow.function_calls if flow.may_call_unknown(call))


def _not_kept(
    op: AllocTensor | FunctionCall,
    storages: frozenset[ValueId],
    keepers: Sequence[_Keeper],
    writers: Sequence[KernelCall | FunctionCall],
    flow: FunctionFlow,
) -> tuple[Presumption, ...]:
    """That nobody kept a tensor of a storage before it was reused, where a call further down may write it."""
    before = [
        why
        for call, given, why in keepers
        if call.place.index < op.place.index and given & storages and not flow.paths.never_with(call, op)
    ]
    if not before or not any(_is_needed_then(op, call, flow) for call in writers):
        return ()
    return tuple(Presumption(why) for why in dict.fromkeys(before))


def _is_needed_then(
    op: AllocTensor | FunctionCall, writer: KernelCall | FunctionCall, flow: FunctionFlow
) -> bool:
    """Whether what is put on a storage, or by a function, is used in or behind a call that may write."""
    if writer.place.index <= op.place.index or flow.paths.never_with(op, writer):
        return writer is op
    is_given = isinstance(writer, FunctionCall) and any(
        not flow.aliases.roots_of(op.result).isdisjoint(flow.aliases.roots_of(value))
        for value in operands(writer, flow.function)
    )
    return is_given or flow.contents.is_used_after(op.result, writer)
