"""What is followed where it is tried whether damage shows: branches that look at it, functions that are given something
else besides, casts, closures, fields of tuples, what is stored by every caller, and each stage of TVM's lowering. Beside
each program in which it does not show stands one like it in which it does.
"""

from __future__ import annotations

from textwrap import dedent, indent
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse, stages
from tests.rules.four_elements import KERNELS, STORAGE, T4, TENSOR

RULES = "RLX20"
DAMAGE = f"""s = {STORAGE}
q = {STORAGE}
t = {TENSOR.format("s")}
k0 = Module.double(y, t)
v = {TENSOR.format("DAMAGED")}
k1 = Module.double(x, v)
k2 = Module.twice(v)
"""
INNER = "    b = R.add(t, x)\n    d = R.add(t, x)\n    a = R.{op}(b, d)\n    return a\n"
PRIVATE = "@R.function(private=True, pure=False)\n"
# Private functions, and what `main` does behind the damage; `OP` makes nothing or something of it.
CASES = {
    "two readers": (
        f"{PRIVATE}def f(t: T4, x: T4) -> T4:\n{INNER.format(op='OP')}",
        "a = Module.f(t, x)",
    ),
    "a branch looks at it": (
        PRIVATE
        + dedent("""\
        def f(t: T4, x: T4) -> T4:
            m = R.max(t)
            g = R.greater(m, R.const(0.0, "float32"))
            if g:
                i = R.add(t, x)
                c = i
            else:
                j = R.negative(t)
                c = j
            return c
        """),
        "b = Module.f(t, x)\nd = Module.f(t, x)\na = R.OP(b, d)",
    ),
    "a branch in one function": (
        "",
        dedent("""\
        m = R.max(t)
        g = R.greater(m, R.const(0.0, "float32"))
        if g:
            i = R.add(x, x)
            c = i
        else:
            j = R.multiply(x, R.const(2.0, "float32"))
            c = j
        d = R.add(x, x)
        z = R.OP(t, t)
        e = R.subtract(c, d)
        a = R.add(e, z)"""),
    ),
    "a string besides": (
        f"{PRIVATE}def f(t: T4, x: T4, o: R.Any) -> T4:\n{INNER.format(op='OP')}",
        'a = Module.f(t, x, R.str("o"))',
    ),
    "an empty tensor besides": (
        f"{PRIVATE}def f(t: T4, x: T4, o: R.Tensor((0,), 'float32')) -> T4:\n{INNER.format(op='OP')}",
        'o = R.zeros(R.shape([0]), "float32")\na = Module.f(t, x, o)',
    ),
    "a function besides": (
        f"{PRIVATE}def g(t: T4, x: T4) -> T4:\n    r = R.negative(t)\n    return r\n"
        f"{PRIVATE}def f(t: T4, x: T4, o: R.Callable((T4, T4), T4, False)) -> T4:\n{INNER.format(op='OP')}",
        "a = Module.f(t, x, Module.g)",
    ),
    "a cast inside": (
        f"{PRIVATE}def f(t: T4, x: T4) -> T4:\n    m = T.int64()\n"
        '    w = R.match_cast(t, R.Tensor((m,), "float32"))\n    u = R.match_cast(x, R.Tensor((m,), "float32"))\n'
        "    b = R.add(w, u)\n    d = R.add(w, u)\n    c = R.OP(b, d)\n    a = R.match_cast(c, T4)\n    return a\n",
        "a = Module.f(t, x)",
    ),
}
MAKES = {"nothing": "subtract", "something": "add"}


def _text(case: str, makes: str, *, damaged: bool) -> str:
    private, lines = (part.replace("OP", MAKES[makes]).replace("T4", T4) for part in CASES[case])
    body = DAMAGE.replace("DAMAGED", "s" if damaged else "q") + lines + "\nreturn a"
    return (
        KERNELS + private + f"@R.function(pure=False)\ndef main(x: {T4}, y: {T4}):\n" + indent(body, "    ")
    )


def _answer(module: Any) -> np.ndarray[Any, Any]:
    machine = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = [np.array(one, "float32") for one in ([1, 2, -3, 4], [-3, 1, 5, 2])]
    found: np.ndarray[Any, Any] = machine["main"](*map(tvm.runtime.tensor, given)).numpy()
    return found


@pytest.mark.vm
@pytest.mark.parametrize("makes", MAKES)
@pytest.mark.parametrize("case", CASES)
def test_what_shows_nothing_is_not_always_wrong(case: str, makes: str) -> None:
    module = parse(_text(case, makes, damaged=True))
    said = {one.verdict for one in checks(module, RULES) if one.binding == "k1"}
    is_right = np.allclose(_answer(module), _answer(parse(_text(case, makes, damaged=False))))
    assert is_right == (makes == "nothing")
    assert (Verdict.ALWAYS_WRONG in said) == (not is_right)


@pytest.mark.parametrize("makes", MAKES)
@pytest.mark.parametrize("case", ["two readers", "a branch looks at it"])
def test_at_every_stage_of_the_lowering(case: str, makes: str) -> None:
    for stage, module in stages(parse(_text(case, makes, damaged=True))):
        said = {one.verdict for one in checks(module, "RLX203")}
        assert (Verdict.ALWAYS_WRONG in said) == (makes == "something"), stage


CALLERS = f"""
{PRIVATE}def made(x: {T4}, y: {T4}) -> {T4}:
    s = {STORAGE}
    t = {TENSOR.format("s")}
    k0 = Module.double(y, t)
    v = {TENSOR.format("s")}
    k1 = Module.double(x, v)
    r = R.negative(t)
    return r

@R.function(pure=False)
def main(x: {T4}, y: {T4}):
    a = Module.made(x, GIVEN)
    return a
"""


@pytest.mark.parametrize(("given", "is_wrong"), [("x", False), ("y", True)])
def test_callers_may_make_it_store_what_was_there(given: str, is_wrong: bool) -> None:
    module = parse(KERNELS + CALLERS.replace("GIVEN", given))
    said = {one.verdict for one in checks(module, "RLX203")}
    assert (Verdict.ALWAYS_WRONG in said) == is_wrong


IN_PLACE = f"""
@T.prim_func(private=True, s_tir=True)
def minus(x: T.Buffer((4,), "float32")):
    for i in range(4):
        x[i] = T.float32(0) - x[i]

{PRIVATE}def bare(p: {T4}) -> {T4}:
    r = R.call_tir_inplace(Module.minus, (p,), inplace_indices=[0], out_ty={T4})
    return r

{PRIVATE}def field(p: R.Tuple({T4}, {T4})) -> {T4}:
    q = p[0]
    r = R.call_tir_inplace(Module.minus, (q,), inplace_indices=[0], out_ty={T4})
    return r

@R.function(pure=False)
def main(x: {T4}, y: {T4}):
    c = R.call_tir(Module.double, (x,), out_ty={T4})
    r = Module.CALL
    b = R.SEEN(c)
    a = R.add(b, r)
    return a
"""


@pytest.mark.parametrize(("seen", "is_wrong"), [("abs", False), ("negative", True)])
@pytest.mark.parametrize("call", ["bare(c)", "field((c, c))"])
def test_fields_that_a_function_changes(call: str, seen: str, is_wrong: bool) -> None:
    module = parse(KERNELS + IN_PLACE.replace("CALL", call).replace("SEEN", seen))
    said = {one.verdict for one in checks(module, "RLX206") if one.binding == "r"}
    assert (Verdict.ALWAYS_WRONG in said) == is_wrong


CONSTANT = (
    IN_PLACE.partition("@R.function(pure=False)\ndef main")[0]
    + f"""
@R.function(pure=False)
def main(x: {T4}, y: {T4}):
    b = Module.bare(R.const([1.0, -2.0, 3.0, 4.0], "float32"))
    a = R.SEEN(b)
    return a
"""
)


@pytest.mark.vm
@pytest.mark.parametrize(("seen", "is_wrong"), [("abs", False), ("negative", True)])
def test_constants_that_a_function_changes(seen: str, is_wrong: bool) -> None:
    """What a second run gives is what counts."""
    module = parse(KERNELS + CONSTANT.replace("SEEN", seen))
    machine = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = [tvm.runtime.tensor(np.zeros(4, "float32"))] * 2
    first, second = (machine["main"](*given).numpy() for _ in range(2))
    assert np.allclose(first, second) != is_wrong
    said = {one.verdict for one in checks(module, "RLX206")}
    assert (Verdict.ALWAYS_WRONG in said) == is_wrong


# A branch that looks at the damage: what `main` gives back by each way.
WAYS = {
    "shapes": ("R.shape([2])", "R.shape([4])", True),
    "one shape": ("R.shape([2])", "R.shape([2])", False),
    "numbers": ("R.prim_value(2)", "R.prim_value(4)", True),
    "other sizes": ("R.concat((x, x), axis=0)", "x", True),
    "other types": ('R.astype(x, "int32")', "x", True),
    "one tensor": ("R.add(x, x)", 'R.multiply(x, R.const(2.0, "float32"))', False),
}


@pytest.mark.parametrize("way", WAYS)
def test_ways_that_give_what_is_no_tensor_like_the_other(way: str) -> None:
    then, otherwise, is_wrong = WAYS[way]
    lines = f"""\
n0 = R.abs(y)
n1 = R.negative(n0)
m = R.max(t)
g = R.greater(m, R.const(0.0, "float32"))
if g:
    i = {then}
    c = i
else:
    j = {otherwise}
    c = j
"""
    # It is negative without damage, and positive with it.
    damage = (
        DAMAGE.replace("DAMAGED", "s")
        .replace("double(y, t)", "double(n1, t)")
        .replace("double(x, v)", "double(n0, v)")
    )
    head, lines = lines.split("m = ", 1)
    body = head + damage + "m = " + lines + "return c"
    module = parse(KERNELS + f"@R.function(pure=False)\ndef main(x: {T4}, y: {T4}):\n" + indent(body, "    "))
    said = {one.verdict for one in checks(module, "RLX203") if one.binding == "k1"}
    assert (Verdict.ALWAYS_WRONG in said) == is_wrong


ONE_SIDE = """
@T.prim_func(private=True, s_tir=True)
def outside(x: T.Buffer((4,), "float32")):
    for i in range(4):
        x[i] = T.call_pure_extern("float32", "fabsf", x[i])
"""


def test_a_kernel_on_one_side_that_cannot_be_carried_out_stores_something_else() -> None:
    lines = """\
b = R.negative(x)
m = R.max(t)
g = R.greater(m, R.const(0.0, "float32"))
if g:
    k3 = Module.outside(b)
    c = x
else:
    c = x
a = R.add(b, c)
"""
    body = DAMAGE.replace("DAMAGED", "s") + lines + "return a"
    text = (
        KERNELS + ONE_SIDE + f"@R.function(pure=False)\ndef main(x: {T4}, y: {T4}):\n" + indent(body, "    ")
    )
    said = {one.verdict for one in checks(parse(text), "RLX203") if one.binding == "k1"}
    assert Verdict.ALWAYS_WRONG in said


def test_what_lowering_puts_into_a_branch_shows_nothing() -> None:
    text = f"""
{PRIVATE}def two(q: T4) -> T4:
    r = R.add(q, q)
    return r
@R.function(pure=False)
def main(x: T4, y: T4):
""".replace("T4", T4)
    lines = """\
m = R.max(t)
g = R.greater(m, R.const(0.0, "float32"))
if g:
    i = Module.two(x)
    c = i
else:
    j = R.multiply(x, R.const(2.0, "float32"))
    c = j
return c
"""
    module = parse(KERNELS + text + indent(DAMAGE.replace("DAMAGED", "s") + lines, "    "))
    for stage, lowered in stages(module):
        said = {one.verdict for one in checks(lowered, "RLX203")}
        assert Verdict.ALWAYS_WRONG not in said, stage
