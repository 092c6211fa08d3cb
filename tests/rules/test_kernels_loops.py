"""Index ranges of kernels whose indices are not plain sums of loop variables."""

from __future__ import annotations

import tvm

import relax_lint
from relax_lint.settings.config import Config

DIVIDED_BY_AN_EXTENT = """
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def fold(a: T.handle, b: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,), "float32")
        B = T.match_buffer(b, (n,), "float32")
        for i in range(n):
            B[i] = A[i // n]

    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        cls = Module
        y = R.builtin.alloc_tensor(R.shape([n]), R.dtype("float32"), R.prim_value(0), R.str("global"))
        cls.fold(x, y)
        return y
"""


def test_an_index_divided_by_a_symbol_is_no_endless_question() -> None:
    report = relax_lint.check(tvm.script.from_source(DIVIDED_BY_AN_EXTENT), Config(select=("RLX3",)))
    assert {check.rule for check in report.checks} == {"RLX301", "RLX302"}
