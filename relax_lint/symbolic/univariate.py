"""Exact solution sets of conditions on one integer symbol: unions of intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import sympy

from relax_lint.symbolic import functions as f
from relax_lint.symbolic.evaluation import compile_expr, may_be_undefined
from relax_lint.symbolic.formula import All, Atom, Formula, Sign, atoms_of, put, to_formula
from relax_lint.symbolic.intervals import Bounds, Interval
from relax_lint.symbolic.polynomial import Polynomial, to_polynomial

IntSet = tuple[Interval, ...]
"""Disjoint, non-adjacent intervals in rising order."""

MAX_PIECES = 64
MAX_DEGREE = 16


def union(intervals: Iterable[Interval]) -> IntSet:
    """The set of all integers in any of the intervals."""
    merged: list[Interval] = []
    for low, high in sorted(i for i in intervals if i[0] <= i[1]):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    return tuple(merged)


def intersection(a: IntSet, b: IntSet) -> IntSet:
    """The integers in both sets."""
    return union((max(x[0], y[0]), min(x[1], y[1])) for x in a for y in b)


def complement(a: IntSet, within: Interval) -> IntSet:
    """The integers of `within` that are not in the set."""
    gaps, start = [], within[0]
    for low, high in a:
        gaps.append((start, min(low - 1, within[1])))
        start = max(start, high + 1)
    gaps.append((start, within[1]))
    return union(gaps)


def solve(formula: Formula, symbol: Any, within: Interval) -> IntSet | None:
    """Exactly the values of `symbol` in `within` that satisfy the formula, or None if it depends on
    another symbol or on an operation that is neither polynomial nor monotone.
    """
    if within[0] > within[1]:
        return ()
    if isinstance(formula, bool):
        return (within,) if formula else ()
    if isinstance(formula, Atom):
        return _solve_atom(formula, symbol, within)
    parts = []
    for part in formula.parts:
        solved = solve(part, symbol, within)
        if solved is None or len(solved) > MAX_PIECES:
            return None
        parts.append(solved)
    if isinstance(formula, All):
        result: IntSet = (within,)
        for solved in parts:
            result = intersection(result, solved)
        return result
    return union(i for solved in parts for i in solved)


def _solve_atom(relation: Atom, symbol: Any, within: Interval) -> IntSet | None:
    p = relation.polynomial
    not_negative = _non_negative(p, symbol, within)
    if not_negative is None or relation.sign is Sign.NON_NEGATIVE:
        return not_negative
    not_positive = _non_negative(p.scale(-1), symbol, within)
    if not_positive is None:
        return None
    zeros = intersection(not_negative, not_positive)
    return zeros if relation.sign is Sign.ZERO else complement(zeros, within)


def _non_negative(p: Polynomial, symbol: Any, within: Interval) -> IntSet | None:
    coefficients = p.univariate(symbol)
    if coefficients is not None:
        return non_negative_polynomial(coefficients, within) if len(coefficients) <= MAX_DEGREE + 1 else None
    if any(s != symbol for a in p.atoms() for s in a.free_symbols):
        return None
    expr = p.to_expr()
    if may_be_undefined(expr):
        return None
    choice = next((atom for atom in p.atoms() if isinstance(atom, f.Select)), None)
    if choice is not None:
        return _non_negative_choice(expr, choice, symbol, within)
    moves = _polynomial_direction(p, symbol, Bounds({symbol: within}))
    if moves is None:
        return None
    return union([_monotone_piece(compile_expr(expr, (symbol,)), within, rising=moves >= 0)])


def _non_negative_choice(expr: Any, choice: Any, symbol: Any, within: Interval) -> IntSet | None:
    """Where an expression with a selection is >= 0: each of its values where it is the chosen one."""
    condition, *options = choice.args
    chosen = solve(to_formula(condition), symbol, within)
    if chosen is None:
        return None
    found: list[Interval] = []
    for option, where in zip(options, (chosen, complement(chosen, within)), strict=True):
        part = to_polynomial(put(expr, {choice: option}))
        for piece in where:
            solved = _non_negative(part, symbol, piece)
            if solved is None or len(found) > MAX_PIECES:
                return None
            found += solved
    return union(found)


def non_negative_polynomial(coefficients: list[int], within: Interval) -> IntSet:
    """Where a polynomial (coefficients by rising degree) is >= 0, in exact integers.

    Between two neighbouring sign changes of its forward difference the polynomial is monotone; the
    difference has a lower degree, so its own sign changes are found the same way.
    """

    def value(x: int) -> int:
        result = 0
        for c in reversed(coefficients):
            result = result * x + c
        return result

    low, high = within
    if low > high:
        return ()
    if not any(coefficients[1:]):
        return (within,) if value(low) >= 0 else ()
    if len(coefficients) == 2:
        return union([_monotone_piece(value, within, rising=coefficients[1] > 0)])
    # The difference at x compares x with x + 1, hence `high - 1`, and the pieces share end points.
    rising = non_negative_polynomial(_forward_difference(coefficients), (low, high - 1))
    falling = complement(rising, (low, high - 1))
    pieces = [_monotone_piece(value, (a, b + 1), rising=True) for a, b in rising]
    pieces += [_monotone_piece(value, (a, b + 1), rising=False) for a, b in falling]
    if low == high:
        pieces = [_monotone_piece(value, within, rising=True)]
    return union(pieces)


def _forward_difference(coefficients: list[int]) -> list[int]:
    """Coefficients of p(x + 1) - p(x), whose degree is one less than that of p."""
    shifted = [0] * len(coefficients)
    for degree, c in enumerate(coefficients):
        binomial = 1
        for k in range(degree + 1):
            shifted[k] += c * binomial
            binomial = binomial * (degree - k) // (k + 1)
    return [s - c for s, c in zip(shifted[:-1], coefficients[:-1], strict=True)]


def _monotone_piece(value: Callable[[int], int], within: Interval, *, rising: bool) -> Interval:
    """The part of `within` where a monotone function is >= 0 (empty: low above high)."""
    return threshold(lambda x: value(x) >= 0, within, rising=rising)


def trend(formula: Formula, symbol: Any, bounds: Bounds) -> int | None:
    """1 if the formula, once true, stays true as `symbol` grows (the others held fixed), -1 if it stays
    true as `symbol` falls, 0 if it does not depend on it, None if that is not known.
    """
    directions = []
    for relation in atoms_of(formula):
        p = relation.polynomial
        if any(symbol in a.free_symbols for a in p.atoms()):
            known = relation.sign is Sign.NON_NEGATIVE and not may_be_undefined(p.to_expr())
            directions.append(_polynomial_direction(p, symbol, bounds) if known else None)
    return _agree(directions)


def threshold(holds: Callable[[int], bool], within: Interval, *, rising: bool) -> Interval:
    """The part of `within` where a condition of known trend holds (empty: low above high)."""
    low, high = within
    if holds(low if rising else high):
        return within
    if not holds(high if rising else low):
        return 1, 0
    bad, good = (low, high) if rising else (high, low)
    while abs(good - bad) > 1:
        middle = (bad + good) // 2
        if holds(middle):
            good = middle
        else:
            bad = middle
    return (good, high) if rising else (low, good)


def direction(expr: Any, symbol: Any, bounds: Bounds) -> int | None:
    """1 if the expression never falls as `symbol` grows over the box, -1 if it never rises, 0 if it
    does not depend on it, None if that is not known. All other symbols are held fixed.
    """
    if symbol not in expr.free_symbols:
        return 0
    if expr == symbol:
        return 1
    if isinstance(expr, (sympy.Max, sympy.Min)):
        return _agree(direction(a, symbol, bounds) for a in expr.args)
    if isinstance(expr, (f.FloorDiv, f.TruncDiv)) and isinstance(expr.args[1], sympy.Integer):
        inner = direction(expr.args[0], symbol, bounds)
        return inner if expr.args[1] > 0 or inner is None else -inner
    if isinstance(expr, (sympy.Add, sympy.Mul, sympy.Pow)):
        return _polynomial_direction(to_polynomial(expr), symbol, bounds)
    return None


def _polynomial_direction(p: Polynomial, symbol: Any, bounds: Bounds) -> int | None:
    directions = []
    for monomial, coefficient in p.terms.items():
        if all(symbol not in a.free_symbols for a, _ in monomial):
            continue
        # A product of factors that are not negative moves as its factors do.
        if any(bounds.atom(a)[0] < 0 for a, _ in monomial) and not _linear(monomial):
            return None
        moved = _agree(direction(a, symbol, bounds) for a, _ in monomial)
        directions.append(None if moved is None else moved if coefficient > 0 else -moved)
    return _agree(directions)


def _linear(monomial: Any) -> bool:
    return len(monomial) == 1 and bool(monomial[0][1] == 1)


def _agree(directions: Iterable[int | None]) -> int | None:
    seen = set(directions) - {0}
    if len(seen) > 1:
        return None
    return seen.pop() if seen else 0
