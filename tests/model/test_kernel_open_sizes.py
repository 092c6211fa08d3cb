"""What holds at all sizes of a kernel, by cases that together are all of them: every claim is compared with each size of a
small range, one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from operator import floordiv
from typing import Any

import pytest
import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.model.kernel_body.open_sizes import Bounds, Case, bounds_of, confirmed_where
from relax_lint.symbolic.functions import FloorDiv

N, M, K, L = sympy.symbols("n m k l", integer=True)
Holds = Callable[..., bool]
RANGE = 20
DIVIDED = sympy.Ge(FloorDiv(64, N), 1)
FIVE, LARGE = sympy.Ge(N, 5), sympy.And(sympy.Ge(N, 3), sympy.Ge(M, 3))


def _asked(holds: Callable[[Any, Any, Any], Any]) -> Callable[[Case], bool]:
    """Whether something holds in a whole case: comparisons of numbers that grow hold where they do at every size."""

    def found(case: Case) -> bool:
        return bool(holds(*(case[symbol][0] if symbol in case else 0 for symbol in (N, M, K))))

    return found


def _evaluated(formula: Any) -> Callable[..., Any]:
    found: Callable[..., Any] = sympy.lambdify(
        (N, M, K), formula, [{"Max": max, "Min": min, "FloorDiv": floordiv}, "math"]
    )
    return found


CASES: list[tuple[str, Boolean, Bounds, tuple[int, ...], Holds, Boolean]] = [
    ("always", sympy.true, Bounds({N: 0}), (), lambda n, m, k: True, sympy.true),
    ("never", sympy.true, Bounds({N: 0}), (), lambda n, m, k: False, sympy.false),
    ("of no size", sympy.true, Bounds({}), (), lambda n, m, k: False, sympy.false),
    # One of two is less, or it is not.
    ("the less", sympy.true, Bounds({N: 0, M: 0}), (), lambda n, m, k: n < m or n >= m, sympy.true),
    (
        "the less of three",
        sympy.true,
        Bounds({N: 0, M: 0, K: 0}),
        (),
        lambda n, m, k: m < k or m >= k,
        sympy.true,
    ),
    (
        "not where they are equal",
        sympy.true,
        Bounds({N: 0, M: 0}),
        (),
        lambda n, m, k: n < m or n > m,
        sympy.false,
    ),
    ("only the less", sympy.true, Bounds({N: 0, M: 0}), (), lambda n, m, k: n < m, sympy.false),
    ("the second may be small", sympy.true, Bounds({N: 0, M: 0}), (), lambda n, m, k: n < 3 or m >= 3, LARGE),
    (
        "of large first ones",
        FIVE,
        Bounds({N: 5, M: 0}),
        (),
        lambda n, m, k: n >= 5 and (m >= 2 or m < 2),
        FIVE,
    ),
    (
        "of small first ones",
        sympy.true,
        Bounds({N: 0, M: 0}),
        (),
        lambda n, m, k: n < 3 or (n >= 3 and (m >= 2 or m < 2)),
        sympy.true,
    ),
    (
        "all but one more",
        sympy.true,
        Bounds({N: 0, M: 0}),
        (),
        lambda n, m, k: n >= m or m >= n + 2,
        sympy.false,
    ),
    (
        "four sizes",
        sympy.true,
        Bounds({N: 0, M: 0, K: 0, L: 0}),
        (),
        lambda n, m, k: n < m or n >= m,
        sympy.false,
    ),
    ("of no size, always", sympy.true, Bounds({}), (), lambda n, m, k: True, sympy.true),
    # What one is not less than is another one, or that is not less than a third.
    (
        "in a row",
        sympy.true,
        Bounds({N: 0, M: 0, K: 0}, ((N, M), (M, K))),
        (),
        lambda n, m, k: n >= m,
        sympy.true,
    ),
    (
        "in turn",
        sympy.true,
        Bounds({N: 0, M: 0, K: 0}, ((M, K), (N, M))),
        (),
        lambda n, m, k: n >= k,
        sympy.true,
    ),
    (
        "only the second",
        FIVE,
        Bounds({N: 5, M: 0}),
        (),
        lambda n, m, k: m >= 3,
        sympy.And(FIVE, sympy.Ge(M, 3)),
    ),
    ("of two constants", sympy.true, Bounds({N: 0}), (2, 9), lambda n, m, k: n >= 9 or n < 9, sympy.true),
    (
        "the largest constant",
        sympy.true,
        Bounds({N: 0}),
        (16,),
        lambda n, m, k: n >= 16 or n < 16,
        sympy.true,
    ),
    ("not as much", sympy.true, Bounds({N: 0, M: 0}, ((N, M),)), (), lambda n, m, k: n <= m, sympy.false),
    ("more than that", FIVE, Bounds({N: 5, M: 0}, ((N, M),)), (), lambda n, m, k: n >= 5, FIVE),
    (
        "a sum",
        sympy.true,
        Bounds({N: 0, M: 0, K: 0}, ((N, M + 2 * K),)),
        (),
        lambda n, m, k: n >= m and n >= k + k,
        sympy.true,
    ),
    (
        "of who knows",
        sympy.true,
        Bounds({N: 0, M: 0}, ((N, L), (N, M))),
        (),
        lambda n, m, k: n >= m,
        sympy.true,
    ),
    (
        "of two",
        sympy.true,
        Bounds({N: 0, M: 0, K: 0}, ((N, M), (N, K))),
        (),
        lambda n, m, k: n >= m,
        sympy.true,
    ),
    (
        "divided by none",
        DIVIDED,
        Bounds({N: 0}),
        (),
        lambda n, m, k: n >= 1,
        sympy.And(DIVIDED, sympy.Ge(N, 3)),
    ),
    (
        "too many cases",
        sympy.true,
        Bounds({N: 0, M: 0}),
        (16,),
        lambda n, m, k: n >= 16 or n < 16,
        sympy.And(sympy.Ge(N, 34), sympy.Ge(M, 34)),
    ),
    # Small ones are tried one by one.
    ("from one on", sympy.true, Bounds({N: 0}), (), lambda n, m, k: n >= 1, sympy.Ge(N, 3)),
    ("from one on, of one", sympy.Ge(N, 1), Bounds({N: 1}), (), lambda n, m, k: n >= 1, sympy.Ge(N, 1)),
    ("two ways", sympy.true, Bounds({N: 0}), (), lambda n, m, k: n >= 2 or n < 2, sympy.true),
    (
        "two ways of another",
        sympy.true,
        Bounds({N: 0, M: 0}),
        (),
        lambda n, m, k: m >= 2 or m < 2,
        LARGE,
    ),
    ("five is too many", sympy.true, Bounds({N: 0}), (), lambda n, m, k: n >= 5 or n < 5, sympy.false),
    ("five is a constant", sympy.true, Bounds({N: 0}), (5,), lambda n, m, k: n >= 5 or n < 5, sympy.true),
    (
        "minus five is a constant",
        sympy.true,
        Bounds({N: 0}),
        (-5,),
        lambda n, m, k: n >= 5 or n < 5,
        sympy.true,
    ),
    ("from five on", sympy.true, Bounds({N: 0}), (5,), lambda n, m, k: n >= 5, sympy.Ge(N, 12)),
    ("a large constant", sympy.true, Bounds({N: 0}), (17,), lambda n, m, k: n >= 17 or n < 17, sympy.false),
    # At most so many: no larger ones are asked about.
    ("up to four", sympy.Le(N, 4), Bounds({N: 0}), (), lambda n, m, k: n < 5, sympy.Le(N, 4)),
    ("up to 47", sympy.Le(N, 47), Bounds({N: 0}), (), lambda n, m, k: n < 48, sympy.Le(N, 47)),
    ("up to 48", sympy.Le(N, 48), Bounds({N: 0}), (), lambda n, m, k: n < 49, sympy.false),
    ("up to three", sympy.Le(N, 4), Bounds({N: 0}), (), lambda n, m, k: n < 4, sympy.false),
    ("but one", sympy.Ne(N, 1), Bounds({N: 0}), (), lambda n, m, k: n < 1 or n > 1, sympy.Ne(N, 1)),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_what_is_confirmed_holds_at_each_size(case: Any) -> None:
    _, when, bounds, constants, holds, expected = case
    found = confirmed_where(when, bounds, constants, _asked(holds))
    assert found == expected
    least = (sympy.Ge(symbol, number) for symbol, number in bounds.least.items())
    is_said = _evaluated(
        sympy.And(found, *least, *(sympy.Ge(one, sum_) for one, sum_ in bounds.above)).subs(L, 3)
    )
    assert all(holds(*sizes, 3) for sizes in product(range(RANGE), repeat=2) if is_said(*sizes, 3))


@pytest.mark.parametrize(
    ("when", "shapes", "least", "above"),
    [
        # What has elements has a positive extent.
        (sympy.true, [[N], [M]], {N: 1, M: 0}, []),
        (sympy.Ge(N, 4), [[N], [M]], {N: 4, M: 0}, []),
        (sympy.Gt(N, 4), [[N], [M]], {N: 5, M: 0}, []),
        (sympy.Le(3, 2 * M), [[N], [M]], {N: 1, M: 2}, []),
        (sympy.Or(sympy.Ge(M, 4), sympy.Ge(M, 7)), [[N], [M]], {N: 1, M: 4}, []),
        (sympy.Or(sympy.Ge(M, 4), sympy.Ge(N, 7)), [[N], [M]], {N: 1, M: 0}, []),
        (sympy.Ge(N * M, 1), [[4], [N, M]], {N: 1, M: 1}, []),
        (sympy.Ge(sympy.Min(N, M), 3), [[N], [M]], {N: 3, M: 3}, []),
        (sympy.Ge(sympy.Max(M, 2), 3), [[N], [M]], {N: 1, M: 3}, []),
        (sympy.Le(3, sympy.Min(N, M)), [[N], [M]], {N: 3, M: 3}, []),
        (sympy.Gt(sympy.Min(N, M), 2), [[N], [M]], {N: 3, M: 3}, []),
        (sympy.Lt(2, sympy.Min(N, M)), [[N], [M]], {N: 3, M: 3}, []),
        (sympy.Lt(2, sympy.Max(M, 2)), [[N], [M]], {N: 1, M: 3}, []),
        (sympy.Ge(sympy.Max(N, M), 3), [[N], [M]], {N: 1, M: 0}, []),
        (sympy.Ge(sympy.Max(M, 3), 3), [[N], [M]], {N: 1, M: 0}, []),
        (sympy.And(sympy.Ge(N, 2), sympy.Ge(sympy.Min(M, K), 3)), [[N], [M], [K]], {N: 2, M: 3, K: 3}, []),
        (sympy.And(sympy.Ne(N, 4), sympy.Ge(sympy.Min(M, K), 3)), [[N], [M], [K]], {N: 1, M: 3, K: 3}, []),
        (sympy.And(sympy.Ne(N, 4), sympy.Ge(M, 5)), [[N], [M]], {N: 1, M: 5}, []),
        # By whole numbers, and products of numbers that are not negative.
        (sympy.Ge(2 * M, 7), [[N], [M]], {N: 1, M: 4}, []),
        (sympy.Ge(2 * M, 8), [[N], [M]], {N: 1, M: 4}, []),
        (sympy.Ge(M / 2, 4), [[N], [M]], {N: 1, M: 0}, []),
        (sympy.Ge(M, sympy.Rational(1, 2)), [[N], [M]], {N: 1, M: 0}, []),
        (sympy.Ge(M, sympy.Rational(5, 2)), [[N], [M]], {N: 1, M: 0}, []),
        (sympy.Ge(7, M), [[N], [M]], {N: 1, M: 0}, []),
        (sympy.Ge(K * M, 1), [[4], [N, M]], {N: 0, M: 0}, []),
        (sympy.Ge(N * M, 0), [[4], [N, M]], {N: 0, M: 0}, []),
        (sympy.Ge(N * M, -1), [[4], [N, M]], {N: 0, M: 0}, []),
        (sympy.Gt(N * M, 0), [[4], [N, M]], {N: 1, M: 1}, []),
        (sympy.Lt(0, N * M), [[4], [N, M]], {N: 1, M: 1}, []),
        (
            sympy.Or(sympy.And(sympy.Ge(M, 4), sympy.Ge(K, 2)), sympy.And(sympy.Ge(M, 6), sympy.Ge(K, 1))),
            [[N], [M], [K]],
            {N: 1, M: 4, K: 1},
            [],
        ),
        # Of a number that is no extent nothing is known.
        (sympy.true, [[N], [N]], {N: 1}, []),
        (sympy.Ge(K, 2), [[N], [N]], {N: 1, K: 2}, []),
        # One is not less than a sum of others.
        (sympy.Ge(N, M), [[N], [M]], {N: 1, M: 0}, [(N, M)]),
        (sympy.Gt(N, M), [[N], [M]], {N: 1, M: 0}, [(N, M + 1)]),
        (sympy.Ge(N, 2 * M + K), [[N], [M], [K]], {N: 1, M: 0, K: 0}, [(N, 2 * M + K)]),
        (sympy.true, [[4], [N - M]], {}, [(N, M)]),
        (sympy.true, [[N - M], [M]], {M: 0}, [(N, M), (N, M + 1)]),
        (sympy.Ge(2 * N, M), [[N], [M]], {N: 1, M: 0}, []),
        (sympy.Le(M, N), [[N], [M]], {N: 1, M: 0}, [(N, M)]),
        (sympy.Lt(M, N), [[N], [M]], {N: 1, M: 0}, [(N, M + 1)]),
        (sympy.Lt(M + 3, N), [[N], [M]], {N: 1, M: 0}, [(N, M + 4)]),
        (sympy.Ge(N + K, M), [[N], [M], [K]], {N: 1, M: 0, K: 0}, []),
        (sympy.Ge(N, M / 2), [[N], [M]], {N: 1, M: 0}, []),
        (sympy.Ge(N, M + sympy.Rational(1, 2)), [[N], [M]], {N: 1, M: 0}, []),
        (sympy.Ge(N, M * K), [[N], [M], [K]], {N: 1, M: 0, K: 0}, []),
        (sympy.And(sympy.Ne(M, 3), sympy.Ge(N, M)), [[N], [M]], {N: 1, M: 0}, [(N, M)]),
        (sympy.And(sympy.Ge(K, M * N), sympy.Ge(N, M)), [[N], [M], [K]], {N: 1, M: 0, K: 0}, [(N, M)]),
    ],
)
def test_how_large_sizes_are_at_least(when: Boolean, shapes: Any, least: Any, above: Any) -> None:
    extents = [[sympy.sympify(extent) for extent in shape] for shape in shapes]
    known = [extent for shape in extents for extent in shape]
    found = bounds_of(when, (N, M, K), extents, 0)
    assert dict(found.least) == least
    assert [
        (symbol, sympy.expand(sum_ - other))
        for (symbol, sum_), (_, other) in zip(found.above, above, strict=True)
    ] == [(symbol, 0) for symbol, _ in above]
    holds = _evaluated(sympy.And(when, *(sympy.Ge(extent, 0) for extent in known)))
    has_elements = _evaluated(sympy.And(*(sympy.Ge(extent, 1) for extent in extents[0])))
    sums = [(symbol, _evaluated(sum_)) for symbol, sum_ in found.above]
    for sizes in product(range(-3, 9), repeat=3):
        numbers = dict(zip((N, M, K), sizes, strict=True))
        if holds(*sizes) and has_elements(*sizes):
            assert all(numbers[symbol] >= number for symbol, number in found.least.items())
            assert all(numbers[symbol] >= sum_(*sizes) for symbol, sum_ in sums)
