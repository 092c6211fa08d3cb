"""RLX203 where a function that is written inside of another one is a value: whoever has it has what it uses, as is so of
the closure that TVM makes of it.
"""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import checks, parse

TYPE = 'R.Tensor((4,), "float32")'
KERNELS = """
@T.prim_func(private=True)
def double(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[i] * T.float32(2)

@T.prim_func(private=True)
def triple(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[i] * T.float32(3)
"""
TAKE = f"""
@R.function(private=True, pure=False)
def take(t: R.Tuple({TYPE}, R.Object)) -> {TYPE}:
    r = R.call_packed("run", t, ty_args=[{TYPE}])
    return r
"""
BODY = """
    s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    a = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
    w = Module.double(x, a)
    {made}
    {hold}
    b = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
    w1 = Module.triple(x, b)
    {use}
    return r
"""
INSIDE = f"""@R.function(pure=False)
    def f(y: {TYPE}) -> {TYPE}:
        r = R.call_tir(Module.double, (USED,), {TYPE})
        return r"""
LIFTED = f"""
@R.function(private=True, pure=False)
def lifted(y: {TYPE}, a: {TYPE}) -> {TYPE}:
    r = R.call_tir(Module.double, (a,), {TYPE})
    return r
"""
RUN = f'r = R.call_packed("run", {{}}, ty_args=[{TYPE}])'


def text(made: str, hold: str, use: str) -> str:
    """A module in which `f` uses `a` when `b` has been written on its memory."""
    head = f'\n@R.function(pure=False)\ndef main(x: {TYPE}, c: R.Tensor((), "bool")):'
    body = BODY.format(
        made=made, hold=hold.replace("; ", "\n    ") or "v = x", use=use.replace("; ", "\n    ")
    )
    return KERNELS + TAKE + (LIFTED if "lifted" in made else "") + head + body


FORMS = [
    ("", RUN.format("f, x")),
    ("", RUN.format("(x, f)")),
    ("", RUN.format("(x, (f,))")),
    ("t = (x, f)", RUN.format("t")),
    ("t = (x, (f,))", "u = t[1]; " + RUN.format("u")),
    ("t = (x, (f,))", "u = t[1]; g = u[0]; " + RUN.format("g")),
    ("if c:;     g = f; else:;     g = f", RUN.format("g")),
    ("t = (x, f)", "r = Module.take(t)"),
    ("", "r = Module.take((x, f))"),
]


@pytest.mark.parametrize(("hold", "use"), FORMS)
def test_it_has_what_it_uses_as_a_closure_has(hold: str, use: str) -> None:
    def of(made: str) -> set[tuple[str, str | None]]:
        found = checks(parse(text(made, hold, use)), "RLX203")
        return {(check.verdict.value, check.binding) for check in found if check.function == "main"}

    here = of(INSIDE.replace("USED", "a"))
    assert ("needs-runtime-check", "w1") in here
    assert here == of("f = R.make_closure(Module.lifted, (a,))")
    assert "needs-runtime-check" not in {verdict for verdict, _ in of(INSIDE.replace("USED", "y"))}


def test_a_function_inside_of_a_function_inside() -> None:
    deep = INSIDE.replace("USED", "y").replace(
        "r = R.call_tir",
        f"@R.function(pure=False)\n        def g(z: {TYPE}) -> {TYPE}:\n            q = R.call_tir(Module.double, (a,), {TYPE})\n"
        "            return q\n        r = R.call_tir",
    )
    (found,) = [
        check.verdict.value
        for check in checks(parse(text(deep, "", RUN.format("f, x"))), "RLX203")
        if check.function == "main" and check.binding == "w1" and not check.assumes[0].endswith("has kept")
    ]
    assert found == "needs-runtime-check"


def test_the_values_of_a_function_inside_are_not_those_with_their_numbers_outside() -> None:
    """`z` is used inside only, and `k`, which is made after the function, by nobody."""
    (found,) = checks(
        parse(f"""
@R.function(pure=False)
def main(x: {TYPE}):
    @R.function(pure=False)
    def f(y: {TYPE}) -> {TYPE}:
        z = R.add(y, y)
        z1 = R.add(z, y)
        z2 = R.add(z1, z)
        return z2
    s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    k = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
    r = f(x)
    return r
"""),
        "RLX208",
    )
    assert (found.binding, found.verdict.value) == ("k", "always-wrong")


@pytest.mark.vm
@pytest.mark.parametrize(("hold", "use"), [("", "f"), ("t = (x, (f,))", "u = t[1]; g = u[0]; g")])
def test_the_closure_that_it_becomes_reads_what_was_written_over(hold: str, use: str) -> None:
    *before, last = use.split("; ")
    call = "; ".join([*before, f"r = R.invoke_closure({last}, (x,), ty_args=[{TYPE}])"])
    module = parse(text("f = R.make_closure(Module.lifted, (a,))", hold, call).replace(TAKE, ""))
    machine = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = tvm.runtime.tensor(np.ones(4, "float32")), tvm.runtime.tensor(np.array(True))
    # Twice `a`, which is twice x, would be 4.
    assert machine["main"](*given).numpy().tolist() == [6.0] * 4
