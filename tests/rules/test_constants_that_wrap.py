"""RLX306 where a number of a kernel leaves its type: what the machine makes of it is not what exact arithmetic says."""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import checks, parse

KERNEL = """
@T.prim_func(private=True, s_tir=True)
def kernel(x: T.Buffer(({count},), "float32"), y: T.Buffer((4,), "float32")):
    k: T.{dtype} = T.{dtype}({number})
    for i in range(4):
        y[i] = x[{index}]

@R.function
def main(x: R.Tensor(({count},), "float32")) -> R.Tensor((4,), "float32"):
    y = R.call_tir(Module.kernel, (x,), R.Tensor((4,), "float32"))
    return y
"""


def _verdicts(index: str, dtype: str, number: int) -> set[str]:
    """What is told; nothing where every access is proved to be inside."""
    module = parse(KERNEL.format(count=4, dtype=dtype, number=number, index=index))
    return {check.verdict.value for check in checks(module, "RLX306")}


def _read(index: str, dtype: str, number: int) -> float:
    """Which element is read where there are enough."""
    module = parse(KERNEL.format(count=16, dtype=dtype, number=number, index=index))
    machine = relax.VirtualMachine(tvm.compile(module, target="llvm"), tvm.cpu())
    return float(machine["main"](tvm.runtime.tensor(np.arange(16, dtype="float32"))).numpy()[0])


@pytest.mark.parametrize(("dtype", "bits"), [("int32", 32), ("int64", 64)])
def test_a_product_beyond_its_type_is_not_taken_for_what_it_would_be(dtype: str, bits: int) -> None:
    """Four times a quarter of all numbers is 0 for the machine, and more than 9 in exact arithmetic."""
    quarter = 2 ** (bits - 2)
    assert _read("9 - T.min(k * 4, 9)", dtype, quarter) == 9
    assert _verdicts("9 - T.min(k * 4, 9)", dtype, quarter) == {"needs-runtime-check"}


def test_an_index_that_only_exact_arithmetic_has_outside_is_not_called_wrong() -> None:
    assert _read("T.min(k * 4, 9)", "int64", 2**62) == 0
    assert _verdicts("T.min(k * 4, 9)", "int64", 2**62) == {"needs-runtime-check"}


@pytest.mark.parametrize(("dtype", "bits"), [("int32", 32), ("int64", 64)])
def test_a_product_within_its_type_is_what_it_is(dtype: str, bits: int) -> None:
    eighth = 2 ** (bits - 3)
    assert _read("T.min(k * 2, 9)", dtype, eighth) == 9
    assert _verdicts("9 - T.min(k * 2, 9)", dtype, eighth) == set()
    assert _verdicts("T.min(k * 2, 9)", dtype, eighth) == {"always-wrong"}
