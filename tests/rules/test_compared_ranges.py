"""Lifetime rules where parts of one memory meet: byte ranges are compared for every size."""

from __future__ import annotations

import pytest

from tests.rules.by_hand import by_hand, said
from tests.rules.checking import DOUBLE, findings, parse, verdicts

PARTS = """
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32"), y: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
    n = T.int64()
    storage = R.memory.alloc_storage(R.shape([n * 8 + 64]), 0, "global", "uint8")
    a = R.memory.alloc_tensor(storage, 0, R.shape([n]), "float32")
    d = Module.double(y, a)
    b = R.memory.alloc_tensor(storage, {offset}, R.shape([n]), "float32")
    w = R.call_packed("runtime.TVMTensorCopyFromTo", y, b, ty_args=R.Tuple)
    return a
"""


@pytest.mark.parametrize(
    ("offset", "expected"),
    [
        ("n * 4", []),
        ("n * 4 + 64", []),
        ("0", [("RLX203", "needs-runtime-check", "n <= 0")]),
        ("n * 2", [("RLX203", "needs-runtime-check", "n <= 0")]),
        ("16", [("RLX203", "needs-runtime-check", "n <= 4")]),
    ],
)
def test_ranges_are_compared_for_every_size(offset: str, expected: list[tuple[str, str, str]]) -> None:
    module = parse(DOUBLE + PARTS.format(offset=offset))
    assert verdicts(findings(module, "RLX203")) == expected


def test_halves_of_one_tensor_are_apart() -> None:
    module = parse("""
@T.prim_func(private=True, s_tir=True)
def reverse(a: T.handle, b: T.handle):
    x = T.match_buffer(a, (4,), "float32", elem_offset=T.int64())
    y = T.match_buffer(b, (4,), "float32", elem_offset=T.int64())
    for i in range(4):
        y[i] = x[3 - i]

@R.function(pure=False)
def main(x: R.Tensor((8,), "float32")) -> R.Tensor((8,), "float32"):
    low = R.memory.view(x, R.shape([4]), R.dtype("float32"), R.prim_value(0))
    high = R.memory.view(x, R.shape([4]), R.dtype("float32"), R.prim_value(16))
    middle = R.memory.view(x, R.shape([4]), R.dtype("float32"), R.prim_value(8))
    fine = Module.reverse(low, high)
    wrong = Module.reverse(low, middle)
    return x
""")
    assert said(module) == [("RLX206", "always-wrong", "wrong")]


def test_element_by_element_is_fine_where_both_start_at_one_byte() -> None:
    # At m = 0 each element is written after it was read; at 1 to 3 others are overwritten; from 4 on they are apart.
    module = by_hand("""
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32"), y: R.Tensor(("m",), "float32")):
    m = T.int64()
    storage = R.memory.alloc_storage(R.shape([m * 4 + 64]), 0, "global", "uint8")
    a = R.memory.alloc_tensor(storage, m * 4, R.shape([4]), "float32")
    b = R.memory.alloc_tensor(storage, 0, R.shape([4]), "float32")
    w = Module.copy(x, a)
    w1 = Module.copy(a, b)
    return b
""")
    (check,) = findings(module, "RLX206")
    assert (check.verdict.value, check.safe_when) == ("needs-runtime-check", "m >= 4 or m <= 0")


def test_a_copy_may_be_to_its_own_place_for_some_values() -> None:
    # At m = 0 every byte of `a` is written as it is.
    module = by_hand("""
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32"), y: R.Tensor(("m",), "float32")):
    m = T.int64()
    R.func_attr({"tir_var_upper_bound": {"m": 2}})
    storage = R.memory.alloc_storage(R.shape([m * 4 + 64]), 0, "global", "uint8")
    a = R.memory.alloc_tensor(storage, m * 4, R.shape([4]), "float32")
    b = R.memory.alloc_tensor(storage, 0, R.shape([4]), "float32")
    w = Module.copy(x, a)
    w1 = Module.copy(a, b)
    return (a, b)
""")
    (check,) = findings(module, "RLX203")
    assert check.verdict.value == "needs-runtime-check"
