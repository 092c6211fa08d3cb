"""For which values of a symbol a number of pages is one number, and which sizes may be equal: at every point."""

from __future__ import annotations

from typing import Any

import pytest
import sympy

from relax_lint.symbolic.evaluation import compile_condition, compile_expr
from relax_lint.symbolic.functions import FloorDiv
from relax_lint.totals.pools import _quotient_is, may_be_equal

N, M = (sympy.Symbol(name, integer=True) for name in "nm")


def _pages(numerator: Any, divisor: Any) -> Any:
    return FloorDiv(sympy.sympify(numerator), sympy.sympify(divisor))


@pytest.mark.parametrize(
    ("pages", "count", "text"),
    [
        (_pages(N, 4), 2, "(n >= 8) & (n <= 11)"),
        (_pages(N + 3, 4), 2, "(n >= 5) & (n <= 8)"),
        (_pages(2 * N + 3, 4), 2, "(n >= 3) & (n <= 4)"),
        (_pages(4 * N + 3, 4), 2, None),
        (_pages(3 * N + 3, 4), 1, "Eq(n, 1)"),
        # No number of the sequence is this one: 7 pages follow 4.
        (_pages(7 * N + 1, 2), 5, "False"),
        (_pages(7 * N + 1, 2), 4, "Eq(n, 1)"),
        (_pages(-N, 4), -2, None),
        (_pages(N * N, 4), 4, None),
        (_pages(N * M, 4), 1, None),
        (_pages(N + M, 4), 2, None),
        (_pages(N, M), 2, None),
        (2 * N, 6, None),
    ],
)
def test_the_condition_holds_where_the_numbers_are_equal(pages: Any, count: int, text: str | None) -> None:
    condition = _quotient_is(pages, count)
    holds, number = compile_condition(condition, (N, M)), compile_expr(pages, (N, M))
    for n in range(-20, 40):
        for m in (1, 2, 3):
            assert bool(holds(n, m)) is (number(n, m) == count), (n, m)
    if text is not None:
        assert str(condition) == text


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (4096, 8192, False),
        (4096 * N, 4096, True),
        (4096 * N, 4096 * N + 4096, False),
        (4096 * N + 8192, 4096 * N, False),
        (4096 * N, 8192 * N, True),
        (4096 * N, 4096 * M, True),
    ],
)
def test_sizes_that_are_a_page_apart_are_never_equal(one: Any, other: Any, expected: bool) -> None:
    positive = frozenset((N, M))
    assert may_be_equal(one, other, 4096, positive) is expected
    assert may_be_equal(other, one, 4096, positive) is expected
