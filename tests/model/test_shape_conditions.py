"""What a comparison of an extent with a number says, at every point."""

from __future__ import annotations

from itertools import product

import pytest
import sympy

from relax_lint.model.shape_conditions import equality
from relax_lint.symbolic.evaluation import compile_condition, compile_expr
from relax_lint.symbolic.functions import Select

N, M = (sympy.Symbol(name, integer=True) for name in "nm")
FOUR = sympy.Integer(4)


@pytest.mark.parametrize(
    ("value", "expected", "text"),
    [
        (N, FOUR, "Eq(n, 4)"),
        (2 * N, FOUR, "Eq(2*n, 4)"),
        (sympy.Max(N, 4), FOUR, "n <= 4"),
        (sympy.Min(N, 4), FOUR, "n >= 4"),
        (sympy.Max(N, M, 4), FOUR, "(m <= 4) & (n <= 4)"),
        (sympy.Min(N, M, 4), FOUR, "(m >= 4) & (n >= 4)"),
        (sympy.Max(N, 5), FOUR, None),
        (sympy.Max(N, M), N, "m <= n"),
        (sympy.Min(N, M), N, "m >= n"),
        (Select(N > 3, 4, 2), FOUR, "n > 3"),
        (Select(N >= 4, 4, N), FOUR, "n >= 4"),
        (Select(N > 4, 4, N), FOUR, "Eq(n, 4) | (n > 4)"),
        (Select(N > 3, 4, M), FOUR, "Eq(m, 4) | (n > 3)"),
        (Select(N > 3, 4, 4 * M), FOUR, None),
        (Select(N > 3, N, 4), FOUR, None),
    ],
)
def test_it_says_the_same_in_simpler_words(value: sympy.Expr, expected: sympy.Expr, text: str | None) -> None:
    condition = equality(value, expected)
    holds, number = compile_condition(condition, (N, M)), compile_expr(value, (N, M))
    other = compile_expr(expected, (N, M))
    for point in product(range(-2, 9), repeat=2):
        assert holds(*point) == (number(*point) == other(*point))
    if text is not None:
        assert str(condition) == text
