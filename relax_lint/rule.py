"""What a rule is, and where rules come from. Importing this imports neither TVM nor sympy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from relax_lint.results.confirmation import MISBEHAVIOUR, Symptom
from relax_lint.results.verdict import Severity, Verdict

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

    from relax_lint.facts.function import FunctionFacts
    from relax_lint.fixes.changes import Remedy
    from relax_lint.model.program import Place
    from relax_lint.results.location import Location
    from relax_lint.settings.config import Config
    from relax_lint.symbolic.decision import Decision, FirstFailure

ENTRY_POINT_GROUP = "relax_lint.rules"

BY_CERTAINTY: Mapping[Verdict, Severity] = {
    Verdict.ALWAYS_WRONG: Severity.ERROR,
    Verdict.ALWAYS_FINE: Severity.NONE,
    Verdict.NEEDS_RUNTIME_CHECK: Severity.WARNING,
}
"""The usual severities: certain errors are errors, possible ones are warnings."""

WARNINGS: Mapping[Verdict, Severity] = {**BY_CERTAINTY, Verdict.ALWAYS_WRONG: Severity.WARNING}
"""For what is never wrong enough to be an error."""

NOTES: Mapping[Verdict, Severity] = {
    Verdict.ALWAYS_WRONG: Severity.NOTE,
    Verdict.ALWAYS_FINE: Severity.NONE,
    Verdict.NEEDS_RUNTIME_CHECK: Severity.NOTE,
}
"""For what is worth knowing and fails nothing."""


@dataclass(frozen=True)
class Judgement:
    """What a rule says of one operation (or, with `place` None, of the whole function, or of what
    stands at `location`).

    `message` is the headline and `label` stands under the caret; `related` are secondary places
    with what stands there; `severity` overrides the rule's own; `allocators` gives the first
    failure per allocator name; `remedies` are the ways to make the finding go away, the best first.
    """

    place: Place | None
    decision: Decision
    message: str
    label: str = ""
    related: tuple[tuple[str, Place | Location], ...] = ()
    severity: Severity | None = None
    allocators: Mapping[str, FirstFailure] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    help: tuple[str, ...] = ()
    location: Location | None = None
    remedies: tuple[Remedy, ...] = ()


def _nothing(facts: FunctionFacts) -> Iterable[Judgement]:
    return ()


def _always(config: Config) -> bool:
    return True


@dataclass(frozen=True)
class Rule:
    """One rule. `check` reads the facts of one function and judges every operation it is about.

    `name` reads well after "allow"; `since` is the first version of the tool that has it; `source` is the
    rule's own file, beside which its page lies. Rules that the sources raise have no `check`. A rule
    that is not on by `default` runs where a selection names it. `symptoms` are what a run of a wrong example
    may show; empty where nothing fails at run time. `applies` tells whether a configuration gives it anything
    to judge by: without a budget nothing is over budget.
    """

    code: str
    name: str
    family: str
    summary: str
    since: str
    source: str
    severity: Mapping[Verdict, Severity] = field(default_factory=lambda: BY_CERTAINTY)
    check: Callable[[FunctionFacts], Iterable[Judgement]] = _nothing
    default: bool = True
    symptoms: frozenset[Symptom] = MISBEHAVIOUR
    applies: Callable[[Config], bool] = _always

    @property
    def page(self) -> Path:
        """The Markdown page beside the rule file."""
        return Path(self.source).with_suffix(".md")


class RuleConflictError(Exception):
    """Two rules with one code."""


@cache
def load_rules() -> dict[str, Rule]:
    """Every installed rule by code, in the order of codes.

    Rules are found through the entry-point group `relax_lint.rules`; each entry is a module
    with a tuple `RULES`. Raises `RuleConflictError` when two packages define one code.
    """
    found: dict[str, Rule] = {}
    for entry in _entry_points():
        for rule in entry.load().RULES:
            if found.setdefault(rule.code, rule) is not rule:
                raise RuleConflictError(
                    f"two rules with the code {rule.code}: {found[rule.code].name}, {rule.name}"
                )
    return dict(sorted(found.items()))


def rule_packages() -> tuple[str, ...]:
    """The names of the top-level packages that the rules come from."""
    return tuple(sorted({entry.module.partition(".")[0] for entry in _entry_points()}))


@cache
def _entry_points() -> EntryPoints:
    # Imported here, as it reads what is installed: every start of the command imports this module.
    from importlib.metadata import entry_points

    return entry_points(group=ENTRY_POINT_GROUP)


def is_selected(code: str, select: Iterable[str], ignore: Iterable[str], *, default: bool = True) -> bool:
    """Whether a rule is on: `select` and `ignore` are code prefixes, the longest match wins, and
    an empty `select` means all rules that are on by `default`.
    """
    chosen = tuple(select)
    unnamed = 0 if default else -1
    on = max((len(p) for p in chosen if code.startswith(p)), default=-1) if chosen else unnamed
    off = max((len(p) for p in ignore if code.startswith(p)), default=-1)
    return on > off
