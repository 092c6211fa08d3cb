"""Substitutions: the same values as sympy's own, without the simplification that no bound on work sees."""

from __future__ import annotations

import itertools
from functools import cache
from typing import Any

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from relax_lint.results.verdict import Verdict
from relax_lint.symbolic import functions as f
from relax_lint.symbolic.domain import Domain
from relax_lint.symbolic.formula import Unsupported, put_into, to_formula
from relax_lint.symbolic.polynomial import to_polynomial
from relax_lint.symbolic.prover import ProverChain
from relax_lint.symbolic.substitution import replaced

n, m, k = sympy.symbols("n m k", integer=True)
TERMS = (
    sympy.Max(n, 4 * m - k, 7),
    sympy.Min(n + m, f.FloorDiv(k, 3), sympy.Max(m, 2)),
    f.Select(n <= m, n * m, sympy.Max(k, n + 1)),
    f.FloorMod(sympy.Max(n, m), 4) * k - n**2,
)
CONDITIONS = (
    *(sympy.Le(a, b) for a, b in itertools.combinations(TERMS, 2)),
    sympy.And(TERMS[0] > 3, sympy.Or(sympy.Eq(TERMS[1], m), sympy.Ne(TERMS[2], n))),
)
GIVEN = (m + 1, 2 * k, sympy.Integer(3), sympy.Max(m, k), f.FloorDiv(m, 2))


def at(e: Any, values: tuple[int, ...]) -> Any:
    return e.xreplace(dict(zip((n, m, k), map(sympy.Integer, values), strict=True)))


VALUES = st.tuples(*[st.integers(-9, 9)] * 3)


@pytest.mark.parametrize("e", [*TERMS, *CONDITIONS])
@given(values=VALUES, number=st.integers(0, len(GIVEN) - 1))
def test_the_value_is_that_of_sympys_own(e: Any, values: tuple[int, ...], number: int) -> None:
    ours, plain = _both(e, number)
    assert at(ours, values) == at(plain, values)
    if e in CONDITIONS:
        ours, plain = _both_formulas(e, number)
        point = dict(zip((n, m, k), map(sympy.Integer, values), strict=True))
        assert put_into(ours, point) == put_into(plain, point)


@cache
def _both(e: Any, number: int) -> tuple[Any, Any]:
    """One of those given in the place of `n`, as we put it there and as sympy does."""
    new = {n: GIVEN[number]}
    return replaced(e, new), e.xreplace(new)


@cache
def _both_formulas(e: Any, number: int) -> tuple[Any, Any]:
    new = {n: GIVEN[number]}
    return put_into(to_formula(e), new), to_formula(e.xreplace(new))


def test_what_differs_by_a_constant_is_one_value() -> None:
    assert replaced(sympy.Max(n, m + 3), {m: n}) == n + 3
    assert replaced(sympy.Min(n, m + 3), {m: n}) == n
    assert replaced(sympy.Max(n, m, 2), {n: sympy.Integer(1), m: sympy.Integer(5)}) == 5
    assert replaced(sympy.Max(n, k), {k: sympy.Max(m, 1)}).args == sympy.Max(n, m, 1).args
    # What is no polynomial may stand in a Max; what has no value may not.
    root = sympy.sqrt(m)
    assert replaced(sympy.Max(n, 1), {n: root}).atoms() == {m, *sympy.Max(root, 1).atoms()}
    with pytest.raises(ValueError, match="not"):
        replaced(sympy.Max(n, 1), {n: sympy.zoo})
    for division in f.DIVISIONS:
        with pytest.raises(Unsupported, match="has no value"):
            put_into(
                to_formula(sympy.Max(n, division(m, k)) > 1), {m: sympy.Integer(-2), k: sympy.Integer(0)}
            )
        # What is divided by zero may still be anything.
        assert put_into(to_formula(sympy.Max(n, division(m, k)) > 1), {k: sympy.Integer(0)})


def test_what_is_written_without_symbols_ends_no_decision() -> None:
    """Neither what sympy left as it is nor what has no value."""
    chain, smallest = ProverChain(), sympy.Min(0, 5, evaluate=False)
    assert chain.decide(sympy.Max(n, smallest, evaluate=False) >= 0, Domain()).verdict is Verdict.ALWAYS_FINE
    for division in f.DIVISIONS:
        claim = sympy.Max(n, division(sympy.Integer(3), sympy.Integer(0)), evaluate=False) > 1
        assert chain.decide(claim, Domain()).verdict is Verdict.NEEDS_RUNTIME_CHECK


def test_nothing_is_asked_about_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def is_ge(*sides: Any) -> None:
        asked.append(sides)

    monkeypatch.setattr("sympy.core.relational.is_ge", is_ge)
    monkeypatch.setattr("sympy.functions.elementary.miscellaneous.MinMaxBase._find_localzeros", is_ge)
    names = dict(zip((n, m, k), sympy.symbols("x y z", integer=True), strict=True))
    for condition in CONDITIONS[:-1]:
        renamed = replaced(condition, names)
        assert renamed.free_symbols <= set(names.values())
        assert to_polynomial(renamed.lhs - renamed.rhs).atoms()
    assert not asked
