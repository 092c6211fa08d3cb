"""Sizes that are computed in fewer than 64 bits: what wraps around on the VM is not a proof."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse, stages

FINE, UNSURE = Verdict.ALWAYS_FINE, Verdict.NEEDS_RUNTIME_CHECK
BODY = """
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32"), n: R.Prim("int64")):
    R.assert_op(n >= 0, format="")
    R.assert_op(n < 64, format="")
    s = R.memory.alloc_storage(R.shape([512]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    t = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([SIZE]), R.dtype("uint8"))
    R.vm.kill_object(t)
    return x
"""


def _module(size: str) -> Any:
    return parse(BODY.replace("SIZE", size))


def _said(module: Any) -> set[Verdict]:
    return {check.verdict for check in checks(module, "RLX10") if check.binding == "t"}


def _fits(module: Any) -> list[int]:
    """The values of `n` for which the VM takes the size."""
    machine = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu(), memory_cfg="naive")
    given, found = tvm.runtime.tensor(np.ones(4, "float32")), []
    for n in range(64):
        try:
            machine["main"](given, n)
        except Exception:
            continue
        found.append(n)
    return found


@pytest.mark.vm
@pytest.mark.parametrize(
    ("size", "verdicts", "taken"),
    [
        # 32 * 4 is -128 in eight bits.
        ("T.Cast('int64', T.Cast('int8', n) * T.int8(4))", {FINE, UNSURE}, [*range(32)]),
        ("T.Cast('int64', T.Cast('int16', n) * T.int16(4))", {UNSURE, FINE}, [*range(64)]),
        ("T.Cast('int64', T.Cast('int8', n // 16) * T.int8(4))", {FINE, UNSURE}, [*range(64)]),
        # What wraps around in a cast alone is known.
        ("T.Cast('int64', T.Cast('int8', n)) * 4", {FINE}, [*range(64)]),
        ("T.Cast('int64', T.Cast('uint8', n * 8)) * 2", {FINE}, [*range(64)]),
        # TVM takes what it knows of the number before a cast for what holds behind it, and leaves the maximum out.
        ("T.max(T.Cast('int64', T.Cast('int8', n * 4 % 256)), 0)", {FINE, UNSURE}, [*range(32)]),
        ("T.max(T.Cast('int64', T.Cast('int8', T.Cast('uint32', n * 4))), 0)", {FINE, UNSURE}, [*range(32)]),
        ("T.max(T.Cast('int64', T.Cast('int8', n * 4)), 0)", {FINE}, [*range(64)]),
        ("T.max(T.Cast('int64', T.Cast('int8', n * 2 % 128)), 0)", {FINE}, [*range(64)]),
        # A remainder fits whatever `n` is.
        ("T.Cast('int64', T.Cast('int8', n % 32) * T.int8(3))", {FINE}, [*range(64)]),
    ],
)
def test_arithmetic_in_few_bits_counts_only_if_it_cannot_wrap_around(
    size: str, verdicts: set[Verdict], taken: list[int]
) -> None:
    module = _module(size)
    assert _said(module) == verdicts
    assert _fits(module) == taken


@pytest.mark.skipif(tvm.__version__.startswith("0.26"), reason="TVM 0.26 builds no sizes of such parameters")
@pytest.mark.vm
@pytest.mark.parametrize(
    ("size", "verdicts", "taken"),
    [
        # What is computed with a parameter is computed in 64 bits, as the slots of the shape heap are.
        ("T.Cast('int64', n * T.int8(4))", {FINE}, [*range(64)]),
        ("T.Cast('int64', n * T.int8(8))", {FINE}, [*range(64)]),
        ("T.Cast('int64', n * T.int8(9))", {FINE, UNSURE}, [*range(57)]),
        ("T.Cast('int64', n * n)", {FINE, UNSURE}, [*range(23)]),
        ("T.Cast('int64', T.max(n * T.int8(4), T.int8(0)) // T.int8(2))", {FINE}, [*range(64)]),
        # What is cast to eight bits is computed in eight.
        ("T.Cast('int64', T.Cast('int8', T.Cast('int16', n)) * T.int8(4))", {FINE, UNSURE}, [*range(32)]),
    ],
)
def test_arithmetic_of_parameters_in_few_bits(size: str, verdicts: set[Verdict], taken: list[int]) -> None:
    text = BODY.replace("SIZE", size).replace('"int64"', '"int8"')
    module = parse(text.replace("n >= 0", "n >= T.int8(0)").replace("n < 64", "n < T.int8(64)"))
    assert _said(module) == verdicts
    assert _fits(module) == taken


def test_neither_does_that_of_the_kernel_that_computes_a_slot_of_the_shape_heap() -> None:
    for size, verdicts in (
        ("T.Cast('int64', T.Cast('int8', n % 32) * T.int8(8))", {FINE, UNSURE}),
        ("T.Cast('int64', T.Cast('int8', n % 32) * T.int8(3))", {FINE}),
    ):
        found = dict(stages(_module(size)))
        assert _said(found["VMShapeLower"]) == verdicts
