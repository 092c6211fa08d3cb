"""The variables of a kernel call in older texts, whatever the kernel is called by."""

from __future__ import annotations

from pathlib import Path

import pytest

import relax_lint
from relax_lint.results.check import Check
from relax_lint.results.verdict import Verdict
from relax_lint.settings.config import Config

VARIABLES = """from tvm.script import ir as I, relax as R, tir as T
@I.ir_module
class M:
    @T.prim_func(private=True)
    def k(a: T.handle, b: T.handle, n: T.int64):
        x = T.match_buffer(a, (16,), "float32")
        y = T.match_buffer(b, (16,), "float32")
        for i in range(16):
            y[i] = x[i]

    @R.function
    def main(p: R.Tensor(("n",), "float32"), x: R.Tensor(({extent},), "float32")):
        n = T.int64()
        y = R.call_tir({kernel}, (x,), out_sinfo=R.Tensor((16,), "float32"), tir_vars=R.shape([n]))
        return y
"""


def said(text: str, folder: Path, code: str) -> list[Check]:
    path = folder / "a.py"
    path.write_text(text)
    return list(relax_lint.check(str(path), Config(select=(code,))).checks)


@pytest.mark.parametrize("kernel", ["M.k", "k"])
def test_the_variables_of_a_kernel_by_its_name(tmp_path: Path, kernel: str) -> None:
    right = VARIABLES.format(kernel=kernel, extent=16)
    assert not said(right, tmp_path, "RLX9")
    for code in ("RLX205", "RLX301", "RLX302", "RLX306"):
        assert all(check.verdict is Verdict.ALWAYS_FINE for check in said(right, tmp_path, code)), code
    wrong = VARIABLES.format(kernel=kernel, extent=8)
    found = [*said(wrong, tmp_path, "RLX301"), *said(wrong, tmp_path, "RLX901")]
    assert any(check.verdict is Verdict.ALWAYS_WRONG for check in found)
