"""The extents of values of each kind, and what calls learn from them."""

from __future__ import annotations

import pytest
import sympy

import relax_lint
from relax_lint.model.types import (
    DType,
    OpaqueType,
    PrimType,
    ShapeType,
    TensorType,
    TupleType,
    ValueType,
    extents_of,
)
from tests.rules.checking import parse
from tests.totals.corpus_calls import storage, tensor

F32 = DType("float32", 32)
N = sympy.Symbol("n", integer=True)


@pytest.mark.parametrize(
    ("type_", "extents"),
    [
        (TensorType((N, sympy.Integer(4)), F32, 2), (N, 4)),
        (TensorType((), F32, 0), ()),
        (TensorType(None, F32, 2), ()),
        (ShapeType((N, N + 1)), (N, N + 1)),
        (ShapeType(None), ()),
        (PrimType("int64", N), (N,)),
        (PrimType("int64", sympy.Integer(0)), (0,)),
        (PrimType("int64"), ()),
        (TupleType((TensorType((N,), F32, 1),)), ()),
        (OpaqueType(), ()),
        (None, ()),
    ],
    ids=str,
)
def test_extents(type_: ValueType | None, extents: tuple[object, ...]) -> None:
    assert extents_of(type_) == extents


GIVEN = {
    "a tensor": ('R.Tensor(("k",), "float32")', "x", "4*n"),
    "a shape": ('R.Shape(["k"])', "R.shape([n + 2])", "4*n + 8"),
    "a number": ('R.Prim("int64")', "R.prim_value(n + 1)", "4*n + 4"),
    "a tensor of a tuple": (
        'R.Tuple(R.Tensor(("k",), "float32"), R.Tensor((3,), "float32"))',
        "(x, x)",
        "4*n",
    ),
}


@pytest.mark.parametrize("how", GIVEN)
def test_a_total_speaks_of_what_a_call_gives(how: str) -> None:
    """The callee makes one tensor of `k` elements."""
    type_, argument, expected = GIVEN[how]
    name = "k" if how == "a number" else "p"
    defined = "" if how == "a number" else "    k = T.int64()\n"
    module = parse(f"""
@R.function(private=True, pure=False)
def inner({name}: {type_}):
{defined}    s = {storage("k * 4")}
    t = {tensor("s", "k")}
    return t

@R.function(pure=False)
def main(x: R.Tensor(("n",), "float32")):
    n = T.int64()
    r = Module.inner({argument})
    return r
""")
    (main,) = (total for total in relax_lint.memory(module) if total.function == "main")
    assert main.peak_live is not None
    assert main.peak_live.expr == expected
