"""Branches that the symbols choose: every figure against the totals with numbers, one value after the other."""

from __future__ import annotations

import re

import pytest
import sympy

import relax_lint
from relax_lint.totals.cases import MAX_CASES
from relax_lint.totals.comparison import parsed_formula
from relax_lint.totals.quantities import evaluate
from tests.rules.checking import parse
from tests.totals.corpus_calls import TRUTH, choice, storage

VALUES = range(13)
KERNEL = """
@T.prim_func(private=True, s_tir=True)
def work(a: T.handle, b: T.handle):
    n = T.int64()
    x = T.match_buffer(a, (n,), "float32")
    y = T.match_buffer(b, (n,), "float32")
    t = T.alloc_buffer((2000,), "float32")
    for i in range(n):
        t[i] = x[i]
    for i in range(n):
        y[i] = t[i]
"""
VECTOR = 'R.Tensor(("n",), "float32")'
ONE = f"""
@R.function(pure=False)
def main(x: {VECTOR}):
    n = T.int64(){choice("r", "n > 4", storage("n * 8"), storage(300))}    s = {storage("n * 4")}
    return (r, s)
"""
AGAIN = f"""
@R.function(pure=False)
def main(x: {VECTOR}):
    n = T.int64(){choice("r", "n > 4", storage("n * 8"), storage(300))}{choice("q", "n <= 4", storage(20), storage(500))}    return (r, q)
"""
"""`n` is not greater than 4 and at most 4 at one time: 320 bytes, or 8 for each `n` and 500."""
BESIDE = f"""
@R.function(pure=False)
def main(x: {VECTOR}, c: {TRUTH}):
    n = T.int64(){choice("r", "c", storage("n * 8"), storage(30))}{choice("q", "n == 7", storage(5000), storage("n"))}    return (r, q)
"""
CALLED = f"""
@R.function(private=True, pure=False)
def inner(y: R.Tensor(("m",), "float32")):
    m = T.int64(){choice("r", "m > 10", storage("m * 4"), storage(500))}    return r

@R.function(pure=False)
def main(x: {VECTOR}):
    n = T.int64()
    a = R.builtin.alloc_tensor(R.shape([n * 2 + 1]), R.dtype("float32"), R.prim_value(0), R.str("global"))
    r = Module.inner(x)
    s = Module.inner(a)
    return (r, s)
"""
GIVEN = f"""
@R.function(private=True, pure=False)
def inner(y: R.Tensor(("m",), "float32"), z: R.Tensor(("k",), "float32")):
    m, k = T.int64(), T.int64(){choice("r", "m > k", storage("m * 4"), storage(500))}    return r

@R.function(pure=False)
def main(x: {VECTOR}):
    n = T.int64()
    a = R.builtin.alloc_tensor(R.shape([n + 1]), R.dtype("float32"), R.prim_value(0), R.str("global"))
    r = Module.inner(a, x)
    s = Module.inner(x, a)
    return (r, s)
"""
"""`n + 1` is greater than `n` in one call, and it is not the other way round in the other one."""
IN_KERNELS = (
    KERNEL
    + f"""
@R.function(pure=False)
def main(x: {VECTOR}):
    n = T.int64()
    y = R.builtin.alloc_tensor(R.shape([n]), R.dtype("float32"), R.prim_value(0), R.str("global"))
    if n > 4:
        w = Module.work(x, y)
        r = y
    else:
        r = y
    return r
"""
)
PROGRAMS = {
    "one": ONE,
    "again": AGAIN,
    "beside": BESIDE,
    "called": CALLED,
    "given": GIVEN,
    "in kernels": IN_KERNELS,
}


def figures(totals: relax_lint.MemoryTotals) -> dict[str, relax_lint.Amount | None]:
    """The totals that depend on the branches."""
    assert totals.workspaces is not None
    return {
        "peak_live": totals.peak_live,
        "lower_bound": totals.lower_bound,
        **{f"reserved.{name}": amount for name, amount in totals.reserved.items()},
        **{f"repeated.{name}": amount for name, amount in totals.repeated.items()},
        **{f"by_scope.{name}": amount for name, amount in totals.by_scope.items()},
        "workspaces.requested": totals.workspaces.requested,
        "workspaces.held": totals.workspaces.held,
        **{f"workspaces.together.{name}": amount for name, amount in totals.workspaces.together.items()},
    }


def _number(amount: relax_lint.Amount | None) -> int:
    assert amount is not None
    assert amount.value is not None
    return amount.value


@pytest.mark.parametrize("name", PROGRAMS)
def test_formulas_and_maxima_are_those_of_the_branch_that_is_taken(name: str) -> None:
    module = parse(PROGRAMS[name])
    formulas = figures(relax_lint.memory(module)["main"])
    by_value = [figures(relax_lint.memory(module, {"n": n})["main"]) for n in VALUES]
    over = relax_lint.memory(module, {"n": VALUES})["main"].over_range
    for figure, formula in formulas.items():
        exact = [_number(each[figure]) for each in by_value]
        if formula is not None:
            expr = sympy.sympify(parsed_formula(formula.expr))
            assert [evaluate(expr, {"n": n}) for n in VALUES] == exact, figure
        found = over[figure]
        assert (found.maximum, found.is_limit) == (max(exact), False), figure
        # Of what is the same everywhere no least value is told.
        assert found.minimum == (min(exact) if found.at else None), figure
        assert exact[found.at.get("n", 0)] == found.maximum, figure


def test_a_branch_is_not_taken_and_left_out_at_one_time() -> None:
    peak = relax_lint.memory(parse(AGAIN))["main"].peak_live
    assert peak is not None
    assert peak.expr == "Piecewise((8*n + 500, n > 4), (320, True))"


@pytest.mark.parametrize(
    ("first", "second", "cases"),
    [
        ("n > 4", "n > 4", 2),
        ("n > 4", "n >= 5", 2),
        ("n > 4", "n < 5", 2),
        ("n > 4", "5 <= n", 2),
        ("n > 4", "n > 9", 3),
        ("n > 9", "n > 4", 3),
        ("n < 4", "n > 9", 3),
        ("n >= 4", "n > 2", 3),
        ("n > 4", "n == 9", 4),
        ("n > 4", "n > m", 4),
    ],
)
def test_what_one_condition_says_of_another(first: str, second: str, cases: int) -> None:
    """So many sums are possible: each branch takes another number of bytes."""
    text = f"""
@R.function(pure=False)
def main(x: {VECTOR}, y: R.Tensor(("m",), "float32")):
    n = T.int64()
    m = T.int64(){choice("r", first, storage(1), storage(10))}{choice("q", second, storage(100), storage(1000))}    return (r, q)
"""
    module = parse(text)
    formula = relax_lint.memory(module)["main"].peak_live
    assert formula is not None
    sums = [sum_ for sum_ in ("101", "1001", "110", "1010") if sum_ in re.findall(r"\d+", formula.expr)]
    assert len(sums) == cases
    expr = sympy.sympify(parsed_formula(formula.expr))
    for n in (0, 2, 3, 4, 5, 8, 9, 10):
        here = relax_lint.memory(module, {"n": n, "m": 6})["main"].peak_live
        assert evaluate(expr, {"n": n, "m": 6}) == _number(here)


def test_a_budget_counts_the_branch_that_is_taken() -> None:
    """8 bytes for each of more than 4, else 300: 200 bytes are enough for 5 to 25. The machine takes 40 bytes
    where `n` is 5.
    """
    text = ONE.replace(f"    s = {storage('n * 4')}\n", "").replace("return (r, s)", "return r")
    options = {"select": ["RLX601"], "max-memory": "200B", "allocators": ["naive"]}
    (check,) = relax_lint.check(parse(text), options).checks
    assert (check.verdict.value, check.safe_when) == ("needs-runtime-check", "n >= 5 and n <= 25")
    (check,) = relax_lint.check(parse(text), {**options, "assume": ["n >= 5", "n <= 25"]}).checks
    assert check.verdict.value == "always-fine"
    (check,) = relax_lint.check(parse(text), {**options, "assume": ["n >= 26"]}).checks
    assert check.verdict.value == "always-wrong"


def test_far_away_bounds_give_a_limit() -> None:
    """Too many values to try: what no case exceeds, and the value at the end."""
    bound = '    R.func_attr({"tir_var_upper_bound": {"n": 1000000}})\n    n = T.int64()'
    found = relax_lint.memory(parse(ONE.replace("    n = T.int64()", bound)))["main"].over_range["peak_live"]
    assert found.is_limit
    assert (found.maximum, found.at_end) == (12 * 1000000, 12 * 1000000)


def test_of_many_cases_there_is_no_formula_but_a_number() -> None:
    count = MAX_CASES.bit_length()
    asked = "".join(
        choice(f"r{i}", f"n % {i + 2} == 0", storage(f"n * {i} + 1"), storage(i)) for i in range(count)
    )
    results = ", ".join(f"r{i}" for i in range(count))
    text = (
        f"@R.function(pure=False)\ndef main(x: {VECTOR}):\n    n = T.int64(){asked}    return ({results})\n"
    )
    module = parse(text)
    found = relax_lint.memory(module)["main"]
    assert found.peak_live is None
    assert found.unknown["peak_live"] == "which branches the symbols choose makes too many cases"
    here = relax_lint.memory(module, {"n": 3})["main"].peak_live
    assert here is not None
    assert here.value == sum(i if 3 % (i + 2) else 3 * i + 1 for i in range(count))
