"""Counts over a report: by verdict, by rule, by prover."""

from __future__ import annotations

from collections.abc import Iterable

from relax_lint.results.check import Check, is_finding
from relax_lint.results.report import Report
from relax_lint.results.verdict import Severity, Verdict
from relax_lint.support.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Count:
    """How many checks have each verdict."""

    always_wrong: int
    always_fine: int
    needs_runtime_check: int

    @property
    def total(self) -> int:
        """All of them."""
        return self.always_wrong + self.always_fine + self.needs_runtime_check


@dataclass(frozen=True)
class Summary:
    """The counts of a run. `undecided` is that part of `needs_runtime_check` that no prover could decide,
    `suppressed` how many findings are accepted; they are in the other counts all the same.
    """

    all: Count
    undecided: int
    by_rule: dict[str, Count]
    names: dict[str, str]
    by_prover: dict[str, int]
    suppressed: int

    @property
    def selectivity(self) -> float | None:
        """The share of the checks that are proved; None if there is no check."""
        if not self.all.total:
            return None
        return (self.all.always_fine + self.all.always_wrong) / self.all.total


def summarise(checks: Iterable[Check]) -> Summary:
    """The counts over some checks."""
    everything = list(checks)
    by_rule: dict[str, list[Check]] = {}
    by_prover: dict[str, int] = {}
    for check in everything:
        by_rule.setdefault(check.rule, []).append(check)
        by_prover[check.prover.value] = by_prover.get(check.prover.value, 0) + check.count
    return Summary(
        all=_count(everything),
        undecided=sum(check.undecided for check in everything),
        by_rule={rule: _count(by_rule[rule]) for rule in sorted(by_rule)},
        names={check.rule: check.name for check in everything},
        by_prover=by_prover,
        suppressed=sum(check.suppressed for check in everything),
    )


def _count(checks: list[Check]) -> Count:
    counts = dict.fromkeys(Verdict, 0)
    for check in checks:
        counts[check.verdict] += check.count
    return Count(
        counts[Verdict.ALWAYS_WRONG],
        counts[Verdict.ALWAYS_FINE],
        counts[Verdict.NEEDS_RUNTIME_CHECK],
    )


def fails(report: Report, fail_on: Severity) -> bool:
    """Whether there is a finding at or above the failing level, or the baseline is stale."""
    return bool(report.stale) or any(
        is_finding(check) and check.severity.rank >= fail_on.rank for check in report.checks
    )
