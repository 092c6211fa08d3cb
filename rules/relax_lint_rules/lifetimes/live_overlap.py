"""RLX203 live-overlap."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.results.confirmation import OTHER_RESULTS
from relax_lint.results.verdict import Severity, Verdict
from relax_lint.rule import Judgement, Rule

if TYPE_CHECKING:
    from relax_lint.analysis.contents import Overwriting
    from relax_lint.facts.function import FunctionFacts
    from relax_lint.facts.lifetimes import Finding


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every write into a storage: the bytes of tensors that are read later stay as they are."""
    for event in facts.lifetimes.contents.overwritings:
        finding = facts.lifetimes.overwriting(event)
        if finding.decision.verdict is Verdict.ALWAYS_FINE and not finding.decision.assumptions:
            tensor, written = event.tensor.place.binding, facts.name_of(event.written)
            yield Judgement(event.write.place, finding.decision, f"`{written}` leaves `{tensor}` as it is")
        else:
            yield _report(facts, event, finding)
    for allocation in facts.lifetimes.sharing:
        proof = facts.certain(
            Verdict.ALWAYS_FINE, "nothing on its storage that is written before is read after"
        )
        yield Judgement(
            allocation.place, proof, f"`{allocation.place.binding}` overwrites no tensor that is needed"
        )


def _report(facts: FunctionFacts, event: Overwriting, finding: Finding) -> Judgement:
    tensor, written = event.tensor.place.binding, facts.name_of(event.written)
    read = event.reading.op
    message = f"`{written}` is written over `{tensor}`, which {facts.lifetimes.reader(event.reading)}"
    if finding.only_empty:
        message += ": fails for every non-empty input"
    related = [(f"`{tensor}` is on the same bytes", event.tensor.place)]
    if read is not None:
        related.append((f"`{tensor}` is read here", read.place))
    return Judgement(
        event.write.place,
        finding.decision,
        message,
        label=f"writes `{written}`",
        related=tuple(related),
        severity=Severity.ERROR if finding.only_empty else None,
        help=(f"put `{written}` on a storage of its own, or write it after the last use of `{tensor}`",),
    )


RULE = Rule(
    code="RLX203",
    name="live-overlap",
    family="lifetimes",
    summary="a tensor that is written over another one on its storage which is still needed",
    since="0.1.0",
    source=__file__,
    check=check,
    symptoms=OTHER_RESULTS,
)
