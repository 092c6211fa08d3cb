"""A view in a dataflow block that names no dtype has that of its tensor: found by the hunt (seed 51)."""

from __future__ import annotations

import pytest
import tvm
from tvm import relax

import relax_lint
from relax_lint.replay.modules import load_module

PROGRAM = """
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 4), "float32")) -> R.Tensor((8,), "float32"):
        with R.dataflow():
            y = R.memory.view(x, R.shape([8]))
            z = R.exp(y)
            R.output(z)
        return z
"""


@pytest.mark.parametrize("dataflow", [True, False])
def test_its_dtype_is_that_of_the_tensor(dataflow: bool) -> None:
    module = load_module(PROGRAM, "script")
    with tvm.target.Target("llvm"):
        module = relax.transform.LegalizeOps()(module)
    if not dataflow:
        module = relax.transform.ToNonDataflow()(module)
    assert relax_lint.check(module).findings == ()
