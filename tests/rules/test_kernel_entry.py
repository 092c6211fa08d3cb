"""What the entry of a kernel compares of its arguments, of any kind, and what its symbols are then."""

from __future__ import annotations

import pytest
import sympy
import tvm

from relax_lint.facts.kernel_entry import Demand, bind, kind_of
from relax_lint.model.kernels import Kernel
from relax_lint.model.prim_funcs import read_kernel
from relax_lint.model.types import DType, OpaqueType, PrimType, ShapeType, TensorType, TupleType, ValueType
from relax_lint.symbolic.quantity import Unknown
from tests.rules.checking import checks, parse

F32 = DType("float32", 32)
A, B = (sympy.Symbol(name, integer=True) for name in "ab")
KERNEL = """\
@T.prim_func(private=True)
def f(x: T.handle, k: T.int64, y: T.handle):
    n = T.int64()
    m = T.int64()
    a = T.match_buffer(x, (n, 4), "float32")
    b = T.match_buffer(y, (n, m, 2 * n + k), "float32")
    for i in range(n):
        b[i, 0, 0] = a[i, 0]
"""
STRIDED = """\
@T.prim_func(private=True)
def f(x: T.handle, y: T.handle):
    n = T.int64()
    s = T.int64()
    t = T.int64()
    a = T.match_buffer(x, (n, 4), "float32", strides=(s, 1))
    b = T.match_buffer(y, (n, 4), "float32", strides=({outer}, {inner}))
    for i in range(n):
        b[i, 0] = a[i, 0]
"""


def kernel(text: str = KERNEL) -> Kernel:
    return read_kernel("f", tvm.script.from_source(text))


def tensor(*extents: object) -> TensorType:
    shape = tuple(sympy.sympify(extent) for extent in extents)
    return TensorType(shape, F32, len(shape))


def demanded(*types: ValueType, text: str = KERNEL) -> set[tuple[Demand, int, int, str]]:
    """What may be refused: demand, operand, axis, and the condition, or that it is not known."""
    return {
        (one.demand, one.position, one.axis, _text(one.condition))
        for one in bind(kernel(text), types).requirements
        if one.condition != sympy.true
    }


def _text(condition: object) -> str:
    return "not known" if isinstance(condition, Unknown) else str(condition)


def test_every_extent_but_those_that_define_is_compared() -> None:
    found = bind(kernel(), [tensor(A, 4), PrimType("int64", B), tensor(A, B, 2 * A + B)])
    assert [one.condition for one in found.requirements] == [sympy.true] * 3
    assert {(one.position, one.axis) for one in found.requirements} == {(0, 1), (2, 0), (2, 2)}
    assert {str(symbol): value for symbol, value in found.values.items()} == {"n": A, "m": B, "k": B}
    assert found.unknown == frozenset()


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        ((tensor(A, 5), PrimType("int64", B), tensor(A, 1, 2 * A + B)), {(Demand.EXTENT, 0, 1, "False")}),
        ((tensor(A, B), PrimType("int64", B), tensor(A, 1, 2 * A + B)), {(Demand.EXTENT, 0, 1, "Eq(b, 4)")}),
        ((tensor(A, 4), PrimType("int64", B), tensor(B, 1, 2 * A + B)), {(Demand.EXTENT, 2, 0, "Eq(b, a)")}),
        (
            (tensor(A, 4), PrimType("int64", sympy.Integer(3)), tensor(A, 1, 2 * A)),
            {(Demand.EXTENT, 2, 2, "False")},
        ),
        ((tensor(A, 4), PrimType("int64"), tensor(A, 1, A)), {(Demand.EXTENT, 2, 2, "not known")}),
        ((tensor(A, 4), tensor(A), tensor(A, 1, A)), {(Demand.KIND, 1, 0, "False"), (Demand.EXTENT, 2, 2, "not known")}),
        (
            (tensor(A, 4), OpaqueType(), tensor(A, 1, A)),
            {(Demand.EXTENT, 2, 2, "not known")},
        ),
        ((tensor(A, 4), PrimType("int64", B), tensor(A, 1)), {(Demand.RANK, 2, 0, "False")}),
        (
            (tensor(A, 4), PrimType("int64", B), TensorType(None, F32, 2)),
            {(Demand.RANK, 2, 0, "False")},
        ),
        (
            (tensor(A, 4), PrimType("int64", B), TensorType(None, F32, 3)),
            {(Demand.SHAPE, 2, 0, "not known")},
        ),
        (
            (TensorType(None, F32, -1), PrimType("int64", B), tensor(A, 1, B)),
            {
                (Demand.SHAPE, 0, 0, "not known"),
                (Demand.EXTENT, 2, 0, "not known"),
                (Demand.EXTENT, 2, 2, "not known"),
            },
        ),
        (
            (ShapeType((A,)), PrimType("int64", B), tensor(A, 1, B)),
            {
                (Demand.KIND, 0, 0, "False"),
                (Demand.EXTENT, 2, 0, "not known"),
                (Demand.EXTENT, 2, 2, "not known"),
            },
        ),
        (
            (tensor(A, 4), PrimType("int64", B), PrimType("int64", B)),
            {(Demand.KIND, 2, 0, "False")},
        ),
        ((tensor(A, 4), PrimType("int64", B), TupleType((tensor(1),))), {(Demand.KIND, 2, 0, "False")}),
        ((tensor(A, 4), PrimType("int64", B), OpaqueType()), set()),
    ],
)  # fmt: skip
def test_what_may_be_refused(
    types: tuple[ValueType, ...], expected: set[tuple[Demand, int, int, str]]
) -> None:
    assert demanded(*types) == expected


@pytest.mark.parametrize("count", [0, 2, 4])
def test_another_number_of_arguments_is_refused(count: int) -> None:
    found = bind(kernel(), [tensor(A, 4)] * count)
    (only,) = found.requirements
    assert (only.demand, only.condition, only.have, only.want) == (
        Demand.COUNT,
        sympy.false,
        str(count),
        "3",
    )
    assert found.values == {}


@pytest.mark.parametrize(
    ("outer", "inner", "expected"),
    [
        ("4", "1", set()),
        ("s", "1", set()),
        ("t", "1", set()),
        ("n", "1", {(Demand.STRIDE, 1, 0, "Eq(4, a)")}),
        ("8", "1", {(Demand.STRIDE, 1, 0, "False")}),
        ("4", "2", {(Demand.STRIDE, 1, 1, "False")}),
        ("s", "s", {(Demand.STRIDE, 1, 1, "False")}),
        ("t", "t", {(Demand.STRIDE, 1, 0, "False")}),
        ("s + 4", "1", {(Demand.STRIDE, 1, 0, "False")}),
    ],
)
def test_strides_are_those_of_a_tensor_without_gaps(
    outer: str, inner: str, expected: set[tuple[Demand, int, int, str]]
) -> None:
    text = STRIDED.format(outer=outer, inner=inner)
    assert demanded(tensor(A, 4), tensor(A, 4), text=text) == expected


def test_the_kinds_have_names() -> None:
    kinds: list[ValueType] = [tensor(1), ShapeType(()), PrimType("int64"), TupleType(()), OpaqueType()]
    assert list(map(kind_of, kinds)) == ["a tensor", "a shape", "a number", "a tuple", "an object"]


REFUSES = """
@T.prim_func(private=True, s_tir=True)
def reads(x: T.Buffer((SIZE,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[i + 2]

@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")):
    u = R.call_tir(Module.reads, (x,), out_ty=R.Tensor((4,), "float32"))
    return u
"""


@pytest.mark.parametrize(
    ("size", "compares", "accesses"), [(4, "always-fine", "always-wrong"), (5, "always-wrong", "always-fine")]
)
def test_what_a_kernel_refuses_it_does_not_access(size: int, compares: str, accesses: str) -> None:
    """Both kernels read `x[5]`; that which asks for five elements compares the shape before."""
    module = parse(REFUSES.replace("SIZE", str(size)))
    found = [[check.verdict.value for check in checks(module, code)] for code in ("RLX301", "RLX306")]
    assert found == [[compares], [accesses]]
