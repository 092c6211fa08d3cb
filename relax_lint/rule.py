"""What a rule is, what it says, and where rules come from: all that a rule imports but the facts it reads.

Importing this imports neither TVM nor sympy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING

from relax_lint.facts.remedies import (
    CheckAtEntry,
    CheckAtRunTime,
    DelayKill,
    Drop,
    DropAllocation,
    MakeRoom,
    RemedyRequest,
    RenameDeclaredBound,
)
from relax_lint.results.confirmation import FAILURE, MISBEHAVIOUR, NOTHING_TO_SEE, OTHER_RESULTS, Symptom
from relax_lint.results.problem import UNREADABLE, ProblemKind
from relax_lint.results.verdict import Severity, Verdict
from relax_lint.support.errors import UserError
from relax_lint.support.installed import ModuleEntry, entry_points
from relax_lint.support.lazy_dataclass import dataclass, record

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint
    from pathlib import Path

    from relax_lint.analysis.presumption import Presumption
    from relax_lint.facts.function import FunctionFacts
    from relax_lint.facts.judge import Decided
    from relax_lint.model.operations import OperationId
    from relax_lint.results.location import Location
    from relax_lint.settings.config import Config
    from relax_lint.symbolic.decision import Decision, FirstFailure

ENTRY_POINT_GROUP = "relax_lint.rules"
RESERVED_PREFIX = "RLX"
"""Of the codes of the rules that come with the tool."""
_BUILT_IN = "relax_lint_rules"
"""The package of those."""

__all__ = [
    "Rule",
    "Kind",
    "FixAvailability",
    "Acceptance",
    "WARNINGS",
    "Judgement",
    "Message",
    "RemedyRequest",
    "CheckAtRunTime",
    "CheckAtEntry",
    "MakeRoom",
    "Drop",
    "DropAllocation",
    "DelayKill",
    "RenameDeclaredBound",
    "Severity",
    "Verdict",
    "ProblemKind",
    "Symptom",
    "MISBEHAVIOUR",
    "FAILURE",
    "OTHER_RESULTS",
    "NOTHING_TO_SEE",
    "load_rules",
    "find_rule",
    "rule_of",
    "is_source_problem",
    "unreadable_codes",
    "rule_packages",
    "is_selected",
    "RuleConflictError",
    "RulePackageError",
    "ENTRY_POINT_GROUP",
]

# -- what a rule says -----------------------------------------------------------------------------


@record(frozen=True)
class Message:
    """What a rule tells about one operation.

    `text` is the headline: lower case, no final full stop, code in back-ticks. `label` stands under the
    caret; `related` are secondary places with what stands there; `help` says what to do, `notes` what else is
    known.
    """

    text: str
    label: str = ""
    related: tuple[tuple[str, OperationId | Location], ...] = ()
    help: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@record(frozen=True)
class Judgement:
    """What a rule says of one operation (or, with `place` None, of the whole function, or of what
    stands at `location`).

    `presumptions` are what the verdict relies on besides facts about symbols; `severity` overrides the rule's
    own; `allocators` gives the first failure per allocator name; `remedy` is what makes the finding go away;
    `count` is for how many equal questions about the operation it stands. With `is_refused` TVM does not
    build what is judged, whether or not anything uses what the operation makes.
    """

    place: OperationId | None
    decision: Decision
    message: Message
    presumptions: tuple[Presumption, ...] = ()
    severity: Severity | None = None
    allocators: Mapping[str, FirstFailure] = field(default_factory=dict)
    location: Location | None = None
    remedy: RemedyRequest | None = None
    count: int = 1
    is_refused: bool = False

    @classmethod
    def of(
        cls,
        decided: Decided[object],
        place: OperationId | None,
        message: Message,
        *,
        severity: Severity | None = None,
        allocators: Mapping[str, FirstFailure] | None = None,
        location: Location | None = None,
        remedy: RemedyRequest | None = None,
        count: int = 1,
    ) -> Judgement:
        """The judgement that goes with a verdict on an event. What only inputs without a byte survive is an
        error.
        """
        return cls(
            place,
            decided.decision,
            message,
            decided.presumptions,
            Severity.ERROR if decided.only_empty else severity,
            allocators or {},
            location,
            remedy,
            count,
        )


# -- what a rule is -------------------------------------------------------------------------------


class Kind(str, Enum):
    """What a rule reports: something wrong, something worth knowing that fails nothing, or what is wrong with
    a source rather than with its memory.
    """

    FINDING = "finding"
    NOTE = "note"
    PROBLEM = "source problem"


class FixAvailability(str, Enum):
    """Whether a finding of a rule comes with a fix."""

    ALWAYS = "always"
    SOMETIMES = "sometimes"
    NEVER = "never"


class Acceptance(str, Enum):
    """How a comment in a file names a rule whose findings it accepts."""

    BY_PREFIX = "by any prefix of its code"
    BY_NAME = "by its whole code or name"
    NEVER = "not at all"


_USUAL: Mapping[Kind, Mapping[Verdict, Severity]] = {
    Kind.FINDING: {
        Verdict.ALWAYS_WRONG: Severity.ERROR,
        Verdict.ALWAYS_FINE: Severity.NONE,
        Verdict.NEEDS_RUNTIME_CHECK: Severity.WARNING,
    },
    Kind.NOTE: {
        Verdict.ALWAYS_WRONG: Severity.NOTE,
        Verdict.ALWAYS_FINE: Severity.NONE,
        Verdict.NEEDS_RUNTIME_CHECK: Severity.NOTE,
    },
}

WARNINGS: Mapping[Verdict, Severity] = {Verdict.ALWAYS_WRONG: Severity.WARNING}
"""For what is never wrong enough to be an error."""


def _nothing(facts: FunctionFacts) -> Iterable[Judgement]:
    return ()


def _always(config: Config) -> bool:
    return True


@dataclass(frozen=True)
class Rule:
    """One rule. `check` reads the facts of one function and judges every operation it is about.

    `name` reads well after "allow"; `since` is the first version of the tool that has it; `source` is the
    rule's own file, beside which its page lies. Rules that the sources raise have no `check`.

    `kind` says what is reported, and with `severity`, which holds the exceptions, how loudly. `fix` says
    whether there is one. A rule that is not on by `default` runs where a selection names it. `symptoms` are
    what a run of a wrong example may show; empty where nothing fails at run time. `acceptance` says how a
    comment may accept a finding. With `is_side_effect` a finding may come up where a fix made another one go
    away, and does no harm. With `once_per_module` what has one label in several functions of a module is one
    finding. `applies` tells whether a configuration gives the rule anything to judge by: without a budget
    nothing is over budget. `is_about_plan` says that memory planning makes what the rule finds: that one is
    to blame, even if a bound is relied on before.
    """

    code: str
    name: str
    family: str
    summary: str
    since: str
    source: str
    check: Callable[[FunctionFacts], Iterable[Judgement]] = _nothing
    kind: Kind = Kind.FINDING
    fix: FixAvailability = FixAvailability.NEVER
    severity: Mapping[Verdict, Severity] = field(default_factory=dict)
    default: bool = True
    symptoms: frozenset[Symptom] = MISBEHAVIOUR
    acceptance: Acceptance = Acceptance.BY_PREFIX
    is_side_effect: bool = False
    once_per_module: bool = False
    applies: Callable[[Config], bool] = _always
    is_about_plan: bool = False

    def is_on(self, config: Config) -> bool:
        """Whether a configuration selects the rule. A selection never leaves out what says that a block could
        not be analysed, unless it is ignored.
        """
        select = (*config.select, *unreadable_codes()) if config.select else ()
        return is_selected(self.code, select, config.ignore, default=self.default)

    def severity_of(self, verdict: Verdict) -> Severity:
        """How loudly a verdict is reported."""
        usual = _USUAL.get(self.kind, _USUAL[Kind.FINDING])
        return self.severity.get(verdict, usual[verdict])

    @property
    def is_built_in(self) -> bool:
        """Whether it comes with the tool."""
        return self.code.startswith(RESERVED_PREFIX)

    @property
    def page(self) -> Path:
        """The Markdown page beside the rule file."""
        from pathlib import Path

        return Path(self.source).with_suffix(".md")


# -- where rules come from ------------------------------------------------------------------------


class RuleConflictError(UserError):
    """Two rules with one code."""


class RulePackageError(UserError):
    """A package of rules that cannot be used; the text names it and, where known, the line."""


@cache
def load_rules() -> dict[str, Rule]:
    """Every installed rule by code, in the order of codes.

    Rules are found through the entry-point group `relax_lint.rules`; each entry is a module
    with a tuple `RULES`. Raises `RuleConflictError` when two packages define one code, and
    `RulePackageError` for an entry that cannot be loaded.
    """
    found: dict[str, Rule] = {}
    for entry in _entry_points():
        for rule in _rules_of(entry):
            if found.setdefault(rule.code, rule) is not rule:
                raise RuleConflictError(
                    f"two rules with the code {rule.code}: {found[rule.code].name}, {rule.name}"
                )
    return dict(sorted(found.items()))


def _rules_of(entry: ModuleEntry | EntryPoint) -> tuple[Rule, ...]:
    try:
        rules = tuple(entry.load().RULES)
    except (Exception, SystemExit) as error:
        # Whatever the module of somebody else does while it is imported.
        from relax_lint.support.blame import where

        told = f"{type(error).__name__}: {error}"
        raise _unusable(entry, f"cannot be imported: {told}{where(error)}") from error
    for rule in rules:
        if not isinstance(rule, Rule):
            raise _unusable(entry, f"has a {type(rule).__name__} in `RULES` that is not a `Rule`")
        if (why := _unlike_a_rule(rule)) is not None:
            raise _unusable(entry, f"has a `Rule` in `RULES` {why}")
        if rule.is_built_in and entry.value.partition(".")[0] != _BUILT_IN:
            reserved = f"the prefix `{RESERVED_PREFIX}` is that of the rules that come with relax-lint"
            raise _unusable(entry, f"has a `Rule` in `RULES` whose code is {rule.code}: {reserved}")
    return rules


def _unlike_a_rule(rule: Rule) -> str | None:
    """What is wrong with the declaration of a rule, if anything is."""
    code = rule.code
    if not isinstance(code, str) or not (code.isascii() and code.isalnum() and code == code.upper()):
        return f"whose code is {code!r}, which is not made of capital letters and digits"
    for name in ("name", "family", "summary", "since", "source"):
        value = getattr(rule, name)
        if not isinstance(value, str) or len(value.splitlines()) != 1:
            return f"({code}) whose `{name}` is not one line of text"
    if not callable(rule.check):
        return f"({code}) whose `check` is not a function"
    if not isinstance(rule.severity, Mapping) or not all(
        isinstance(verdict, Verdict) and isinstance(severity, Severity)
        for verdict, severity in rule.severity.items()
    ):
        return f"({code}) whose `severity` does not map verdicts to severities"
    return None


def _unusable(entry: ModuleEntry | EntryPoint, why: str) -> RulePackageError:
    packed = "" if entry.dist is None else f" of {entry.dist.name} {entry.dist.version}"
    return RulePackageError(f"the rule package `{entry.value}`{packed} {why}")


def find_rule(word: str) -> Rule | None:
    """The rule of a whole code or name."""
    rules = load_rules()
    return rules.get(word) or next((rule for rule in rules.values() if rule.name == word), None)


@cache
def rule_of(problem: ProblemKind) -> Rule:
    """The rule that reports a kind of problem."""
    rule = find_rule(problem.value)
    assert rule is not None, f"no rule is called {problem.value}"
    return rule


@cache
def unreadable_codes() -> tuple[str, ...]:
    """The codes of the rules that say that a block could not be analysed."""
    return tuple(rule_of(kind).code for kind in UNREADABLE)


def is_source_problem(code: str) -> bool:
    """Whether a rule reports what is wrong with a source rather than with its memory."""
    rule = load_rules().get(code)
    return rule is not None and rule.kind is Kind.PROBLEM


def rule_packages() -> tuple[str, ...]:
    """The names of the top-level packages that the rules come from."""
    return tuple(sorted({entry.module.partition(".")[0] for entry in _entry_points()}))


@cache
def _entry_points() -> Iterable[ModuleEntry | EntryPoint]:
    return entry_points(ENTRY_POINT_GROUP)


def is_selected(code: str, select: Iterable[str], ignore: Iterable[str], *, default: bool = True) -> bool:
    """Whether a rule is on: `select` and `ignore` are code prefixes, the longest match wins, and
    an empty `select` means all rules that are on by `default`.
    """
    chosen = tuple(select)
    unnamed = 0 if default else -1
    on = max((len(p) for p in chosen if code.startswith(p)), default=-1) if chosen else unnamed
    off = max((len(p) for p in ignore if code.startswith(p)), default=-1)
    return on > off
