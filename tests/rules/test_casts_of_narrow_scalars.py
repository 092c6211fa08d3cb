"""A scalar may be beyond the range of its type: nothing checks it. What a condition or a cast to another narrow type
makes of it is then something else, which a verdict has to assume not to happen.
"""

from __future__ import annotations

from typing import Any

import pytest
import tvm
from tvm import relax

from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse

FINE, ASSUMED, UNSURE = "fine", "fine if nothing wraps around", "unsure"
TEXT = """
@R.function(pure=False)
def main(n: R.Prim("{dtype}")) -> R.Any:
    R.assert_op({condition}, [n], format="too small")
    t = R.memory.alloc_storage(R.shape([1024]), 0, "global", "uint8")
    s = R.memory.alloc_tensor(t, 0, R.shape([{extent}]), "uint8")
    return s
"""
WIDE, LOW_BITS = "T.Cast('int64', n)", "T.Cast('int64', T.Cast('int16', n))"
BEYOND = -131067
"""Five, and twice 2**16 below it."""
CASES = [
    # The type of the scalar, what is asserted not to be negative, the extent, the verdict, and what the VM makes of
    # the number beyond: the extent, or nothing where the assertion fails. TVM computes what is asserted in a
    # function with a parameter of that type, which gets the low bits, and the extent in 64 bits.
    ("int64", "n", "n", FINE, None),
    ("int8", WIDE, WIDE, ASSUMED, BEYOND),
    ("int16", "T.Cast('int64', n + T.int16(3))", f"{WIDE} + T.int64(3)", ASSUMED, BEYOND + 3),
    ("int32", WIDE, WIDE, ASSUMED, None),
    ("int8", LOW_BITS, WIDE, UNSURE, BEYOND),
    ("int8", LOW_BITS, LOW_BITS, UNSURE, 5),
    ("int32", LOW_BITS, LOW_BITS, ASSUMED, 5),
    # Two is the most that the rest is, whatever the number.
    ("int8", "T.Cast('int64', T.Cast('int16', n % T.int8(3)))", "T.Cast('int64', n % T.int8(3))", FINE, 0),
]


def _run(text: str) -> int | None:
    lines = [line for line in text.splitlines() if "alloc" not in line]
    machine = relax.VirtualMachine(
        relax.build(parse("\n".join(lines)), "llvm", relax_pipeline="default"), tvm.cpu()
    )
    try:
        (extent,) = machine["main"](BEYOND)
    except AssertionError:
        return None
    return int(extent)


@pytest.mark.vm
@pytest.mark.parametrize(("dtype", "asserted", "extent", "verdict", "returned"), CASES)
def test_what_a_cast_takes_for_granted_is_not_proved(
    dtype: str, asserted: str, extent: str, verdict: str, returned: Any
) -> None:
    text = TEXT.format(dtype=dtype, condition=f"{asserted} >= T.int64(0)", extent=extent)
    (found,) = (check for check in checks(parse(text), "RLX104") if check.binding == "s")
    assert (found.verdict is Verdict.NEEDS_RUNTIME_CHECK) == (verdict is UNSURE)
    assert any("if it does not wrap around" in text for text in found.assumes) == (verdict is ASSUMED)
    if dtype != "int64" and tvm.__version__.startswith("0.26"):
        pytest.skip("TVM 0.26 builds no sizes of parameters of few bits")
    assert _run(text.replace("return s", f"return R.shape([{extent}])")) == returned
    # What is said to be fine without an assumption is.
    assert verdict is not FINE or returned is None or returned >= 0
