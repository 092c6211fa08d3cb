"""Casts and arithmetic of fewer than 32 bits in kernels, which may not hold what they are given. TVM takes such a number
for the one that it would be if nothing were lost: it leaves out a remainder, and a condition, that this one makes
superfluous. Each with the index that the compiled kernel comes to, or with what it reads, and twins that lose nothing.
"""

from __future__ import annotations

from textwrap import indent
from typing import Any

import numpy as np
import pytest
import tvm

from tests.rules.checking import checks, parse

IS_OLDER = tvm.__version__.startswith("0.26")
KERNEL = """
@T.prim_func(private=True, s_tir=True)
def kernel(x: T.Buffer((100,), "float32"), y: T.Buffer((200,), "float32")):
"""
MAIN = """
@R.function
def main(x: R.Tensor((100,), "float32")):
    y = R.call_tir(Module.kernel, (x,), R.Tensor((200,), "float32"))
    return y
"""
INT8, INT16 = "T.Cast('int32', T.Cast('int8', {}))", "T.Cast('int32', T.Cast('int16', {}) * T.int16({}))"
UINT8 = "T.Cast('int32', T.Cast('uint8', {}))"
BELOW = "T.Cast('int32', T.Cast('uint8', i) - T.uint8(5))"
LET = "v: T.let = {}\nif v >= 0:\n    if v < 100:\n        y[i] = x[v]"
LOST: dict[str, tuple[str, int]] = {
    # What a step does, and how many steps there are.
    "the remainder of a cast": (f"y[i] = x[T.floormod({INT8.format('i + 126')}, 100)]", 5),
    "the remainder of a long cast": (f"y[i] = x[T.floormod({INT8.format('i')}, 100)]", 200),
    "the remainder towards zero": (f"y[i] = x[T.truncmod({INT8.format('i + 100')}, 7)]", 100),
    "the remainder of a product": (f"y[i] = x[T.floormod({INT16.format('i', 201)}, 100)]", 200),
    "the remainder in 16 bits": (
        "y[i] = x[T.Cast('int32', T.floormod(T.Cast('int16', i) * T.int16(200) + T.int16(5), T.int16(100)))]",
        200,
    ),
    "the remainder of what is below zero": (f"y[i] = x[T.floormod({BELOW} + 5, 100)]", 90),
    "the remainder of a difference": (f"y[i] = x[T.floormod({UINT8.format('i * 4 + 254')} - 254, 100)]", 5),
    "under a condition": (LET.format(INT16.format("i", 200)), 200),
}
KEPT: dict[str, tuple[str, int]] = {
    "the remainder of what fits": (f"y[i] = x[T.floormod({INT8.format('i')}, 100)]", 128),
    "the remainder of a product that fits": (f"y[i] = x[T.floormod({INT16.format('i', 100)}, 100)]", 200),
    "the remainder of 32 bits": ("y[i] = x[T.floormod(i * 40000003 + 5, 100)]", 50),
    "under a condition that fits": (LET.format(INT16.format("i", 100)), 200),
    # Of what is loaded TVM knows its type.
    "the remainder of what is loaded": (
        f"v = T.alloc_buffer((1,), 'int32')\nv[0] = {INT8.format('i')}\ny[i] = x[T.floormod(v[0], 100)]",
        200,
    ),
    "what is loaded, under a condition": (
        "v = T.alloc_buffer((1,), 'int8')\nv[0] = T.Cast('int8', i)\nif v[0] >= T.int8(0) and v[0] < T.int8(100):\n"
        "    y[i] = x[T.Cast('int32', v[0])]",
        200,
    ),
}


def _kernel(step: str, steps: int) -> str:
    return KERNEL + indent(f"for i in range({steps}):\n{indent(step, '    ')}", "    ") + "\n"


def _indices(step: str, steps: int) -> Any:
    """What the compiled kernel comes to in the place of the index."""
    start = step.index("x[")
    shown = f"{step[:start]}T.Cast('float32', {step[start + 2 : -1]})"
    kernel = parse(_kernel(shown, steps))["kernel"].with_attr("global_symbol", "kernel")
    run = tvm.compile(tvm.IRModule({"kernel": kernel}), "llvm")["kernel"]
    result = tvm.runtime.tensor(np.zeros(200, "float32"))
    run(tvm.runtime.tensor(np.zeros(100, "float32")), result)
    return result.numpy()


def _said(step: str, steps: int) -> set[str]:
    found = checks(parse(_kernel(step, steps) + MAIN), "RLX306")
    return {check.verdict.value for check in found} - {"always-fine"}


@pytest.mark.vm
@pytest.mark.parametrize("form", LOST)
def test_what_few_bits_do_not_hold_is_no_index(form: str) -> None:
    assert _said(*LOST[form]) == {"needs-runtime-check"}
    indices = _indices(*LOST[form])
    assert IS_OLDER or indices.min() < 0 or indices.max() >= 100


@pytest.mark.vm
@pytest.mark.parametrize("form", KEPT)
def test_what_they_hold_is_one(form: str) -> None:
    # The remainder of 32 bits is reported where they may be too few, which is another matter.
    if form != "the remainder of 32 bits":
        assert _said(*KEPT[form]) == set()
    indices = _indices(*KEPT[form])
    assert indices.min() >= 0
    assert indices.max() < 100


READS = {
    # What decides whether `t` is read, and whether some step does.
    "a cast that loses": ("T.Cast('int32', T.Cast('uint8', i * 128 + 128)) < 100", False),
    "a cast that changes the sign": ("T.Cast('int32', T.Cast('int8', i + 126)) < 0", False),
    "a cast that fits": ("T.Cast('int32', T.Cast('uint8', i * 50)) > 100", True),
    "a cast to 32 bits": ("T.Cast('int32', T.Cast('int64', i) * T.int64(50)) > 100", True),
}
READER = """
@T.prim_func(private=True, s_tir=True)
def kernel(t: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        if {}:
            y[i] = y[i] + t[i]

@R.function(pure=False)
def main(y: R.Tensor((4,), "float32")):
    s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    t = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
    w = Module.kernel(t, y)
    return y
"""


@pytest.mark.vm
@pytest.mark.parametrize("form", READS)
def test_a_read_under_a_condition_on_them_is_not_certain(form: str) -> None:
    condition, is_read = READS[form]
    module = parse(READER.format(condition))
    found = {check.verdict.value for check in checks(module, "RLX205")} - {"always-fine"}
    assert found == {"always-wrong" if is_read else "needs-runtime-check"}
    kernel = module["kernel"].with_attr("global_symbol", "kernel")
    run = tvm.compile(tvm.IRModule({"kernel": kernel}), "llvm")["kernel"]
    shown = []
    for content in (7, -5000):
        result = tvm.runtime.tensor(np.ones(4, "float32"))
        run(tvm.runtime.tensor(np.full(4, content, "float32")), result)
        shown.append(result.numpy().tolist())
    assert IS_OLDER or (shown[0] != shown[1]) == is_read
