"""RLX206: does a call overwrite what comes from outside of the run?

Event: a call overwrites a constant (wrong where the next run gives something else for it) or, as declared, a
parameter (up to the caller) (`OutsideWrite`).
"""

from __future__ import annotations

from collections.abc import Iterator

from relax_lint.analysis.access_paths import AccessPath
from relax_lint.analysis.certainty import Certainty, must_if
from relax_lint.analysis.effects import is_sure_to_write, superseded
from relax_lint.analysis.flow import FunctionFlow
from relax_lint.analysis.liveness import operands
from relax_lint.analysis.next_run import NextRun
from relax_lint.facts.at_return import may_not_write
from relax_lint.facts.judge import Decided, Judge
from relax_lint.model.operations import FunctionCall, KernelCall, ValueId
from relax_lint.support.lazy_dataclass import record


@record(frozen=True)
class OutsideWrite:
    """`call` overwrites a constant of the module, or (`constant` False) a parameter of the function. `only`:
    the argument is nothing else on any path; not `sure`: it is not known whether it is written at all.
    """

    call: KernelCall | FunctionCall
    value: ValueId
    constant: bool
    only: bool
    sure: bool = True


def outside_writes(flow: FunctionFlow, judge: Judge) -> Iterator[Decided[OutsideWrite]]:
    """Every write to a constant, also by a function that is called, and every declared in-place write to a
    tensor parameter of a public function.
    """
    again = NextRun(flow)
    for event in (*_outside_writes(flow), *_writes_of_callees(flow)):
        if event.constant or not flow.function.private:
            certainty, why_not = _certainty(event, again)
            yield Decided(event, judge.harm(event.call, certainty, why_not))


def _certainty(event: OutsideWrite, again: NextRun) -> tuple[Certainty, str]:
    """How certain it is that a write to what comes from outside does harm, and why it is not."""
    if not event.constant:
        return Certainty.MAY, "the caller may still need the old value"
    if not event.only:
        return Certainty.MAY, "it may be another tensor"
    if not event.sure:
        return Certainty.MAY, may_not_write(event.call)
    return must_if(not again.may_be_the_same(event.call, event.value)), "the next run may give the same"


def overwritten_constants(flow: FunctionFlow) -> frozenset[ValueId]:
    """The constants that a call writes: they hold something else at the latest in the next run."""
    events = (*_outside_writes(flow), *_writes_of_callees(flow))
    return frozenset(event.value for event in events if event.constant)


def handed_over_constants(flow: FunctionFlow) -> frozenset[ValueId]:
    """The constants that a call with unknown effects is given, or that what a call writes is only presumed
    not to be: what they hold then is not known.
    """
    roots, given, presumed_new = flow.aliases.roots, list[AccessPath](), list[AccessPath]()
    for call in flow.calls:
        effect = flow.effect_of(call)
        touched = [AccessPath(a) for place, a in enumerate(call.arguments) if place in effect.writes]
        presumed_new += touched
        if not effect.known:
            given += touched
    for invoked in flow.function_calls:
        summary = flow.summary_of(invoked)
        if summary is None:
            given += map(AccessPath, operands(invoked, flow.function))
        else:
            unknown = (*summary.passed, *summary.handed_on)
            given += [summary.path(path) for path in unknown]
            presumed_new += [summary.path(path) for path in (*summary.writes, *summary.superseded)]
    found = {root for path in given for root in roots.of(path)}
    for path in (*given, *presumed_new):
        found.update(other for root in roots.of(path) for other, _ in roots.perhaps_of(root))
    return frozenset(found) & roots.constants


def _writes_of_callees(flow: FunctionFlow) -> Iterator[OutsideWrite]:
    constants, tensors = flow.aliases.roots.constants, _tensor_parameters(flow)
    for call in flow.function_calls:
        summary = flow.summary_of(call)
        if summary is None:
            continue
        for path in dict.fromkeys(path for path, _ in summary.touched(summary.superseded)):
            roots = flow.aliases.roots.of(path)
            for root in sorted(roots & tensors):
                yield OutsideWrite(call, root, False, len(roots) == 1)
        written = {**summary.superseded, **summary.writes}
        for path in dict.fromkeys(path for path, _ in summary.touched(written)):
            roots = flow.aliases.roots.of(path)
            # One tensor may be passed for several parameters.
            always = any(c is Certainty.MUST for found, c in summary.touched(written) if found == path)
            for root in sorted(roots & constants):
                yield OutsideWrite(call, root, True, always and len(roots) == 1)


def _outside_writes(flow: FunctionFlow) -> Iterator[OutsideWrite]:
    constants, tensors = flow.aliases.roots.constants, _tensor_parameters(flow)
    for call in flow.calls:
        effect = flow.effect_of(call)
        in_place = superseded(call, effect)
        if not effect.known and not call.kind.in_place:
            continue
        written = {*in_place, *effect.writes}
        for position in sorted(written):
            if position >= len(call.arguments):
                continue
            roots = flow.aliases.roots_of(call.arguments[position])
            is_sure = is_sure_to_write(call, effect, position)
            for root in sorted(roots & constants):
                yield OutsideWrite(call, root, True, len(roots) == 1, is_sure)
            if position in in_place:
                for root in sorted(roots & tensors):
                    yield OutsideWrite(call, root, False, len(roots) == 1)


def _tensor_parameters(flow: FunctionFlow) -> frozenset[ValueId]:
    function = flow.function
    return frozenset(p for p in function.parameters if function.tensor_type(p) is not None)
