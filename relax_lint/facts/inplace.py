"""RLX206: does a call overwrite memory that it or a later operation still reads?

Two events. Claim and verdict of each:

- a call writes one argument and reads another one that aliases it (`ArgumentOverlap`): their bytes do
  not overlap, or (element by element) start at one byte;
- an in-place call overwrites a value that is read later under an older name (`StaleRead`): their bytes do
  not overlap.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import sympy

from relax_lint.analysis.access_paths import AccessPath
from relax_lint.analysis.certainty import Certainty, must_if
from relax_lint.analysis.effects import Effect, declared_in_place, is_sure_to_write
from relax_lint.analysis.events import StaleRead
from relax_lint.analysis.flow import FunctionFlow
from relax_lint.analysis.liveness import values_read
from relax_lint.analysis.overlaps import either_empty
from relax_lint.analysis.presumption import Presumption
from relax_lint.analysis.same_contents import SameContents
from relax_lint.facts.asking import apart as asked_apart
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
from relax_lint.facts.judge import Decided, Judge
from relax_lint.facts.shared_memory import Outcome, outcome_on_shared_memory
from relax_lint.facts.worst import worst_of
from relax_lint.model.operations import FunctionCall, KernelCall, Op, ValueId
from relax_lint.results.verdict import Verdict
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.decision import certain
from relax_lint.symbolic.quantity import Unknown
from relax_lint.vm import versions

# -- arguments that alias --------------------------------------------------------------------------


@record(frozen=True)
class ArgumentOverlap:
    """`call` writes `written`, which may share bytes with its argument `other`, on every path or on some.

    `elementwise`: no element is read after it was overwritten when both start at one byte, and `harmless`:
    they are certain to. `ordered`: that holds as the kernel is written. `outcome`: what carrying the kernel
    out on shared memory showed.
    """

    call: KernelCall | FunctionCall
    written: ValueId
    other: ValueId
    elementwise: bool
    harmless: bool
    ordered: bool
    outcome: Outcome
    certainty: Certainty


def argument_overlaps(flow: FunctionFlow, judge: Judge) -> Iterator[Decided[ArgumentOverlap]]:
    """Every pair of arguments that may alias, one of which is known to be written."""
    for call in flow.calls:
        yield from overlaps_of(call, flow, judge)
    for invoked in flow.function_calls:
        yield from _inside_callee(invoked, flow, judge)


def overlaps_of(call: KernelCall, flow: FunctionFlow, judge: Judge) -> Iterator[Decided[ArgumentOverlap]]:
    """Every pair of arguments of one call that may alias, one of which is known to be written."""
    effect = flow.effect_of(call)
    for written, other in _pairs(call, effect):
        event = _overlap(call, written, other, effect, flow)
        if event is not None:
            yield _overlapping(event, flow, judge)
        else:
            presumed = _presumed(call.arguments[written], call.arguments[other], flow)
            if presumed is not None:
                yield _presumed_apart(call, written, other, presumed)


def _presumed(written: ValueId, other: ValueId, flow: FunctionFlow) -> Presumption | None:
    """What is assumed where two arguments are treated as two tensors: that the one that is written is not
    what the other one may be, nor on bytes of that.
    """
    roots = flow.aliases.roots
    presumed = roots.presumed_apart(written, other)
    if presumed is not None or not roots.has_perhaps:
        return presumed
    for one, two in ((written, other), (other, written)):
        for root in sorted(flow.aliases.roots_of(two)):
            for found, why in roots.perhaps_of(root):
                if _may_overlap(one, found, flow):
                    return why
    return None


def _may_overlap(one: ValueId, root: ValueId, flow: FunctionFlow) -> bool:
    """Whether a value may have bytes of a tensor that was put on the same storage."""
    if root not in flow.function.values or flow.memory.owners(one).isdisjoint(flow.memory.owners(root)):
        return False
    return bool(flow.memory.range(one).disjoint(flow.memory.range(root)) != sympy.true)


def _presumed_apart(
    call: KernelCall, written: int, other: int, presumed: Presumption
) -> Decided[ArgumentOverlap]:
    one, two = call.arguments[written], call.arguments[other]
    event = ArgumentOverlap(call, one, two, False, False, False, Outcome.NOT_KNOWN, Certainty.MAY)
    return Decided(event, certain(Verdict.ALWAYS_FINE, "two tensors, by all that is assumed"), (presumed,))


def _inside_callee(
    call: FunctionCall, flow: FunctionFlow, judge: Judge
) -> Iterator[Decided[ArgumentOverlap]]:
    """The arguments of a function that share memory of which it writes one. They may where it reads the other
    one for the last time before it writes, and does not give it back.
    """
    summary = flow.summary_of(call)
    if summary is None:
        return
    placed = dict.fromkeys(sorted(summary.places), Certainty.MAY)
    writes = [summary.path(path) for path in (*sorted(summary.writes), *placed)]
    read = {*summary.reads, *summary.passed}
    # Whether anything but a kill gets it.
    is_used = call.result in values_read(flow.function)
    given_back = summary.given_back if is_used else frozenset()
    used = sorted(read.union(given for _, given in given_back))
    reads = [summary.path(path) for path in used]
    # A parameter that is both read and written is one argument; the same argument twice are two.
    count = len(writes)
    places = [*writes, *reads]
    own = [*sorted(summary.writes), *placed, *used]
    seen: set[frozenset[AccessPath]] = set()
    for first in range(count):
        for second in range(len(places)):
            pair = frozenset((own[first], own[second]))
            shared = flow.memory.owners_at(places[first]) & flow.memory.owners_at(places[second])
            late = (own[first], own[second]) in given_back
            is_asked = late or second < count or own[second] in read
            values = (flow.aliases.leaf(places[first]), flow.aliases.leaf(places[second]))
            if (
                len(pair) == 2
                and pair not in seen
                and shared
                and is_asked
                and _may_share(*values, call, flow)
            ):
                seen.add(pair)
                kept = own[second] in own[:count] or own[second] in (*summary.passed, *summary.handed_on)
                late = late or (own[second] in read and (own[first], own[second]) in summary.late)
                in_order = not kept and not late
                event = ArgumentOverlap(
                    call, *values, False, False, in_order, Outcome.NOT_KNOWN, Certainty.MAY
                )
                if in_order:
                    yield Decided(
                        event, certain(Verdict.ALWAYS_FINE, "read for the last time before the write")
                    )
                else:
                    yield _overlapping(event, flow, judge)


def _pairs(call: KernelCall, effect: Effect) -> Iterator[tuple[int, int]]:
    """The positions of an argument that is written and of one that is read or written as well."""
    count = len(call.arguments)
    written = [position for position in effect.writes if position < count] if effect.known else []
    for position in sorted(written):
        for other in range(count):
            counts = other in effect.reads or (other in effect.writes and other > position)
            if other != position and counts:
                yield position, other


def _overlap(
    call: KernelCall, written: int, other: int, effect: Effect, flow: FunctionFlow
) -> ArgumentOverlap | None:
    first, second = call.arguments[written], call.arguments[other]
    one, two = flow.memory.owners(first), flow.memory.owners(second)
    shared = None if one.isdisjoint(two) else _shared(first, second, call, flow)
    if shared is None:
        return None
    same_start = flow.memory.range(first).same_start(flow.memory.range(second))
    elementwise = (other, written) in effect.elementwise
    ordered = (other, written) in effect.read_before
    certainty = shared
    harmless = elementwise and same_start
    outcome = Outcome.NOT_KNOWN if elementwise else outcome_on_shared_memory(call, written, other, flow)
    if outcome is Outcome.WRONG and other not in effect.reads and not flow.read_after.is_read(first, call):
        outcome = Outcome.UNUSED
    if outcome is Outcome.WRONG and not any(flow.read_after.is_read(v, call) for v in _results(call, effect)):
        outcome = Outcome.UNREAD
    if outcome is Outcome.WRONG and not flow.shows_sharing(call, written):
        outcome = Outcome.UNSHOWN
    if outcome is Outcome.WRONG and other in effect.unsure_reads:
        outcome = Outcome.NOT_KNOWN
    return ArgumentOverlap(call, first, second, elementwise, harmless, ordered, outcome, certainty)


def _shared(one: ValueId, other: ValueId, call: Op, flow: FunctionFlow) -> Certainty | None:
    """Whether two values that a call is given belong to the same memory, whatever branches were taken
    (`MUST`); None where they never do.
    """
    storages = flow.aliases.roots.storages
    owners = [
        [storages.get(root, frozenset((root,))) for root in pair]
        for pair in flow.together.pairs(one, other, call)
    ]
    if all(mine.isdisjoint(others) for mine, others in owners):
        return None
    return must_if(all(mine == others and len(mine) == 1 for mine, others in owners))


def _may_share(one: ValueId, other: ValueId, call: Op, flow: FunctionFlow) -> bool:
    """Whether two values that a function is given may belong to the same memory."""
    apart = flow.memory.owners(one).isdisjoint(flow.memory.owners(other))
    # A field of a value that has no name is on memory that only its path tells.
    return apart or _shared(one, other, call, flow) is not None


def _results(call: KernelCall, effect: Effect) -> Iterator[ValueId]:
    """The tensors that a call writes, and its result, which may hold some that it allocates."""
    yield call.result
    yield from (
        call.arguments[position] for position in sorted(effect.writes) if position < len(call.arguments)
    )


def _overlapping(event: ArgumentOverlap, flow: FunctionFlow, judge: Judge) -> Decided[ArgumentOverlap]:
    if event.harmless:
        return Decided(event, certain(Verdict.ALWAYS_FINE, "each element depends only on itself"))
    written, other = flow.memory.range(event.written), flow.memory.range(event.other)
    apart = written.disjoint_or_same_start(other) if event.elementwise else written.disjoint(other)
    names = [f"`{flow.function.values[value].name}`" for value in (event.written, event.other)]
    stated = event.elementwise and not isinstance(apart, Unknown)
    same = sympy.Eq(written.start, other.start) if stated else sympy.false
    claim = judge.claim_at(apart, event.call, partial(asked_apart, written, other, names, same))
    certainty, why_not = event.certainty, "the arguments alias only on some paths"
    if isinstance(event.call, FunctionCall):
        why_not = "it depends on the order in which the function reads and writes"
    if event.ordered:
        # A schedule may merge the loops of a kernel.
        certainty, why_not = Certainty.MAY, "safe while the kernel reads all of it first"
    decision = judge.judge_event(claim, certainty, why_not)
    only_empty = judge.safe_only_if(decision, claim, partial(either_empty, written, other))
    proved = event.outcome is Outcome.WRONG or isinstance(event.call, FunctionCall)
    if not proved and (decision.verdict is Verdict.ALWAYS_WRONG or only_empty):
        # Also element by element: in ascending order, bytes before those of the source are written after
        # they are read.
        decision, only_empty = judge.judge_event(claim, Certainty.MAY, event.outcome.value), False
    return Decided(event, decision, only_empty=only_empty)


# -- older names of what an in-place call overwrote -----------------------------------------------


def stale_reads(flow: FunctionFlow, judge: Judge) -> Iterator[Decided[StaleRead]]:
    """Every read of an older name of what an in-place call overwrote."""
    return iter(worst_of(_stale_reads(flow, judge), _about))


def _about(event: StaleRead) -> tuple[int, ValueId, ValueId]:
    """What an event is told once of."""
    return event.call.place.index, event.argument, event.reading.value


def _stale_reads(flow: FunctionFlow, judge: Judge) -> Iterator[Decided[StaleRead]]:
    contents = SameContents(flow)
    for event in flow.stale_reads:
        use = use_by_callers(event.reading, flow)
        if use is None:
            yield Decided(event, UNUSED)
            continue
        written, read = flow.memory.range(event.argument), flow.memory.range(event.reading.value)
        names = [f"`{flow.function.values[value].name}`" for value in (event.argument, event.reading.value)]
        again = written_again(event.mended, event.reading, flow)
        asked = partial(asked_apart, written, read, names, again)
        claim = judge.claim_at(either(written.disjoint(read), again), event.call, asked)
        why_not = why_not_read(event.reading, flow, (event.call, event.argument))
        if isinstance(event.call, KernelCall) and not _declares(event.call, event.argument, flow):
            by_name = versions.packed_call_name(event.call.place.node)
            why_not = f"a kernel of `{by_name or event.call.kind.value}` writes it"
        elif isinstance(event.call, KernelCall) and not _is_sure_to_write(event.call, event.argument, flow):
            why_not = may_not_write(event.call)
        if use is Certainty.MAY:
            why_not = USED_PERHAPS
        decision = judge.judge_event(claim, event.certainty, why_not)
        is_sure = event.certainty is Certainty.MUST and decision.verdict is not Verdict.ALWAYS_FINE
        if is_sure and contents.may_be_as_before(event):
            decision = judge.judge_event(claim, Certainty.MAY, WHAT_IS_THERE)
        assumed = presumed_writes(event.mended, claim, event.reading, flow, judge)
        assumed += () if event.harmless is None else (event.harmless,)
        if assumed and decision.verdict is not Verdict.ALWAYS_FINE:
            fine = certain(Verdict.ALWAYS_FINE, "another tensor, or written again, by all that is assumed")
            yield Decided(event, fine, (*event.reading.presumptions, *assumed))
            continue
        only_empty = judge.safe_only_if(decision, claim, partial(either_empty, written, read))
        types = () if again == sympy.false else relied_types(event.mended, event.reading, flow)
        yield Decided(event, decision, (*event.reading.presumptions, *types), only_empty)


def _is_sure_to_write(call: KernelCall, argument: ValueId, flow: FunctionFlow) -> bool:
    """Whether a call that declares to overwrite an argument is known to write it."""
    effect = flow.effect_of(call)
    given = [position for position, value in enumerate(call.arguments) if value == argument]
    return any(is_sure_to_write(call, effect, position) for position in given)


def _declares(call: KernelCall, argument: ValueId, flow: FunctionFlow) -> bool:
    """Whether a call says that it overwrites an argument, or a tuple that the argument is a field of."""
    declared = (call.arguments[position] for position in declared_in_place(call))
    return any(argument in flow.aliases.leaves(value) for value in declared)
