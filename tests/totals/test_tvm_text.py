"""The `tvm` text against the installed TVM, byte for byte, on every module where TVM's function succeeds."""

# TVMScript looks like Python but is not: every binding counts, also one that nothing reads.
# ruff: noqa: F841

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

from relax_lint.model.builder import build_program
from relax_lint.output.tvm import text
from relax_lint.totals.estimates import estimates
from tests.programs import transformer
from tests.rules.checking import parse
from tests.totals.corpus import CASES


def ours(module: Any) -> str:
    return text(estimates(build_program(module)))


def stages() -> Iterator[tuple[str, Any]]:
    transform = relax.transform
    passes = [
        transform.LegalizeOps(),
        transform.ToNonDataflow(),
        transform.RemovePurityChecking(),
        transform.CallTIRRewrite(),
        transform.StaticPlanBlockMemory(),
        transform.LowerAllocTensor(),
        transform.KillAfterLastUse(),
        transform.LowerRuntimeBuiltin(),
    ]
    for case in CASES:
        module = case.make()
        with tvm.target.Target("llvm"):
            for index, step in enumerate(passes):
                module = step(module)
                yield f"{case.name}, stage {index}", module
    for bounded in (True, False):
        for stage in transformer.STAGES:
            yield f"{bounded} {stage}", transformer.lowered(2, bounded=bounded, stage=stage)


def test_the_text_is_that_of_tvm_wherever_tvm_answers() -> None:
    compared, raised = 0, []
    for name, module in stages():
        try:
            expected = relax.analysis.estimate_memory_usage(module)
        except AttributeError:
            raised.append(name)
            assert "dynamic-size" in ours(module), name
            continue
        compared += 1
        assert ours(module) == expected, name
    assert compared >= 150
    assert "dynamic chain, stage 5" in raised


@I.ir_module
class Odd:
    @R.function(pure=False)
    def vectors(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")):
        a = R.builtin.alloc_tensor(R.shape([3, 5]), dtype="int4", runtime_device_index=0)
        b = R.builtin.alloc_tensor(R.shape([3]), dtype="float32x4", runtime_device_index=0)
        if c:
            s = R.memory.alloc_storage(R.shape([1 << 28]), 0, "global", "float32")
            d = R.memory.alloc_tensor(s, 0, R.shape([1 << 26]), "float32")
        else:
            t = R.memory.alloc_storage(R.shape([7]), 0, "global", "float32")
            d = R.memory.alloc_tensor(t, 0, R.shape([7]), "uint8")
        return x

    @R.function
    def nothing(x: R.Tensor((4,), "float32")):
        return x

    @T.prim_func
    def kernel(x: T.Buffer((4,), "float32")):
        x[0] = T.float32(0)


def test_branches_add_up_as_in_tvm_and_kernels_are_left_out() -> None:
    assert ours(Odd) == relax.analysis.estimate_memory_usage(Odd)
    assert [estimate.function for estimate in estimates(build_program(Odd))] == ["nothing", "vectors"]
    vectors = estimates(build_program(Odd))[1]
    # int4: one byte per element; float32x4: 16 bytes per element.
    assert vectors.tensor_bytes == 15 + 48 + (1 << 28) + 7
    assert vectors.storage_bytes == 15 + 48 + (1 << 28) + 7


def test_a_module_without_relax_functions_has_no_report() -> None:
    assert ours(tvm.IRModule({})) == relax.analysis.estimate_memory_usage(tvm.IRModule({})) == ""


@pytest.mark.parametrize("count", [0, 1, 999, 2**20, 123456789, 2**30, 10**13])
def test_sizes_are_printed_with_four_significant_digits(count: int) -> None:
    x = relax.Var("x", relax.TensorType((1,), "float32")) if hasattr(relax, "TensorType") else None
    builder = relax.BlockBuilder()
    if x is None:
        pytest.skip("this TVM names its types otherwise")
    with builder.function("main", [x]):
        builder.emit(relax.op.builtin.alloc_tensor(relax.ShapeExpr([count]), "uint8", 0))
        builder.emit_func_output(x)
    module = builder.get()
    assert ours(module) == relax.analysis.estimate_memory_usage(module)


@pytest.mark.parametrize(
    "dtype",
    ["int4", "int4x2", "int4x3", "int8x3", "int4x8", "uint1x16", "float16", "float32x4"],
)
def test_each_lane_has_whole_bytes(dtype: str) -> None:
    module = parse(
        f"""
@R.function
def main(x: R.Tensor((4,), "float32")):
    a = R.builtin.alloc_tensor(R.shape([3, 500]), dtype="{dtype}", runtime_device_index=0)
    return x
"""
    )
    assert ours(module) == relax.analysis.estimate_memory_usage(module)
