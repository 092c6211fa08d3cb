"""Findings for what could not be read or analysed (RLX901 to RLX904). Imports neither TVM nor sympy."""

from __future__ import annotations

from collections.abc import Iterable

from relax_lint.results.report import Check
from relax_lint.results.verdict import Verdict
from relax_lint.rule import is_selected, load_rules
from relax_lint.settings.config import Config
from relax_lint.sources.unit import Problem
from relax_lint.support.escaping import without_addresses


def problem_checks(problems: Iterable[Problem], path: str, config: Config) -> tuple[Check, ...]:
    """A check for each problem whose rule is on."""
    rules = load_rules()
    return tuple(
        Check(
            rule=problem.rule,
            name=rules[problem.rule].name,
            verdict=Verdict.ALWAYS_WRONG,
            severity=rules[problem.rule].severity[Verdict.ALWAYS_WRONG],
            message=without_addresses(problem.message),
            path=path,
            module=problem.unit,
            function=None,
            location=problem.location,
            proof="the block cannot be analysed",
            notes=tuple(map(without_addresses, problem.detail)),
        )
        for problem in problems
        if is_selected(problem.rule, config.select, config.ignore)
    )
