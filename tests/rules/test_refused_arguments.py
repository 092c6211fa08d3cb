"""What of the arguments of a call is refused, in words, and that a tensor without elements starts nowhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import checks, findings, parse

KERNEL = """
@T.prim_func(private=True, s_tir=True)
def copy(x: T.Buffer((T.int64(2), T.int64(2)), "float32"), y: T.Buffer((T.int64(2), T.int64(2)), "float32")):
    for i, j in T.grid(T.int64(2), T.int64(2)):
        y[i, j] = x[i, j]

@R.function(pure=False)
def main(x: {given}, z: R.Tensor((2, 2), "float32")):
    cls = Module
    y = R.call_tir(cls.copy, ({arguments}), out_ty=R.Tensor((2, 2), "float32"))
    return y
"""


@pytest.mark.parametrize(
    ("given", "arguments", "said"),
    [
        ("R.Tensor((2, 2), 'float32')", "", "it receives 1 argument, the kernel expects 2"),
        ("R.Tensor((2, 2), 'float32')", "x, z", "it receives 3 arguments, the kernel expects 2"),
        ("R.Tensor((4,), 'float32')", "x,", "`x` has rank 1, the kernel expects rank 2"),
        ("R.Tensor((2, 3), 'float32')", "x,", "extent 1 of `x` is `3`, the kernel expects `2`"),
    ],
)
def test_what_a_kernel_refuses_is_said(given: str, arguments: str, said: str) -> None:
    (found,) = checks(parse(KERNEL.format(given=given, arguments=arguments)), "RLX301")
    assert found.verdict.value == "always-wrong"
    assert said in found.message


SORTED = """
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")):
    s = R.memory.alloc_storage(R.shape([64]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    o = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([{count}]), R.dtype("float32"))
    t = R.memory.alloc_tensor(s, R.prim_value({start}), R.shape([{count}]), R.dtype("float32"))
    u = R.call_packed("tvm.contrib.sort.sort", t, o, R.prim_value(0), R.prim_value(0), ty_args=(R.Tuple,))
    return x
"""


@pytest.mark.parametrize(
    ("count", "start", "told"), [(2, 16, True), (0, 16, False), (2, 0, False), (0, 0, False)]
)
def test_a_tensor_without_elements_starts_nowhere(count: int, start: int, told: bool) -> None:
    found = checks(parse(SORTED.format(count=count, start=start)), "RLX303")
    assert ("needs-runtime-check" in {one.verdict.value for one in found}) is told


LOOKING = """
@T.prim_func(private=True, s_tir=True)
def take(i: T.Buffer((4,), "int64"), x: T.Buffer((8,), "float32"), y: T.Buffer((4,), "float32")):
    for k in range(4):
        with T.sblock("take"):
            v = T.axis.spatial(4, k)
            y[v] = x[i[v]]

@T.prim_func(private=True, s_tir=True)
def add(x: T.Buffer((4, 0), "float32"), y: T.Buffer((4,), "float32")):
    for k, j in T.grid(4, 0):
        with T.sblock("add"):
            v, w = T.axis.remap("SR", [k, j])
            with T.init():
                y[v] = T.float32(0)
            y[v] = y[v] + x[v, w]

@R.function(pure=False)
def main(x: R.Tensor((8,), "float32"), e: R.Tensor((4, 0), "float32"), y: R.Tensor((4,), "float32")):
    c = R.const([1, 2, 3, 40], "int64")
    z: R.Tuple = Module.{call}
    return y
"""
CALLS = [
    *(("take", "cxyyy"[:count], count == 3, ["RLX308"]) for count in range(6)),
    *(("add", "eyyy"[:count], count == 2, ["RLX307"]) for count in range(5)),
]


def _run(module: Any) -> None:
    machine = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    machine["main"](*(tvm.runtime.tensor(np.zeros(shape, "float32")) for shape in (8, (4, 0), 4)))


@pytest.mark.vm
@pytest.mark.parametrize(("kernel", "given", "fits", "within"), CALLS)
def test_of_a_call_with_too_few_arguments_or_too_many_nothing_else_is_said(
    kernel: str, given: str, fits: bool, within: list[str]
) -> None:
    module = parse(LOOKING.format(call=f"{kernel}({', '.join(given)})"))
    found = findings(module, "RLX3")
    assert [one.rule for one in found] == (within if fits else ["RLX301"])
    if not fits:
        # Some such calls TVM refuses to compile, the others end at run time.
        count = "1 argument" if len(given) == 1 else f"{len(given)} arguments"
        assert f"it receives {count}, the kernel" in found[0].message
        with pytest.raises(Exception, match=r"num_args|arguments"):
            _run(module)
