"""What grew between an earlier memory report and this one.

Formulas are compared, not the values beside them, which may have been written for another binding: at the
binding of this run where there is one, else by their terms. Where sizes have bounds the largest values are
compared as well. sympy is loaded only for formulas that differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from relax_lint.results.memory_figures import MemoryTotals
from relax_lint.support.lazy_dataclass import record
from relax_lint.totals.compared_maxima import Bounds, Maxima, Maximum, changed_maxima, is_declared

if TYPE_CHECKING:
    import sympy

FIGURES = (
    "tensors",
    "planned",
    "peak_live",
    "reserved.naive",
    "reserved.pooled",
    "repeated.naive",
    "repeated.pooled",
    "lower_bound",
    "workspaces.held",
    "workspaces.together.naive",
    "workspaces.together.pooled",
    "packed.device",
    "packed.host",
    "parameters",
    "constants",
)
"""The totals that are compared, by name."""
MAXIMUM = ".maximum"
"""Behind the name of a total: its largest value over the ranges of the symbols."""
COMPARED = (*FIGURES, *[f"{figure}{MAXIMUM}" for figure in FIGURES])
_IN_REPORT = {
    "tensors": "unplanned.dynamic_bytes",
    "planned": "planned.dynamic_bytes",
    "parameters": "parameters.bytes",
    "constants": "constants.bytes",
}
"""What of a total depends on symbols, by its name in a report, where that is another one."""
_AS_A_RULE = {
    f"{kind}.{allocator}": f"reserved.{allocator}"
    for kind in ("repeated", "workspaces.together")
    for allocator in ("naive", "pooled")
}
"""The totals that are mostly the same as another one, and are then not told again."""
_NUMBER = r"[0-9]+"
_NAME = r"[^\W\d]\w*(?!\w|\()"
NOT_KNOWN = "not known"
"""Stands for a total without a formula."""

Formulas: TypeAlias = Mapping[str, "str | None"]
"""The formula of every figure by its name; None where it is not known. What was not asked for is missing."""


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
    but at most a number that holds there. `maxima` are None where they were not looked for.
    """

    subject: Subject
    formulas: Formulas
    unknown: frozenset[str]
    at: Mapping[str, int]
    maxima: Maxima | None = None

    def comparable(self, point: Mapping[str, int]) -> Formulas:
        """The formulas that say something at another binding."""
        lost = self.unknown if self.at != point else frozenset()
        return {
            name: None if _IN_REPORT.get(name, name) in lost else formula
            for name, formula in self.formulas.items()
        }


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
    workspaces, packed = total.workspaces, total.packed
    found = {
        "unplanned.dynamic_bytes": total.unplanned_dynamic_bytes,
        "planned.dynamic_bytes": total.planned_dynamic_bytes,
        "peak_live": total.peak_live,
        "lower_bound": total.lower_bound,
        "parameters.bytes": total.parameter_bytes,
        "constants.bytes": total.constant_bytes,
        **{f"reserved.{name}": amount for name, amount in total.reserved.items()},
        **{f"repeated.{name}": amount for name, amount in total.repeated.items()},
    }
    if workspaces is not None:
        found["workspaces.held"] = workspaces.held
        found |= {f"workspaces.together.{name}": amount for name, amount in workspaces.together.items()}
    if packed is not None:
        found |= {"packed.device": packed.device, "packed.host": packed.host}
    return function_totals(
        Subject(total.path, total.module, total.function),
        {name: None if amount is None else amount.expr for name, amount in found.items()},
        {"tensors": total.unplanned_static_bytes, "planned": total.planned_static_bytes},
        frozenset(total.unknown),
        total.bindings,
        {
            name: (over.maximum, over.is_limit, tuple((one.name, one.low, one.high) for one in over.within))
            for name, over in total.over_range.items()
        },
        {symbol.name: (symbol.low, symbol.high) for symbol in total.symbols},
    )


def function_totals(
    subject: Subject,
    found: Mapping[str, str | None],
    fixed: Mapping[str, int],
    unknown: frozenset[str],
    at: Mapping[str, int],
    over_range: Mapping[str, tuple[int, bool, Bounds]] | None,
    symbols: Mapping[str, tuple[int | None, int | None]],
) -> FunctionTotals:
    """The totals of a function as a report has them: formulas by the name that they have there, the `fixed`
    bytes of totals that have such, and largest values, whether these are limits only, and the ranges.
    """
    formulas: dict[str, str | None] = {}
    maxima: dict[str, Maximum | None] = {}
    for figure in FIGURES:
        name, more = _IN_REPORT.get(figure, figure), fixed.get(figure, 0)
        if name not in found:
            continue
        formula = found[name]
        formulas[figure] = formula = None if formula is None else _plus((str(more), formula))
        if over_range is None:
            continue
        if name in over_range:
            largest, is_limit, within = over_range[name]
            known = Maximum(largest + more, within, is_declared(within, symbols))
            maxima[figure] = None if is_limit else known
        elif formula is not None and re.fullmatch(_NUMBER, formula):
            maxima[figure] = Maximum(int(formula))
    return FunctionTotals(subject, formulas, unknown, at, None if over_range is None else maxima)


def compare(
    path: str,
    old: Iterable[FunctionTotals],
    new: Iterable[FunctionTotals],
    limit: Fraction | None,
    point: Mapping[str, int],
) -> Comparison:
    """The totals of this run at a binding against those of an earlier one, which stand in `path`."""
    before, after = _by_subject(old), _by_subject(new)
    partners = _partners(before, after)
    changes: list[Change] = []
    for subject, earlier in partners.items():
        was, is_ = before[earlier], after[subject]
        changes += _changes(subject, was.comparable(point), is_.comparable(point), limit, point)
        changes += _maxima(subject, was, is_, limit)
    if len(after) != 1 or len(before) != 1:
        one, two = (_sum([each.comparable(point) for each in all_.values()]) for all_ in (before, after))
        changes += _changes(Subject(), one, two, limit, point)
    return Comparison(
        path=path,
        limit=limit,
        changes=tuple(changes),
        added=tuple(subject for subject in after if subject not in partners),
        removed=tuple(subject for subject in before if subject not in partners.values()),
    )


def _by_subject(totals: Iterable[FunctionTotals]) -> dict[Subject, FunctionTotals]:
    found: dict[Subject, FunctionTotals] = {}
    for total in totals:
        subject = total.subject
        # Functions of one name in one file are told apart by their order.
        number = 2
        while subject in found:
            subject = Subject(subject.path, subject.module, f"{total.subject.name}#{number}")
            number += 1
        found[subject] = total
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


def _plus(formulas: Iterable[str]) -> str:
    """The sum of formulas as one."""
    texts = list(formulas)
    constant = sum(int(text) for text in texts if re.fullmatch(_NUMBER, text))
    symbolic = [text for text in texts if not re.fullmatch(_NUMBER, text)]
    return " + ".join([*symbolic, *([str(constant)] if constant or not symbolic else [])])


def _sum(each: Sequence[Formulas]) -> Formulas:
    totals: dict[str, str | None] = {}
    for figure in FIGURES:
        texts = [formulas[figure] for formulas in each if figure in formulas]
        known = [text for text in texts if text is not None]
        if len(texts) == len(each):
            totals[figure] = _plus(known) if len(known) == len(each) else None
    return totals


def _changes(
    subject: Subject, old: Formulas, new: Formulas, limit: Fraction | None, point: Mapping[str, int]
) -> Iterator[Change]:
    for figure in FIGURES:
        if figure not in old or figure not in new or _is_told(figure, old, new):
            continue
        before, after = old[figure], new[figure]
        if before == after:
            continue
        if before is None or after is None:
            # What was measured and is not known any more may have grown.
            exceeds = limit is not None and after is None
            yield Change(subject, figure, before or NOT_KNOWN, after or NOT_KNOWN, None, exceeds)
        else:
            yield from _change(subject, figure, before, after, limit, point)


def _is_told(figure: str, old: Mapping[str, object], new: Mapping[str, object]) -> bool:
    """Whether a total is that of another one, in both reports."""
    other = _AS_A_RULE.get(figure)
    return other is not None and all(each.get(figure) == each.get(other) for each in (old, new))


def _maxima(
    subject: Subject, old: FunctionTotals, new: FunctionTotals, limit: Fraction | None
) -> Iterator[Change]:
    """What is said of the largest values, where both reports have looked for them and give the same symbols a
    value.
    """
    if old.maxima is None or new.maxima is None or old.at != new.at:
        return
    for figure, before, after in changed_maxima(old.maxima, new.maxima):
        numbers = all(re.fullmatch(_NUMBER, each.formulas.get(figure) or "") for each in (old, new))
        if numbers or _is_told(figure, old.maxima, new.maxima):
            continue
        if figure not in old.formulas or figure not in new.formulas:
            continue
        name = figure + MAXIMUM
        if before is None or after is None:
            exceeds = limit is not None and after is None
            yield Change(subject, name, before or NOT_KNOWN, after or NOT_KNOWN, None, exceeds)
        else:
            yield _of_numbers(subject, name, before, after, limit)


def _change(
    subject: Subject, figure: str, old: str, new: str, limit: Fraction | None, point: Mapping[str, int]
) -> Iterator[Change]:
    before, after = _value(old, point), _value(new, point)
    if before is None or after is None:
        exceeds = limit is not None and not _stays_within(old, new, limit)
        yield Change(subject, figure, old, new, None, exceeds)
    elif before != after:
        yield _of_numbers(subject, figure, before, after, limit)


def _of_numbers(subject: Subject, figure: str, before: int, after: int, limit: Fraction | None) -> Change:
    growth = Fraction(after - before, before) if before else None
    exceeds = limit is not None and after > before * (1 + limit)
    return Change(subject, figure, before, after, growth, exceeds)


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
