"""RLX302 of numbers: TVM builds an `R.call_tir` only where each has the dtype of the kernel's parameter."""

from __future__ import annotations

from typing import Any

import pytest
import tvm
from tvm import relax

from tests.rules.checking import checks, parse

PROGRAM = """
@T.prim_func(private=True)
def scaled(a: T.handle, by: T.{wanted}, b: T.handle):
    n = T.int64()
    x = T.match_buffer(a, (n,), "float32")
    y = T.match_buffer(b, (n,), "float32")
    for i in range(n):
        y[i] = x[i] * T.cast(by, "float32")

@R.function(pure=False)
def main(x: R.Tensor(("n",), "float32"), p: R.Prim("{given}")) -> R.Tensor(("n",), "float32"):
    n = T.int64()
    y = R.call_tir(Module.scaled, (x, {argument}), R.Tensor((n,), "float32"))
    return y
"""
CASES = [
    (wanted, given, argument, wanted == (given if argument == "p" else "int64"))
    for wanted in ("int32", "int64", "float32", "bool")
    for given in ("int32", "int64", "float32", "bool")
    for argument in ("p", "R.prim_value(n)")
    if argument == "p" or given == wanted
]


def _module(wanted: str, given: str, argument: str) -> Any:
    return parse(PROGRAM.format(wanted=wanted, given=given, argument=argument))


def test_a_number_of_another_dtype_is_refused() -> None:
    for wanted, given, argument, is_right in CASES:
        (found,) = checks(_module(wanted, given, argument), "RLX302")
        said = "always-fine" if is_right else "always-wrong"
        assert found.verdict.value == said, (wanted, given, argument)
        if not is_right:
            have = given if argument == "p" else "int64"
            assert f"is {have}, the kernel expects {wanted}" in found.message


@pytest.mark.vm
def test_tvm_builds_the_others_only() -> None:
    for wanted, given, argument, is_right in CASES:
        module = _module(wanted, given, argument)
        if is_right:
            relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
        else:
            with pytest.raises(ValueError, match="type"):
                tvm.compile(module, "llvm")
