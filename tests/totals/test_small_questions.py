"""Small questions that totals ask of formulas: each at its limits, against values."""

from __future__ import annotations

import pytest
import sympy

from relax_lint.settings.memory_request import Binding
from relax_lint.symbolic.evaluation import compile_condition
from relax_lint.symbolic.functions import FloorDiv
from relax_lint.totals import bounded, pools
from relax_lint.totals.formula import greatest, is_never_negative
from relax_lint.totals.ranges import grows

N, M = sympy.symbols("n m", integer=True)


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (sympy.Integer(0), True),
        (sympy.Integer(-1), False),
        (N, True),
        (-N, False),
        (N - 5, True),
        (N * M + 2 * N - 1, True),
        (N - M, False),
        (N * (M - 1), False),
        (FloorDiv(N, 1), True),
        (FloorDiv(N + 15, 16), True),
        (FloorDiv(N - 3, 2), True),
        (FloorDiv(N, -2), False),
        (FloorDiv(N, M), False),
        (FloorDiv(16, N), False),
        (FloorDiv(-N, 2), False),
        (N**2, True),
        (N**1, True),
        (N**-1, False),
        (N**M, False),
        (sympy.Pow(2, N), False),
        ((N - 3) ** 2, False),
        ((N + 3) ** 2, False),
    ],
    ids=str,
)
def test_what_is_seen_to_grow(expr: sympy.Expr, expected: bool) -> None:
    assert grows(expr) is expected


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (sympy.Integer(0), True),
        (sympy.Integer(-1), False),
        (N, True),
        (M, False),
        (2 * N + 3, True),
        (2 * N - 3, False),
        (N * M, False),
        (FloorDiv(N, 2), True),
        (FloorDiv(M, 2), False),
        (sympy.Max(M, 0), True),
        (sympy.Max(M, -1), False),
        (sympy.Min(N, 4), True),
        (sympy.Min(N, M), False),
        (N**2, True),
        (M**2, False),
    ],
    ids=str,
)
def test_the_signs_of_parts(expr: sympy.Expr, expected: bool) -> None:
    assert is_never_negative(expr, frozenset({N})) is expected


@pytest.mark.parametrize("a", [1, 3, 16, 4096])
@pytest.mark.parametrize("c", [0, 5, 4095])
@pytest.mark.parametrize("d", [1, 16, 4096])
def test_where_a_number_of_pages_is_another(a: int, c: int, d: int) -> None:
    for count in (0, 1, 2, 7):
        found = pools._quotient_is(FloorDiv(a * N + c, d), count)
        holds = compile_condition(found, (N,))
        values = range(-2, 60) if a * 60 > d else (*range(8), *range(8 * d // a - 3, 8 * d // a + 3))
        wrong = [n for n in values if bool(holds(n)) != ((a * n + c) // d == count)]
        assert wrong == [], (count, found)


@pytest.mark.parametrize(
    "pages",
    [FloorDiv(N * M, 4), N, FloorDiv(8, N), FloorDiv(-N, 4), FloorDiv(N**2, 4), FloorDiv(N**2 + N, 4)],
    ids=str,
)
def test_other_pages_are_compared_as_they_are(pages: sympy.Expr) -> None:
    assert pools._quotient_is(pages, 3) == sympy.Eq(pages, 3)


def test_the_range_is_written_plainly() -> None:
    assert pools._quotient_is(FloorDiv(N, 4), 2) == sympy.And(N >= 8, N <= 11)
    assert pools._quotient_is(FloorDiv(4 * N, 4 * 1), 2) == sympy.Eq(N, 2)
    assert pools._quotient_is(FloorDiv(8 * N, 4, evaluate=False), 3) == sympy.false


@pytest.mark.parametrize(
    ("total", "divisors"),
    [
        (FloorDiv(N, 16) + FloorDiv(M, 1), {16}),
        (FloorDiv(N, 16) + FloorDiv(M, 24), {16, 24}),
        (FloorDiv(N, M), set()),
        (FloorDiv(N, -4), set()),
        (N, set()),
    ],
    ids=str,
)
def test_whole_pages(total: sympy.Expr, divisors: set[int]) -> None:
    assert bounded._divisors(total) - {1} == divisors
    assert bounded._period(total) == {0: 1, 1: 16, 2: 48}[len(divisors)]


def test_a_long_period_is_none() -> None:
    longest = bounded._MAX_PERIOD
    assert bounded._period(FloorDiv(N, longest)) == longest
    assert bounded._period(FloorDiv(N, longest + 1)) == 1


def test_few_values_are_tried() -> None:
    most = bounded.MAX_TRIED
    assert bounded._is_small([])
    assert bounded._is_small([Binding("n", 1, most)])
    assert not bounded._is_small([Binding("n", 0, most)])
    assert not bounded._is_small([Binding("n", 1, most // 2), Binding("m", 0, 2)])


def test_the_greatest_size() -> None:
    assert greatest([], frozenset()) == 0
    assert greatest([3, 7, 5], frozenset()) == 7
    assert greatest([N], frozenset()) == greatest([N, N], frozenset()) == N
    assert greatest([N, 2 * N, 0], frozenset({N})) == 2 * N
    assert sympy.sympify(greatest([N, 4], frozenset({N}))).subs(N, 3) == 4
