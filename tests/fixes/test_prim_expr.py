"""Conditions as expressions of the IR: what they mean, and how they read."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator

import pytest
import sympy
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from tvm import tirx

from relax_lint.fixes.module.prim_expr import PrimExprWriter
from relax_lint.symbolic import functions as f
from relax_lint.symbolic.backend import Inexpressible
from relax_lint.symbolic.evaluation import compile_condition
from relax_lint.symbolic.translate import Translator, Untranslatable
from tests.symbolic.brute_force import random_case, to_sympy

n, m = sympy.symbols("n m", integer=True)
N, M = tirx.Var("n", "int64"), tirx.Var("m", "int64")
WRITER = PrimExprWriter({n: N, m: M})


def test_the_way_back_gives_the_same_truth_at_every_point() -> None:
    seen: Counter[bool | None] = Counter()

    @given(st.integers(min_value=0, max_value=2**40))
    @settings(max_examples=250, deadline=None)
    def is_the_same(seed: int) -> None:
        seen.update(_truths_there_and_back(seed))

    is_the_same()
    assert min(seen[True], seen[False]) > 1000


def _truths_there_and_back(seed: int) -> Iterator[bool | None]:
    """The truth of a random condition at each point, which is that of the same condition through the IR."""
    case = random_case(random.Random(seed))
    condition = to_sympy(case.claim)
    symbols = tuple(case.domain().symbols)
    variables = {symbol: tirx.Var(symbol.name, "int64") for symbol in symbols}
    by_name = {symbol.name: symbol for symbol in symbols}
    translator = Translator(lambda var: by_name[str(var.name)])
    try:
        back = translator.condition(PrimExprWriter(variables).condition(condition))
    except (Inexpressible, Untranslatable):
        # Division by the constant zero has no meaning.
        reject()
    before, after = (compile_condition(c, symbols) for c in (condition, back))
    for at in case.points():
        values = tuple(at[symbol.name] for symbol in symbols)
        assert before(*values) == after(*values)
        yield before(*values)


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (n <= 4, "n <= 4"),
        (4 * n * m <= 16 * n + 3, "m * n * 4 <= n * 16 + 3"),
        (n**2 - m >= 0, "n * n - m >= 0"),
        (sympy.Eq(4, n), "n == 4"),
        (sympy.Ne(f.FloorMod(n, 4), 0), "n % 4 != 0"),
        ((n >= 1) & (n <= 4), "n >= 1 and n <= 4"),
        ((n <= 4) | (f.FloorDiv(n, 3) <= m), "n <= 4 or n // 3 <= m"),
        (~sympy.Eq(n, 1), "n != 1"),
        (sympy.Max(n, m, 3) <= 4, "T.max(T.max(m, n), 3) <= 4"),
        (f.TruncDiv(n, 3) >= f.TruncMod(m, 3), "T.Div(n, 3) >= T.truncmod(m, 3)"),
        (f.Select(n < 3, n, f.FloorDiv(m, 2)) <= 4, "T.Select(n < 3, n, m // 2) <= 4"),
        (f.Select(n < 3, n, f.FloorDiv(m, n)) <= 4, "T.if_then_else(n < 3, n, m // n) <= 4"),
    ],
)
def test_how_it_reads(condition: sympy.Basic, text: str) -> None:
    printed = WRITER.condition(condition).script().splitlines()[-1]
    assert re.sub(r"T.int64\((\d+)\)", r"\1", printed) == text


def test_a_narrow_variable_is_computed_with_as_int64() -> None:
    narrow = tirx.Var("p", "int32")
    p = sympy.Symbol("p", integer=True)
    condition = PrimExprWriter({p: narrow}).condition(2 * p <= 8)
    assert str(condition.a.ty.dtype) == "int64"
    assert PrimExprWriter({p: narrow}).value(p).same_as(narrow)


@pytest.mark.parametrize("condition", [n <= 2**70, sympy.Symbol("k", integer=True) <= 4])
def test_what_the_ir_cannot_say(condition: sympy.Basic) -> None:
    with pytest.raises(Inexpressible):
        WRITER.condition(condition)
