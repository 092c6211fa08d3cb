"""Extents of tensors that are sums, such as those of a convolution: none is negative, so that what a kernel fills is
known for all of them.
"""

from __future__ import annotations

import pytest
import sympy
from tvm.relax.transform import LegalizeOps

from relax_lint.judging.report import check_module
from relax_lint.model.kernel_body.loops import Loops
from relax_lint.settings.config import Config
from tests.rules.checking import parse

CONVOLUTIONS = {
    "conv1d": ('("n", "c", "w")', '("f", "c", "k")', "R.nn.conv1d(x, y)"),
    "conv2d": ('("n", "c", "h", "w")', '("f", "c", "k", "l")', "R.nn.conv2d(x, y, padding=(1, 2))"),
    "transposed": ('("n", "f", "w")', '("f", "c", "k")', "R.nn.conv1d_transpose(x, y, strides=2)"),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_a_convolution_leaves_nothing_out_unless_it_reduces_nothing(name: str) -> None:
    x, y, call = CONVOLUTIONS[name]
    body = f"""
@R.function
def main(x: R.Tensor({x}, "float32"), y: R.Tensor({y}, "float32")):
    r = {call}
    return r
"""
    module = LegalizeOps()(parse(body))
    found = {
        c.rule: c.verdict.value for c in check_module(module, Config(select=("RLX205", "RLX307"))).checks
    }
    assert found == {"RLX205": "always-fine", "RLX307": "needs-runtime-check"}


def test_multiples_of_extents_are_not_negative() -> None:
    loops = Loops()
    w, k, f = sympy.symbols("w k f", integer=True)
    loops.close_signature((f, w - k + 1))
    assert loops.is_not_negative(f * (w - k + 1) ** 2)
    assert loops.is_not_negative(3 * w - 3 * k + 3)
    assert not loops.is_not_negative(w - k)
    assert not loops.is_not_negative(w * (w - k + 1))
    assert not loops.is_not_negative(k - w - 1)
