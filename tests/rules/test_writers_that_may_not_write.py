"""Who is not known may not write what he is given: then what lies there is as it should be."""

from __future__ import annotations

from textwrap import indent
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax
from tvm.script import tirx as T

from tests.rules.checking import checks, parse
from tests.rules.four_elements import STORAGE, T4, TENSOR

NAME = "relax_lint_tests_may_not_write"
KERNELS = f"""
@T.prim_func(private=True, s_tir=True)
def hands_on(y: T.Buffer((4,), "float32")):
    T.evaluate(T.call_packed("{NAME}", y.data))

@T.prim_func(private=True, s_tir=True)
def fills_and_hands_on(y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = T.float32(7)
    T.evaluate(T.call_packed("{NAME}", y.data))

@T.prim_func(private=True, s_tir=True)
def fills(y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = T.float32(7)

@T.prim_func(private=True, s_tir=True)
def fills_if(y: T.Buffer((4,), "float32")):
    for i in range(4):
        if y[2] > T.float32(0):
            y[i] = T.float32(7)

@T.prim_func(private=True, s_tir=True)
def fills_either_way(y: T.Buffer((4,), "float32")):
    for i in range(4):
        if y[2] > T.float32(0):
            y[i] = T.float32(7)
        else:
            y[i] = T.float32(7)

@T.prim_func(private=True, s_tir=True)
def copy(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[i]

@R.function(private=True, pure=False)
def calls(t: {T4}) -> {T4}:
    k = R.call_packed("{NAME}", t, ty_args=R.Tuple)
    return t

@R.function(private=True, pure=False)
def works_in_place(t: {T4}) -> {T4}:
    w = R.call_inplace_packed("{NAME}", t, inplace_indices=[0], ty_args={T4})
    return w
"""
# TVM 0.26 has none.
HAS_MASKS = hasattr(T, "masked_store")
MASKED = """
@T.prim_func(private=True, s_tir=True)
def masked(y: T.Buffer((4,), "float32")):
    T.evaluate(T.masked_store(y, T.Broadcast(T.float32(7), 4), T.Ramp(0, 1, 4), T.get_active_lane_mask("boolx4", 0, 0)))
"""
FUNCTION = f"""
@R.function(pure=False)
def main{{number}}(x: {T4}) -> {T4}:
    s = {STORAGE}
    a = {TENSOR.format("s")}
    b = {TENSOR.format("{storage}")}
    k = Module.copy(x, a)
{{body}}
    return y
"""
WRONG, UNSURE = "always-wrong", "needs-runtime-check"
IN_PLACE = f"inplace_indices=[0], out_ty=[{T4}])"
LATER = "\ny = R.add(a, x)"
OLDER = "d = R.add(x, x)\ne = {}\ny = R.add(d, e)"
CASES = {
    f"e = Module.hands_on(b){LATER}": ("RLX203", False),
    f"e = Module.masked(b){LATER}": ("RLX203", False),
    f"e = Module.fills_and_hands_on(b){LATER}": ("RLX203", True),
    f"e = Module.fills(b){LATER}": ("RLX203", True),
    f'e = R.call_packed("{NAME}", b, ty_args=R.Tuple){LATER}': ("RLX203", False),
    f"e = Module.calls(b){LATER}": ("RLX203", False),
    OLDER.format(f"R.call_tir_inplace(Module.hands_on, (d,), {IN_PLACE}"): ("RLX206", False),
    OLDER.format(f"R.call_tir_inplace(Module.masked, (d,), {IN_PLACE}"): ("RLX206", False),
    OLDER.format(f"R.call_tir_inplace(Module.fills_and_hands_on, (d,), {IN_PLACE}"): ("RLX206", True),
    OLDER.format(f"R.call_tir_inplace(Module.fills, (d,), {IN_PLACE}"): ("RLX206", True),
    # Data may decide whether anything is written.
    OLDER.format(f"R.call_tir_inplace(Module.fills_if, (d,), {IN_PLACE}"): ("RLX206", False),
    OLDER.format(f"R.call_tir_inplace(Module.fills_either_way, (d,), {IN_PLACE}"): ("RLX206", True),
    OLDER.format(f'R.call_inplace_packed("{NAME}", d, inplace_indices=[0], ty_args={T4})'): ("RLX206", False),
    OLDER.format("Module.works_in_place(d)"): ("RLX206", False),
    "c = R.const([1.0, 1.0, 1.0, 1.0], 'float32')\n"
    f'e = R.call_inplace_packed("{NAME}", c, inplace_indices=[0], ty_args={T4})\ny = R.add(c, x)': (
        "RLX206",
        False,
    ),
    "c = R.const([1.0, 1.0, 1.0, 1.0], 'float32')\n"
    f"e = R.call_tir_inplace(Module.hands_on, (c,), {IN_PLACE}\ny = R.add(c, x)": ("RLX206", False),
}
if not HAS_MASKS:
    CASES = {body: expected for body, expected in CASES.items() if "masked" not in body}


def _module(storage: str) -> Any:
    functions = [
        FUNCTION.format(number=number, storage=storage, body=indent(body, "    "))
        for number, body in enumerate(CASES)
    ]
    return parse(KERNELS + (MASKED if HAS_MASKS else "") + "".join(functions))


def test_whoever_is_not_known_may_write_nothing() -> None:
    module = _module("s")
    found = [*checks(module, "RLX203"), *checks(module, "RLX206")]
    for number, (body, (rule, is_wrong)) in enumerate(CASES.items()):
        told = {
            one.verdict.value
            for one in found
            if one.function == f"main{number}" and one.binding == "e" and one.verdict.value != "always-fine"
        }
        assert told == {WRONG if is_wrong else UNSURE}, body
        assert rule in {one.rule for one in found if one.function == f"main{number}"}


def _nothing(*given: Any) -> Any:
    return given[0] if given and isinstance(given[0], tvm.runtime.Tensor) else 0


@pytest.mark.vm
def test_it_runs_right_where_they_do_not() -> None:
    tvm.register_global_func(NAME, _nothing, override=True)
    x = np.array([1, 2, -3, 4], "float32")
    machine = relax.VirtualMachine(tvm.compile(_module("s"), "llvm"), tvm.cpu())
    for number, (body, (_, is_wrong)) in enumerate(CASES.items()):
        first, second = (machine[f"main{number}"](tvm.runtime.tensor(x)).numpy().copy() for _ in range(2))
        right = x + x if body.endswith(LATER) else x + 1 if "c = " in body else 4 * x
        if "Module.fills" in body and "fills_if" not in body and "d = " in body:
            right = x + x + 7
        assert (first == second).all(), body
        assert (first == right).all() != is_wrong, body
