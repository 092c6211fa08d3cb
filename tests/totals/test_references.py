"""What a value keeps alive, field by field."""

from __future__ import annotations

import pytest

from relax_lint.model.builder import build_program
from relax_lint.model.operations import KernelCall
from relax_lint.totals.frame import Reference
from relax_lint.totals.references import field_of, passed_on, tuple_of
from tests.rules.checking import parse


@pytest.mark.parametrize(
    ("reference", "item", "expected"),
    [
        (None, 0, None),
        (7, 3, 7),
        ((7, None, 8), 0, 7),
        ((7, None, 8), 1, None),
        ((7, None, 8), 2, 8),
        ((7, None, 8), 3, None),
        ((7, None, 8), -1, None),
    ],
)
def test_the_field_of_a_tuple(reference: Reference, item: int, expected: Reference) -> None:
    assert field_of(reference, item) == expected


def test_a_tuple_of_what_keeps_nothing_alive_keeps_nothing_alive() -> None:
    assert tuple_of((None, None)) is None
    assert tuple_of((None, 7)) == (None, 7)


PASSED = """
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
    r = R.call_packed({}, ty_args={})
    return x
"""
VECTOR = 'R.Tensor((4,), "float32")'
PAIR = f"R.Tuple({VECTOR}, {VECTOR})"


@pytest.mark.parametrize(
    ("call", "type_", "expected"),
    [
        ('"vm.builtin.attention_kv_cache_append", x, y', VECTOR, 0),
        ('"vm.builtin.make_tuple", x, y', PAIR, (0, 1)),
        ('"vm.builtin.make_tuple", y', PAIR, (1,)),
        ('"vm.builtin.tuple_getitem", y, R.prim_value(0)', VECTOR, 1),
        ('"vm.builtin.to_device", x, R.prim_value(1), R.prim_value(0)', VECTOR, None),
        ('"vm.builtin.attention_kv_cache_attention_with_fused_qkv", x, y', VECTOR, None),
        ('"vm.builtin.null_value"', "R.Any", None),
        ('"tests.unknown", x, y', VECTOR, None),
    ],
)
def test_what_a_builtin_passes_on_of_its_arguments(call: str, type_: str, expected: Reference) -> None:
    """Each argument keeps alive what has its number; the result one of these, or nothing that was there."""
    (function,) = build_program(parse(PASSED.format(call, type_))).functions
    (op,) = [op for op in function.body.of(KernelCall) if op.place.binding == "r"]
    numbers = {value: number for number, value in enumerate(function.parameters)}
    assert passed_on(op, lambda value: numbers.get(value), function) == expected
