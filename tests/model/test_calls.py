"""Calls of every convention as operations of the memory program."""

from __future__ import annotations

from typing import Any

import pytest
import tvm
from tvm import relax, tirx

from relax_lint.model.builder import build_program
from relax_lint.model.kernel_body.loops import Loops
from relax_lint.model.kernels import BufferParameter
from relax_lint.model.operations import Constant, FunctionCall, KernelCall
from relax_lint.model.prim_funcs import KeptKernels, Kernels, read_parameter
from relax_lint.model.program import Function
from relax_lint.model.types import ShapeType, TensorType
from relax_lint.symbolic.quantity import Unknown
from relax_lint.symbolic.translate import Translator
from relax_lint.vm import versions
from relax_lint.vm.calls import CallKind
from tests.model.test_builder import main_of, module, only
from tests.vm.nodes_of import node

TYPE = 'R.Tensor((4,), "float32")'
PARAMETERS = f'x: {TYPE}, y: {TYPE}, g: R.Callable(({TYPE},), R.Tensor("float32", ndim=1), False)'


def _main(body: str) -> Function:
    return main_of(module(PARAMETERS, f"{body}\nreturn x"))


def _names(function: Function, call: KernelCall | FunctionCall) -> list[str]:
    return [function.values[argument].name for argument in call.arguments]


@pytest.mark.parametrize(
    ("line", "kind", "callee", "arguments"),
    [
        (f'v = R.call_dps_packed("f", (x, y), {TYPE})', CallKind.CALL_DPS_PACKED, "f", ["x", "y"]),
        (f'v = R.call_dps_packed("f", (), {TYPE})', CallKind.CALL_DPS_PACKED, "f", []),
        (f'v = R.call_pure_packed("f", x, y, ty_args={TYPE})', CallKind.PACKED, "f", ["x", "y"]),
        # A tuple is one argument where a call has them one by one.
        (f't = (x, y)\nv = R.call_pure_packed("f", t, ty_args={TYPE})', CallKind.PACKED, "f", ["t"]),
        (f'v = R.call_pure_packed("f", (x, y), ty_args={TYPE})', CallKind.PACKED, "f", [""]),
        (f'v = R.call_packed("f", (x, y), ty_args={TYPE})', CallKind.PACKED, "f", [""]),
        (f'v = R.call_builtin_with_ctx("f", (x, y), ty_args={TYPE})', CallKind.BUILTIN, "f", ["x", "y"]),
        # Operators are no packed functions, whatever their names are.
        (
            f'v = R.call_packed("relax.memory.kill_tensor", x, ty_args={TYPE})',
            CallKind.PACKED,
            "relax.memory.kill_tensor",
            ["x"],
        ),
        # A builtin that does not take this is an unknown function.
        (
            f'v = R.call_packed("vm.builtin.reshape", x, y, ty_args={TYPE})',
            CallKind.PACKED,
            "vm.builtin.reshape",
            ["x", "y"],
        ),
        ("v = R.add(x, y)", CallKind.OPERATOR, "relax.add", ["x", "y"]),
    ],
)
def test_a_call_has_the_arguments_of_its_callee(
    line: str, kind: CallKind, callee: str, arguments: list[str]
) -> None:
    function = _main(line)
    call = only(function, KernelCall)
    assert (call.kind, call.callee, _names(function, call)) == (kind, callee, arguments)
    assert call.pure is ("call_pure" in line)
    assert call.inplace == ()


@pytest.mark.parametrize(("indices", "inplace"), [("[1]", (1,)), ("[-1, 0]", (-1, 0))])
def test_a_call_in_place_keeps_what_it_declares(indices: str, inplace: tuple[int, ...]) -> None:
    types = f"[{TYPE}, {TYPE}]" if "," in indices else TYPE
    line = f'v = R.call_inplace_packed("f", x, y, inplace_indices={indices}, ty_args={types})'
    assert only(_main(line), KernelCall).inplace == inplace


def test_a_call_of_a_parameter_has_the_type_that_is_declared() -> None:
    function = _main("v = g(x)")
    call = only(function, FunctionCall)
    assert (call.target, call.callee, _names(function, call)) == (None, "g", ["x"])
    assert function.values[call.value or 0].name == "g"
    assert isinstance(call.type, TensorType)
    assert call.type.shape is None


X, V = (relax.Var(name, relax.TensorType([4], "float32")) for name in "xv")
F = relax.ExternFunc("f")


@pytest.mark.parametrize(
    ("name", "given", "kind", "callee", "arguments"),
    [
        ("relax.call_tir", [], CallKind.OPERATOR, "relax.call_tir", []),
        ("relax.invoke_closure", [], CallKind.OPERATOR, "relax.invoke_closure", []),
        ("relax.call_pure_packed", [], CallKind.OPERATOR, "relax.call_pure_packed", []),
        ("relax.call_dps_packed", [F], CallKind.CALL_DPS_PACKED, "f", []),
        ("relax.call_dps_packed", [F, X], CallKind.CALL_DPS_PACKED, "f", ["x"]),
    ],
)
def test_a_saved_call_need_not_have_what_tvm_would_write(
    name: str, given: list[Any], kind: CallKind, callee: str, arguments: list[str]
) -> None:
    call = relax.Call(tvm.ir.Op.get(name), given)
    block = relax.BindingBlock([relax.VarBinding(V, call)])
    function = relax.Function([X], relax.SeqExpr([block], V), X.ty, is_pure=False)
    (main,) = build_program(tvm.IRModule({tvm.ir.GlobalVar("main"): function})).functions
    made = only(main, KernelCall)
    assert (made.kind, made.callee, _names(main, made)) == (kind, callee, arguments)


DOUBLE = """\
@T.prim_func(private=True)
def double(a: T.int64) -> T.int64:
    return a * T.int64(2)
"""


@pytest.mark.skipif(tvm.__version__.startswith("0.26"), reason="scalars are nodes of another kind")
@pytest.mark.parametrize(("given", "extents"), [([4], "(8,)"), ([4, 4], "(k,)")])
def test_what_a_function_of_scalars_returns_is_known_from_then_on(given: list[int], extents: str) -> None:
    callee, number = tvm.ir.GlobalVar("double"), relax.Var("k", tvm.ir.PrimType("int64"))
    shape = relax.Var("s", relax.ShapeType(ndim=1))
    call = relax.Call(callee, [tirx.const(one, "int64") for one in given])
    bindings = [relax.VarBinding(number, call), relax.VarBinding(shape, relax.ShapeExpr([number]))]
    body = relax.SeqExpr([relax.BindingBlock(bindings)], shape)
    function = relax.Function([X], body, shape.ty, is_pure=False)
    module = {callee: tvm.script.from_source(DOUBLE), tvm.ir.GlobalVar("main"): function}
    (main,) = build_program(tvm.IRModule(module)).functions
    type_ = only(main, Constant).type
    assert isinstance(type_, ShapeType)
    assert str(type_.extents) == extents


def _parameter(shape: list[Any], strides: list[Any], offset: Any = 0) -> BufferParameter:
    """What a kernel asks of a buffer."""
    loops = Loops()
    fields = {"shape": shape, "strides": strides, "elem_offset": offset, "dtype": "float32"}
    var = node("Var", name="x", ty=node("BufferType"), offset_factor=1, **fields)
    found = read_parameter(var, Translator(loops.symbol_of), loops)
    assert isinstance(found, BufferParameter)
    return found


N = tirx.Var("n", "int64")
LOAD = tirx.BufferLoad(tirx.decl_buffer((4,), "int64"), [tirx.const(0, "int64")])


@pytest.mark.parametrize(
    ("shape", "strides", "compact"),
    [
        ([4, N], [], True),
        ([4, N], [N, 1], True),
        ([4, N], [N, 2], False),
        ([4, N], [N + 1, 1], False),
        ([2, 4, N], [4 * N, N, 1], True),
        ([2, 4, N], [N, N, 1], False),
        ([4, N], [1], False),
        ([4, N], [N, LOAD], False),
        ([4, LOAD], [4, 1], False),
        ([LOAD], [], True),
    ],
)
def test_a_buffer_is_compact_by_the_strides_of_row_major_order(
    shape: list[Any], strides: list[Any], compact: bool
) -> None:
    found = _parameter(shape, strides)
    assert found.compact is compact
    assert isinstance(found.shape, Unknown) is (LOAD in shape)
    assert (found.strides is None) is (LOAD in strides)


@pytest.mark.parametrize(("offset", "expected"), [(0, "0"), (N, "n"), (LOAD, "0"), (None, "0")])
def test_the_offset_that_a_kernel_asks_for_is_zero_where_it_cannot_be_told(
    offset: Any, expected: str
) -> None:
    assert str(_parameter([4], [], offset).offset) == expected


KERNEL = """\
@T.prim_func(private=True, s_tir=True)
def {name}(x: T.Buffer((4,), "float32")):
    for i in range({count}):
        x[i] = T.float32(0)
"""


def _kernels(*counts: int) -> dict[str, Any]:
    texts = (KERNEL.format(name="abc"[number], count=count) for number, count in enumerate(counts))
    return {"abc"[number]: tvm.script.from_source(text) for number, text in enumerate(texts)}


def _module(functions: dict[str, Any]) -> Any:
    return tvm.IRModule({tvm.ir.GlobalVar(name): one for name, one in functions.items()})


def test_kernels_are_kept_for_the_objects_that_they_are_of() -> None:
    kept, functions = KeptKernels(), _kernels(1, 2)
    first = kept.of(_module(functions))
    assert kept.of(_module(functions)) is first
    assert sorted(first) == ["a", "b"]
    # One is another object: nothing of what was read holds.
    other = kept.of(_module({**functions, "b": _kernels(1, 2)["b"]}))
    assert other is not first
    assert other["a"] is not first["a"]
    # One is gone.
    fewer = kept.of(_module({"a": functions["a"]}))
    assert sorted(fewer) == ["a"]
    assert kept.of(_module(functions)) is first


def test_what_passes_add_leaves_the_kernels_that_were_read() -> None:
    kept, functions = KeptKernels(), _kernels(1, 2, 3)
    first = kept.of(_module({name: functions[name] for name in "ab"}))
    more = kept.of(_module(functions))
    assert more is not first
    # The body is read already, though it was asked for by nobody yet.
    assert more["a"] is kept.of(_module(functions))["a"]
    before = first["a"], first["b"]
    again = kept.of(_module({**functions, "d": _kernels(4)["a"]}))
    assert again["a"] is more["a"]
    assert before[0].name == again["a"].name == "a"


def test_kernels_of_other_names_are_others() -> None:
    functions = _kernels(1, 2)
    found = Kernels(_module(functions))
    own = dict(versions.prim_functions(_module(functions)))
    assert found.is_of(own)
    assert found.are_among(own)
    assert not found.is_of({**own, "c": own["a"]})
    assert found.are_among({**own, "c": own["a"]})
    assert not found.are_among({"a": own["a"]})
    assert not found.is_of({"a": own["a"], "b": own["a"]})
    assert not found.is_of({"a": own["a"], "c": own["b"]})
