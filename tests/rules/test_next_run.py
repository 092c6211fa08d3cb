"""RLX206 of constants: a call that overwrites one is wrong where the next run gives something else for it."""

from __future__ import annotations

from textwrap import indent

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import checks, parse
from tests.rules.four_elements import T4

KERNEL = """
@T.prim_func(private=True, s_tir=True)
def {name}(x: T.Buffer((4,), "float32"), c: T.Buffer((4,), "float32")):
{body}
"""
EACH = "for i in range(4):\n    c[i] = {}"
HALF = "for i in range(2):\n    c[i + 2] = {}"
BODIES = {
    "filled": EACH.format("T.float32(7)"),
    "copied": EACH.format("x[i]"),
    "same": EACH.format("c[i] * T.float32(1)"),
    "ones": EACH.format("T.float32(1)"),
    "twice": EACH.format("c[i] * T.float32(2)"),
    "added": EACH.format("c[i] + x[i]"),
    "half": HALF.format("T.float32(7)"),
    "half_twice": HALF.format("c[i + 2] * T.float32(2)"),
    "half_copied": HALF.format("x[i]"),
    "never": "for i in range(4):\n    if i > 4:\n        c[i] = T.float32(7)",
    "added_if": EACH.format("c[i] + T.float32(1)").replace(
        "c[i] =", "if x[2] > T.float32(0):\n        c[i] ="
    ),
    "added_always": "for i in range(4):\n    if x[2] > T.float32(0):\n        c[i] = c[i] + T.float32(1)\n"
    "    else:\n        c[i] = c[i] + T.float32(2)",
    "none": "for i in range(0):\n    c[i] = T.float32(7)",
}
KERNELS = "".join(KERNEL.format(name=name, body=indent(body, "    ")) for name, body in BODIES.items())
FUNCTION = f"""
@R.function(pure=False)
def main{{number}}(x: {T4}) -> {T4}:
    c = R.const([{{constant}}] * 4, "float32")
{{body}}
    return y
"""
WRONG, UNSURE = "always-wrong", "needs-runtime-check"
IN_PLACE = f"R.call_tir_inplace(Module.{{}}, (x, c), inplace_indices=[1], out_ty=[{T4}])"
# What is done, and whether the next run gives something else.
CASES = {
    "_ = Module.filled(x, c)\ny = R.add(c, x)": False,
    "_ = Module.copied(x, c)\ny = R.add(c, x)": False,
    "_ = Module.same(x, c)\ny = R.add(c, x)": False,
    "z = R.add(c, x)\n_ = Module.ones(x, c)\ny = R.add(z, c)": False,
    "z = R.add(c, x)\n_ = Module.filled(x, c)\ny = R.add(z, c)": True,
    "z = R.add(c, x)\n_ = Module.filled(x, c)\ny = R.multiply(c, x)": False,
    "_ = Module.twice(x, c)\ny = R.add(c, x)": True,
    "_ = Module.added(x, c)\ny = R.add(c, x)": True,
    "_ = Module.half(x, c)\ny = R.add(c, x)": False,
    "_ = Module.half_copied(x, c)\ny = R.add(c, x)": False,
    "z = R.add(c, x)\n_ = Module.half(x, c)\ny = R.add(z, c)": True,
    "_ = Module.half_twice(x, c)\ny = R.add(c, x)": True,
    "_ = Module.never(x, c)\ny = R.add(c, x)": False,
    "_ = Module.none(x, c)\ny = R.add(c, x)": False,
    # Data may decide whether anything is stored.
    "_ = Module.added_if(x, c)\ny = R.add(c, x)": False,
    "_ = Module.added_always(x, c)\ny = R.add(c, x)": True,
    # Two constants are one if their bits are the same.
    "e = R.const([0.0] * 4, 'float32')\nd = R.const([-0.0] * 4, 'float32')\nz = R.add(d, x)\n"
    "_ = Module.filled(x, e)\ny = R.add(z, x)": False,
    "e = R.const([0.5] * 4, 'float32')\nd = R.const([0.5] * 4, 'float32')\nz = R.add(d, x)\n"
    "_ = Module.filled(x, e)\ny = R.add(z, x)": True,
    "e = R.const([float('nan')] * 4, 'float32')\nd = R.const([float('nan')] * 4, 'float32')\n"
    "z = R.where(R.isnan(d), x, c)\n_ = Module.filled(x, e)\ny = R.add(z, x)": True,
    f"y = {IN_PLACE.format('filled')}": False,
    f"y = {IN_PLACE.format('twice')}": True,
    f"y = {IN_PLACE.format('added')}": True,
}


def _text() -> str:
    # Equal constants are one for the machine: each function has its own.
    functions = (
        FUNCTION.format(
            number=number, body=indent(body, "    "), constant=f"{1 if 'ones' in body else 2 + number}.0"
        )
        for number, body in enumerate(CASES)
    )
    return KERNELS + "".join(functions)


def test_what_the_next_run_may_not_notice_is_not_always_wrong() -> None:
    found = checks(parse(_text()), "RLX206")
    for number, (body, is_wrong) in enumerate(CASES.items()):
        told = [one for one in found if one.function == f"main{number}" and "the constant" in one.message]
        assert [one.verdict.value for one in told] == [WRONG if is_wrong else UNSURE], body


@pytest.mark.vm
def test_the_machine_gives_the_same_twice_for_these_only() -> None:
    machine = relax.VirtualMachine(tvm.compile(parse(_text()), "llvm"), tvm.cpu())
    x = tvm.runtime.tensor(np.array([1, 2, -3, 4], "float32"))
    for number, (body, is_wrong) in enumerate(CASES.items()):
        first, second = (machine[f"main{number}"](x).numpy().copy() for _ in range(2))
        assert (first != second).any() == is_wrong, body
