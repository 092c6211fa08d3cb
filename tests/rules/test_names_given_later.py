"""RLX206 for names that a tensor gets behind the in-place call that overwrites it; the machine shows it."""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import checks, parse
from tests.rules.test_older_names import KERNELS

PROGRAM = (
    KERNELS
    + """
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    cls = Module
    a = R.call_tir(cls.copy, (x,), out_ty=R.Tensor((4,), "float32"))
    a1 = R.call_tir_inplace(cls.double_in_place, (a,), inplace_indices=[0], out_ty=R.Tensor((4,), "float32"))
    used = R.call_packed("vm.builtin.make_tuple", a1, ty_args=R.Tuple)
    {name}
    w = R.call_tir(cls.copy, (later,), out_ty=R.Tensor((4,), "float32"))
    return w
"""
)
OLDER = {
    "alias": "later = a",
    "alias of an alias": "one = a\n    later = one",
    "match cast": 'later = R.match_cast(a, R.Tensor((4,), "float32"))',
    "match cast of an alias": 'one = a\n    later = R.match_cast(one, R.Tensor((4,), "float32"))',
    "view": 'later = R.memory.view(a, R.shape([4]), R.dtype("float32"), R.prim_value(0))',
    "field": "t = (a, x)\n    later = t[0]",
}
NEWER = {name: text.replace("(a,", "(a1,").replace("= a", "= a1") for name, text in OLDER.items()}
X = np.arange(1, 5, dtype="float32")


def _said(name: str) -> set[str]:
    found = checks(parse(PROGRAM.format(name=name)), "RLX206")
    return {check.verdict.value for check in found if "overwrites" in check.message}


def _returned(name: str) -> list[float]:
    built = tvm.compile(parse(PROGRAM.format(name=name)), target="llvm", relax_pipeline="default")
    machine = relax.VirtualMachine(built, tvm.cpu())
    return list(machine["main"](tvm.runtime.tensor(X)).numpy())


@pytest.mark.parametrize("name", OLDER.values(), ids=OLDER)
def test_another_name_of_what_was_overwritten_is_an_older_one_too(name: str) -> None:
    assert "always-wrong" in _said(name)
    assert _returned(name) == list(2 * X)


@pytest.mark.parametrize("name", NEWER.values(), ids=NEWER)
def test_another_name_of_the_result_is_not(name: str) -> None:
    assert not {"always-wrong", "needs-runtime-check"} & _said(name)
    assert _returned(name) == list(2 * X)
