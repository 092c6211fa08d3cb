"""What the entry of a kernel demands of operands of any types, right and wrong ones."""

from __future__ import annotations

from typing import Any

import pytest
import sympy
import tvm

from relax_lint.facts.kernel_entry import bind
from relax_lint.model.kernels import Kernel
from relax_lint.model.prim_funcs import read_kernel
from relax_lint.model.types import DType, OpaqueType, PrimType, ShapeType, TensorType, TupleType, ValueType
from relax_lint.symbolic.quantity import Unknown

_A, _B, _C = sympy.symbols("a b c", integer=True)
_F32 = DType("float32", 32)
_ANY = OpaqueType("Object")
_PLAIN = """\
@T.prim_func(private=True)
def f(x_: T.handle, y_: T.handle, k: T.int64):
    n = T.int64()
    m = T.int64()
    s = T.int64()
    x = T.match_buffer(x_, (n, m), "float32")
    y = T.match_buffer(y_, ({y}), "float32"{more})
    y[{at}] = x[0, 0]
"""


def _kernel(y: str = "m, n * 2", at: str = "0, 0", more: str = "") -> Kernel:
    return read_kernel("f", tvm.script.from_source(_PLAIN.format(y=y, at=at, more=more)))


def _tensor(*extents: Any) -> TensorType:
    return TensorType(tuple(map(sympy.sympify, extents)), _F32, len(extents))


def _number(value: Any = None) -> PrimType:
    return PrimType("int64", None if value is None else sympy.sympify(value))


def _said(kernel: Kernel, *types: ValueType) -> list[tuple[Any, ...]]:
    """Every demand that does not plainly hold."""
    return [
        (
            *(one.demand.name, one.position, one.axis, one.have, one.want),
            one.condition.reason if isinstance(one.condition, Unknown) else str(one.condition),
        )
        for one in bind(kernel, types).requirements
        if isinstance(one.condition, Unknown) or one.condition != sympy.true
    ]


X, Y = _tensor(_A, _B), _tensor(_B, _A * 2)
UNKNOWN_SHAPE = TensorType(None, _F32, 2)
UNKNOWN_RANK = TensorType(None, _F32, -1)
UNTOLD = "the shape of an argument is unknown in the IR"


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        ((X, Y, _number(3)), []),
        ((X, Y, _number()), []),
        ((X, Y, _ANY), []),
        ((_ANY, _ANY, _ANY), []),
        ((X, Y), [("COUNT", 0, 0, "2", "3", "False")]),
        ((X, Y, _number(3), _number(3)), [("COUNT", 0, 0, "4", "3", "False")]),
        ((X, Y, X), [("KIND", 2, 0, "a tensor", "a number", "False")]),
        ((X, Y, ShapeType((_A,))), [("KIND", 2, 0, "a shape", "a number", "False")]),
        ((X, Y, TupleType((X,))), [("KIND", 2, 0, "a tuple", "a number", "False")]),
        ((X, ShapeType((_A,)), _ANY), [("KIND", 1, 0, "a shape", "a tensor", "False")]),
        ((X, _number(3), _ANY), [("KIND", 1, 0, "a number", "a tensor", "False")]),
        ((X, TupleType((X,)), _ANY), [("KIND", 1, 0, "a tuple", "a tensor", "False")]),
        ((X, _tensor(_B), _ANY), [("RANK", 1, 0, "1", "2", "False")]),
        ((X, _tensor(), _ANY), [("RANK", 1, 0, "0", "2", "False")]),
        ((X, TensorType(None, _F32, 3), _ANY), [("RANK", 1, 0, "3", "2", "False")]),
        ((X, UNKNOWN_SHAPE, _ANY), [("SHAPE", 1, 0, "", "", UNTOLD)]),
        ((X, UNKNOWN_RANK, _ANY), [("SHAPE", 1, 0, "", "", UNTOLD)]),
        (
            (UNKNOWN_SHAPE, Y, _ANY),
            [
                ("EXTENT", 1, 0, "b", "m", "the value of `m` in the kernel is unknown"),
                ("EXTENT", 1, 1, "2*a", "2*n", "the value of `n` in the kernel is unknown"),
            ],
        ),
        (
            (_tensor(_A), Y, _ANY),
            [
                ("RANK", 0, 0, "1", "2", "False"),
                ("EXTENT", 1, 0, "b", "m", "the value of `m` in the kernel is unknown"),
            ],
        ),
        ((X, _tensor(_C, _A * 2), _ANY), [("EXTENT", 1, 0, "c", "b", "Eq(c, b)")]),
        ((X, _tensor(_B, _A), _ANY), [("EXTENT", 1, 1, "a", "2*a", "Eq(a, 2*a)")]),
        ((_tensor(2, 3), _tensor(3, 5), _ANY), [("EXTENT", 1, 1, "5", "4", "False")]),
    ],
)
def test_what_is_demanded_of_each_operand(
    types: tuple[ValueType, ...], expected: list[tuple[Any, ...]]
) -> None:
    assert _said(_kernel(), *types) == expected


def test_a_number_that_is_passed_is_no_symbol_of_a_shape() -> None:
    kernel = _kernel(y="k, m", at="0, 0")
    assert _said(kernel, X, _tensor(_C, _B), _number(_C)) == []
    assert _said(kernel, X, _tensor(_C, _B), _number(3)) == [("EXTENT", 1, 0, "c", "3", "Eq(c, 3)")]
    assert _said(kernel, X, _tensor(_C, _B), _number()) == [
        ("EXTENT", 1, 0, "c", "k", "the value of `k` in the kernel is unknown")
    ]
    found = bind(kernel, (X, _tensor(_C, _B), _number()))
    assert {symbol.name for symbol in found.unknown} == {"k"}
    assert {symbol.name: value for symbol, value in found.values.items()} == {"n": _A, "m": _B}


def test_of_several_values_that_are_not_known_the_first_is_named() -> None:
    kernel = _kernel(y="n * m, 2")
    assert [one[-1] for one in _said(kernel, UNKNOWN_SHAPE, _tensor(_C, 2), _ANY)] == [
        "the value of `m` in the kernel is unknown"
    ]
    binding = bind(kernel, (X, _tensor(_C, 2), _ANY))
    n, m = binding.values
    assert binding.exprs((n + 1, m * 2)) == (_A + 1, _B * 2)
    free = sympy.Symbol("free", integer=True)
    unknown = binding.exprs((n, free))
    assert isinstance(unknown, Unknown)
    assert "`free`" in unknown.reason


@pytest.mark.parametrize(
    ("strides", "shape", "expected"),
    [
        ('["s", 1]', (_B, 4), []),
        ("[s, s]", (_B, 4), [("STRIDE", 1, 0, "4", "1", "False")]),
        ('["s", "t"]', (_B, 4), []),
        ("[4, 1]", (_B, 4), []),
        ("[8, 1]", (_B, 4), [("STRIDE", 1, 0, "4", "8", "False")]),
        ("[4, 2]", (_B, 4), [("STRIDE", 1, 1, "1", "2", "False")]),
        ("[m, 1]", (_B, 4), [("STRIDE", 1, 0, "4", "b", "Eq(4, b)")]),
        ("[n, 1]", (_B, 4), [("STRIDE", 1, 0, "4", "a", "Eq(4, a)")]),
    ],
)
def test_strides_are_those_without_gaps(
    strides: str, shape: tuple[Any, ...], expected: list[tuple[Any, ...]]
) -> None:
    kernel = _kernel(y="m, 4", more=f", strides={strides}")
    assert _said(kernel, X, _tensor(*shape), _ANY) == expected


def test_strides_of_a_tensor_of_another_rank_or_shape_are_not_compared() -> None:
    kernel = _kernel(y="m, 4", more=", strides=[8, 1]")
    for other in (_tensor(_B), UNKNOWN_SHAPE, _ANY):
        assert all(one[0] != "STRIDE" for one in _said(kernel, X, other, _ANY))
    # The extent of the one axis and the stride of the other are asked of a shape that is told.
    assert [one[:3] for one in _said(kernel, X, _tensor(_B, 5), _ANY)] == [("EXTENT", 1, 1), ("STRIDE", 1, 0)]
