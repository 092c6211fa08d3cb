"""RLX201 for a constant that is killed, and for a parameter that a function only overwrites in place."""

from __future__ import annotations

import pytest
import tvm

from tests.rules.checking import findings, parse
from tests.rules.test_older_names import KERNELS

T4 = 'R.Tensor((4,), "float32")'
CONSTANT = f"""
@R.function(pure=False)
def main(x: {T4}):
    k = R.const([1.0, 2.0, 3.0, 4.0], "float32")
    a = R.call_tir(Module.copy, (k,), out_ty={T4})
    o = R.memory.kill_tensor(KILLED)
    return x
"""
IN_PLACE = f"""
@R.function(pure=False)
def main(x: {T4}):
    a = R.call_tir_inplace(Module.double_in_place, (x,), inplace_indices=[0], out_ty={T4})
    o = R.memory.kill_tensor(KILLED)
    return RETURNED
"""


def _said(text: str) -> list[tuple[str | None, str]]:
    return [(check.binding, check.verdict.value) for check in findings(parse(KERNELS + text), "RLX201")]


def test_a_constant_has_no_register_to_kill() -> None:
    assert _said(CONSTANT.replace("KILLED", "k")) == [("o", "always-wrong")]
    assert not _said(CONSTANT.replace("KILLED", "a"))
    with pytest.raises(tvm.error.InternalError):
        tvm.compile(parse(KERNELS + CONSTANT.replace("KILLED", "k")), target="llvm")
    tvm.compile(parse(KERNELS + CONSTANT.replace("KILLED", "a")), target="llvm")


@pytest.mark.parametrize(("killed", "returned"), [("x", "a"), ("a", "x"), ("x", "x"), ("a", "a")])
def test_what_is_overwritten_in_place_is_in_the_register_of_the_parameter(killed: str, returned: str) -> None:
    text = IN_PLACE.replace("KILLED", killed).replace("RETURNED", returned)
    assert _said(text) == [("o", "always-wrong")]
