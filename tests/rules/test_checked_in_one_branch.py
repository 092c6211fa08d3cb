"""RLX301 behind a check in another branch, and RLX101 under two bounds of one size."""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import checks, parse, stages

T4 = 'R.Tensor((4,), "float32")'
BRANCHES = f"""
@T.prim_func(private=True, s_tir=True)
def copy(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[i]

@R.function(pure=False)
def main(x: R.Tensor(dtype="float32", ndim=1), c: R.Tensor((), "bool")) -> {T4}:
    if c:
        y = R.match_cast(x, {T4})
        r = R.call_tir(Module.copy, (y,), out_ty={T4})
    else:
        r = R.call_tir(Module.copy, (x,), out_ty={T4})
    return r
"""
BOUNDS = """
@R.function(pure=False)
def main(x: R.Tensor(("n",), "float32")):
    n = T.int64()
    a = R.assert_op(R.prim_value({first}), format="")
    b = R.assert_op(R.prim_value({second}), format="")
    s = R.memory.alloc_storage(R.shape([{size}]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    t = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([{count}]), R.dtype("float32"))
    return t
"""


def test_a_shape_that_is_checked_in_one_branch_is_not_known_in_the_other() -> None:
    module = parse(BRANCHES)
    machine = relax.VirtualMachine(tvm.compile(module, target="llvm"), tvm.cpu())
    longer = tvm.runtime.tensor(np.zeros(5, dtype="float32"))
    with pytest.raises(Exception, match="shape"):
        machine["main"](longer, tvm.runtime.tensor(np.array(False)))
    _, lowered = stages(module)[-1]
    said = [(check.verdict.value, check.safe_when) for check in checks(lowered, "RLX301")]
    assert said == [("always-fine", None), ("needs-runtime-check", "x_0 == 4")]


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(
    ("bounds", "least"),
    [
        (("n > 3", "n >= 5"), 5),
        (("n > 3", "n >= 4"), 4),
        (("n > 4", "n >= 4"), 5),
        (("n >= 3", "n > 3"), 4),
    ],
)
def test_the_stronger_of_two_bounds_counts(bounds: tuple[str, str], least: int, order: int) -> None:
    """`n` elements hold as many as it is at least, and not one more."""
    first, second = bounds[::order]
    for count, verdict in ((least, "always-fine"), (least + 1, "needs-runtime-check")):
        text = BOUNDS.format(first=first, second=second, size="4 * n", count=count)
        (check,) = checks(parse(text), "RLX101")
        assert check.verdict.value == verdict


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(
    ("bounds", "most"),
    [(("n < 9", "n <= 7"), 7), (("n < 9", "n <= 8"), 8), (("n < 8", "n <= 8"), 7), (("n <= 9", "n < 9"), 8)],
)
def test_so_does_the_stronger_of_two_bounds_from_above(
    bounds: tuple[str, str], most: int, order: int
) -> None:
    first, second = bounds[::order]
    for size, verdict in ((4 * most, "always-fine"), (4 * most - 1, "needs-runtime-check")):
        text = BOUNDS.format(first=first, second=second, size=size, count="n")
        (check,) = checks(parse(text), "RLX101")
        assert check.verdict.value == verdict
