"""What functions hand over to each other: one tensor or one storage twice, captured values, constants, functions."""

from __future__ import annotations

import pytest
import tvm

from relax_lint.judging.report import check_module
from relax_lint.results.check import Check
from relax_lint.results.verdict import Verdict
from relax_lint.settings.config import Config
from tests.rules.four_elements import KERNELS, STORAGE, T4, TENSOR

FINE, UNSURE, WRONG = Verdict.ALWAYS_FINE, Verdict.NEEDS_RUNTIME_CHECK, Verdict.ALWAYS_WRONG


def judged(rule: str, callee: str, main: str) -> list[Check]:
    """The checks of a rule on a function `main(x, y, c)` that calls `callee`."""
    callee = "@R.function(pure=False, private=True)\n" + callee
    main = f'@R.function(pure=False)\ndef main(x: {T4}, y: {T4}, c: R.Tensor((), "bool")):\n' + main
    body = "\n".join((KERNELS, callee, main))
    for short, long in (("T4", T4), ("STORAGE", STORAGE)):
        body = body.replace(short, long)
    for storage in ("s", "q", "t"):
        body = body.replace(f"TENSOR({storage})", TENSOR.format(storage))
    indented = "\n".join(f"    {line}" for line in body.splitlines())
    module = tvm.script.from_source(f"@I.ir_module\nclass Module:\n{indented}\n")
    return list(check_module(module, Config(select=(rule,))).checks)


def worst(rule: str, callee: str, main: str) -> Verdict:
    """The worst verdict of a rule on them."""
    verdicts = [check.verdict for check in judged(rule, callee, main)]
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


@pytest.mark.parametrize(("pair", "verdict"), [("(a, d)", WRONG), ("(b, d)", FINE)])
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


APPLY = """def apply(f: R.Callable((T4, T4), T4, False), t: T4, z: T4) -> T4:
    r = f(t, z)
    return r
"""
PUT = """def apply(f: R.Callable((R.Object, T4), T4, False), t: R.Object, z: T4) -> T4:
    r = f(t, z)
    return r
"""


def _function(name: str, parameter: str, body: str, *, private: bool = True) -> str:
    head = f"@R.function(pure=False{', private=True' if private else ''})\n"
    return f"{head}def {name}(t: {parameter}, z: T4) -> T4:\n    {body}\n"


IN_PLACE = _function("given", "T4", "return R.call_tir_inplace(Module.twice, (t,), [0], T4)")
SAME = _function("given", "T4", "return t")
NEW = _function("given", "T4", "return R.call_tir(Module.double, (t,), T4)")
OTHER = NEW.replace("given", "other")
PLACES = _function("given", "R.Object", "u = TENSOR(t)\n    w = Module.double(z, u)\n    return u")
OLD_NAME = """    a = R.call_tir(Module.double, (x,), T4)
    d = Module.apply(Module.given, a, y)
    r = R.call_tir(Module.add, (d, a), T4)
    return r
"""
LATER = """    a = R.call_tir(Module.double, (x,), T4)
    d = Module.apply(Module.given, a, y)
    e = R.call_tir_inplace(Module.twice, (d,), [0], T4)
    r = R.call_tir(Module.add, (e, a), T4)
    return r
"""
OVER_OURS = """    s = STORAGE
    a = TENSOR(s)
    v = Module.double(x, a)
    d = Module.apply(Module.given, s, y)
    r = R.call_tir(Module.add, (d, a), T4)
    return r
"""
OVER_ITS = """    s = STORAGE
    d = Module.apply(Module.given, s, y)
    a = TENSOR(s)
    v = Module.double(x, a)
    r = R.call_tir(Module.add, (d, a), T4)
    return r
"""
BOTH = OLD_NAME.replace(
    "    d =",
    "    b = R.call_tir(Module.double, (x,), T4)\n    q = Module.apply(Module.other, b, y)\n    d =",
)


@pytest.mark.parametrize(
    ("rule", "callee", "given", "main", "verdict"),
    [
        ("RLX206", APPLY, IN_PLACE, OLD_NAME, WRONG),
        ("RLX206", APPLY, SAME, LATER, WRONG),
        ("RLX206", APPLY, NEW, OLD_NAME, FINE),
        ("RLX206", APPLY, NEW, LATER, FINE),
        ("RLX206", APPLY, IN_PLACE + OTHER, BOTH, UNSURE),
        ("RLX206", APPLY, NEW + OTHER, BOTH, FINE),
        ("RLX203", PUT, PLACES, OVER_OURS, UNSURE),
        ("RLX203", PUT, PLACES, OVER_ITS, UNSURE),
    ],
)
def test_a_function_that_a_private_function_is_given(
    rule: str, callee: str, given: str, main: str, verdict: Verdict
) -> None:
    assert worst(rule, callee + given, main) is verdict


def assumed(rule: str, callee: str, main: str) -> set[str]:
    """What the checks of a rule assume, all of which are fine."""
    found = judged(rule, callee, main)
    assert all(check.verdict is FINE for check in found)
    return {text for check in found for text in check.assumes}


OUTSIDE = "`{}` overwrites nothing that it is given or holds, and calls nothing that does"


@pytest.mark.parametrize(
    ("rule", "callee", "given", "main"),
    [
        ("RLX206", APPLY, IN_PLACE, OLD_NAME),
        ("RLX206", APPLY, NEW, OLD_NAME),
        ("RLX203", PUT, PLACES, OVER_OURS),
    ],
)
def test_a_function_that_a_public_function_is_given(rule: str, callee: str, given: str, main: str) -> None:
    public = "def nothing(z: T4):\n    return z\n" + "@R.function(pure=False)\n" + callee + given
    assert OUTSIDE.format("apply") in assumed(rule, public, main)


def test_the_result_of_an_unknown_function_may_lie_on_a_storage_that_it_got() -> None:
    public = "def nothing(z: T4):\n    return z\n" + "@R.function(pure=False)\n" + PUT + PLACES
    assert "`f` returns a new tensor, none that it was given or has kept" in assumed(
        "RLX203", public, OVER_ITS
    )


def test_an_unknown_function_leaves_what_follows_alone() -> None:
    public = "def nothing(z: T4):\n    return z\n" + "@R.function(pure=False)\n" + APPLY + NEW
    main = OLD_NAME.replace("return r", "q = R.call_tir(Module.add, (r, x), T4)\n    return q")
    read = [check.message for check in judged("RLX206", public, main)]
    assert len(read) == 1
    assert "`a`" in read[0]


@pytest.mark.parametrize("inside", [True, False])
def test_what_a_function_value_holds(inside: bool) -> None:
    closure = "    g = R.make_closure(Module.given, (a,))\n    d = Module.apply(g, y)\n"
    inner = """    @R.function(pure=False)
    def g(p: T4) -> T4:
        w = R.call_tir_inplace(Module.twice, (a,), [0], T4)
        return w
    d = Module.apply(g, y)
"""
    main = f"""    a = R.call_tir(Module.double, (x,), T4)
{inner if inside else closure}    e = R.match_cast(d, T4)
    r = R.call_tir(Module.add, (e, a), T4)
    return r
"""
    public = "def nothing(z: T4):\n    return z\n" + "@R.function(pure=False)\n"
    public += (
        "def apply(f: R.Callable((T4,), T4, False), z: T4) -> T4:\n    r = f(z)\n    return r\n" + IN_PLACE
    )
    if not inside:
        public = public.replace("f: R.Callable((T4,), T4, False)", "f: R.Object")
        public = public.replace("r = f(z)", "r = R.invoke_closure(f, (z,), ty_args=T4)")
    assert OUTSIDE.format("apply") in assumed("RLX206", public, main)
    if not inside:
        # What this one does is known: it overwrites what it is given first, and what is held comes last.
        called = main.replace("d = Module.apply(g, y)", "d = R.invoke_closure(g, (y,), ty_args=T4)")
        assert "`a`" not in " ".join(check.message for check in judged("RLX206", public, called))
        called = called.replace("(a,))", "(y,))").replace("g, (y,)", "g, (a,)")
        assert worst("RLX206", public, called) is WRONG


@pytest.mark.parametrize("given", ["v", "z"])
def test_what_a_packed_function_returned_may_be_what_the_caller_has(given: str) -> None:
    """Where it returns what it is given the machine adds 4 and 4 for x = 1, and not 4 and 2."""
    callee = """
@R.function(private=True, pure=False)
def f(a: T4) -> T4:
    v = R.call_packed("relax_lint.tests.same", a, ty_args=T4)
    z = R.call_tir(Module.double, (v,), T4)
    w = R.call_tir_inplace(Module.twice, (GIVEN,), [0], T4)
    return w
""".replace("GIVEN", given)
    main = """    b = R.call_tir(Module.double, (x,), T4)
    d = Module.f(b)
    r = R.call_tir(Module.add, (d, b), T4)
    return r
"""
    expected = {OUTSIDE.format("f")} if given == "v" else set()
    public = "def nothing(z: T4):\n    return z\n" + callee
    assert {text for text in assumed("RLX206", public, main) if "overwrites" in text} == expected
