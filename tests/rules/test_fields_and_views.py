"""Views of views, operators that give back their argument, and memory that is a field of what a call returns."""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import findings, parse

VIEWS = """
@R.function
def main(x: R.Tensor((4,), "float32")):
    a = R.add(x, x)
    v = R.memory.view(a, R.shape([2]), R.dtype("float32"), R.prim_value(8))
    w = R.memory.view(v, R.shape([{extent}]), R.dtype("float32"), R.prim_value({offset}))
    z = R.memory.ensure_zero_offset(w)
    return z
"""

OPERATORS = """
@T.prim_func(private=True)
def double(x: T.Buffer((4,), "float32")):
    for i in range(4):
        x[i] = x[i] * T.float32(2)

@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")):
    a = R.add(x, x)
    b = {operator}
    w = R.call_tir_inplace(Module.double, (b,), [0], R.Tensor((4,), "float32"))
    return (w, a)
"""

CONSTANTS = """
@T.prim_func(private=True)
def double(x: T.Buffer((4,), "float32")):
    for i in range(4):
        x[i] = x[i] * T.float32(2)

@R.function(private=True)
def given():
    k = R.const([1.0, 2.0, 3.0, 4.0], "float32")
    return (k, k)

@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")):
    q = Module.given()
    a = q[1]
    w = R.call_tir_inplace(Module.double, (a,), [0], R.Tensor((4,), "float32"))
    return w
"""


SHIFTED = """
@R.function
def main(x: R.Tensor((8,), "{dtype}"), p: R.Shape(["k"])):
    k = T.int64()
    v = R.memory.view(x, R.shape([2]), R.dtype("{dtype}"), R.prim_value(k))
    return v
"""


@pytest.mark.parametrize(
    ("dtype", "safe"),
    [("int8", "k <= 6"), ("float16", "k % 2 == 0 and k <= 12"), ("float64", "k % 8 == 0 and k <= 48")],
)
def test_a_view_starts_at_a_whole_element_of_its_source(dtype: str, safe: str) -> None:
    """Two of eight elements, from a byte on."""
    (found,) = findings(parse(SHIFTED.format(dtype=dtype)), "RLX304")
    assert (found.verdict.value, found.safe_when) == ("needs-runtime-check", safe)


def _run(text: str) -> list[list[float]]:
    vm = relax.VirtualMachine(tvm.compile(parse(text), "llvm"), tvm.cpu())
    found = vm["main"](tvm.runtime.tensor(np.arange(4, dtype="float32")))
    return [one.numpy().tolist() for one in ([found] if hasattr(found, "numpy") else found)]


@pytest.mark.parametrize(("extent", "offset"), [(2, -8), (1, -4), (3, -8), (2, 0)])
def test_a_view_may_start_in_front_of_another_view(extent: int, offset: int) -> None:
    text, first = VIEWS.format(extent=extent, offset=offset), (8 + offset) // 4
    assert [*findings(parse(text), "RLX102"), *findings(parse(text), "RLX304")] == []
    assert _run(text) == [[0.0, 2.0, 4.0, 6.0][first : first + extent]]


@pytest.mark.parametrize(("extent", "offset", "rule"), [(2, -12, "RLX102"), (1, -8, "RLX304")])
def test_what_starts_or_ends_too_early_is_wrong(extent: int, offset: int, rule: str) -> None:
    text = VIEWS.format(extent=extent, offset=offset)
    assert [check.verdict.value for check in findings(parse(text), rule)] == ["always-wrong"]
    with pytest.raises(ValueError, match="relative_byte_offset"):
        _run(text)


@pytest.mark.parametrize("operator", ["no_grad", "start_checkpoint", "end_checkpoint"])
def test_operators_that_give_back_their_argument(operator: str) -> None:
    text = OPERATORS.format(operator=f"R.grad.{operator}(a)")
    (check,) = findings(parse(text), "RLX206")
    assert check.verdict.value == "always-wrong"
    assert _run(text)[1] == [0.0, 4.0, 8.0, 12.0]


def test_operators_that_make_something_new() -> None:
    text = OPERATORS.format(operator="R.nn.relu(a)")
    assert findings(parse(text), "RLX206") == []
    assert _run(text)[1] == [0.0, 2.0, 4.0, 6.0]


def test_a_constant_in_a_tuple_of_a_callee_has_a_name() -> None:
    (check,) = findings(parse(CONSTANTS), "RLX206")
    assert check.verdict.value == "always-wrong"
    assert "constant `q[0]`" in check.message
