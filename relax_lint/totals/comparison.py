"""What grew between an earlier memory report and this one.

Formulas are compared, not the values beside them, which may have been written for another binding: at the
binding of this run where there is one, else by their terms. sympy is loaded only for formulas that differ.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from relax_lint.output.json import report_object
from relax_lint.results.report import Report

if TYPE_CHECKING:
    import sympy

_FIGURES = ("planned", "peak_live", "reserved.naive", "reserved.pooled", "parameters", "constants")
_NUMBER = re.compile(r"[0-9]+", re.ASCII)
_NAME = re.compile(r"[^\W\d]\w*(?!\w|\()")
NOT_KNOWN = "not known"
"""Stands for a total without a formula."""

_LARGEST_REPORT = 1 << 28


class ComparisonError(ValueError):
    """An earlier report that cannot be compared with; the text is for the user."""


@dataclass(frozen=True)
class Subject:
    """A function; `name` None stands for all functions together."""

    path: str = ""
    module: str | None = None
    name: str | None = None

    def __str__(self) -> str:
        if self.name is None:
            return "all functions"
        return f"{'.'.join(filter(None, (self.module, self.name)))} ({self.path})"


@dataclass(frozen=True)
class Change:
    """A total that is not what it was.

    `old` and `new` are numbers of bytes, or formulas where symbols remain; `growth` is the share of the old
    one that was added, None where it depends on symbols or there was nothing. `exceeds` says whether it
    grew by more than allowed, or may have.
    """

    subject: Subject
    total: str
    old: int | str
    new: int | str
    growth: Fraction | None
    exceeds: bool


@dataclass(frozen=True)
class Comparison:
    """`limit` is the growth that is allowed (0.05 for 5 %), None where any is."""

    path: str
    limit: Fraction | None
    changes: tuple[Change, ...]
    added: tuple[Subject, ...]
    removed: tuple[Subject, ...]

    @property
    def exceeds(self) -> bool:
        """Whether a total grew by more than allowed."""
        return any(change.exceeds for change in self.changes)


def read_report(path: str) -> list[Any]:
    """The memory totals of a JSON report. Raises ComparisonError."""
    try:
        with open(path, "rb") as file:
            data = file.read(_LARGEST_REPORT + 1)
    except OSError as error:
        raise ComparisonError(f"cannot read {path}: {error.strerror}") from None
    if len(data) > _LARGEST_REPORT:
        raise ComparisonError(f"{path} is too large for a report")
    try:
        memory = json.loads(data)["memory"]
        if not isinstance(memory, list):
            raise TypeError
        for total in memory:
            _formulas(total, {})
            _subject(total)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ComparisonError(f"{path} is not a JSON report of `relax-lint memory`") from None
    return memory


def compare(
    path: str, old: Iterable[Any], report: Report, limit: Fraction | None, point: Mapping[str, int]
) -> Comparison:
    """This report against the totals of an earlier one, which `read_report` read from `path`."""
    before = _by_subject(old, point)
    after = _by_subject(report_object(report)["memory"], point)
    partners = _partners(before, after)
    changes: list[Change] = []
    for subject, earlier in partners.items():
        changes += _changes(subject, before[earlier], after[subject], limit, point)
    if len(after) != 1 or len(before) != 1:
        changes += _changes(Subject(), _sum(before.values()), _sum(after.values()), limit, point)
    return Comparison(
        path=path,
        limit=limit,
        changes=tuple(changes),
        added=tuple(subject for subject in after if subject not in partners),
        removed=tuple(subject for subject in before if subject not in partners.values()),
    )


_Formulas = Mapping[str, "str | None"]


def _by_subject(memory: Iterable[Any], point: Mapping[str, int]) -> dict[Subject, _Formulas]:
    found: dict[Subject, _Formulas] = {}
    for total in memory:
        subject = _subject(total)
        # Functions of one name in one file are told apart by their order.
        number = 2
        while subject in found:
            subject = Subject(subject.path, subject.module, f"{total['function']}#{number}")
            number += 1
        found[subject] = _formulas(total, point)
    return found


def _partners(before: Iterable[Subject], after: Iterable[Subject]) -> dict[Subject, Subject]:
    """The earlier self of each function. A file that was moved is found by the names in it."""
    old, new = dict.fromkeys(before), dict.fromkeys(after)
    found = {subject: subject for subject in new if subject in old}
    for subject in new:
        same = [other for other in old if _names(other) == _names(subject)]
        if subject not in found and len(same) == 1 and same[0] not in new:
            found[subject] = same[0]
    return {subject: found[subject] for subject in new if subject in found}


def _names(subject: Subject) -> tuple[str | None, str | None]:
    return subject.module, subject.name


def _subject(total: Any) -> Subject:
    path, module, name = total["path"], total["module"], total["function"]
    if not isinstance(path, str) or not isinstance(name, str) or not isinstance(module, str | None):
        raise TypeError
    return Subject(path, module, name)


def _formulas(total: Any, point: Mapping[str, int]) -> _Formulas:
    """The formula of every figure by name; None where it is not known. Raises TypeError and such."""
    planned = total["planned"]
    dynamic = _expr(planned["dynamic_bytes"])
    formulas = {
        "planned": None if dynamic is None else _plus((str(int(planned["static_bytes"])), dynamic)),
        "peak_live": _expr(total["peak_live"]),
        "reserved.naive": _expr(total["reserved"].get("naive")),
        "reserved.pooled": _expr(total["reserved"].get("pooled")),
        "parameters": _expr(total["parameters"]["bytes"]),
        "constants": _expr(total["constants"]["bytes"]),
    }
    # What has no formula has at most a number, which is worth nothing at other values.
    at = dict(total["bindings"])
    return {name: None if name in total["unknown"] and at != point else formulas[name] for name in formulas}


def _expr(amount: Any) -> str | None:
    if amount is None:
        return None
    if not isinstance(amount["expr"], str):
        raise TypeError
    return str(amount["expr"])


def _plus(formulas: Iterable[str]) -> str:
    """The sum of formulas as one."""
    texts = list(formulas)
    constant = sum(int(text) for text in texts if _NUMBER.fullmatch(text))
    symbolic = [text for text in texts if not _NUMBER.fullmatch(text)]
    return " + ".join([*symbolic, *([str(constant)] if constant or not symbolic else [])])


def _sum(functions: Iterable[_Formulas]) -> _Formulas:
    each = list(functions)
    totals: dict[str, str | None] = {}
    for figure in _FIGURES:
        texts = [formulas[figure] for formulas in each]
        known = [text for text in texts if text is not None]
        totals[figure] = _plus(known) if len(known) == len(texts) else None
    return totals


def _changes(
    subject: Subject, old: _Formulas, new: _Formulas, limit: Fraction | None, point: Mapping[str, int]
) -> Iterator[Change]:
    for figure in _FIGURES:
        before, after = old[figure], new[figure]
        if before == after:
            continue
        if before is None or after is None:
            # What was measured and is not known any more may have grown.
            exceeds = limit is not None and after is None
            yield Change(subject, figure, before or NOT_KNOWN, after or NOT_KNOWN, None, exceeds)
        else:
            yield from _change(subject, figure, before, after, limit, point)


def _change(
    subject: Subject, figure: str, old: str, new: str, limit: Fraction | None, point: Mapping[str, int]
) -> Iterator[Change]:
    before, after = _value(old, point), _value(new, point)
    if before is None or after is None:
        exceeds = limit is not None and not _stays_within(old, new, limit)
        yield Change(subject, figure, old, new, None, exceeds)
    elif before != after:
        growth = Fraction(after - before, before) if before else None
        exceeds = limit is not None and after > before * (1 + limit)
        yield Change(subject, figure, before, after, growth, exceeds)


def _value(formula: str, point: Mapping[str, int]) -> int | None:
    """The number of bytes at a binding; None where symbols remain or the formula is not understood."""
    if _NUMBER.fullmatch(formula):
        return int(formula)
    expr = _parsed(formula)
    if expr is None:
        return None
    from relax_lint.totals.quantities import Indeterminate, evaluate

    try:
        return evaluate(expr, point)
    except Indeterminate:
        return None


def _stays_within(old: str, new: str, limit: Fraction) -> bool:
    """Whether a formula is seen to stay within the allowed growth for all sizes of the input."""
    before, after = _parsed(old), _parsed(new)
    if before is None or after is None:
        return False
    from relax_lint.totals.formula import reaches

    allowed = 1 + limit
    positive = frozenset(before.free_symbols | after.free_symbols)
    return reaches(before * allowed.numerator, after * allowed.denominator, positive)


def _parsed(formula: str) -> sympy.Expr | None:
    import sympy

    from relax_lint.symbolic.parsing import ParseError, parse_expr

    symbols = {name: sympy.Symbol(name, integer=True) for name in _NAME.findall(formula)}
    try:
        return sympy.sympify(parse_expr(formula, symbols))
    except ParseError:
        return None
