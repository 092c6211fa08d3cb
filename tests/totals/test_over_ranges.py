"""The maximum of a formula over ranges, against every assignment of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product

import pytest
import sympy

from relax_lint.settings.memory_request import Binding, MemoryRequest
from relax_lint.symbolic.functions import FloorDiv, FloorMod, Select
from relax_lint.totals.bounded import bounded
from relax_lint.totals.quantities import Indeterminate
from relax_lint.totals.ranges import over_range

N, M = (sympy.Symbol(name, integer=True) for name in "nm")
FORMULAS: Mapping[str, tuple[sympy.Expr, Callable[[int, int], int]]] = {
    "falls": (100 - 3 * N, lambda n, m: 100 - 3 * n),
    "grows": (4 * N + 16, lambda n, m: 4 * n + 16),
    "rises, then falls": (N * (20 - N), lambda n, m: n * (20 - n)),
    "a remainder": (8 * FloorMod(N, 5), lambda n, m: 8 * (n % 5)),
    "one of two": (sympy.Max(4 * N, 40), lambda n, m: max(4 * n, 40)),
    "one of three": (
        sympy.Max(4 * N, 40, 10 * N - 60),
        lambda n, m: max(4 * n, 40, 10 * n - 60),
    ),
    "divided by the size": (FloorDiv(1000, N), lambda n, m: 1000 // n),
    "two that grow": (4 * N * M + N, lambda n, m: 4 * n * m + n),
    "one grows and one falls": (50 * N - 7 * M * N, lambda n, m: 50 * n - 7 * m * n),
    "a product that turns": (N * (9 - M) + 3 * M, lambda n, m: n * (9 - m) + 3 * m),
    "divided by the other": (FloorDiv(100 * N, M), lambda n, m: 100 * n // m),
    "where two sizes are equal": (
        40 + 4 * N - Select(sympy.Eq(N, M), 8, 0),
        lambda n, m: 40 + 4 * n - (8 if n == m else 0),
    ),
}


def request(*bindings: Binding) -> MemoryRequest:
    return MemoryRequest(bindings=bindings)


def values(name: str, n: range, m: range) -> dict[tuple[int, int], int]:
    """At every assignment that does not divide by zero."""
    found = {}
    for at in product(n, m):
        try:
            found[at] = FORMULAS[name][1](*at)
        except ZeroDivisionError:
            continue
    return found


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize(("n", "m"), [(range(13), range(1, 7)), (range(3, 4), range(2, 9))])
def test_the_maximum_is_the_greatest_of_all(name: str, n: range, m: range) -> None:
    total, _ = FORMULAS[name]
    ranges = request(Binding("n", n[0], n[-1]), Binding("m", m[0], m[-1]))
    every = values(name, n, m)
    for found in (over_range(total, ranges), bounded(total, ranges, ranges)):
        assert found is not None
        assert found.maximum == max(every.values())
        at = (found.at.get("n", n[0]), found.at.get("m", m[0]))
        assert every[at] == found.maximum


@pytest.mark.parametrize("name", ["falls", "rises, then falls", "one of three", "divided by the size"])
def test_the_formula_that_gives_it_where(name: str) -> None:
    total, _ = FORMULAS[name]
    ranges = request(Binding("n", 1, 40))
    pieces = over_range(total, ranges).pieces
    assert [piece.low for piece in pieces] == [1, *(piece.high + 1 for piece in pieces[:-1])]
    assert pieces[-1].high == 40
    for piece in pieces:
        for n in range(piece.low, piece.high + 1):
            there = int(sympy.sympify(piece.expr.replace("//", "/"), {"n": sympy.Integer(n)}))
            assert there == values(name, range(n, n + 1), range(1))[n, 0]


@pytest.mark.parametrize("name", ["falls", "grows", "rises, then falls", "a remainder", "one of two"])
def test_the_least_and_the_last_value_of_one_size(name: str) -> None:
    total, _ = FORMULAS[name]
    ranges = request(Binding("n", 2, 17))
    every = values(name, range(2, 18), range(1))
    found = bounded(total, ranges, ranges)
    assert found is not None
    assert (found.minimum, found.at_end) == (min(every.values()), every[17, 0])


def test_what_divides_by_zero_everywhere_has_no_maximum() -> None:
    for total in (FloorDiv(100, N), FloorDiv(100 * M, N)):
        with pytest.raises(Indeterminate, match="divides by zero"):
            over_range(total, request(Binding("n", 0, 0), Binding("m", 0, 3)))


def test_what_divides_by_a_size_that_is_always_zero_has_no_maximum() -> None:
    """`m // 100` is 0 for every `m` that is asked for."""
    with pytest.raises(Indeterminate, match="divides by zero"):
        over_range(FloorDiv(N, FloorDiv(M, 100)), request(Binding("n", 1, 2), Binding("m", 1, 3)))


def test_a_symbol_without_a_value_is_named() -> None:
    ranges = request(Binding("n", 0, 3))
    with pytest.raises(Indeterminate, match="symbol `m`"):
        over_range(N * M, ranges)
    with pytest.raises(Indeterminate, match="symbol `m`"):
        bounded(N * M, ranges, ranges)
    assert bounded(N * M, request(), ranges) is None


def test_what_is_fixed_is_no_range() -> None:
    ranges = request(Binding("n", 5, 5), Binding("m", 1, 4))
    found = over_range(N * M, ranges)
    assert (found.maximum, found.at) == (20, {"m": 4})
    assert over_range(N * 3, ranges).maximum == 15
    assert over_range(7, ranges).maximum == 7
    assert bounded(7, ranges, ranges) is not None
    assert bounded(7, request(), ranges) is None


LARGE = (Binding("n", 0, 1 << 16), Binding("m", 1, 1 << 15))


def test_too_many_assignments_are_not_tried_where_the_formula_grows() -> None:
    ranges = request(*LARGE)
    found = over_range(4 * N * M + N, ranges)
    assert (found.maximum, found.at) == (4 * 2**31 + 2**16, {"n": 2**16, "m": 2**15})
    with pytest.raises(Indeterminate, match="assignments to try"):
        over_range(N * M - 3 * N, ranges)


def test_under_declared_bounds_only_what_divides_is_tried() -> None:
    ranges = request(Binding("n", 0, 1 << 20), Binding("m", 3, 9))
    found = bounded(FloorDiv(100 * N, M), request(), ranges)
    assert found is not None
    assert (found.maximum, found.at) == (100 * 2**20 // 3, {"n": 2**20, "m": 3})
    grown = bounded(FloorDiv(100 * N, M) + 10**9 * M, request(), ranges)
    assert grown is not None
    assert (grown.maximum, grown.at) == (100 * 2**20 // 9 + 9 * 10**9, {"n": 2**20, "m": 9})
    # It falls with what does not divide, is divided by too many values, or by two sizes.
    assert bounded(FloorDiv(100, M) - N, request(), ranges) is None
    assert bounded(FloorDiv(100 * M, N + 1), request(), ranges) is None
    assert bounded(FloorDiv(100, M) + FloorDiv(100, N), request(), ranges) is None
    # Nothing is divided by 0.
    from_zero = request(Binding("n", 0, 1 << 20), Binding("m", 0, 9))
    least = bounded(FloorDiv(100 * N, M), request(), from_zero)
    assert least is not None
    assert (least.maximum, least.at) == (100 * 2**20, {"n": 2**20, "m": 1})


def test_a_size_that_is_given_is_put_into_what_is_bounded() -> None:
    given = request(Binding("m", 4, 4))
    ranges = request(Binding("m", 4, 4), Binding("n", 0, 1 << 20))
    found = bounded(FloorDiv(100 * N, M), given, ranges)
    assert found is not None
    assert (found.maximum, found.at) == (25 * 2**20, {"n": 2**20})
