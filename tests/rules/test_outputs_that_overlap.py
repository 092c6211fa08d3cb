"""Calls that write two tensors of which bytes are shared, and calls of functions whose code is not seen that get
one tensor twice: RLX203 and RLX206, with what the VM returns.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse

FINE, UNSURE, WRONG = Verdict.ALWAYS_FINE, Verdict.NEEDS_RUNTIME_CHECK, Verdict.ALWAYS_WRONG
T4 = 'R.Tensor((4,), "float32")'
ADDER = "relax_lint.tests.adds_one_to_both"
KERNELS = """
@T.prim_func(private=True, s_tir=True)
def copy(a: T.handle, b: T.handle):
    x = T.match_buffer(a, (4,), "float32", elem_offset=T.int64())
    y = T.match_buffer(b, (4,), "float32", elem_offset=T.int64())
    for i in range(4):
        y[i] = x[i]

@T.prim_func(private=True, s_tir=True)
def both(a: T.handle, b: T.handle, c: T.handle):
    x = T.match_buffer(a, (4,), "float32")
    y = T.match_buffer(b, (4,), "float32", elem_offset=T.int64())
    z = T.match_buffer(c, (4,), "float32", elem_offset=T.int64())
    for i in range(4):
        y[i] = x[i]
        z[i] = x[3 - i] * T.float32(2)

@R.function(private=True, pure=False)
def first_last(x: R.Tensor((4,), "float32"), a: R.Tensor((4,), "float32"), b: R.Tensor((4,), "float32")):
    k = Module.copy(x, b)
    k2 = Module.copy(x, a)
    return x

@R.function(private=True, pure=False)
def second_last(x: R.Tensor((4,), "float32"), a: R.Tensor((4,), "float32"), b: R.Tensor((4,), "float32")):
    k = Module.copy(x, a)
    k2 = Module.copy(x, b)
    return x
"""
MAIN = f"""
@R.function(pure=False)
def main(x: {T4}):
    s = R.memory.alloc_storage(R.shape([64]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    t = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
    t2 = R.memory.alloc_tensor(s, R.prim_value(START), R.shape([4]), R.dtype("float32"))
    LINES
    u = R.call_tir(Module.copy, (READ,), out_ty={T4})
    return u
"""


def _module(lines: str, start: int, read: str = "t") -> Any:
    text = KERNELS + MAIN.replace("LINES", lines).replace("START", str(start)).replace("READ", read)
    return parse(text)


def _said(module: Any, code: str) -> set[Verdict]:
    return {check.verdict for check in checks(module, code) if check.binding in ("w", "t", "t2")}


def _run(module: Any) -> list[float]:
    machine = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu())
    return list(machine["main"](tvm.runtime.tensor(np.array([1, 2, 3, 4], "float32"))).numpy())


@pytest.mark.vm
@pytest.mark.parametrize(
    ("call", "start", "returned", "overlap", "arguments"),
    [
        # The bytes that both write get what `t` is to hold in a later step of the loop.
        ("Module.both(x, t, t2)", 8, [1, 2, 3, 4], UNSURE, UNSURE),
        ("Module.both(x, t, t2)", 0, [8, 6, 4, 2], UNSURE, WRONG),
        ("Module.both(x, t, t2)", 16, [1, 2, 3, 4], FINE, FINE),
        # What it writes last is what is read; of the other one nobody reads anything.
        ("Module.both(x, t2, t)", 0, [8, 6, 4, 2], FINE, UNSURE),
        ("Module.first_last(x, t, t2)", 8, [1, 2, 3, 4], UNSURE, UNSURE),
        ("Module.second_last(x, t, t2)", 8, [1, 2, 1, 2], UNSURE, UNSURE),
        ("Module.second_last(x, t, t2)", 16, [1, 2, 3, 4], FINE, FINE),
    ],
)
def test_which_of_two_results_on_the_same_bytes_is_written_last_decides(
    call: str, start: int, returned: list[float], overlap: Verdict, arguments: Verdict
) -> None:
    module = _module(f"w = {call}", start)
    assert _said(module, "RLX203") == {overlap}
    assert _said(module, "RLX206") == {arguments}
    assert _run(module) == returned


@pytest.mark.vm
@pytest.mark.parametrize(("start", "verdict"), [(0, UNSURE), (8, UNSURE), (16, FINE)])
def test_what_copies_bytes_may_read_them_all_before_it_writes(start: int, verdict: Verdict) -> None:
    lines = "k = Module.copy(x, t)\n    "
    lines += 'w = R.call_packed("runtime.TVMTensorCopyFromTo", t, t2, ty_args=(R.Tuple,))'
    module = _module(lines, start, "t2")
    assert {check.verdict for check in checks(module, "RLX206")} == {verdict}
    assert _run(module) == [1, 2, 3, 4]


@pytest.mark.vm
def test_a_function_that_is_not_seen_may_take_one_tensor_twice() -> None:
    def add(one: Any, other: Any) -> Any:
        sums = one.numpy() + other.numpy()
        one.copyfrom(sums)
        return one

    tvm.register_global_func(ADDER, add, override=True)
    lines = "k = Module.copy(x, t)\n    "
    call = f'w = R.call_inplace_packed("{ADDER}", t, OTHER, inplace_indices=[0], ty_args=({T4},))'
    twice = _module(lines + call.replace("OTHER", "t"), 16, "w")
    found = {check.verdict for check in checks(twice, "RLX206") if "another argument" in check.message}
    assert found == {UNSURE}
    assert _run(twice) == [2, 4, 6, 8]
    apart = _module(lines + call.replace("OTHER", "x"), 16, "w")
    assert {check.verdict for check in checks(apart, "RLX206")} == {FINE}
    assert _run(apart) == [2, 4, 6, 8]


@pytest.mark.vm
@pytest.mark.parametrize(("source", "verdict"), [("t", UNSURE), ("x", FINE)])
def test_a_sort_reads_each_row_before_it_writes_it(source: str, verdict: Verdict) -> None:
    lines = "k = Module.copy(x, t)\n    "
    numbers = "R.prim_value(0), R.prim_value(0)"
    lines += f'w = R.call_packed("tvm.contrib.sort.argsort", {source}, t, {numbers}, ty_args=(R.Tuple,))'
    module = _module(lines, 16)
    assert {check.verdict for check in checks(module, "RLX206")} <= {verdict}
    assert _run(module) == [3, 2, 1, 0]
