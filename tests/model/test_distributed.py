"""A distributed tensor is read as the tensor that its shards are together."""

from __future__ import annotations

import pytest
import tvm

from relax_lint.judging.report import check_module
from relax_lint.results.verdict import Verdict
from relax_lint.settings.config import Config

MODULE = """
@I.ir_module
class Module:
    I.module_attrs({{"device_num": 2}})
    I.module_global_infos({{"mesh": [R.device_mesh((2,), I.Range(0, 2))]}})

    @R.function
    def main(x: R.DTensor(({extent}, 8), "float32", "mesh[0]", "S[0]")):
        {symbol}y = R.reshape(x, R.shape([{extent}, 2, 4]))
        return y
"""


@pytest.mark.parametrize(("extent", "symbol"), [("4", ""), ('"n"', "n = T.int64(); ")])
def test_a_reshape_keeps_the_elements_of_all_shards(extent: str, symbol: str) -> None:
    text = MODULE.format(extent=extent, symbol=symbol).replace('R.shape(["n"', "R.shape([n")
    (check,) = check_module(tvm.script.from_source(text), Config(select=("RLX304",))).checks
    assert check.verdict is Verdict.ALWAYS_FINE
