"""RLX203, RLX205 and RLX206: what is read of damaged memory is not shown where only another part of what is computed
of it is looked at, where that is always the same, or where both ways come to the same. The VM returns what is right.
"""

from __future__ import annotations

from itertools import cycle
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse
from tests.rules.four_elements import T4
from tests.rules.test_read_for_nobody import ASKED, DAMAGE, READ, TEXT

UNSURE, WRONG = Verdict.NEEDS_RUNTIME_CHECK, Verdict.ALWAYS_WRONG
MODULE = """
@T.prim_func(private=True, s_tir=True)
def joined(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32"), z: T.Buffer((8,), "float32")):
    for i in range(8):
        z[i] = T.if_then_else(i < 4, x[i], y[i - 4])

@T.prim_func(private=True, s_tir=True)
def ending(x: T.Buffer((8,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[i + 4]

@T.prim_func(private=True, s_tir=True)
def low(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[i % 2]

@T.prim_func(private=True, s_tir=True)
def high(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[i % 2 + 2]

@T.prim_func(private=True, s_tir=True)
def less(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32"), z: T.Buffer((4,), "float32")):
    for i in range(4):
        z[i] = x[i] - y[i]

@T.prim_func(private=True, s_tir=True)
def counted(x: T.Buffer((4,), "float32"), y: T.Buffer((1,), "int64")):
    y[0] = T.Cast("int64", x[0])

@R.function(private=True, pure=False)
def looks_high(p: T4, q: T4):
    k = Module.high(p, q)
    return q
""" + TEXT.replace(
    'd: R.Tensor((), "bool")):\n    s0',
    'd: R.Tensor((), "bool"), v: R.Tensor(("n",), "float32")):\n    n = T.int64()\n    s0',
)
ENDS = "k4 = Module.half({}, r)\nk5 = Module.rest({}, r)\n"
SIZE = "k3 = R.call_tir(Module.counted, (t,), R.Tensor((1,), 'int64'))\nz: R.Shape(ndim=1) = R.tensor_to_shape(k3)\n"
NAMED = f"{SIZE}m = T.int64()\nz1 = R.match_cast(z, R.Shape([m]))\n"
SAME = "if k3:\n    {}\n    a = {}\nelse:\n    {}\n    a = {}\nreturn a"
KILL = "k4 = R.memory.kill_tensor(q)"
X = [1.0, 2.0, 3.0, 4.0]
TWICE = [2.0, 4.0, 6.0, 8.0]
FOR_NOBODY: dict[str, tuple[str, Any]] = {
    "the other part of what a kernel joins": (
        "z = R.call_tir(Module.joined, (t, x), R.Tensor((8,), 'float32'))\n"
        "z1 = R.call_tir(Module.ending, (z,), T4)\nreturn z1",
        X,
    ),
    "the other part of what an operator joins": (
        "z = R.concat([t, x])\nz1 = R.strided_slice(z, axes=[0], begin=[4], end=[8])\nreturn z1",
        X,
    ),
    "the part that something else was written to": (
        f"{ENDS.format('t', 'x')}k6 = Module.high(r, q)\nreturn q",
        [3.0, 4.0] * 2,
    ),
    "that part, in a function": (
        f"{ENDS.format('t', 'x')}k6 = Module.looks_high(r, q)\nreturn q",
        [3.0, 4.0] * 2,
    ),
    "that part, before the other one is written": (
        f"{READ}k4 = Module.half(x, r)\nk5 = Module.low(r, q)\nk6 = Module.rest(x, r)\nz = R.add(r, q)\nreturn z",
        [2.0, 4.0, 4.0, 6.0],
    ),
    "that part, by a view": (
        "v1 = R.memory.view(r, R.shape([2]), 'float32', R.prim_value(8))\nk3 = Module.double(x, r)\n"
        "k4 = Module.half(t, r)\nreturn v1",
        [6.0, 8.0],
    ),
    # With the first damage: what nobody wrote may be no number.
    "less itself": ("z = R.call_tir(Module.less, (t, t), T4)\nreturn z", [0.0] * 4),
    "a part, and that is written anew": (
        "k3 = Module.double(x, r)\nk4 = Module.half(t, r)\nk5 = Module.half(x, r)\nreturn r",
        [1.0, 2.0, 6.0, 8.0],
    ),
    "less itself, by an operator": ("z = R.subtract(t, t)\nreturn z", [0.0] * 4),
    "limited to one number": ("z = R.clip(t, R.prim_value(1), R.prim_value(1))\nreturn z", [1.0] * 4),
    "for so many rows as there may be": ("z = R.broadcast_to(t, R.shape([n, 4]))\nreturn z", []),
    "by the way that is taken to the same kernel": (
        ASKED + SAME.format("k4 = Module.reverse(x, r)", "r", "k5 = Module.reverse(x, r)", "r"),
        X[::-1],
    ),
    "by the way that is taken to one of two copies": (
        "w1 = R.call_tir(Module.reverse, (x,), T4)\nw2 = R.call_tir(Module.reverse, (x,), T4)\n"
        + ASKED
        + SAME.format(KILL, "w1", "k5 = R.memory.kill_tensor(r)", "w2"),
        X[::-1],
    ),
    "a size that is only named": (f"{NAMED}return x", X),
    "given to somebody who does not look": (
        f'{READ}k4 = R.call_packed("tests.not_looking", r, ty_args=R.Tuple)\nreturn x',
        X,
    ),
    "given to somebody who writes it": (
        f'{READ}k4 = R.call_packed("tests.filling", x, r, ty_args=R.Tuple)\nreturn r',
        X,
    ),
    "given to a function of which nothing is said but its type": (
        f'{READ}z = R.call_dps_packed("tests.filling", (x, r), T4)\nreturn x',
        X,
    ),
}
SHOWN = {
    "both parts of what a kernel joins": (
        "z = R.call_tir(Module.joined, (t, x), R.Tensor((8,), 'float32'))\nz1 = R.add(z, z)\nreturn z1"
    ),
    "the part of what an operator joins": "z = R.concat([t, x])\nz1 = R.sum(z)\nreturn z1",
    "any part of what depends on it as a whole": f"{READ}k4 = Module.high(r, q)\nreturn q",
    "any part, in a function": f"{READ}k4 = Module.looks_high(r, q)\nreturn q",
    "any part, by an operator": f"{READ}z = R.strided_slice(r, axes=[0], begin=[1], end=[3])\nreturn z",
    "the last part that is written": "k3 = Module.double(x, r)\nk4 = Module.half(t, r)\nreturn r",
    "by a view of a part": (
        f"{READ}v1 = R.memory.view(r, R.shape([2]), 'float32', R.prim_value(8))\nreturn v1"
    ),
    "and itself": "z = R.add(t, t)\nreturn z",
    "in each row of one": "z = R.broadcast_to(t, R.shape([2, 4]))\nreturn z",
    "by the way that is taken to another kernel": ASKED
    + SAME.format("k4 = Module.reverse(x, r)", "r", "k5 = Module.add(x, y, r)", "r"),
    "a size that is returned": f"{NAMED}z2 = R.full(R.shape([m]), R.const(1.0, 'float32'))\nreturn z2",
    "a size that is compared": f"{SIZE}z1 = R.match_cast(z, R.Shape([2]))\nreturn x",
}


def _module(code: str, lines: str) -> Any:
    text = MODULE.replace("DAMAGE", DAMAGE[code]).replace("LINES", lines.replace("\n", "\n    "))
    return parse(text.replace("T4", T4))


def _said(module: Any, code: str) -> set[Verdict]:
    return {check.verdict for check in checks(module, code)} - {Verdict.ALWAYS_FINE}


def _ways(forms: dict[str, Any]) -> pytest.MarkDecorator:
    """Each form with one of the damages, by turns."""
    return pytest.mark.parametrize(("form", "code"), list(zip(forms, cycle(DAMAGE), strict=False)))


@pytest.mark.vm
@_ways(FOR_NOBODY)
def test_what_nobody_looks_at_does_no_certain_harm(form: str, code: str) -> None:
    lines, right = FOR_NOBODY[form]
    module = _module(code, lines)
    assert _said(module, code) == {UNSURE}
    tvm.register_global_func("tests.not_looking", lambda _: None, override=True)
    tvm.register_global_func("tests.filling", lambda *given: given[-1].copyfrom(given[0]), override=True)
    machine = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu(), memory_cfg="naive")
    for condition in (False, True):
        given = np.array(X, "float32"), np.array(condition), np.zeros(4, "float32"), np.array(True)
        found = machine["main"](*map(tvm.runtime.tensor, (*given, np.zeros(0, "float32"))))
        assert found.numpy().tolist() == right


@_ways(SHOWN)
def test_what_every_run_shows_of_it_is_always_wrong(form: str, code: str) -> None:
    assert _said(_module(code, SHOWN[form]), code) == {WRONG}
