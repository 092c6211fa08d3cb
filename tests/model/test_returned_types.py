"""The extents of what a function returns, from the types of what it is given: every kind of argument."""

from __future__ import annotations

import pytest
import sympy

from relax_lint.model.builder import build_program
from relax_lint.model.program import Function
from relax_lint.model.returned import has_shape, returned_type
from relax_lint.model.types import DType, OpaqueType, PrimType, ShapeType, TensorType, TupleType, ValueType
from tests.rules.checking import parse

F32, I32 = DType("float32", 32), DType("int32", 32)
A, B, C = (sympy.Symbol(name, integer=True) for name in "abc")
CALLEE = """
@R.function
def callee(y: R.Tensor(("m", 4), "float32"), z: R.Shape(["k"]), p: R.Prim("int64"), v: R.Tensor(("m",), "float32")):
    m, k = T.int64(), T.int64()
    r = {result}
    return r
"""
TENSOR = "R.ones((m + k, p, 4), 'float32')"
PAIR = "(R.ones((m,), 'float32'), R.ones((2 * k,), 'float32'))"


def callee(result: str) -> Function:
    (found,) = build_program(parse(CALLEE.format(result=result))).functions
    return found


def tensor(*extents: object, dtype: DType = F32) -> TensorType:
    shape = tuple(sympy.sympify(extent) for extent in extents)
    return TensorType(shape, dtype, len(shape))


def unknown(ndim: int = 3, dtype: DType | None = F32) -> TensorType:
    return TensorType(None, dtype, ndim)


GIVEN: tuple[ValueType, ...] = (tensor(A, 4), ShapeType((B,)), PrimType("int64", C), tensor(A))


def with_one(place: int, other: ValueType) -> tuple[ValueType, ...]:
    return (*GIVEN[:place], other, *GIVEN[place + 1 :])


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (GIVEN, tensor(A + B, C, 4)),
        # The first parameter with a symbol tells it; a later one does as well where the first does not.
        (with_one(3, tensor(B)), tensor(A + B, C, 4)),
        (with_one(0, unknown(2)), tensor(A + B, C, 4)),
        (with_one(0, tensor(B)), tensor(A + B, C, 4)),
        (with_one(0, tensor(B, 4, 4)), tensor(A + B, C, 4)),
        (with_one(0, OpaqueType()), tensor(A + B, C, 4)),
        (with_one(0, tensor(7, 4)), tensor(7 + B, C, 4)),
        # What is missing leaves the type as it is declared.
        (with_one(1, ShapeType(None)), unknown()),
        (with_one(1, ShapeType((B, B))), unknown()),
        (with_one(2, PrimType("int64")), unknown()),
        (with_one(2, tensor(C)), tensor(A + B, C, 4)),
        (GIVEN[:3], unknown()),
        ((*GIVEN, tensor(1)), unknown()),
    ],
)
def test_extents_of_a_tensor(given: tuple[ValueType, ...], expected: ValueType) -> None:
    assert returned_type(callee(TENSOR), given, unknown()) == expected


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        (tensor(1, 2, 3), tensor(1, 2, 3)),
        (unknown(3, I32), unknown(3, I32)),
        (unknown(-1), tensor(A + B, C, 4)),
        (OpaqueType(), OpaqueType()),
        (ShapeType(None), ShapeType(None)),
        (TupleType((unknown(),)), TupleType((unknown(),))),
    ],
)
def test_only_a_type_without_extents_is_completed(declared: ValueType, expected: ValueType) -> None:
    assert returned_type(callee(TENSOR), GIVEN, declared) == expected


def test_the_fields_of_a_tuple() -> None:
    declared = TupleType((unknown(1), unknown(1)))
    assert returned_type(callee(PAIR), GIVEN, declared) == TupleType((tensor(A), tensor(2 * B)))
    without = with_one(1, ShapeType(None))
    assert returned_type(callee(PAIR), without, declared) == TupleType((tensor(A), unknown(1)))
    three = TupleType((unknown(1),) * 3)
    assert returned_type(callee(PAIR), GIVEN, three) == three
    assert returned_type(callee(PAIR), GIVEN, unknown(1)) == unknown(1)


@pytest.mark.parametrize(
    ("type_", "known"),
    [
        (tensor(1), True),
        (unknown(), False),
        (OpaqueType(), True),
        (TupleType((tensor(1), tensor(2))), True),
        (TupleType((tensor(1), unknown())), False),
        (TupleType((unknown(), tensor(1))), False),
        (TupleType((TupleType((unknown(),)), tensor(1))), False),
    ],
)
def test_whether_all_extents_are_there(type_: ValueType, known: bool) -> None:
    assert has_shape(type_) is known
