"""RLX304 view-out-of-bounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.facts.remedies import check_unless_empty
from relax_lint.results.verdict import Severity, Verdict
from relax_lint.rule import FixAvailability, Judgement, Message, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts
    from relax_lint.facts.views import ViewQuestion


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every reshape keeps the element count; every byte view is inside its source, aligned; every
    `vm.builtin.copy` has the type of its source.
    """
    for decided in facts.views.views():
        view = decided.event
        text = _text(facts, view, fine=decided.decision.verdict is Verdict.ALWAYS_FINE)
        text += facts.wrong_unless(decided)
        message = Message(text, label=f"view of `{facts.name_of(view.op.source)}`")
        # A shape that a kernel of the program computes is not what somebody hands over.
        is_note = facts.is_computed(decided.decision) and not facts.config.strict
        severity = Severity.NOTE if is_note else None
        remedy = check_unless_empty(decided)
        yield Judgement.of(decided, view.op.place, message, severity=severity, remedy=remedy)


def _text(facts: FunctionFacts, view: ViewQuestion, *, fine: bool) -> str:
    name, source = view.op.place.binding, facts.name_of(view.op.source)
    if fine:
        return f"view `{name}` stays inside its source"
    if view.is_copy:
        return f"`{name}` aliases `{source}`, which does not have the type that the call declares"
    if view.is_reshape:
        needs, has = facts.elements(view.needs), facts.elements(view.has)
        return f"view `{name}` has {needs}, `{source}` has {has}"
    size, alignment = facts.views.of_size(view), facts.views.of_alignment(view)
    if alignment is Verdict.ALWAYS_WRONG is not size:
        return f"the offset of view `{name}` is not a multiple of {view.unit} bytes"
    if size is Verdict.ALWAYS_FINE:
        return f"the offset of view `{name}` is not always a multiple of {view.unit} bytes"
    needs, has = facts.bytes(view.needs), facts.bytes(view.has)
    text = f"view `{name}` ends after {needs}, `{source}` has {has}"
    if alignment is Verdict.ALWAYS_FINE or size is Verdict.ALWAYS_WRONG:
        return text
    return f"{text}, and its offset is not always a multiple of {view.unit} bytes"


RULE = Rule(
    code="RLX304",
    name="view-out-of-bounds",
    family="kernels",
    summary="a reshape that changes the element count, or an unaligned or out-of-bounds byte view",
    since="0.1.0",
    source=__file__,
    check=check,
    fix=FixAvailability.SOMETIMES,
)
