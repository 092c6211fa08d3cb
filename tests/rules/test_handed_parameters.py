"""RLX206: a parameter that is handed to a function which overwrites it in place."""

from __future__ import annotations

import pytest

from tests.rules.checking import findings, parse

VECTOR = 'R.Tensor((4,), "float32")'
MODULE = f"""
    @T.prim_func(private=True, s_tir=True)
    def increment(values: T.Buffer((T.int64(4),), "float32")):
        for i in range(T.int64(4)):
            with T.sblock("increment"):
                v = T.axis.spatial(T.int64(4), i)
                values[v] = values[v] + T.float32(1)

    @R.function(private=True)
    def inner(p: {VECTOR}) -> {VECTOR}:
        cls = Module
        copy = VALUE
        changed = R.call_tir_inplace(cls.increment, (copy,), inplace_indices=[0], out_ty={VECTOR})
        return changed

    @R.function
    def main(x: {VECTOR}) -> {VECTOR}:
        cls = Module
        result = cls.inner(x)
        return result
"""


@pytest.mark.parametrize("value", ["p", "R.reshape(p, R.shape([4]))"])
def test_the_public_function_is_told(value: str) -> None:
    (finding,) = findings(parse(MODULE.replace("VALUE", value)), "RLX206")
    assert finding.function == "main"
    assert finding.message == "`inner` overwrites the parameter `x`"


def test_a_tensor_of_its_own_is_none_of_the_callers() -> None:
    assert not findings(parse(MODULE.replace("VALUE", "R.exp(p)")), "RLX206")
