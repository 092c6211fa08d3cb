"""Asking one rule about a function: where one of another package fails, what others say is not lost."""

from __future__ import annotations

from collections.abc import Sequence

from relax_lint.facts.function import FunctionFacts
from relax_lint.model.operations import OperationId
from relax_lint.results.location import Location
from relax_lint.results.problem import Problem, ProblemKind
from relax_lint.rule import Judgement, Message, Rule
from relax_lint.support.blame import where_in
from relax_lint.symbolic.decision import Decision

MAX_JUDGEMENTS = 100_000
"""So many judgements of one function are taken from a rule of another package."""


class _Rubbish(TypeError):
    """What a rule yields is no judgement."""


def judgements_of(rule: Rule, facts: FunctionFacts) -> tuple[Sequence[Judgement], Problem | None]:
    """What a rule says of a function, and why not more of it, where it fails."""
    if rule.is_built_in:
        # A fault of the tool itself is one of the whole analysis.
        return list(rule.check(facts)), None
    found: list[Judgement] = []
    try:
        for judgement in rule.check(facts):
            if len(found) == MAX_JUDGEMENTS:
                raise _Rubbish(f"more than {MAX_JUDGEMENTS} judgements")
            found.append(_checked(judgement))
    except MemoryError:
        raise
    except (Exception, SystemExit) as error:
        return found, _failed(rule, facts, error)
    return found, None


def _checked(judgement: object) -> Judgement:
    """What a rule has yielded, if it is what the report is made of."""
    if not isinstance(judgement, Judgement):
        raise _Rubbish(f"it yields {_a(judgement)}, not a `Judgement`")
    expected = (
        ("decision", judgement.decision, Decision),
        ("message", judgement.message, Message),
        ("place", judgement.place, (OperationId, type(None))),
        ("location", judgement.location, (Location, type(None))),
    )
    for name, value, kinds in expected:
        if not isinstance(value, kinds):
            raise _Rubbish(f"it yields a `Judgement` with {_a(value)} as its `{name}`")
    message = judgement.message
    lists = (("help", message.help), ("notes", message.notes))
    texts = [("text", message.text), ("label", message.label)]
    for name, lines in lists:
        if not isinstance(lines, tuple):
            raise _Rubbish(f"it yields a `Message` with {_a(lines)} as its `{name}`")
        texts += [(name, line) for line in lines]
    for name, text in texts:
        if not isinstance(text, str):
            raise _Rubbish(f"it yields a `Message` with {_a(text)} in its `{name}`")
    return judgement


def _a(value: object) -> str:
    """A value, by its type."""
    name = type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def _failed(rule: Rule, facts: FunctionFacts, error: BaseException) -> Problem:
    function = facts.function
    lines = str(error).splitlines()
    if isinstance(error, _Rubbish):
        what = str(error)
    else:
        what = f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
        what += where_in(error, rule.source)
    return Problem(
        ProblemKind.ANALYSIS_FAILED,
        f"the rule {rule.code} failed on `{function.name}`: {what}",
        function.location,
        function.module,
        in_part=True,
    )
