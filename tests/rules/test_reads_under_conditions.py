"""What a kernel reads only where its data, or a size, says so may not be read: RLX203, RLX205 and RLX206 with
what the VM does where the condition does not hold.
"""

from __future__ import annotations

from textwrap import indent

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import checks, parse

X = [1.0, 2.0, 3.0, 4.0]
BODIES = {
    "if": "y[i] = x[i]\nif x[i] > T.float32(100):\n    y[i] = t[i]",
    "choice": "y[i] = T.if_then_else(x[i] > T.float32(100), t[i], x[i])",
    "select": "y[i] = T.Select(x[i] > T.float32(100), t[i], x[i])",
    "and": "y[i] = x[i]\nif x[i] > T.float32(100) and t[i] > T.float32(0):\n    y[i] = T.float32(0)",
    "loop": "y[i] = x[i]\nfor j in range(T.Cast('int32', x[i]) // 8):\n    y[i] = t[i]",
    "while": "y[i] = x[i]\nwhile y[i] > T.float32(100):\n    y[i] = t[i] - T.float32(200)",
    "way out": "y[i] = x[i]\nif x[i] < T.float32(100):\n    continue\ny[i] = t[i]",
    "block": "with T.sblock('b'):\n    v = T.axis.spatial(4, i)\n    T.where(x[i] > T.float32(100))\n    y[v] = t[v]",
    "size": "y[i] = x[i]\nif n > 100:\n    y[i] = t[i]",
    "fewer steps": "y[i] = x[i]\nfor j in range(n - 1):\n    y[i] = t[i]",
    "tiles": "y[i] = x[i]\nfor j in range((n + 3) // 4):\n    y[i] = t[i]",
    "steps of another size": "y[i] = x[i]\nfor j in range(n):\n    y[i] = t[i]",
    "a part of the steps": "y[i] = x[i]\nfor j in range(n // 100):\n    y[i] = t[i]",
    "taken away again": "y[i] = x[i] + (t[i] - T.Select(x[i] > T.float32(0), t[i], T.float32(0)))",
    "taken away, beside a call": "y[i] = T.fabs(x[i]) + (t[i] - T.Select(x[i] > T.float32(0), t[i], T.float32(0)))",
}
"""In a loop over four elements; `t` is read where a condition holds, which does not on the VM."""
SURE = {
    "both": "y[i] = T.if_then_else(x[i] > T.float32(100), t[i], t[i] + T.float32(1))",
    "both ways": "if x[i] > T.float32(100):\n    y[i] = t[i]\nelse:\n    y[i] = t[0]",
    "a step": "y[i] = x[i]\nif i > 0:\n    y[i] = t[i]",
    "a padding": "y[i] = T.if_then_else(1 <= i and i < 3, t[i], T.float32(0))",
    "none": "y[i] = t[i]",
    "steps up to this one": "y[i] = x[i]\nfor j in range(i):\n    y[i] = t[j]",
    "behind assertions": "".join(f"assert n != {number}, 'no'\n" for number in range(1, 9))
    + "y[i] = t[i]\ny[i] = y[i] + T.float32(1)",
    "taken away from nothing": "y[i] = t[i] - T.Select(x[i] > T.float32(0), x[i], T.float32(0))",
    "steps from this one": "y[i] = x[i]\nfor j in range(4 - i):\n    y[i] = t[j]",
}
KERNELS = """
@T.prim_func(private=True, s_tir=True)
def copy(a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")):
    for i in range(4):
        b[i] = a[i]

@T.prim_func(private=True, s_tir=True)
def double(a: T.Buffer((4,), "float32")):
    for i in range(4):
        a[i] = a[i] * T.float32(2)

@T.prim_func(private=True, s_tir=True)
def kernel(e_: T.handle, x: T.Buffer((4,), "float32"), t: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    n = T.int64()
    e = T.match_buffer(e_, (n,), "int8")
    for i in range(4):
"""
PLACED = 'R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))'
MAIN = f"""
@R.function(pure=False)
def main(e: R.Tensor(("n",), "int8"), x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
    s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    t = {PLACED}
    {{lines}}
    w = Module.kernel(e, x, t, y)
    return y
"""
LINES = {
    "RLX205": "v = x",
    "RLX203": f"w0 = Module.copy(x, t)\n    u = {PLACED}\n    w1 = Module.copy(y, u)",
    "RLX206": 'w0 = Module.copy(x, t)\n    u = R.call_tir_inplace(Module.double, (t,), [0], R.Tensor((4,), "float32"))\n'
    "    w1 = Module.copy(u, y)",
}


def _module(body: str, rule: str) -> object:
    return parse(KERNELS + indent(body, " " * 8) + "\n" + MAIN.format(lines=LINES[rule]))


def _said(body: str, rule: str) -> set[str]:
    return {check.verdict.value for check in checks(_module(body, rule), rule)} - {"always-fine"}


@pytest.mark.parametrize("rule", LINES)
@pytest.mark.parametrize("form", BODIES)
def test_what_may_not_be_read_is_not_always_wrong(form: str, rule: str) -> None:
    assert _said(BODIES[form], rule) == {"needs-runtime-check"}


@pytest.mark.parametrize("rule", LINES)
@pytest.mark.parametrize("form", SURE)
def test_what_is_read_on_every_way_or_in_a_step_is(form: str, rule: str) -> None:
    assert _said(SURE[form], rule) == {"always-wrong"}


@pytest.mark.parametrize("guard", ["{} >= 0", "0 <= {}", "-1 < {}", "0 - n <= {}"])
def test_a_side_of_a_guard_that_wraps_around_may_keep_it_away(guard: str) -> None:
    """From `n == 2**39` on the product is a negative number, and `t` is not read."""
    body = "y[i] = x[i]\nif {}:\n    y[i] = t[i]"
    assert _said(body.format(guard.format("n * T.int64(16777216)")), "RLX205") == {"needs-runtime-check"}
    assert _said(body.format(guard.format("n * T.int64(16)")), "RLX205") == {"always-wrong"}


@pytest.mark.vm
@pytest.mark.parametrize("form", BODIES)
def test_the_run_is_right_where_the_condition_does_not_hold(form: str) -> None:
    machine = relax.VirtualMachine(tvm.compile(_module(BODIES[form], "RLX203"), "llvm"), tvm.cpu())
    given = np.zeros(0, "int8"), np.array(X, "float32"), np.array(X, "float32")
    assert machine["main"](*map(tvm.runtime.tensor, given)).numpy().tolist() == X


OPERATORS = {
    "R.where(c, t, x)": True,
    "R.where(c, x, t)": True,
    "R.nn.prelu(x, t, axis=0)": True,
    "R.add(t, x)": False,
    "R.where(c, t, t)": True,
}
"""What of `t` counts may be nothing."""
GIVEN = f"""
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32"), c: R.Tensor((4,), "bool")):
    s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    t = {PLACED}
    {{lines}}
    z = {{operator}}
    return z
"""


@pytest.mark.parametrize("rule", ["RLX203", "RLX205"])
@pytest.mark.parametrize("operator", OPERATORS)
def test_operators_of_which_an_argument_may_not_count(operator: str, rule: str) -> None:
    module = _given(operator, rule)
    said = {check.verdict.value for check in checks(module, rule)} - {"always-fine"}
    assert said == {"needs-runtime-check" if OPERATORS[operator] else "always-wrong"}


@pytest.mark.vm
@pytest.mark.parametrize("operator", ["R.where(c, x, t)", "R.nn.prelu(x, t, axis=0)", "R.add(t, x)"])
def test_a_run_in_which_it_does_not_count_is_right(operator: str) -> None:
    machine = relax.VirtualMachine(tvm.compile(_given(operator, "RLX203"), "llvm"), tvm.cpu())
    given = np.array(X, "float32"), np.full(4, 9, "float32"), np.full(4, True)
    found = machine["main"](*map(tvm.runtime.tensor, given)).numpy().tolist()
    assert (found == X) == OPERATORS[operator]


def _given(operator: str, rule: str) -> object:
    copy = KERNELS[: KERNELS.index("@T.prim_func(private=True, s_tir=True)\ndef double")]
    return parse(copy + GIVEN.format(lines=LINES[rule], operator=operator))
