"""Indices computed from data that are outside for any data are not fine on the assumption that they are inside."""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import checks, parse

TAKE = """
@T.prim_func(private=True, s_tir=True)
def take(x: T.Buffer((8,), "float32"), p: T.Buffer((8,), "int32"), y: T.Buffer((8,), "{type}")):
    for i in range(8):
        y[i] = {value}

@R.function
def main(x: R.Tensor((8,), "float32"), p: R.Tensor((8,), "int32")):
    y = R.call_tir(Module.take, (x, p), R.Tensor((8,), "{type}"))
    return y
"""
NEVER = [
    "p[i] % 4 - 4",
    "p[i] % 4 + 8",
    "T.max(p[i], 8)",
    "T.min(p[i], -1)",
    "T.min(T.max(p[i], 0), 7) + 8",
    "0 - 1 - p[i] % 4",
    "T.max(p[i], 0) % 4 - T.max(p[i], 0) - 1",
]
PERHAPS = [
    "p[i] % 4 - 3",
    "p[i] % 4 + 7",
    "T.max(p[i], 7)",
    "T.min(p[i], 0)",
    "p[i] - 4",
    "T.max(p[i], 0) % 4 - T.max(p[i], 0)",
]


def _found(index: str) -> list[tuple[str, str]]:
    module = parse(TAKE.format(type="float32", value=f"x[{index}]"))
    return [(check.verdict.value, check.message) for check in checks(module, "RLX306")]


def _indices(index: str, given: list[int]) -> list[int]:
    """What a kernel computes as its indices."""
    module = parse(TAKE.format(type="int32", value=index))
    machine = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    result = machine["main"](
        tvm.runtime.tensor(np.zeros(8, "float32")), tvm.runtime.tensor(np.array(given, "int32"))
    )
    return [int(number) for number in result.numpy()]


@pytest.mark.vm
@pytest.mark.parametrize("index", NEVER)
def test_what_no_data_leads_inside_is_not_fine(index: str) -> None:
    for given in (list(range(8)), [-(2**31), 2**31 - 1, -1, -5, 100, 7, 8, 4]):
        assert not any(0 <= number < 8 for number in _indices(index, given))
    ((verdict, message),) = _found(index)
    assert verdict == "needs-runtime-check"
    assert "outside whatever the data is" in message


@pytest.mark.vm
@pytest.mark.parametrize("index", PERHAPS)
def test_what_some_data_leads_inside_is_fine_with_that_data(index: str) -> None:
    assert any(0 <= number < 8 for number in _indices(index, list(range(8))))
    assert [verdict for verdict, _ in _found(index)] == ["always-fine"]
