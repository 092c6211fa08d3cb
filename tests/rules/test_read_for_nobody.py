"""RLX203, RLX205 and RLX206: what is read of damaged memory does certain harm only where every run shows what is
computed of it. The VM returns what is right where nobody needs that.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse
from tests.rules.four_elements import KERNELS, STORAGE, T4, TENSOR

UNSURE, WRONG = Verdict.NEEDS_RUNTIME_CHECK, Verdict.ALWAYS_WRONG
TEXT = f"""{KERNELS}
@T.prim_func(private=True, s_tir=True)
def half(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(2):
        y[i] = x[i]

@T.prim_func(private=True, s_tir=True)
def rest(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(2):
        y[i + 2] = x[i + 2]

@T.prim_func(private=True, s_tir=True)
def fourfold(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[i] * T.float32(4)

@T.prim_func(private=True, s_tir=True)
def reverse(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[3 - i]

@T.prim_func(private=True, s_tir=True)
def both(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32"), z: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[3 - i]
        z[i] = x[3 - i]

@T.prim_func(private=True, s_tir=True)
def second(x: T.Buffer((4,), "float32"), w: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32"), z: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[3 - i]
        z[i] = w[3 - i]

@T.prim_func(private=True, s_tir=True)
def positive(x: T.Buffer((4,), "float32"), y: T.Buffer((), "bool")):
    y[()] = x[0] > T.float32(3)

@R.function(private=True, pure=False)
def fills(p: T4, q: T4):
    k = Module.reverse(p, q)
    return p

@R.function(private=True, pure=False)
def drops(p: T4, q: T4, r: T4):
    k = Module.reverse(p, q)
    k0 = Module.double(r, q)
    return p

@R.function(private=True, pure=False)
def keeps(p: T4, q: T4):
    k = Module.reverse(p, q)
    return q

@R.function(private=True, pure=False)
def prints(p: T4, q: T4):
    k = Module.reverse(p, q)
    k0 = R.print(q, format="")
    return p

@R.function(private=True, pure=False)
def prints_inside(p: T4, q: T4):
    k = Module.prints(p, q)
    k0 = Module.double(p, q)
    return q

@R.function(private=True, pure=False)
def prints_perhaps(p: T4, q: T4, c: R.Tensor((), "bool")):
    k = Module.reverse(p, q)
    if c:
        k0 = R.memory.kill_tensor(q)
        a = p
    else:
        k1 = R.print(q, format="")
        a = p
    return a

@R.function(private=True, pure=False)
def asks(p: T4, q: T4):
    k = R.call_tir(Module.positive, (p,), R.Tensor((), 'bool'))
    if k:
        k0 = Module.double(q, q)
        a = p
    else:
        a = p
    return a

@R.function(private=True, pure=False)
def again(p: T4, q: T4, c: R.Tensor((), "bool")):
    if c:
        k0 = Module.again(p, q, c)
        a = p
    else:
        k = Module.reverse(p, q)
        a = p
    return a

@R.function(pure=False)
def main(x: T4, c: R.Tensor((), "bool"), y: T4, d: R.Tensor((), "bool")):
    s0 = {STORAGE}
    r = {TENSOR.format("s0")}
    s1 = {STORAGE}
    q = {TENSOR.format("s1")}
    DAMAGE
    LINES
"""
DAMAGE = {
    "RLX203": f"""s = {STORAGE}
    t = {TENSOR.format("s")}
    k1 = Module.double(x, t)
    u = {TENSOR.format("s")}
    k2 = Module.fourfold(x, u)""",
    "RLX205": f"s = {STORAGE}\n    t = {TENSOR.format('s')}",
    "RLX206": "t = R.call_tir(Module.double, (x,), T4)\n"
    "    w = R.call_tir_inplace(Module.twice, (t,), inplace_indices=[0], out_ty=T4)\n"
    f"    s2 = {STORAGE}\n    v = {TENSOR.format('s2')}\n    k2 = Module.double(w, v)",
}
"""What makes `t`, and damages it: what reads it should find twice `x`, and finds four times `x` (RLX203, RLX206)
or what nobody wrote.
"""
READ = "k3 = Module.reverse(t, r)\n"
ASKED = "k3 = R.call_tir(Module.positive, (t,), R.Tensor((), 'bool'))\n"
BRANCH = "if c:\n    {}\n    a = {}\nelse:\n    {}\n    a = {}\nreturn a"
WRITE, KILL = "k4 = Module.double(x, r)", "k4 = R.memory.kill_tensor(q)"
X = [1.0, 2.0, 3.0, 4.0]
TWICE = [2.0, 4.0, 6.0, 8.0]
FOR_NOBODY: dict[str, tuple[str, list[float]]] = {
    "never used": (f"{READ}return x", X),
    "killed": (f"{READ}k4 = R.memory.kill_tensor(r)\nreturn x", X),
    "only its shape is used": (f"{READ}z = R.shape_of(r)\nreturn x", X),
    "used for nobody": (f"{READ}k4 = Module.reverse(r, q)\nreturn x", X),
    "used for nobody, by several": (
        f"{READ}k4 = Module.add(r, x, q)\nk5 = Module.twice(q)\nz = R.reshape(q, R.shape([2, 2]))\nreturn x",
        X,
    ),
    "used for nobody, by a function": (f"{READ}k4 = Module.fills(r, q)\nreturn x", X),
    "written anew": (f"{READ}k4 = Module.double(x, r)\nreturn r", TWICE),
    "written anew by a function": (f"{READ}k4 = Module.fills(x, r)\nreturn r", X[::-1]),
    "used, and that is written anew": (
        f"{READ}k4 = Module.add(r, x, q)\nk5 = Module.double(x, q)\nreturn q",
        TWICE,
    ),
    "what a parameter holds is written anew": (
        "k3 = Module.reverse(t, y)\nk4 = Module.double(x, y)\nreturn y",
        TWICE,
    ),
    "written anew on both branches": (READ + BRANCH.format(WRITE, "r", WRITE, "r"), TWICE),
    "written anew on the branch that is taken": (READ + BRANCH.format(KILL, "r", WRITE, "r"), TWICE),
    "not chosen": (READ + BRANCH.format(KILL, "r", KILL, "x"), X),
    "not used on the branch that is taken": (
        READ + BRANCH.format("k4 = Module.double(r, q)", "q", "k4 = Module.double(x, q)", "q"),
        TWICE,
    ),
    "not the field that is used": (f"{READ}z = (r, x)\na = z[1]\nreturn a", X),
    "not the field that is chosen": (
        f"{READ}if c:\n    z = (r, x)\nelse:\n    z = (r, x)\na = z[1]\nreturn a",
        X,
    ),
    "written anew in two parts": (f"{READ}k4 = Module.half(x, r)\nk5 = Module.rest(x, r)\nreturn r", X),
    "by a branch that nobody needs": (f"{ASKED}if k3:\n    a = x\nelse:\n    a = y\nreturn x", X),
    "by the way that is taken to the same": (f"{ASKED}if k3:\n    a = x\nelse:\n    a = x\nreturn a", X),
    "returned by a function to nobody": ("k3 = Module.keeps(t, r)\nreturn x", X),
    "printed by a function on the other branch": ("k3 = Module.prints_perhaps(t, r, d)\nreturn x", X),
    "by the branch that a function takes for nobody": ("k3 = Module.asks(t, r)\nreturn x", X),
    "read in a function that calls itself": ("k3 = Module.again(t, r, c)\nreturn x", X),
    "the other result": ("k3 = Module.second(t, x, r, q)\nreturn q", X[::-1]),
    "read in a function for nobody": ("k3 = Module.fills(t, r)\nreturn x", X),
    "read in a function, and written anew there": ("k3 = Module.drops(t, r, x)\nreturn r", TWICE),
}
SHOWN = {
    "returned": f"{READ}return r",
    "returned as something else": f"{READ}z = R.reshape(r, R.shape([2, 2]))\nreturn z",
    "returned in a tuple": f"{READ}z = (x, r)\nreturn z",
    "the field that is used": f"{READ}z = (r, x)\na = z[0]\nreturn a",
    "the field that is chosen": f"{READ}if c:\n    z = (r, x)\nelse:\n    z = (r, x)\na = z[0]\nreturn a",
    "in a parameter": "k3 = Module.reverse(t, y)\nreturn x",
    "used by what is returned": f"{READ}k4 = Module.add(r, x, q)\nreturn q",
    "used by several": f"{READ}k4 = Module.add(r, x, q)\nk5 = Module.twice(q)\nz = R.add(q, q)\nreturn z",
    "used in place": f"{READ}k4 = Module.twice(r)\nreturn r",
    "used by a function": f"{READ}k4 = Module.fills(r, q)\nreturn q",
    "written anew in part": f"{READ}k4 = Module.half(x, r)\nreturn r",
    "written anew behind": f"{READ}k4 = Module.add(r, x, q)\nk5 = Module.double(x, r)\nreturn q",
    "printed": f'{READ}k4 = R.print(r, format="")\nreturn x',
    "by the branch that is taken": (f"{ASKED}if k3:\n    a = x\nelse:\n    a = y\nreturn a"),
    "by an assert": (f"{ASKED}k4 = R.assert_op(k3, format='')\nreturn x"),
    "chosen on both branches": READ
    + BRANCH.format("k4 = Module.double(r, q)", "q", "k4 = Module.twice(r)", "r"),
    "chosen again": (
        f"{READ}if c:\n    k4 = Module.double(r, q)\n    a = q\nelse:\n    a = r\nz = R.add(a, x)\nreturn z"
    ),
    "the result that is used": "k3 = Module.second(t, x, r, q)\nreturn r",
    "returned by a function": "k3 = Module.keeps(t, r)\nreturn k3",
    "printed by a function": "k3 = Module.prints(t, r)\nreturn x",
    "printed by a function, and written anew": "k3 = Module.prints(t, r)\nk4 = Module.double(x, r)\nreturn r",
    "printed by a function of a function": "k3 = Module.prints_inside(t, r)\nreturn x",
    "printed on one branch, returned": "k3 = Module.prints_perhaps(t, r, c)\nreturn r",
    "by the branch that a function takes": "k3 = Module.asks(t, y)\nreturn x",
    "both results": "k3 = Module.both(t, r, q)\nz = R.add(r, q)\nreturn z",
    "read in a function": "k3 = Module.fills(t, r)\nreturn r",
}


def _module(code: str, lines: str) -> Any:
    text = TEXT.replace("DAMAGE", DAMAGE[code]).replace("LINES", lines.replace("\n", "\n    "))
    return parse(text.replace("T4", T4))


def _said(module: Any, code: str) -> set[Verdict]:
    found = checks(module, code)
    return {check.verdict for check in found} - {Verdict.ALWAYS_FINE}


@cache
def _machines(code: str) -> list[relax.VirtualMachine]:
    """Of all that nobody needs, once with each allocator."""
    functions, start, main = TEXT.rpartition("@R.function(pure=False)\ndef main")
    for number, (lines, _) in enumerate(FOR_NOBODY.values()):
        one = main.replace("DAMAGE", DAMAGE[code]).replace("LINES", lines.replace("\n", "\n    "))
        functions += f"{start}{number}{one}\n"
    executable = tvm.compile(parse(functions.replace("T4", T4)), "llvm")
    return [
        relax.VirtualMachine(executable, tvm.cpu(), memory_cfg=allocator) for allocator in ("naive", "pooled")
    ]


@pytest.mark.vm
@pytest.mark.parametrize("code", DAMAGE)
@pytest.mark.parametrize("form", FOR_NOBODY)
def test_what_nobody_needs_does_no_certain_harm(form: str, code: str) -> None:
    lines, right = FOR_NOBODY[form]
    module = _module(code, lines)
    assert _said(module, code) == {UNSURE}
    given = np.array(X, "float32"), np.array(False), np.zeros(4, "float32"), np.array(True)
    for machine in _machines(code):
        run = machine[f"main{[*FOR_NOBODY].index(form)}"]
        assert run(*map(tvm.runtime.tensor, given)).numpy().tolist() == right


@pytest.mark.parametrize("code", DAMAGE)
@pytest.mark.parametrize("form", SHOWN)
def test_what_every_run_shows_is_always_wrong(form: str, code: str) -> None:
    assert _said(_module(code, SHOWN[form]), code) == {WRONG}


CALLED = """
@R.function(private=True, pure=False)
def inner(x: T4, r: T4, e: R.Tensor((), "bool")):
    DAMAGE
    k3 = Module.reverse(t, r)
    LINES
"""
OUTER = f"""
@R.function(private=True, pure=False)
def between(x: T4, r: T4, e: R.Tensor((), "bool")):
    a = Module.inner(x, r, e)
    return a

@R.function(pure=False)
def outer(x: T4, c: R.Tensor((), "bool")):
    s0 = {STORAGE}
    r = {TENSOR.format("s0")}
    s1 = {STORAGE}
    q = {TENSOR.format("s1")}
    LINES
"""
UNSEEN: dict[str, tuple[str, str]] = {
    "nobody uses what it wrote": ("return x", "k = Module.inner(x, r, c)\nreturn x"),
    "nobody uses what it returns": ("z = R.add(r, r)\nreturn z", "k = Module.inner(x, r, c)\nreturn x"),
    "nobody uses it, a function further": (
        "z = R.add(r, r)\nreturn z",
        "k = Module.between(x, r, c)\nreturn x",
    ),
    "the caller writes it anew": (
        "return x",
        "k = Module.inner(x, r, c)\nk1 = Module.double(x, r)\nk2 = R.add(r, r)\nreturn x",
    ),
    "one branch of the caller uses it": (
        "return r",
        "k = Module.inner(x, r, c)\n"
        + BRANCH.format("k1 = Module.double(k, q)", "q", "k1 = Module.double(x, q)", "q"),
    ),
}
SEEN: dict[str, tuple[str, str]] = {
    "it prints": ("p = R.print(r, format='')\nreturn x", "k = Module.inner(x, r, c)\nreturn x"),
    "what it wrote is used": ("return x", "k = Module.inner(x, r, c)\nreturn r"),
    "what it returns is used": ("z = R.add(r, r)\nreturn z", "k = Module.inner(x, r, c)\nreturn k"),
    "it is used a function further": ("z = R.add(r, r)\nreturn z", "k = Module.between(x, r, c)\nreturn k"),
    "the second call is used": (
        "z = R.add(r, r)\nreturn z",
        "k = Module.inner(x, r, c)\nk1 = Module.inner(x, q, c)\nreturn k1",
    ),
    "nobody calls it": ("return r", "return x"),
}


def _called(code: str, lines: str, caller: str) -> Any:
    text = CALLED.replace("DAMAGE", DAMAGE[code]).replace("LINES", lines.replace("\n", "\n    "))
    text = (
        TEXT.split("@R.function(pure=False)")[0]
        + text
        + OUTER.replace("LINES", caller.replace("\n", "\n    "))
    )
    return parse(text.replace("T4", T4))


@pytest.mark.vm
@pytest.mark.parametrize("code", DAMAGE)
@pytest.mark.parametrize("form", UNSEEN)
def test_what_no_caller_needs_does_no_certain_harm(form: str, code: str) -> None:
    module = _called(code, *UNSEEN[form])
    assert _said(module, code) == {UNSURE}
    executable = tvm.compile(module, "llvm")
    right = TWICE if "branch" in form else X
    for allocator in ("naive", "pooled"):
        machine = relax.VirtualMachine(executable, tvm.cpu(), memory_cfg=allocator)
        given = np.array(X, "float32"), np.array(False)
        assert machine["outer"](*map(tvm.runtime.tensor, given)).numpy().tolist() == right


@pytest.mark.parametrize("code", DAMAGE)
@pytest.mark.parametrize("form", SEEN)
def test_what_every_caller_shows_is_always_wrong(form: str, code: str) -> None:
    assert _said(_called(code, *SEEN[form]), code) == {WRONG}
