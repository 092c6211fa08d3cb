"""The extents of what a function returns, from the types of what it is given: every kind of argument."""

from __future__ import annotations

import pytest
import sympy

from relax_lint.model.builder import build_program
from relax_lint.model.program import Function
from relax_lint.model.returned import returned_type
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
    # It follows from what the callee does where all extents are told, and is only declared otherwise.
    assert returned_type(callee(TENSOR), given, unknown()) == (expected, expected != unknown())


@pytest.mark.parametrize(
    ("declared", "expected", "follows"),
    [
        # What an annotation says of a result nobody checks.
        (tensor(1, 2, 3), tensor(A + B, C, 4), True),
        (tensor(A + B, C, 4), tensor(A + B, C, 4), True),
        (unknown(3, I32), tensor(A + B, C, 4), True),
        (unknown(-1), tensor(A + B, C, 4), True),
        (OpaqueType(), OpaqueType(), False),
        (ShapeType(None), ShapeType(None), False),
        (TupleType((unknown(),)), TupleType((unknown(),)), False),
    ],
)
def test_what_is_declared_is_replaced_by_what_follows(
    declared: ValueType, expected: ValueType, follows: bool
) -> None:
    assert returned_type(callee(TENSOR), GIVEN, declared) == (expected, follows)


def test_a_result_that_the_callee_only_declares() -> None:
    made = callee("R.call_pure_packed('make', y, ty_args=R.Tensor((m,), 'float32'))")
    assert returned_type(made, GIVEN, tensor(7)) == (tensor(7), False)


def test_a_shape() -> None:
    made = callee("R.shape([m, 2 * k])")
    assert returned_type(made, GIVEN, ShapeType(None)) == (ShapeType((A, 2 * B)), True)


def test_the_fields_of_a_tuple() -> None:
    declared = TupleType((unknown(1), unknown(1)))
    assert returned_type(callee(PAIR), GIVEN, declared) == (TupleType((tensor(A), tensor(2 * B))), True)
    without = with_one(1, ShapeType(None))
    assert returned_type(callee(PAIR), without, declared) == (TupleType((tensor(A), unknown(1))), False)
    three = TupleType((unknown(1),) * 3)
    assert returned_type(callee(PAIR), GIVEN, three) == (three, False)
    assert returned_type(callee(PAIR), GIVEN, unknown(1)) == (unknown(1), False)
