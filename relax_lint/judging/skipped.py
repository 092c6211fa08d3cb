"""What is said of the parts of a unit that were not read. Imports neither TVM nor sympy."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from relax_lint.results.check import Check
from relax_lint.results.problem import Problem, ProblemKind
from relax_lint.results.report import UnitResult
from relax_lint.sources.unit import ParsedUnit, Skipped

_SHOWN = 8


def in_part(unit: ParsedUnit, judged: UnitResult) -> list[Problem]:
    """What is wrong with parts of a unit, and one note for all that is merely not known. Each says which of
    the verdicts on the rest depend on it.
    """
    dependent = _dependent(unit, judged.checks)
    wrong = [one for one in unit.skipped if one.problem is not None]
    unknown = [one for one in unit.skipped if one.problem is None and not one.follows]
    problems = [_wrong(one.problem, dependent) for one in wrong if one.problem is not None]
    # Two statements that are wrong for one reason at one place are one finding.
    problems = list(dict.fromkeys(problems))
    return [*problems, *([_note(unknown, dependent, unit.module_name)] if unknown else [])]


def incomplete(unit: ParsedUnit) -> list[str]:
    """The note on the totals of functions that were not read as a whole."""
    if not unit.depends:
        return []
    names = ", ".join(f"`{name}`" for name in sorted(unit.depends))
    return [f"read in part: the totals of {names} leave out what was not read"]


def _wrong(problem: Problem, dependent: str) -> Problem:
    return replace(problem, in_part=True, detail=(*problem.detail, dependent))


def _note(unknown: list[Skipped], dependent: str, module: str | None) -> Problem:
    first = unknown[0]
    reasons = dict.fromkeys(one.reason for one in unknown)
    others = [one.text for one in unknown[1:] if one.reason != first.reason]
    more = len(reasons) - 1
    also = f", and {more} more" if more else ""
    shown = list(dict.fromkeys(others))[:_SHOWN]
    detail = (*(f"also: {text}" for text in shown), dependent)
    message = f"judged in part: {first.reason}{also}; it is treated as an unknown value"
    return Problem(
        ProblemKind.UNRESOLVED_NAME,
        message,
        first.location,
        module,
        detail,
        in_part=True,
        is_note=True,
    )


def _dependent(unit: ParsedUnit, checks: tuple[Check, ...]) -> str:
    """Which verdicts depend on what was not read, in words."""
    # With inner functions counted as their outer ones.
    outermost = ((check.function or "").partition(".")[0] for check in checks)
    about = Counter(name for name in outermost if name in unit.depends)
    about.update(dict.fromkeys(unit.depends, 0))
    if not about:
        return "what could be read was judged as it stands"
    names = ", ".join(f"`{name}`" for name in sorted(map(str, about)))
    total = sum(about.values())
    count = f"{total} verdict{'' if total == 1 else 's'}" if total else "what is said"
    return f"the rest of the block was judged; {count} of {names} may depend on it"
