"""Findings for what could not be read or analysed. Imports neither TVM nor sympy."""

from __future__ import annotations

from collections.abc import Iterable

from relax_lint.results.check import Check
from relax_lint.results.problem import Problem
from relax_lint.results.verdict import Verdict
from relax_lint.rule import rule_of
from relax_lint.settings.config import Config
from relax_lint.support.escaping import without_addresses


def problem_checks(problems: Iterable[Problem], path: str, config: Config) -> tuple[Check, ...]:
    """A check for each problem whose rule is on."""
    return tuple(_check(problem, path) for problem in problems if rule_of(problem.kind).is_on(config))


def _check(problem: Problem, path: str) -> Check:
    rule = rule_of(problem.kind)
    return Check(
        rule=rule.code,
        name=rule.name,
        verdict=Verdict.ALWAYS_WRONG,
        severity=rule.severity_of(Verdict.ALWAYS_WRONG),
        message=without_addresses(problem.message),
        path=path,
        module=problem.unit,
        function=None,
        location=problem.location,
        proof="the block cannot be analysed",
        notes=tuple(map(without_addresses, problem.detail)),
    )
