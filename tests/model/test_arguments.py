"""Which arguments a builtin takes, the shapes that they are, and what calls of scalars return."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import sympy
import tvm
from tvm import tirx

from relax_lint.model.arguments import Given, device_of, dtype_of, own_arguments, read_shape, text_of
from relax_lint.model.scalar_functions import returned_value
from relax_lint.model.signatures import takes
from relax_lint.model.symbols import SymbolTable
from relax_lint.model.types import DType, OpaqueType, PrimType, ShapeType, TensorType, TupleType, ValueType
from relax_lint.symbolic.quantity import Unknown
from relax_lint.symbolic.translate import Translator
from relax_lint.vm.builtins import BUILTINS, Role
from tests.vm.nodes_of import node, number, text

TENSOR, SHAPE = TensorType(None, None, -1), ShapeType(None)
ANY, NOTHING = OpaqueType(), TupleType(())
INTEGER, FLOAT = PrimType("int64"), PrimType("float32")
TYPE, TEXT = OpaqueType("DataTypeImm"), OpaqueType("StringImm")
NUMBERS, MIXED = TupleType((INTEGER, INTEGER)), TupleType((INTEGER, TENSOR))

CONTEXT: Any = SimpleNamespace(type_of=lambda type_: type_)
"""Arguments stand for values of their type."""


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("vm.builtin.reshape", (TENSOR, SHAPE), True),
        ("vm.builtin.reshape", (ANY, ANY), True),
        ("vm.builtin.reshape", (TENSOR, SHAPE, SHAPE), True),
        ("vm.builtin.reshape", (TENSOR,), False),
        ("vm.builtin.reshape", (SHAPE, SHAPE), False),
        ("vm.builtin.reshape", (TEXT, SHAPE), False),
        ("vm.builtin.reshape", (TENSOR, TENSOR), False),
        ("vm.builtin.reshape", (TENSOR, TEXT), False),
        # TVM takes a tuple of numbers for a shape, but not one of anything else.
        ("vm.builtin.reshape", (TENSOR, NUMBERS), True),
        ("vm.builtin.reshape", (TENSOR, MIXED), False),
        ("vm.builtin.reshape", (TENSOR, NOTHING), True),
        ("vm.builtin.reshape", (NOTHING, SHAPE), False),
        ("runtime.TVMTensorCreateView", (TENSOR, SHAPE, TYPE, INTEGER), True),
        ("runtime.TVMTensorCreateView", (TENSOR, NOTHING, NOTHING, NOTHING), True),
        ("runtime.TVMTensorCreateView", (TENSOR, SHAPE, ANY, ANY), True),
        ("runtime.TVMTensorCreateView", (NOTHING, SHAPE, TYPE, INTEGER), False),
        ("runtime.TVMTensorCreateView", (TENSOR, SHAPE, TEXT, INTEGER), False),
        ("runtime.TVMTensorCreateView", (TENSOR, SHAPE, TYPE, FLOAT), False),
        ("runtime.TVMTensorCreateView", (TENSOR, SHAPE, TYPE, SHAPE), False),
        # This one wants all of them.
        ("vm.builtin.alloc_tensor", (ANY, INTEGER, SHAPE, TYPE), True),
        ("vm.builtin.alloc_tensor", (ANY, INTEGER, SHAPE, NOTHING), False),
        ("vm.builtin.alloc_tensor", (TEXT, INTEGER, SHAPE, TYPE), True),
        # The VM comes first once the call is lowered.
        ("vm.builtin.alloc_storage", (SHAPE, INTEGER, TYPE, TEXT), True),
        ("vm.builtin.alloc_storage", (ANY, SHAPE, INTEGER, TYPE, TEXT), True),
        ("vm.builtin.alloc_storage", (SHAPE, INTEGER, TYPE, TYPE), False),
        ("vm.builtin.alloc_storage", (SHAPE, INTEGER, TYPE, ANY), True),
        # TVM itself checks what operators are given.
        ("relax.reshape", (SHAPE, TENSOR), True),
        ("relax.reshape", (TENSOR,), False),
    ],
)
def test_a_builtin_takes_what_its_row_says(name: str, given: tuple[ValueType, ...], expected: bool) -> None:
    assert takes(CONTEXT, BUILTINS[name], given) is expected


FOUR, N = sympy.Integer(4), sympy.Symbol("n", integer=True)


@pytest.mark.parametrize(
    ("given", "shape"),
    [
        (ShapeType((FOUR, N)), (FOUR, N)),
        (ShapeType(()), ()),
        (ShapeType(None), None),
        (TupleType((PrimType("int64", FOUR), PrimType("int64", N))), (FOUR, N)),
        (TupleType((PrimType("int64", FOUR), PrimType("int64"))), None),
        (TupleType((PrimType("int64", FOUR), TENSOR)), None),
        (NOTHING, ()),
        (TENSOR, None),
        (ANY, None),
    ],
)
def test_a_shape_is_read_where_all_of_it_is_known(given: ValueType, shape: tuple[Any, ...] | None) -> None:
    found = read_shape(CONTEXT, given)
    assert isinstance(found, Unknown) if shape is None else found == shape


def test_arguments_are_found_by_what_they_are_for() -> None:
    row = BUILTINS["relax.memory.alloc_tensor"]
    given = Given(row, ("s", 0, "shape", "float32"))
    assert given[Role.OFFSET] == 0
    assert given.get(Role.DTYPE) == "float32"
    assert given.get(Role.DEVICE) is None
    assert given.get(Role.SCOPE) is None
    assert Given(row, ("s", 0, "shape", "float32", 3)).get(Role.DEVICE) == 3
    lowered = BUILTINS["vm.builtin.alloc_storage"]
    own = own_arguments(lowered, ("vm", "shape", 1, "uint8", "global"))
    assert Given(lowered, own)[Role.SHAPE] == "shape"


def test_constants_are_read_and_what_is_none_is_not_known() -> None:
    assert device_of(number(2)) == device_of(2) == 2
    assert device_of(text("two")) is None
    assert text_of(text("global")) == text_of("global") == "global"
    assert dtype_of(node("DataTypeImm", value="float16")) == DType("float16", 16)
    assert dtype_of(node("Var")) == DType("unknown", 0, 0)


SCALARS = """\
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def double(a: T.int64, b: T.int64) -> T.int64:
        return a * T.int64(2) + b

    @T.prim_func(private=True)
    def less(a: T.int64, b: T.int64) -> T.bool:
        return a < b

    @T.prim_func(private=True)
    def loads(x: T.Buffer((4,), "int64"), a: T.int64) -> T.int64:
        return x[a]

    @T.prim_func(private=True, s_tir=True)
    def stores(x: T.Buffer((4,), "int64"), a: T.int64):
        x[0] = a
"""


@pytest.mark.parametrize(
    ("name", "expected"),
    [("double", 2 * N + 4), ("less", sympy.Lt(N, 4)), ("loads", None), ("stores", None)],
)
def test_what_a_function_of_scalars_returns(name: str, expected: Any) -> None:
    functions = tvm.script.from_source(SCALARS, check_well_formed=False)
    translator = Translator(SymbolTable(1 << 40).symbol_of)
    arguments = [tirx.Var("n", "int64"), tirx.const(4, "int64")]
    assert returned_value(translator, functions[name], arguments) == expected
    # The VM calls it with neither more nor fewer.
    assert returned_value(translator, functions[name], arguments[:1]) is None
    assert returned_value(translator, functions[name], [*arguments, arguments[0]]) is None
