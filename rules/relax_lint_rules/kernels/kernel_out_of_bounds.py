"""RLX306 kernel-out-of-bounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relax_lint.facts.remedies import check_unless_empty
from relax_lint.results.verdict import Severity, Verdict
from relax_lint.rule import FixAvailability, Judgement, Message, Rule

if TYPE_CHECKING:
    from relax_lint.facts.function import FunctionFacts
    from relax_lint.facts.kernels import KernelUse


def check(facts: FunctionFacts) -> Iterator[Judgement]:
    """Every call of a kernel of which not every access is inside its buffer whatever the call."""
    is_strict = facts.config.strict
    for found in facts.indices.accesses():
        decided = facts.indices.doubted(found) if is_strict else found
        use, verdict = decided.event, decided.decision.verdict
        message, severity = Message(f"`{use.kernel.name}` stays inside its buffers"), None
        if verdict is not Verdict.ALWAYS_FINE:
            certain = verdict is Verdict.ALWAYS_WRONG or decided.only_empty
            message = _message(facts, use, facts.wrong_unless(decided), certain=certain)
            severity = None if is_strict or facts.indices.is_about_input(use) else Severity.NOTE
        remedy = check_unless_empty(decided)
        yield Judgement.of(decided, use.call.place, message, severity=severity, remedy=remedy)


def _message(facts: FunctionFacts, use: KernelUse, wrong_unless: str, *, certain: bool) -> Message:
    found = facts.indices.first_outside(use)
    access, words = found.access, facts.indices.words(use, found)
    verb = "writes" if access.writes else "reads"
    if not facts.indices.is_about_input(use):
        return Message(
            f"`{use.kernel.name}` may {verb[:-1]} outside {words.buffer}: {words.reason}",
            label=words.what,
            related=words.place,
            notes=words.notes,
        )
    does = verb if certain else f"may {verb[:-1]}"
    if words.beside:
        does = verb if found.leaves_an_axis else does
        return Message(
            f"`{use.kernel.name}` {does} beyond {words.beside}: {words.reason}",
            label=words.reached,
            related=words.place,
            notes=words.notes,
        )
    return Message(
        f"`{use.kernel.name}` {does} outside {words.buffer}{words.along}{wrong_unless}",
        label=words.reached,
        related=words.place,
        notes=words.notes,
        help=words.help,
    )


RULE = Rule(
    code="RLX306",
    name="kernel-out-of-bounds",
    family="kernels",
    summary="a kernel that accesses a buffer out of bounds",
    since="0.1.0",
    source=__file__,
    check=check,
    fix=FixAvailability.SOMETIMES,
)
