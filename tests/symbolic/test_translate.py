"""TVM expressions against TVM's own evaluation of them."""

from __future__ import annotations

import random
from typing import Any

import pytest
import sympy
import tvm
from hypothesis import given, settings
from hypothesis import strategies as st
from tvm import tirx

from relax_lint.symbolic.printing import condition_text, expr_text
from relax_lint.symbolic.translate import Translator, Untranslatable

N, M = tirx.Var("n", "int64"), tirx.Var("m", "int64")
SYMBOLS = {name: sympy.Symbol(name, integer=True) for name in ("n", "m")}
VALUES = (-9, -8, -3, -1, 0, 1, 2, 5, 16, 31)


def translator() -> Translator:
    return Translator(lambda var: SYMBOLS[var.name])


def folded(e: Any) -> int:
    """TVM's own value of an expression without variables."""
    module = tvm.sym if hasattr(tvm, "sym") else tvm.arith
    return int(module.Analyzer().simplify(e, 4).value)


def our_value(e: Any, n: int, m: int) -> Any:
    return e.xreplace({SYMBOLS["n"]: sympy.Integer(n), SYMBOLS["m"]: sympy.Integer(m)})


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (lambda: N * 4 * 128, "512*n"),
        (lambda: tirx.ceildiv(N, 16) * 64, "64*((n + 15)//16)"),
        (lambda: N % 4, "n % 4"),
        (lambda: tirx.truncdiv(N, M), "TruncDiv(n, m)"),
        (lambda: tirx.truncmod(N, 4), "TruncMod(n, 4)"),
        (lambda: tirx.min(N, 64) * 4, "4*Min(n, 64)"),
        (lambda: N << 3, "8*n"),
        (lambda: N >> 3, "n//8"),
        (lambda: N & 255, "n % 256"),
        (lambda: N & M, "BitAnd(n, m)"),
        (lambda: ~N, "-n - 1"),
        (lambda: tirx.if_then_else(N < M, N, M), "Piecewise((n, n < m), (m, True))"),
        (lambda: tirx.Select(N < M, N, M), "Piecewise((n, n < m), (m, True))"),
        (lambda: tirx.Cast("int64", tirx.IntImm("int32", 7)), "7"),
        (lambda: tirx.Cast("int32", N), "(n + 2147483648) % 4294967296 - 2147483648"),
        (lambda: tirx.Cast("int32", tirx.IntImm("int64", 5)), "5"),
        (lambda: tirx.Cast("int64", N < M), "Piecewise((1, n < m), (0, True))"),
    ],
)
def test_expressions(build: Any, text: str) -> None:
    assert expr_text(translator().expr(build())) == text


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (lambda: N <= 4, "n <= 4"),
        (lambda: tirx.EQ(N, M), "n == m"),
        (lambda: tirx.And(N < 4, M >= 2), "m >= 2 and n < 4"),
        (lambda: tirx.Not(tirx.Or(N < 4, M >= 2)), "not (m >= 2 or n < 4)"),
        (lambda: tirx.const(True, "bool"), "True"),
        (lambda: tirx.NE(N < 4, tirx.const(True, "bool")), "n >= 4"),
        (lambda: tirx.EQ(N % 4, tirx.IntImm("int64", 0)), "n % 4 == 0"),
    ],
)
def test_conditions(build: Any, text: str) -> None:
    assert condition_text(translator().condition(build())) == text


@pytest.mark.parametrize(
    ("build", "holds"),
    [
        (lambda: tirx.Select(N < M, N > 0, M > 2), lambda n, m: n > 0 if n < m else m > 2),
        (lambda: tirx.if_then_else(N < M, N > 0, M > 2), lambda n, m: n > 0 if n < m else m > 2),
        (lambda: tirx.NE(N < 4, M < 2), lambda n, m: (n < 4) != (m < 2)),
        (lambda: tirx.EQ(N < 4, M < 2), lambda n, m: (n < 4) == (m < 2)),
        (lambda: tirx.Cast("bool", N < 4), lambda n, m: n < 4),
        (lambda: (N < 4) & (M < 2), lambda n, m: n < 4 and m < 2),
        (lambda: (N < 4) | (M < 2), lambda n, m: n < 4 or m < 2),
        (lambda: (N < 4) ^ (M < 2), lambda n, m: (n < 4) != (m < 2)),
        (lambda: ~(N < 4), lambda n, m: n >= 4),
    ],
)
def test_conditions_of_conditions(build: Any, holds: Any) -> None:
    condition = translator().condition(build())
    for n in VALUES:
        for m in VALUES:
            assert bool(our_value(condition, n, m)) is holds(n, m)


@pytest.mark.parametrize(
    ("build", "reason"),
    [
        (lambda: tirx.Cast("float32", N), "not an integer"),
        (lambda: N << M, "shift"),
        (lambda: tirx.FloorDiv(N, M - M), "division by zero"),
        (lambda: tirx.Var("u", "uint64") - 1, "wraps around"),
        (lambda: tirx.Var("x", "float32"), "not an integer"),
        (lambda: tirx.call_extern("int64", "f", N), "call"),
    ],
)
def test_what_has_no_exact_meaning_is_refused(build: Any, reason: str) -> None:
    with pytest.raises(Untranslatable, match=reason):
        translator().expr(build())


@pytest.mark.parametrize("kinds", [(tirx.max,), (tirx.max, tirx.min)])
def test_what_chooses_from_many_values_is_not_built(kinds: Any) -> None:
    chosen = N
    for number in range(1, 7):
        chosen = kinds[number % len(kinds)](chosen, M * number * number + number)
    assert translator().expr(chosen).has(sympy.Max)
    for number in range(7, 60):
        chosen = kinds[number % len(kinds)](chosen, M * number * number + number)
    with pytest.raises(Untranslatable, match="a maximum or minimum over more than 12 values"):
        translator().expr(chosen)


def random_expr(rng: random.Random, depth: int, n: Any, m: Any) -> Any:
    """A random TVM expression in `n` and `m` whose divisors are non-zero constants.

    TVM folds bit operations of constants only where they are built: their operands are folded first.
    """
    if depth == 0 or rng.random() < 0.15:
        return rng.choice((n, m, tirx.IntImm("int64", rng.choice((0, 1, 2, 3, 4, 7, 8, -1, -5)))))
    a, b = random_expr(rng, depth - 1, n, m), random_expr(rng, depth - 1, n, m)
    x, y = (tirx.IntImm("int64", folded(e)) if isinstance(n, tirx.IntImm) else e for e in (a, b))
    divisor = tirx.IntImm("int64", rng.choice((1, 2, 3, 4, 8, -2, -3)))
    return rng.choice(
        (
            lambda: tirx.Add(a, b),
            lambda: tirx.Sub(a, b),
            lambda: tirx.Mul(a, b),
            lambda: tirx.FloorDiv(a, divisor),
            lambda: tirx.FloorMod(a, divisor),
            lambda: tirx.Div(a, divisor),
            lambda: tirx.Mod(a, divisor),
            lambda: tirx.Min(a, b),
            lambda: tirx.Max(a, b),
            lambda: tirx.Select(random_condition(rng, a, b), a, b),
            lambda: tirx.if_then_else(random_condition(rng, b, a), a, b),
            lambda: x << rng.randint(0, 4),
            lambda: x >> rng.randint(0, 4),
            lambda: x & y,
            lambda: x | y,
            lambda: x ^ y,
            lambda: tirx.abs(a),
        )
    )()


def random_condition(rng: random.Random, a: Any, b: Any) -> Any:
    relation = rng.choice((tirx.EQ, tirx.NE, tirx.LT, tirx.LE, tirx.GT, tirx.GE))(a, b)
    return tirx.Not(relation) if rng.random() < 0.2 else relation


def test_value_is_tvms_own() -> None:
    seen = set()

    @given(st.integers(min_value=0, max_value=2**32), st.sampled_from(VALUES), st.sampled_from(VALUES))
    @settings(max_examples=400, deadline=None)
    def is_tvms_own(seed: int, n: int, m: int) -> None:
        symbolic = random_expr(random.Random(seed), 3, N, M)
        constant = random_expr(random.Random(seed), 3, tirx.IntImm("int64", n), tirx.IntImm("int64", m))
        seen.add(type(symbolic).__name__)
        assert our_value(translator().expr(symbolic), n, m) == folded(constant)

    is_tvms_own()
    assert seen >= {"Add", "Sub", "Mul", "FloorDiv", "FloorMod", "Div", "Mod", "Min", "Max", "Select"}


def test_a_narrowing_cast_truncates() -> None:
    translated = translator().expr(tirx.Cast("int32", N))
    for value in (2**31 - 1, 2**31, -(2**31) - 1, 2**40 + 3):
        wrapped = (value + 2**31) % 2**32 - 2**31
        assert our_value(translated, value, 0) == wrapped


def test_each_node_is_translated_once() -> None:
    asked = []

    def symbol_of(var: Any) -> sympy.Symbol:
        asked.append(var.name)
        return SYMBOLS[var.name]

    t = Translator(symbol_of)
    e = N * 4 + N
    assert t.expr(e) is t.expr(e)
    assert asked == ["n"]
