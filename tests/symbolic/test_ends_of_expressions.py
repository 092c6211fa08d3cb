"""What expressions promise at their ends: what has no value, no form or no text."""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import pytest
import sympy
from sympy.logic.boolalg import And, Or

from relax_lint.symbolic.evaluation import compile_condition
from relax_lint.symbolic.formula import to_formula
from relax_lint.symbolic.functions import FloorDiv, FloorMod, Select
from relax_lint.symbolic.intervals import Bounds
from relax_lint.symbolic.parsing import ParseError, parse_condition, parse_expr
from relax_lint.symbolic.polynomial import (
    MAX_PRODUCTS,
    MAX_TERMS,
    NotPolynomial,
    Polynomial,
    to_polynomial,
)
from relax_lint.symbolic.printing import expr_text
from relax_lint.symbolic.standard import standard
from relax_lint.symbolic.univariate import solve

N, M, K = SYMBOLS = sympy.symbols("n m k", integer=True)
REAL = sympy.Symbol("r", real=True)
UNKNOWN = sympy.Function("g", integer=True)(N)


# -- expressions -------------------------------------------------------------------------------


def test_a_quotient_of_a_quotient() -> None:
    rng = random.Random(5)
    for _ in range(300):
        a, b, c, d = (rng.randint(-9, 9) for _ in range(4))
        inner, outer = rng.randint(1, 6), rng.randint(1, 6)
        e = FloorDiv(a * N + b + c * FloorDiv(d * N + M, inner), outer)
        for n, m in product((-7, -1, 0, 3, 8), (-5, 0, 1, 6)):
            expected = (a * n + b + c * ((d * n + m) // inner)) // outer
            assert e.subs({N: n, M: m}) == expected, (a, b, c, d, inner, outer, n, m)
    assert FloorDiv(6 * N + FloorDiv(M, 3), 2) == 3 * N + FloorDiv(M, 6)


def test_polynomials_are_equal_to_polynomials_only() -> None:
    assert Polynomial.constant(3) == Polynomial.constant(3)
    assert Polynomial.constant(3) != 3
    assert Polynomial.constant(3) != to_polynomial(N)


def test_products_that_are_too_large_are_not_expanded() -> None:
    def total(name: str, count: int) -> Polynomial:
        return to_polynomial(sympy.Add(*sympy.symbols(f"{name}:{count}", integer=True)))

    assert MAX_TERMS < MAX_PRODUCTS
    one, side = total("a", 1), int(MAX_TERMS**0.5)
    assert len((total("a", side) * total("b", side)).terms) == side * side
    with pytest.raises(NotPolynomial):
        total("a", side + 1) * total("b", MAX_TERMS // (side + 1) + 1)
    assert len((one * total("b", MAX_TERMS)).terms) == MAX_TERMS
    # However few terms are left, so many products are not made.
    power = to_polynomial(sympy.Add(*(N**x for x in range(64))))
    power = power * power * power
    assert len(power.terms) ** 2 > MAX_PRODUCTS > 2 * len(power.terms)
    with pytest.raises(NotPolynomial):
        _ = power * power


@pytest.mark.parametrize("e", [N**-1, N**M, UNKNOWN])
def test_what_is_no_integer_is_not_evaluated(e: Any) -> None:
    with pytest.raises(TypeError):
        compile_condition(sympy.Ge(e, 0, evaluate=False), (N, M))


@pytest.mark.parametrize("flipped", [False, True])
def test_what_is_false_next_to_what_has_no_value_is_false(flipped: bool) -> None:
    """Whichever part sympy puts first: one of the two forms has the division before the disjunction."""
    divided = sympy.Ge(FloorDiv(6, K), 1)
    either = Or(N < 0, M < 0) if flipped else Or(N < 0, sympy.Lt(FloorDiv(M, 2), 0))
    for condition in (And(divided, either), Or(sympy.Gt(M, 99), And(divided, either))):
        holds = compile_condition(condition, SYMBOLS)
        assert holds(1, 1, 0) is False
        assert holds(-1, 1, 0) is None
        assert holds(-1, 1, 3) is True


@pytest.mark.parametrize(
    "e",
    [
        sympy.floor(N / REAL, evaluate=False),
        sympy.floor(REAL / 2),
        sympy.Piecewise((REAL, N > 0), (M, True)),
        sympy.Piecewise((M, N > 0), (REAL, True)),
        sympy.Piecewise((M, N > 0), (N, M > 0)),
    ],
    ids=str,
)
def test_what_is_not_about_integers_stays_as_it_is(e: Any) -> None:
    assert standard(e) == e


def test_what_is_about_integers_has_a_standard_form() -> None:
    assert standard(sympy.Piecewise((M, N > 0), (N, True))) == Select(N > 0, M, N)
    relation = standard(sympy.Le(N / 2, M + sympy.Rational(1, 3)))
    for n, m in product(range(-4, 5), repeat=2):
        assert (relation.subs({N: n, M: m}) == sympy.true) is (3 * n <= 6 * m + 2)


def test_a_choice_is_solved_wherever_it_is_made() -> None:
    """Of each value every stretch where it is the chosen one."""
    choice = Select(Or(N < 3, N > 7), N - 9, 2 - N)
    found = solve(to_formula(sympy.Ge(choice, -4)), N, (0, 20))
    assert found is not None
    inside = {x for low, high in found for x in range(low, high + 1)}
    assert inside == {n for n in range(21) if (n - 9 if n < 3 or n > 7 else 2 - n) >= -4}
    assert solve(to_formula(sympy.Ge(FloorDiv(N * N, 2), FloorDiv(M, 2))), N, (0, 20)) is None
    other = solve(to_formula(sympy.Ge(FloorDiv(N, 2) + FloorDiv(N + M, 3), 2)), N, (0, 20))
    assert other is None


def test_bounds_are_those_of_the_operation() -> None:
    assert Bounds({N: (0, 9)}).atom(FloorDiv(N, 2)) == (0, 4)
    assert Bounds({N: (0, 9)}).atom(FloorMod(N, 2)) == (0, 1)
    assert Bounds({}).atom(N) == (-(2**63), 2**63 - 1)


# -- texts -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("+n", N),
        ("-(+n)", -N),
        ("min(n)", N),
        ("Max(n, m, 3)", sympy.Max(N, M, 3)),
        ("FloorDiv(n, 2)", FloorDiv(N, 2)),
        ("Piecewise((n, n > 0), (m, m > 0), (3, True))", Select(N > 0, N, Select(M > 0, M, 3))),
    ],
)
def test_expressions_that_are_read(text: str, expected: Any) -> None:
    assert parse_expr(text, {"n": N, "m": M}) == expected


@pytest.mark.parametrize(
    "text", ["True", "f(n)", "min()", "FloorDiv(n)", "FloorDiv(n, m, 2)", "n + True", "x", "n / 2", "min(*n)"]
)
def test_expressions_that_are_not_read(text: str) -> None:
    with pytest.raises(ParseError):
        parse_expr(text, {"n": N, "m": M})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("true", sympy.true),
        ("false", sympy.false),
        ("true and n > 0", N > 0),
        ("0 < n <= m < 9", And(sympy.Lt(0, N), N <= M, M < 9)),
        ("Eq(n, 3)", sympy.Eq(N, 3)),
        ("Ne(n, 3) | (m > 4)", Or(sympy.Ne(N, 3), M > 4)),
    ],
)
def test_conditions_that_are_read(text: str, expected: Any) -> None:
    assert parse_condition(text, {"n": N, "m": M}) == expected


@pytest.mark.parametrize("text", ["n", "n is m", "0 < n in m", "n in (m,)", "true", "Eq(n)", "Lt(n, m)"])
def test_conditions_that_are_not_read(text: str) -> None:
    """`true` is no condition where it is the name of a symbol."""
    with pytest.raises(ParseError):
        parse_condition(text, {"n": N, "m": M, "true": K})


def test_a_power_of_a_symbol_comes_after_what_is_plain() -> None:
    assert expr_text(N**M + N) == "n + n**m"
    assert expr_text(N**M + N**2) == "n**2 + n**m"
