"""What functions hand over to each other: one tensor or one storage twice, captured values, constants."""

from __future__ import annotations

import pytest
import tvm

from relax_lint.judging.report import check_module
from relax_lint.results.verdict import Verdict
from relax_lint.settings.config import Config

FINE, UNSURE, WRONG = Verdict.ALWAYS_FINE, Verdict.NEEDS_RUNTIME_CHECK, Verdict.ALWAYS_WRONG
T4 = 'R.Tensor((4,), "float32")'
STORAGE = 'R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("float32"))'
TENSOR = 'R.memory.alloc_tensor({}, R.prim_value(0), R.shape([4]), R.dtype("float32"))'
HEAD = """
@T.prim_func(private=True, s_tir=True)
def double(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[i] * T.float32(2)

@T.prim_func(private=True, s_tir=True)
def add(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32"), z: T.Buffer((4,), "float32")):
    for i in range(4):
        z[i] = x[i] + y[i]

@T.prim_func(private=True, s_tir=True)
def twice(x: T.Buffer((4,), "float32")):
    for i in range(4):
        x[i] = x[i] * T.float32(2)
"""


def worst(rule: str, callee: str, main: str) -> Verdict:
    """The worst verdict of a rule on a function `main(x, y, c)` that calls `callee`."""
    callee = "@R.function(pure=False, private=True)\n" + callee
    main = f'@R.function(pure=False)\ndef main(x: {T4}, y: {T4}, c: R.Tensor((), "bool")):\n' + main
    body = "\n".join((HEAD, callee, main))
    for short, long in (("T4", T4), ("STORAGE", STORAGE)):
        body = body.replace(short, long)
    for storage in ("s", "q"):
        body = body.replace(f"TENSOR({storage})", TENSOR.format(storage))
    indented = "\n".join(f"    {line}" for line in body.splitlines())
    module = tvm.script.from_source(f"@I.ir_module\nclass Module:\n{indented}\n")
    verdicts = [check.verdict for check in check_module(module, Config(select=(rule,))).checks]
    return next((v for v in (WRONG, UNSURE) if v in verdicts), FINE)


@pytest.mark.parametrize(
    ("result", "field", "verdict"),
    [
        ("(t, t)", "p[1]", WRONG),
        ("(t, (z, t))", "p[1][1]", WRONG),
        ("(t, u)", "p[1]", FINE),
        ("(t, (z, u))", "p[1][1]", FINE),
    ],
)
def test_two_fields_that_are_one_tensor(result: str, field: str, verdict: Verdict) -> None:
    callee = f"""def both(z: T4):
    t = R.call_tir(Module.double, (z,), T4)
    u = R.call_tir(Module.double, (t,), T4)
    return {result}
"""
    main = f"""    p = Module.both(x)
    a = p[0]
    b = {field}
    d = R.call_tir_inplace(Module.twice, (a,), [0], T4)
    r = R.call_tir(Module.add, (d, b), T4)
    return r
"""
    assert worst("RLX206", callee, main) is verdict


@pytest.mark.parametrize("chosen", ["t", "u"])
def test_a_field_that_may_be_the_tensor_of_another_field(chosen: str) -> None:
    callee = f"""def both(z: T4, k: R.Tensor((), "bool")):
    t = R.call_tir(Module.double, (z,), T4)
    u = R.call_tir(Module.double, (t,), T4)
    if k:
        e = t
    else:
        e = u
    return (e, {chosen})
"""
    main = """    p = Module.both(x, c)
    a = p[0]
    b = p[1]
    d = R.call_tir_inplace(Module.twice, (a,), [0], T4)
    r = R.call_tir(Module.add, (d, b), T4)
    return r
"""
    assert worst("RLX206", callee, main) is UNSURE


@pytest.mark.parametrize(("second", "verdict"), [("s", UNSURE), ("q", FINE)])
def test_two_fields_on_one_storage_of_the_callee(second: str, verdict: Verdict) -> None:
    callee = f"""def made(z: T4):
    s = STORAGE
    q = STORAGE
    t = TENSOR(s)
    u = TENSOR({second})
    return (t, u)
"""
    main = """    p = Module.made(x)
    a = p[0]
    b = p[1]
    w = Module.double(x, a)
    w2 = Module.double(y, b)
    r = R.call_tir(Module.add, (a, b), T4)
    return r
"""
    assert worst("RLX203", callee, main) is verdict


@pytest.mark.parametrize(("storage", "verdict"), [("s", UNSURE), ("q", FINE)])
def test_a_tensor_and_its_storage_are_returned(storage: str, verdict: Verdict) -> None:
    callee = f"""def made(z: T4):
    s = STORAGE
    q = STORAGE
    t = TENSOR(s)
    w = Module.double(z, t)
    return ({storage}, t)
"""
    main = """    p = Module.made(x)
    s = p[0]
    b = p[1]
    a = TENSOR(s)
    w = Module.double(y, a)
    r = R.call_tir(Module.add, (a, b), T4)
    return r
"""
    assert worst("RLX203", callee, main) is verdict


@pytest.mark.parametrize(("given", "verdict"), [("k", WRONG), ("e", UNSURE), ("x", FINE)])
def test_a_constant_that_a_callee_overwrites(given: str, verdict: Verdict) -> None:
    callee = """def over(z: T4):
    w = Module.twice(z)
    r = R.call_tir(Module.double, (z,), T4)
    return r
"""
    main = f"""    k = R.const([1.0, 2.0, 3.0, 4.0], "float32")
    if c:
        e = k
    else:
        e = R.negative(x)
    r = Module.over({given})
    return (r, e)
"""
    assert worst("RLX206", callee, main) is verdict


@pytest.mark.parametrize(("pair", "verdict"), [("(a, d)", UNSURE), ("(b, d)", FINE)])
def test_a_branch_gives_an_older_name_in_a_tuple(pair: str, verdict: Verdict) -> None:
    main = f"""    a = R.call_tir(Module.double, (x,), T4)
    b = R.call_tir(Module.double, (a,), T4)
    if c:
        d = R.call_tir_inplace(Module.twice, (a,), [0], T4)
        p = {pair}
    else:
        p = (b, a)
    o = p[0]
    r = R.call_tir(Module.add, (o, b), T4)
    return r
"""
    assert worst("RLX206", "def same(z: T4):\n    return z\n", main) is verdict


@pytest.mark.parametrize(("held", "verdict"), [("a", WRONG), ("b", FINE)])
def test_an_inner_function_returns_an_older_name(held: str, verdict: Verdict) -> None:
    main = f"""    a = R.call_tir(Module.double, (x,), T4)
    b = R.call_tir(Module.double, (a,), T4)
    d = R.call_tir_inplace(Module.twice, (a,), [0], T4)
    @R.function(pure=False)
    def inner(z: T4) -> T4:
        w = {held}
        return w
    e: T4 = inner(x)
    r = R.call_tir(Module.add, (e, d), T4)
    return r
"""
    assert worst("RLX206", "def same(z: T4):\n    return z\n", main) is verdict
