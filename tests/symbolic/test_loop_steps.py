"""In which step of a loop a condition holds: what one formula says against trying each step."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from relax_lint.symbolic.functions import FloorDiv
from relax_lint.symbolic.steps import has_step, in_some_step, with_sizes

STEP, OTHER, N = sympy.symbols("step other n", integer=True)


@st.composite
def comparisons(draw: st.DrawFn) -> Boolean:
    small = st.integers(-4, 4)
    left = draw(small) * STEP + draw(small) * OTHER + draw(small)
    right = draw(st.sampled_from((N, N + STEP, sympy.Integer(3))))
    relation = draw(st.sampled_from((sympy.Ge, sympy.Gt, sympy.Le, sympy.Lt, sympy.Eq, sympy.Ne)))
    return relation(left, right)


CONDITIONS = st.recursive(
    comparisons(),
    lambda parts: st.builds(sympy.And, parts, parts) | st.builds(sympy.Or, parts, parts),
    max_leaves=4,
)


@settings(deadline=None)
@given(CONDITIONS, st.integers(-2, 2), st.integers(0, 5), st.integers(-1, 1))
def test_a_condition_holds_in_some_step_where_the_formula_says_so(
    when: Boolean, first: int, more: int, other: int
) -> None:
    last = first + more
    found = in_some_step(when, STEP, sympy.Integer(first), sympy.Integer(last), whole=True)
    assert STEP not in found.free_symbols
    holds, each = sympy.lambdify((OTHER, N), found), sympy.lambdify((STEP, OTHER, N), when)
    for n in range(-12, 13):
        assert bool(holds(other, n)) == any(each(step, other, n) for step in range(first, last + 1))


@pytest.mark.parametrize("inner", [2, 1, -1, -2, 1 + OTHER**2, OTHER])
@pytest.mark.parametrize("outer", [3, -3])
def test_a_loop_over_tiles_has_a_step_where_its_extent_is_positive(inner: Any, outer: int) -> None:
    extent = FloorDiv(FloorDiv(N + 1, inner), outer)
    found = sympy.lambdify((N, OTHER), has_step(extent).replace(FloorDiv, lambda a, b: sympy.floor(a / b)))
    for n, other in product(range(-12, 13), (-2, -1, 1, 2)):
        divisor = int(sympy.sympify(inner).subs(OTHER, other))
        assert bool(found(n, other)) == ((n + 1) // divisor // outer >= 1)


@pytest.mark.parametrize(("join", "least"), [(sympy.Or, 1), (sympy.And, 97)])
def test_what_each_step_makes_harder_is_one_comparison(join: Any, least: int) -> None:
    """The tiles of a kernel for a GPU: `n` is passed by no step where the first does not pass it."""
    outer, inner = sympy.symbols("outer inner", integer=True)
    when: Boolean = join(*(sympy.Lt(128 * outer + 2 * inner + 32 * part, N) for part in range(4)))
    for step, last in ((inner, 15), (outer, 7)):
        when = in_some_step(when, step, sympy.Integer(0), sympy.Integer(last), whole=True)
    assert len(when.atoms(Relational)) == 4
    assert when.subs(N, least) == sympy.true
    assert when.subs(N, least - 1) == sympy.false


def test_the_last_step_tells_what_each_step_makes_easier() -> None:
    last = sympy.Symbol("m", integer=True)
    found = in_some_step(sympy.Ge(2 * STEP, N), STEP, sympy.Integer(0), last - 1, whole=True)
    assert found.subs({last: 3, N: 4}) == sympy.true
    assert found.subs({last: 3, N: 5}) == sympy.false


def test_a_step_behind_the_end_of_a_comparison_is_tried() -> None:
    """The steps are not known, and the other comparison tells no step: only `n + 1` is left."""
    last = sympy.Symbol("m", integer=True)
    when = sympy.And(sympy.Gt(STEP, N), sympy.Ne(3 * STEP, OTHER))
    found = in_some_step(when, STEP, sympy.Integer(0), last, whole=True)
    assert found.subs({last: 9, N: 2, OTHER: 27}) == sympy.true
    assert found.subs({last: 3, N: 2, OTHER: 9}) == sympy.false


@settings(deadline=None, max_examples=20)
@given(
    st.sampled_from((sympy.Ge, sympy.Gt, sympy.Le, sympy.Lt, sympy.Eq, sympy.Ne)),
    st.tuples(*[st.integers(-2, 2)] * 3),
    st.integers(-2, 2),
)
def test_sizes_decide_only_what_holds_for_each(relation: Any, factors: tuple[int, ...], number: int) -> None:
    extents = sympy.symbols("n other", integer=True)
    when = relation(factors[0] * N + factors[1] * OTHER + factors[2], number)
    least = (0, 1)
    found = with_sizes(when, extents, (OTHER,))
    for n in range(least[0], 5):
        for other in range(least[1], 6):
            values = {N: n, OTHER: other}
            assert found.subs(values) == when.subs(values)


def test_sizes_decide_whether_two_numbers_differ() -> None:
    assert with_sizes(sympy.Ne(N + 1, 0), (N,)) == sympy.true
    assert with_sizes(sympy.Eq(N + 1, 0), (N,)) == sympy.false
    assert with_sizes(sympy.Eq(N, 0), (N,)) == sympy.Eq(N, 0)
