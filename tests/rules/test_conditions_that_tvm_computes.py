"""Assertions on scalars as TVM computes them: small numbers wrap around where the scalar would drop out of the condition,
and a divisor that TVM cancels may be zero. Each with the VM, and a twin that the numbers alone decide.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import checks, parse

MAIN = """
@R.function(pure=False)
def main(x: R.Tensor((8,), "float32"), h: R.Prim("{type}")):
    _ = R.assert_op({condition}, [], format="no")
    s = R.memory.alloc_storage(R.shape([{size}]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    t = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([1]), R.dtype("float32"))
    return t
"""
WRAPPED = {
    # The type, the condition, and a number that passes it and one that does not.
    "less three": ("int16", "h < h - T.int16(3)", -(2**15), 0),
    "and three": ("int16", "h + T.int16(3) < h", 2**15 - 1, 0),
    "not less": ("int8", "h < h + T.int8(3)", 0, 127),
}
PLAIN = {
    "less three": ("int64", "h < h - 3"),
    "of 32 bits": ("int32", "h < h - T.int32(3)"),
    "of few bits": ("int8", "h < h"),
}
CANCELLED = [
    "h % h == 0",
    "h // h == 1",
    "h * 2 // h == 2",
    "h * h % h == 0",
    "T.truncmod(h, h) == 0",
    "T.truncdiv(h * 2, h) == 2",
]


def _module(kind: str, condition: str, size: str = "1") -> Any:
    return parse(MAIN.format(type=kind, condition=condition, size=size))


def _said(module: Any, code: str) -> set[str]:
    return {check.verdict.value for check in checks(module, code)}


def _ends(module: Any, *numbers: int) -> list[str]:
    """How the calls end: by the assertion, because the storage is too small, or well."""
    machine = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu(), memory_cfg="naive")
    found = []
    for number in numbers:
        try:
            machine["main"](tvm.runtime.tensor(np.zeros(8, "float32")), number)
            found.append("well")
        except AssertionError:
            found.append("assertion")
        except (tvm.error.InternalError, ValueError, RuntimeError):
            found.append("storage")
    return found


@pytest.mark.vm
@pytest.mark.parametrize("form", WRAPPED)
def test_what_small_numbers_pass_is_looked_at(form: str) -> None:
    kind, condition, passes, fails = WRAPPED[form]
    module = _module(kind, condition)
    assert _ends(module, passes, fails) == ["storage", "assertion"]
    assert _said(module, "RLX101") == {"always-wrong"}
    assert "always-wrong" not in _said(module, "RLX50")


@pytest.mark.vm
@pytest.mark.parametrize("form", PLAIN)
def test_what_no_number_passes_stays_said(form: str) -> None:
    module = _module(*PLAIN[form])
    assert _ends(module, -(2**31), 0, 2**31 - 1) == ["assertion"] * 3
    assert _said(module, "RLX505") == {"always-wrong"}


@pytest.mark.vm
@pytest.mark.parametrize("condition", CANCELLED)
def test_a_divisor_that_is_cancelled_may_be_zero(condition: str) -> None:
    module = _module("int64", condition, "h * h * 4")
    assert _ends(module, 0, 1) == ["storage", "well"]
    assert _said(module, "RLX101") == {"needs-runtime-check"}
    assert _said(module, "RLX504") == {"always-wrong"}


def test_another_divisor_decides() -> None:
    module = _module("int64", "16 % h == 0", "h * h * 4")
    assert "always-wrong" not in _said(module, "RLX504")
