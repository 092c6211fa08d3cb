"""Findings for what could not be read or analysed. Imports neither TVM nor sympy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from relax_lint.results.check import Check
from relax_lint.results.problem import Problem, ProblemKind, memory_rule
from relax_lint.results.verdict import Severity, Verdict
from relax_lint.rule import Rule, find_rule, rule_of
from relax_lint.settings.config import Config
from relax_lint.support.escaping import without_addresses


def problem_checks(problems: Iterable[Problem], path: str, config: Config) -> tuple[Check, ...]:
    """A check for each problem whose rule is on; for a text that TVM refuses because of memory one of the
    rule about that, too.
    """
    checks: list[Check] = []
    for problem in problems:
        told = _check(problem, path)
        about = _about_memory(problem)
        if about is not None and about.is_on(config):
            told = replace(told, notes=(*told.notes, f"it is a finding of {about.code} {about.name}"))
            checks.append(_of_rule(about, told))
        if rule_of(problem.kind).is_on(config):
            checks.append(told)
    return tuple(checks)


def _about_memory(problem: Problem) -> Rule | None:
    name = memory_rule(problem.message) if problem.kind is ProblemKind.PARSE_ERROR else None
    return None if name is None else find_rule(name)


def _of_rule(rule: Rule, told: Check) -> Check:
    """What is said of a text that TVM refuses, as a finding of a rule about memory."""
    return replace(
        told,
        rule=rule.code,
        name=rule.name,
        severity=rule.severity_of(told.verdict),
        proof="TVM's parser refuses it",
        notes=("TVM refuses to build it",),
    )


def _check(problem: Problem, path: str) -> Check:
    rule = rule_of(problem.kind)
    verdict = Verdict.NEEDS_RUNTIME_CHECK if problem.is_note else Verdict.ALWAYS_WRONG
    what = "a part of the block" if problem.in_part else "the block"
    return Check(
        rule=rule.code,
        name=rule.name,
        verdict=verdict,
        severity=Severity.NOTE if problem.is_note else rule.severity_of(verdict),
        message=without_addresses(problem.message),
        path=path,
        module=problem.unit,
        function=None,
        location=problem.location,
        proof=f"{what} cannot be analysed",
        notes=tuple(map(without_addresses, problem.detail)),
    )
