"""What grew between an earlier memory report and this one.

Formulas are compared, not the values beside them, which may have been written for another binding: at the
binding of this run where there is one, else by their terms. sympy is loaded only for formulas that differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from relax_lint.results.memory_figures import Amount, MemoryTotals
from relax_lint.support.lazy_dataclass import record

if TYPE_CHECKING:
    import sympy

FIGURES = ("planned", "peak_live", "reserved.naive", "reserved.pooled", "parameters", "constants")
"""The totals that are compared, by name."""
_NUMBER = r"[0-9]+"
_NAME = r"[^\W\d]\w*(?!\w|\()"
NOT_KNOWN = "not known"
"""Stands for a total without a formula."""

Formulas: TypeAlias = Mapping[str, "str | None"]
"""The formula of every figure by its name; None where it is not known."""


@record(frozen=True)
class Subject:
    """A function; `name` None means all functions together."""

    path: str = ""
    module: str | None = None
    name: str | None = None

    def __str__(self) -> str:
        if self.name is None:
            return "all functions"
        return f"{'.'.join(filter(None, (self.module, self.name)))} ({self.path})"


@record(frozen=True)
class FunctionTotals:
    """The totals of one function in one report, measured `at` a binding. What is in `unknown` has no formula,
    but at most a number that holds there.
    """

    subject: Subject
    formulas: Formulas
    unknown: frozenset[str]
    at: Mapping[str, int]

    def comparable(self, point: Mapping[str, int]) -> Formulas:
        """The formulas that say something at another binding."""
        lost = self.unknown if self.at != point else frozenset()
        return {name: None if name in lost else formula for name, formula in self.formulas.items()}


@record(frozen=True)
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


@record(frozen=True)
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


def totals_of(total: MemoryTotals) -> FunctionTotals:
    """What is compared of the totals of this run."""
    return FunctionTotals(
        Subject(total.path, total.module, total.function),
        formulas(
            planned_static=total.planned_static_bytes,
            planned_dynamic=_expr(total.planned_dynamic_bytes),
            peak_live=_expr(total.peak_live),
            naive=_expr(total.reserved.get("naive")),
            pooled=_expr(total.reserved.get("pooled")),
            parameters=_expr(total.parameter_bytes),
            constants=_expr(total.constant_bytes),
        ),
        frozenset(total.unknown),
        total.bindings,
    )


def formulas(
    *,
    planned_static: int,
    planned_dynamic: str | None,
    peak_live: str | None,
    naive: str | None,
    pooled: str | None,
    parameters: str | None,
    constants: str | None,
) -> Formulas:
    """The figures that are compared, by name."""
    planned = None if planned_dynamic is None else _plus((str(planned_static), planned_dynamic))
    return dict(
        zip(FIGURES, (planned, peak_live, naive, pooled, parameters, constants), strict=True),
    )


def compare(
    path: str,
    old: Iterable[FunctionTotals],
    new: Iterable[FunctionTotals],
    limit: Fraction | None,
    point: Mapping[str, int],
) -> Comparison:
    """The totals of this run at a binding against those of an earlier one, which stand in `path`."""
    before, after = _by_subject(old, point), _by_subject(new, point)
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


def _by_subject(totals: Iterable[FunctionTotals], point: Mapping[str, int]) -> dict[Subject, Formulas]:
    found: dict[Subject, Formulas] = {}
    for total in totals:
        subject = total.subject
        # Functions of one name in one file are told apart by their order.
        number = 2
        while subject in found:
            subject = Subject(subject.path, subject.module, f"{total.subject.name}#{number}")
            number += 1
        found[subject] = total.comparable(point)
    return found


def _expr(amount: Amount | None) -> str | None:
    return None if amount is None else amount.expr


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


def _plus(formulas: Iterable[str]) -> str:
    """The sum of formulas as one."""
    texts = list(formulas)
    constant = sum(int(text) for text in texts if re.fullmatch(_NUMBER, text))
    symbolic = [text for text in texts if not re.fullmatch(_NUMBER, text)]
    return " + ".join([*symbolic, *([str(constant)] if constant or not symbolic else [])])


def _sum(functions: Iterable[Formulas]) -> Formulas:
    each = list(functions)
    totals: dict[str, str | None] = {}
    for figure in FIGURES:
        texts = [formulas[figure] for formulas in each]
        known = [text for text in texts if text is not None]
        totals[figure] = _plus(known) if len(known) == len(texts) else None
    return totals


def _changes(
    subject: Subject, old: Formulas, new: Formulas, limit: Fraction | None, point: Mapping[str, int]
) -> Iterator[Change]:
    for figure in FIGURES:
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
    if re.fullmatch(_NUMBER, formula):
        return int(formula)
    expr = parsed_formula(formula)
    if expr is None:
        return None
    from relax_lint.totals.quantities import Indeterminate, evaluate

    try:
        return evaluate(expr, point)
    except Indeterminate:
        return None


def _stays_within(old: str, new: str, limit: Fraction) -> bool:
    """Whether a formula is seen to stay within the allowed growth for all sizes of the input."""
    before, after = parsed_formula(old), parsed_formula(new)
    if before is None or after is None:
        return False
    from relax_lint.totals.formula import reaches

    allowed = 1 + limit
    positive = frozenset(before.free_symbols | after.free_symbols)
    return reaches(before * allowed.numerator, after * allowed.denominator, positive)


def parsed_formula(formula: str) -> sympy.Expr | None:
    """The expression that the text of a formula in a report stands for; None where it is not one."""
    import sympy

    from relax_lint.symbolic.parsing import ParseError, parse_expr

    symbols = {name: sympy.Symbol(name, integer=True) for name in re.findall(_NAME, formula)}
    try:
        return sympy.sympify(parse_expr(formula, symbols))
    except ParseError:
        return None
