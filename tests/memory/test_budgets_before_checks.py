"""Budgets of functions that take memory before they check a size: the check keeps no input away from that memory."""

from __future__ import annotations

import pytest

from relax_lint.judging.report import check_module
from relax_lint.settings.config import Config
from relax_lint.settings.memory_request import WHOLE
from tests.rules.checking import parse

STORAGE = 'R.memory.alloc_storage(R.shape([n]), R.prim_value(0), R.str("global"), R.dtype("uint8"))'
CHECK = 'k = R.assert_op(n <= T.int64(4096), format="")'
TAKEN = {
    "a storage": f"s = {STORAGE}",
    "a tensor": 'w = R.builtin.alloc_tensor(R.shape([n]), R.dtype("uint8"), R.prim_value(0))',
    "a function": "s = Module.takes(x)",
    "a branch": f"if c:\n        s = {STORAGE}\n        r = x\n    else:\n        r = x",
}
TEXT = f"""
@R.function(private=True, pure=False)
def takes(x: R.Tensor(("n",), "uint8")):
    n = T.int64()
    s = {STORAGE}
    return x

@R.function(pure=False)
def main(x: R.Tensor(("n",), "uint8"), c: R.Tensor((), "bool")):
    n = T.int64()
    LINES
    return x
"""


@pytest.mark.parametrize("what", TAKEN)
@pytest.mark.parametrize("first", [True, False])
def test_a_check_counts_where_it_comes_before_the_memory(what: str, first: bool) -> None:
    lines = [CHECK, TAKEN[what]] if first else [TAKEN[what], CHECK]
    config = Config(select=("RLX601",), max_memory=((WHOLE, 8192),), allocators=("naive",))
    found = check_module(parse(TEXT.replace("LINES", "\n    ".join(lines))), config).checks
    (verdict,) = {check.verdict.value for check in found if check.function == "main"}
    assert verdict == ("always-fine" if first else "needs-runtime-check")
