"""The parts of the provers one by one, on random conditions: nothing that they say is refuted by trying all points,
and they say no less than they did.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterator
from functools import cache, partial
from operator import ge, le
from typing import Any

import pytest
import sympy

from relax_lint.symbolic.domain import FactKind
from relax_lint.symbolic.evaluation import compile_condition, compile_expr
from relax_lint.symbolic.formula import (
    All,
    Atom,
    Formula,
    Sign,
    Unsupported,
    negate,
    substitute,
    symbols_of,
    to_formula,
)
from relax_lint.symbolic.intervals import Bounds
from relax_lint.symbolic.knowledge import Knowledge
from relax_lint.symbolic.polynomial import NotPolynomial, Polynomial, to_polynomial
from relax_lint.symbolic.regions import safe_region, to_condition
from relax_lint.symbolic.univariate import (
    complement,
    direction,
    intersection,
    non_negative_polynomial,
    solve,
    threshold,
    trend,
    union,
)

from .brute_force import SYMBOLS, Case, number, random_case, random_number, to_sympy
from .brute_force import Undefined as NoValue

CASES = 120
Values = dict[str, int]


@cache
def cases() -> tuple[Case, ...]:
    """Random questions on two symbols at most, with some point in their domains."""
    rng = random.Random(3)
    found = (random_case(rng) for _ in itertools.count())
    usable = (one for one in found if len(one.names) < 3 and next(one.points(*FactKind), None) is not None)
    return tuple(itertools.islice(usable, CASES))


def _formula(case: Case) -> Formula | None:
    try:
        return to_formula(to_sympy(case.claim))
    except Unsupported:
        return None


def _box(case: Case) -> Iterator[Values]:
    for values in itertools.product(*(range(low, high + 1) for low, high in case.box)):
        yield dict(zip(case.names, values, strict=True))


def _at(e: Any, at: Values) -> int:
    """The value of an expression. Raises ZeroDivisionError."""
    return compile_expr(e, tuple(SYMBOLS[name] for name in at))(*at.values())


def _polynomial(p: Polynomial, at: Values) -> int:
    result = 0
    for monomial, factor in p.terms.items():
        for atom, exponent in monomial:
            factor *= _at(atom, at) ** exponent
        result += factor
    return result


def _holds(formula: Formula, at: Values) -> bool | None:
    """The truth at a point in three-valued logic."""
    if isinstance(formula, bool):
        return formula
    if isinstance(formula, Atom):
        try:
            value = _polynomial(formula.polynomial, at)
        except ZeroDivisionError:
            return None
        return {Sign.NON_NEGATIVE: value >= 0, Sign.ZERO: value == 0, Sign.NON_ZERO: value != 0}[formula.sign]
    parts = [_holds(part, at) for part in formula.parts]
    decisive = not isinstance(formula, All)
    return decisive if decisive in parts else None if None in parts else not decisive


def test_formulas_are_the_conditions() -> None:
    for case in cases():
        formula = _formula(case)
        if formula is None:
            continue
        shown = compile_condition(to_condition(formula), tuple(SYMBOLS[name] for name in case.names))
        opposite = negate(formula)
        for at in _box(case):
            expected = case.value(at)
            if expected is None or _holds(formula, at) is None:
                continue
            assert _holds(formula, at) is expected, (case, at)
            assert _holds(opposite, at) is not expected, (case, at)
            assert shown(*at.values()) is expected, (case, at)


def test_symbols_are_replaced_by_numbers() -> None:
    for case in cases():
        formula = _formula(case)
        if formula is None or len(case.names) < 2:
            continue
        for at in itertools.islice(_box(case), 0, None, 7):
            name = case.names[at["n"] % 2]
            try:
                left = substitute(formula, {SYMBOLS[name]: at[name]})
            except Unsupported:
                continue
            assert SYMBOLS[name] not in symbols_of(left)
            expected = _holds(formula, at)
            assert expected is None or _holds(left, at) in (expected, None), (case, at)


def test_solutions_are_all_points_of_their_conditions() -> None:
    seen: Counter[str] = Counter()
    for case in cases():
        formula = _formula(case)
        if formula is None or len(case.names) != 1:
            continue
        ((low, high),) = case.box
        for within in ((low, high), (high, low), (low, low)):
            found = solve(formula, SYMBOLS["n"], within)
            seen["not solved" if found is None else "solved"] += 1
            if found is not None:
                expected = {n for n in range(within[0], within[1] + 1) if _holds(formula, {"n": n})}
                assert _numbers(found) == expected, case
    assert seen["solved"] >= 113


def _numbers(intervals: tuple[tuple[int, int], ...]) -> set[int]:
    """The integers of a set, in disjoint intervals with gaps between them."""
    assert all(low <= high for low, high in intervals)
    assert all(one[1] + 1 < other[0] for one, other in itertools.pairwise(intervals))
    return {n for low, high in intervals for n in range(low, high + 1)}


@pytest.mark.parametrize("seed", range(30))
def test_sets_of_integers(seed: int) -> None:
    rng = random.Random(seed)

    def some() -> list[tuple[int, int]]:
        return [(low := rng.randint(-9, 9), low + rng.randint(-1, 5)) for _ in range(rng.randint(0, 4))]

    def plain(intervals: list[tuple[int, int]]) -> set[int]:
        return {n for low, high in intervals for n in range(low, high + 1)}

    one, other = some(), some()
    a, b = union(one), union(other)
    assert _numbers(a) == plain(one)
    assert _numbers(intersection(a, b)) == plain(one) & plain(other)
    within = rng.randint(-9, 2), rng.randint(0, 12)
    assert _numbers(complement(a, within)) == set(range(within[0], within[1] + 1)) - plain(one)


@pytest.mark.parametrize("seed", range(40))
def test_polynomials_of_one_symbol(seed: int) -> None:
    rng = random.Random(seed)
    coefficients = [rng.randint(-30, 30), *(rng.randint(-9, 9) for _ in range(rng.randint(0, 4)))]
    within = rng.randint(-9, 0), rng.randint(-9, 12)

    def value(x: int) -> int:
        return sum(c * x**power for power, c in enumerate(coefficients))

    expected = {x for x in range(within[0], within[1] + 1) if value(x) >= 0}
    assert _numbers(non_negative_polynomial(coefficients, within)) == expected


def test_a_condition_of_known_trend_is_found_by_halving() -> None:
    for low, high, edge in itertools.product((-3, 0), (-3, 0, 4, 5), range(-5, 8)):
        if low > high:
            continue
        up = threshold(partial(le, edge), (low, high), rising=True)
        down = threshold(partial(ge, edge), (low, high), rising=False)
        assert set(range(up[0], up[1] + 1)) == {x for x in range(low, high + 1) if x >= edge}
        assert set(range(down[0], down[1] + 1)) == {x for x in range(low, high + 1) if x <= edge}


def test_expressions_move_as_is_said_and_stay_in_their_bounds() -> None:
    rng = random.Random(7)
    n, m = SYMBOLS["n"], SYMBOLS["m"]
    seen: Counter[str] = Counter()
    width = 0
    for _ in range(150):
        tree = random_number(rng, ("n", "m"), 3)
        low, other = rng.choice((0, 0, 1, -3)), rng.choice((0, 2, -2))
        box = {n: (low, low + 6), m: (other, other + 5)}
        bounds = Bounds(box)
        try:
            e = to_sympy(tree)
            moves, (least, most) = direction(e, n, bounds), bounds.expr(e)
        except (NotPolynomial, ValueError, TypeError):
            continue
        seen["known" if moves is not None else "not known"] += 1
        width += min(most - least, 1000)
        for b in range(other, other + 6):
            along = [_number(tree, a, b) for a in range(low, low + 7)]
            values = [value for value in along if value is not None]
            assert all(least <= value <= most for value in values), tree
            if moves is not None and len(values) == len(along):
                steps = {y - x for x, y in itertools.pairwise(values)}
                assert all(step * moves >= 0 and (moves or not step) for step in steps), (tree, box)
    assert seen["known"] >= 91
    assert width <= 8087


def _number(tree: Any, a: int, b: int) -> int | None:
    try:
        return number(tree, {"n": a, "m": b})
    except NoValue:
        return None


def test_conditions_stay_as_is_said() -> None:
    seen: Counter[int | None] = Counter()
    for case in cases():
        formula = _formula(case)
        if formula is None:
            continue
        bounds = Bounds({SYMBOLS[name]: limits for name, limits in zip(case.names, case.box, strict=True)})
        moves = trend(formula, SYMBOLS["n"], bounds)
        seen[moves] += 1
        if moves is None:
            continue
        for at in _box(case):
            after = {**at, "n": at["n"] + (moves or 1)}
            if case.box[0][0] <= after["n"] <= case.box[0][1] and _holds(formula, at):
                assert _holds(formula, after) is not False, (case, at)
    assert seen[None] <= 69


def test_what_is_known_holds_at_every_point_of_the_domain() -> None:
    seen: Counter[str] = Counter()
    for case in cases():
        domain = case.domain()
        known = Knowledge(domain.symbols, [fact.condition for fact in domain.facts])
        members = list(case.points(*FactKind))
        assert not known.empty, case
        for symbol, (low, high) in known.box.items():
            values = {at[symbol.name] for at in members}
            assert all(low <= value <= high for value in values), case
            seen["values"] += sum(b - a + 1 for a, b in known.values(symbol)[0])
            assert values <= _numbers(known.values(symbol)[0]), case
        for symbol, value in known.solved.items():
            seen["solved"] += 1
            assert all(_at(value, at) == at[symbol.name] for at in members), case
        claim = to_sympy(case.claim)
        for condition in (claim, sympy.Not(claim)):
            try:
                proved = known.proves(known.formula(condition))
            except Unsupported:
                continue
            seen["proved"] += proved
            wanted = condition == claim
            assert not proved or all(case.value(at) in (wanted, None) for at in members), case
        region = safe_region(claim, known)
        if region is not None:
            seen["regions"] += 1
            holds = compile_condition(region, tuple(SYMBOLS[name] for name in case.names))
            for at in members:
                assert None in (case.value(at), holds(*at.values())) or holds(*at.values()) is case.value(at)
    # More may become known, less may not.
    assert seen["proved"] >= 81
    assert seen["regions"] >= 119
    assert seen["solved"] >= 12
    assert seen["values"] <= 1783


def test_a_polynomial_is_its_expression() -> None:
    rng = random.Random(11)
    for _ in range(150):
        tree, other = (random_number(rng, ("n", "m"), 3) for _ in range(2))
        try:
            p, q = to_polynomial(to_sympy(tree)), to_polynomial(to_sympy(other))
        except (NotPolynomial, ValueError, TypeError):
            continue
        for a, b in itertools.product((-2, 0, 1, 3, 7), (-1, 0, 2, 5)):
            x, y = _number(tree, a, b), _number(other, a, b)
            if x is None or y is None:
                continue
            at = {"n": a, "m": b}
            assert _polynomial(p, at) == _at(p.to_expr(), at) == x
            assert _polynomial(p * q, at) == x * y
            assert _polynomial(p + q, at) == x + y
            assert _polynomial(p - q, at) == x - y
            assert _polynomial(p.scale(-3).shift(2), at) == 2 - 3 * x
        coefficients = p.univariate(SYMBOLS["n"])
        if coefficients is not None:
            for a in (-2, 0, 3):
                value = sum(c * a**power for power, c in enumerate(coefficients))
                assert value == _polynomial(p, {"n": a, "m": 1})
