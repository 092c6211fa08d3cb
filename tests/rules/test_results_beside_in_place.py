"""RLX206 for in-place calls of which some results are new tensors: what they overwrite is told, nothing else."""

from __future__ import annotations

import pytest

from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse

PROGRAM = """
@T.prim_func(private=True, s_tir=True)
def swap(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32"), z: T.Buffer((4,), "float32")):
    for i in range(4):
        z[i] = x[i] + y[i]
        {written}[i] = y[i] * T.float32(2)

@R.function(pure=False)
def main(p: R.Tensor((4,), "float32")):
    a = R.add(p, p)
    b = R.multiply(p, p)
    r = R.call_tir_inplace(
        Module.swap, (a, b), inplace_indices=[{indices}],
        out_ty=[R.Tensor((4,), "float32"), R.Tensor((4,), "float32")],
    )
    later = R.add({read}, p)
    return (r, later)
"""


@pytest.mark.parametrize("indices", ["{}, -1", "-1, {}"])
@pytest.mark.parametrize("written", ["x", "y"])
@pytest.mark.parametrize("read", ["a", "b"])
def test_only_what_an_index_names_is_overwritten(indices: str, written: str, read: str) -> None:
    position = "xy".index(written)
    text = PROGRAM.format(indices=indices.format(position), written=written, read=read)
    found = [check.verdict for check in checks(parse(text), "RLX206")]
    is_overwritten = "ab"[position] == read
    assert (Verdict.ALWAYS_WRONG in found) is is_overwritten
    assert is_overwritten or set(found) <= {Verdict.ALWAYS_FINE}
