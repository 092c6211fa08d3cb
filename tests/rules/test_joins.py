"""Behind an `If` holds what both branches do for certain: kills, overwriting in place, checks. Each with a twin in
which only one branch does it.
"""

from __future__ import annotations

import pytest

from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse
from tests.rules.four_elements import KERNELS, T4

FINE, UNSURE, WRONG = Verdict.ALWAYS_FINE, Verdict.NEEDS_RUNTIME_CHECK, Verdict.ALWAYS_WRONG
INPLACE = "R.call_tir_inplace(Module.twice, ({},), [0], T4)"


def verdicts(code: str, functions: str) -> list[Verdict]:
    """What a rule says of `main`."""
    text = KERNELS + functions.replace("T4", T4)
    return [check.verdict for check in checks(parse(text), code) if check.function == "main"]


@pytest.mark.parametrize(("second", "found"), [("R.memory.kill_tensor(t)", []), ("x", [UNSURE])])
def test_a_kill_in_both_branches(second: str, found: list[Verdict]) -> None:
    functions = f"""
@R.function(pure=False)
def main(x: T4, c: R.Tensor((), "bool")):
    t = R.builtin.alloc_tensor(R.shape([4]), "float32", 0)
    _ = Module.double(x, t)
    r = R.call_tir(Module.double, (t,), T4)
    if c:
        k = R.memory.kill_tensor(t)
        z = r
    else:
        k2 = {second}
        z = r
    return z
"""
    assert verdicts("RLX207", functions) == found


def test_a_packed_function_may_put_a_tensor_into_what_is_returned() -> None:
    functions = """
@R.function(pure=False)
def main(x: T4):
    t = R.builtin.alloc_tensor(R.shape([4]), "float32", 0)
    u = R.builtin.alloc_tensor(R.shape([4]), "float32", 0)
    _ = Module.double(x, t)
    _1 = Module.double(x, u)
    r = R.call_packed("my.f", {}, ty_args=R.Object)
    k = R.memory.kill_tensor(u)
    return r
"""
    assert verdicts("RLX207", functions.format("t")) == [UNSURE]
    assert verdicts("RLX207", functions.format("u")) == [WRONG]


@pytest.mark.parametrize(("second", "found"), [("a", WRONG), ("y", UNSURE)])
def test_an_older_name_from_both_branches(second: str, found: Verdict) -> None:
    functions = f"""
@R.function(pure=False)
def main(x: T4, y: T4, c: R.Tensor((), "bool")):
    a = R.call_tir(Module.double, (x,), T4)
    w = {INPLACE.format("a")}
    if c:
        r = a
    else:
        r = {second}
    z = R.call_tir(Module.add, (w, r), T4)
    return z
"""
    assert verdicts("RLX206", functions) == [found]


@pytest.mark.parametrize(
    ("before", "second", "found"),
    [("p", INPLACE.format("p"), WRONG), ("p", "q", UNSURE), (INPLACE.format("p"), "q", WRONG)],
)
def test_what_a_callee_overwrites_in_both_branches(before: str, second: str, found: Verdict) -> None:
    functions = f"""
@R.function(private=True, pure=False)
def f(p: T4, c: R.Tensor((), "bool")):
    q = {before}
    if c:
        w = {INPLACE.format("q")}
        r = w
    else:
        w2 = {second}
        r = w2
    z = R.call_tir(Module.double, (r,), T4)
    return z

@R.function(pure=False)
def main(x: T4, c: R.Tensor((), "bool")):
    a = R.call_tir(Module.double, (x,), T4)
    w = Module.f(a, c)
    z = R.call_tir(Module.add, (w, a), T4)
    return z
"""
    assert verdicts("RLX206", functions) == [found]


@pytest.mark.parametrize(("second", "found"), [("n <= 4", FINE), ("n <= 8", UNSURE)])
def test_a_check_in_both_branches(second: str, found: Verdict) -> None:
    functions = f"""
@R.function(pure=False)
def main(x: R.Tensor(("n",), "float32"), c: R.Tensor((), "bool")):
    n = T.int64()
    if c:
        R.assert_op(n <= 4, [n], format="too long")
        z = x
    else:
        R.assert_op({second}, [n], format="more than the others")
        z = x
    s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    t = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([n]), R.dtype("float32"))
    return t
"""
    assert verdicts("RLX101", functions) == [found]


CONDITIONAL = """
@T.prim_func(private=True, s_tir=True)
def two(a: T.handle, b: T.handle):
    n = T.int64()
    m = T.int64()
    x = T.match_buffer(a, (m,), "float32")
    y = T.match_buffer(b, (n,), "float32")
    for i in range(m):
        y[i] = x[i]
"""
WAYS = {
    "two": "Module.two(x, t)",
    "packed": 'R.call_packed("my.fill", t, ty_args=R.Tuple)',
    "other": 'R.call_packed("my.other", t, ty_args=R.Tuple)',
    "nothing": "x",
}


@pytest.mark.parametrize(
    ("ways", "verdict", "assumed"),
    [
        (("two", "two"), FINE, 0),
        (("two", "nothing"), UNSURE, 0),
        (("packed", "other"), FINE, 2),
        (("packed", "nothing"), UNSURE, 0),
    ],
)
def test_what_is_written_in_both_branches(ways: tuple[str, str], verdict: Verdict, assumed: int) -> None:
    """In part, or by somebody who is not known."""
    functions = f"""
@R.function(pure=False)
def main(x: R.Tensor(("m",), "float32"), y: R.Tensor(("n",), "float32"), c: R.Tensor((), "bool")):
    m = T.int64()
    n = T.int64()
    R.assert_op(m == n, [], format="")
    t = R.builtin.alloc_tensor(R.shape([n]), "float32", 0)
    if c:
        w = {WAYS[ways[0]]}
        z = x
    else:
        w2 = {WAYS[ways[1]]}
        z = x
    return t
"""
    (check,) = checks(parse(CONDITIONAL + functions), "RLX205")
    assert (check.verdict, len(check.assumes)) == (verdict, assumed)


@pytest.mark.parametrize(("second", "found"), [("m <= 4", FINE), ("m <= 5", UNSURE)])
def test_a_check_of_something_else_in_each_branch(second: str, found: Verdict) -> None:
    functions = f"""
@R.function(pure=False)
def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("m",), "float32"), c: R.Tensor((), "bool")):
    n = T.int64()
    m = T.int64()
    if c:
        R.assert_op(n <= 4, [n], format="n")
        z = x
    else:
        R.assert_op({second}, [m], format="m")
        z = x
    s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    t = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([T.min(n, m)]), R.dtype("float32"))
    return t
"""
    assert verdicts("RLX101", functions) == [found]


@pytest.mark.parametrize(("checked", "found"), [("n <= 4", FINE), ("n <= 5", UNSURE)])
def test_a_check_in_the_branch_that_needs_it(checked: str, found: Verdict) -> None:
    functions = f"""
@R.function(pure=False)
def main(x: R.Tensor(("n",), "float32"), k: R.Prim("int64")):
    n = T.int64()
    if n > 2:
        R.assert_op({checked}, [n], format="n")
        z = x
    else:
        z = x
    s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    t = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([n]), R.dtype("float32"))
    return t
"""
    assert verdicts("RLX101", functions) == [found]


@pytest.mark.parametrize(("second", "found"), [("a", WRONG), ("x", UNSURE)])
def test_a_read_in_each_branch(second: str, found: Verdict) -> None:
    functions = f"""
@R.function(pure=False)
def main(x: T4, c: R.Tensor((), "bool")):
    a = R.call_tir(Module.double, (x,), T4)
    w = {INPLACE.format("a")}
    if c:
        r = R.call_tir(Module.add, (w, a), T4)
        z = r
    else:
        r2 = R.call_tir(Module.add, (w, {second}), T4)
        z = r2
    return z
"""
    assert verdicts("RLX206", functions) == [found]


def asserted(*conditions: str) -> str:
    """Checks in a branch."""
    return "".join(f'\n        k{i} = R.assert_op({one}, format="")' for i, one in enumerate(conditions))


@pytest.mark.parametrize(
    ("then", "otherwise", "size", "found"),
    [
        # Each branch checks two things: all of them hold behind one or the other.
        (("n <= 16", "m <= 2"), ("n <= 12", "m <= 1"), "n", [FINE]),
        (("n <= 8", "m <= 2"), ("n <= 4", "m <= 4"), "n * m", [FINE]),
        (("n <= 8", "m <= 2"), ("n <= 4", "m <= 5"), "n * m", [UNSURE]),
        # Whatever the branch, nothing is known, or one thing is.
        (("n <= 16",), ("n > 16",), "n", [UNSURE]),
        (("n <= 16", "m <= 1"), ("n > 16", "m <= 1"), "m", [FINE]),
        # Neither branch comes to its end: what stands behind them is not reached.
        (("n <= 16", "n >= 17"), ("n > 16", "n < 17"), "n", []),
        (("n <= 16", "n >= 17"), ("n <= 20",), "n", [UNSURE]),
        # So many checks of one branch are told apart.
        (("n <= 16", *(f"m <= {20 + i}" for i in range(5))), ("n <= 15",), "n", [FINE]),
        (("n <= 16", *(f"m <= {20 + i}" for i in range(6))), ("n <= 15",), "n", [UNSURE]),
    ],
)
def test_what_each_branch_checks(
    then: tuple[str, ...], otherwise: tuple[str, ...], size: str, found: list[Verdict]
) -> None:
    functions = f"""
@R.function(pure=False)
def main(x: R.Tensor(("n", "m"), "float32"), c: R.Tensor((), "bool")):
    n = T.int64()
    m = T.int64()
    if c:{asserted(*then)}
        r = x
    else:{asserted(*otherwise)}
        r = x
    s = R.memory.alloc_storage(R.shape([64]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    t = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([{size}]), R.dtype("float32"))
    return t
"""
    assert verdicts("RLX101", functions) == found
