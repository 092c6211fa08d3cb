"""What takes a tensor at its data pointer and leaves its offset out of account: RLX303, with what the VM returns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse

UNSURE = Verdict.NEEDS_RUNTIME_CHECK
TEXT = """
@R.function(pure=False)
def main(x: R.Tensor((COUNT,), "DTYPE"), c: R.Tensor((), "bool")):
    s = R.memory.alloc_storage(R.shape([64]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    first = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([COUNT]), R.dtype("DTYPE"))
    w = R.call_packed("runtime.TVMTensorCopyFromTo", Z, first, ty_args=(R.Tuple,))
    t = R.memory.alloc_tensor(s, R.prim_value(START), R.shape([COUNT]), R.dtype("DTYPE"))
    v = R.call_packed("runtime.TVMTensorCopyFromTo", x, t, ty_args=(R.Tuple,))
    s2 = R.memory.alloc_storage(R.shape([64]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    o = R.memory.alloc_tensor(s2, R.prim_value(0), R.shape([2]), R.dtype("DTYPE"))
    LINES
    return RESULT
"""
SORT = 'u = R.call_packed("tvm.contrib.sort.{}", t, o, {}ty_args=(R.Tuple,))'
AXIS, DOWN = "R.prim_value(0), ", "R.prim_value(0), "
SHAPE = 'u = R.call_packed("vm.builtin.tensor_to_shape", t, ty_args=(R.Shape(ndim=2),))'
TEMPERATURE = "R.prim_value(T.float64(1.0)), "
SAMPLE = 'u = R.call_packed("vm.builtin.sample_top_p_from_{}", t, {}' + (
    "R.prim_value(T.float64(0.9)), R.prim_value(T.float64(0.5)), ty_args=(R.Prim('int64'),))"
)
SOFTMAX = (
    f'u = R.call_packed("vm.builtin.apply_softmax_with_temperature", t, {TEMPERATURE}ty_args=(R.Tuple,))'
)
PENALTY = 'u = R.call_packed("vm.builtin.apply_repetition_penalty", t, R.const([0], "int32"), ' + (
    "R.prim_value(T.float64(2.0)), ty_args=(R.Tuple,))"
)
PRESENCE = (
    'u = R.call_packed("vm.builtin.apply_presence_and_frequency_penalty", t, R.const([0], "int32"), '
    'R.const([1], "int32"), R.prim_value(T.float64(1.0)), R.prim_value(T.float64(1.0)), ty_args=(R.Tuple,))'
)
DRAW = 'u = R.call_packed("vm.builtin.multinomial_from_uniform", t, R.const([[0.5]], "float32"), ty_args=(R.Tensor,))'
NEAR_SIX = "R.prim_value(T.float64(6.0)), R.prim_value(T.float64(1e-20))"
RANDOM = f'u = R.call_packed("tvm.contrib.random.normal", {NEAR_SIX}, t, ty_args=(R.Tuple,))'
CHOICE = "if t:\n        u = R.prim_value(1)\n    else:\n        u = R.prim_value(0)"


def _module(lines: str, result: str, start: int, x: np.ndarray, z: np.ndarray) -> Any:
    text = TEXT.replace("(COUNT,)", str(x.shape)).replace("[COUNT]", str(list(x.shape)))
    constant = f'R.const({z.tolist()}, "{z.dtype}")'
    text = text.replace("DTYPE", str(x.dtype)).replace("START", str(start)).replace("Z", constant)
    return parse(text.replace("LINES", lines).replace("RESULT", result))


def _run(module: Any, x: np.ndarray) -> list[float]:
    machine = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu())
    found = machine["main"](tvm.runtime.tensor(x), tvm.runtime.tensor(np.array(True)))
    if hasattr(found, "numpy"):
        return [*found.numpy().ravel()]
    return [found] if isinstance(found, int) else [*found]


@pytest.mark.vm
@pytest.mark.parametrize(
    ("lines", "result", "x", "z", "right", "wrong"),
    [
        (SORT.format("argsort", AXIS + DOWN), "o", [1.0, 2.0], [4.0, 3.0], [1, 0], [0, 1]),
        (SORT.format("sort", AXIS + DOWN), "o", [1.0, 2.0], [4.0, 3.0], [2, 1], [4, 3]),
        (
            SORT.format("topk", 'R.prim_value(2), R.prim_value(0), R.str("values"), R.prim_value(0), '),
            "o",
            [1.0, 2.0],
            [4.0, 3.0],
            [2, 1],
            [4, 3],
        ),
        (SAMPLE.format("logits", "R.prim_value(T.float64(1.0)), "), "u", [0.0, 90.0], [90.0, 0.0], [1], [0]),
        (SAMPLE.format("prob", ""), "u", [0.0, 1.0], [1.0, 0.0], [1], [0]),
        (SOFTMAX, "t", [400.0, 0.0], [0.0, 400.0], [1, 0], [400, 0]),
        (PENALTY, "t", [8.0, 2.0], [6.0, 4.0], [4, 2], [8, 2]),
        (PRESENCE, "t", [8.0, 2.0], [6.0, 4.0], [6, 2], [8, 2]),
        (DRAW, "u", [[0.0, 1.0]], [[1.0, 0.0]], [1], [0]),
        (RANDOM, "t", [3.0, 5.0], [7.0, 9.0], [6, 6], [3, 5]),
        (SHAPE, "u", [3, 5], [7, 9], [3, 5], [7, 9]),
        (CHOICE, "u", True, False, [1], [0]),
    ],
)
def test_what_leaves_the_offset_out_of_account_takes_another_tensor(
    lines: str, result: str, x: Any, z: Any, right: list[float], wrong: list[float]
) -> None:
    dtype = {float: "float32", int: "int64", bool: "bool"}[type(np.ravel(x)[0].item())]
    given, before = np.array(x, dtype), np.array(z, dtype)
    apart = _module(lines, result, 16, given, before)
    (found,) = [check for check in checks(apart, "RLX303") if check.binding == "u"]
    assert found.verdict is UNSURE
    assert "starts at offset 16 bytes" in found.message
    assert _run(apart, given) == wrong
    at_zero = _module(lines, result, 0, given, before)
    assert checks(at_zero, "RLX303") == []
    assert _run(at_zero, given) == right
    # What is copied to where the memory starts is found there.
    there = lines.replace(", t,", ", q,").replace("if t:", "if q:")
    copied = f"q = R.memory.ensure_zero_offset(t)\n    {there}"
    module = _module(copied, result.replace("t", "q"), 16, given, before)
    assert checks(module, "RLX303") == []
    assert _run(module, given) == right


@pytest.mark.vm
def test_what_knows_of_offsets_is_not_told() -> None:
    given, before = np.array(True), np.array(False)
    module = _module('R.assert_op(t, format="")', "c", 16, given, before)
    assert checks(module, "RLX303") == []
    assert _run(module, given) == [True]
