"""Nothing is found inside the kernels that TVM itself makes, before and after its lowering for a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import tvm

from benchmarks.kernel_corpora import lowered_kernels, target_of
from relax_lint.model.prim_funcs import read_kernel
from relax_lint.replay.modules import load_module
from relax_lint.vm import versions

TEXT = """\
from tvm.script import ir as I, relax as R, tirx as T


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 64), "float32"), y: R.Tensor((64, 32), "float32")):
        z = {expression}
        return z
"""
EXPRESSIONS = (
    "R.sum(x, axis=1)",
    "R.argmax(x, axis=1)",
    "R.nn.softmax(x, axis=-1)",
    "R.matmul(x, y)",
    "R.cumsum(x, axis=1)",
    "R.topk(x, 2, axis=1, ret_type='both')",
    "R.permute_dims(x)",
)


def scheduled(expression: str) -> Any:
    """An operator with TVM's schedule for a GPU."""
    dlight = pytest.importorskip("tvm.s_tir.dlight")
    gpu = dlight.gpu
    rules = (
        gpu.Matmul(),
        gpu.GEMV(),
        gpu.Reduction(),
        gpu.GeneralReduction(),
        gpu.Transpose(),
        gpu.Fallback(),
    )
    module = load_module(TEXT.format(expression=expression), "script")
    with target_of("cuda"):
        module = tvm.relax.backend.DispatchSortScan()(module)
        module = tvm.relax.transform.LegalizeOps()(module)
        return dlight.ApplyDefaultSchedule(*rules)(module)


def found(module: Any) -> Iterator[str]:
    """What is said to be wrong inside the kernels."""
    for name, prim_func in versions.prim_functions(module):
        inside = read_kernel(name, prim_func).inside
        yield from map(str, (*inside.races, *inside.unwritten_reads, *inside.large))


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_schedules_for_a_gpu_are_right(expression: str) -> None:
    module = scheduled(expression)
    assert list(found(module)) == []
    with target_of("cuda"):
        assert list(found(lowered_kernels(module, target_of("cuda")))) == []


def test_the_address_of_an_element_is_no_load_of_it() -> None:
    text = """\
@T.prim_func(s_tir=True)
def f(y: T.Buffer((8,), "float32")):
    s = T.alloc_buffer((8,), "float32")
    v = T.decl_buffer((8,), "float32", data=T.address_of(s[0]))
    for i in range(8):
        v[i] = T.float32(1)
    for i in range(8):
        y[i] = v[i]
"""
    assert read_kernel("f", tvm.script.from_source(text)).inside.unwritten_reads == ()
