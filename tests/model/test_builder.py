"""The memory program of small functions, each checkable by eye."""

from __future__ import annotations

from typing import TypeVar

import pytest
import sympy
import tvm
from tvm.relax import transform

from relax_lint.analysis.domains import domains_of, entry_domain
from relax_lint.model.builder import build_program
from relax_lint.model.operations import (
    Alias,
    AllocStorage,
    AllocTensor,
    Assert,
    Constant,
    FunctionCall,
    GetItem,
    If,
    KernelCall,
    Kill,
    MakeTuple,
    MatchCast,
    Op,
    View,
)
from relax_lint.model.program import BoundKind, Function, Provenance
from relax_lint.model.types import DType, ShapeType, TensorType
from relax_lint.symbolic.domain import FactKind
from relax_lint.symbolic.quantity import Unknown
from relax_lint.vm.builtins import KillKind, Level, ViewKind

m, n, k = (sympy.Symbol(name, integer=True) for name in "mnk")


def module(parameters: str, body: str, *, header: str = "@R.function(pure=False)", before: str = "") -> str:
    lines = "".join(f"        {line}\n" for line in body.strip("\n").splitlines())
    return (
        f"@I.ir_module\nclass Module:\n{before}    {header}\n"
        f"    def main({parameters}):\n        m, n, k = T.int64(), T.int64(), T.int64()\n{lines}"
    )


def main_of(text: str) -> Function:
    parsed = tvm.script.from_source(text, check_well_formed=False)
    return next(f for f in build_program(parsed).functions if f.name == "main")


OpT = TypeVar("OpT", bound=Op)


def only(function: Function, kind: type[OpT]) -> OpT:
    (found,) = [op for op in function.body.walk() if isinstance(op, kind)]
    return found


X = 'x: R.Tensor(("m", "n"), "float32")'


@pytest.mark.parametrize(
    ("call", "level", "size"),
    [
        # R.memory counts bytes whatever the dtype says.
        (
            'R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("float32"))',
            Level.MEMORY,
            16,
        ),
        # R.vm and the builtin count elements of the dtype: 2 * 2 * 4 and 4 * m * 2 bytes.
        (
            'R.vm.alloc_storage(R.shape([2, 2]), R.prim_value(0), R.dtype("float32"), R.str("global"))',
            Level.VM,
            16,
        ),
        (
            'R.call_builtin_with_ctx("vm.builtin.alloc_storage", (R.shape([4 * m]), R.prim_value(0),'
            ' R.dtype("float16"), R.str("global")), ty_args=[R.Any])',
            Level.PACKED,
            8 * m,
        ),
    ],
)
def test_storage_sizes_are_bytes_at_every_level(call: str, level: Level, size: object) -> None:
    function = main_of(module(X, f"s = {call}\nreturn x"))
    storage = only(function, AllocStorage)
    assert isinstance(storage, AllocStorage)
    assert (storage.level, storage.size, storage.scope, storage.device) == (level, size, "global", 0)


@pytest.mark.parametrize(
    ("dtype", "size"),
    [("float32", 4 * m * n), ("bool", m * n), ("float32x4", 16 * m * n), ("float64", 8 * m * n)],
)
def test_tensor_bytes_follow_the_dtype(dtype: str, size: sympy.Expr) -> None:
    body = (
        f'a = R.builtin.alloc_tensor(R.shape([m, n]), R.dtype("{dtype}"), R.prim_value(0), R.str("global"))\n'
        "return x"
    )
    tensor = only(main_of(module(X, body)), AllocTensor)
    assert isinstance(tensor, AllocTensor)
    assert tensor.bytes == size
    assert tensor.storage is None


def test_four_bit_elements_are_packed_two_to_a_byte() -> None:
    body = 'a = R.builtin.alloc_tensor(R.shape([m]), R.dtype("int4"), R.prim_value(0), R.str("global"))\nreturn x'
    tensor = only(main_of(module(X, body)), AllocTensor)
    assert not isinstance(tensor.bytes, Unknown)
    assert [tensor.bytes.subs(m, value) for value in (0, 1, 2, 3)] == [0, 1, 1, 2]


def test_symbols_know_where_their_value_comes_from() -> None:
    function = main_of(module(f'{X}, s: R.Shape(["k"]), p: R.Prim("int64")', "return x"))
    provenance = {info.symbol.name: info.provenance for info in function.symbols}
    assert provenance == {
        "m": Provenance.EXTENT,
        "n": Provenance.EXTENT,
        "k": Provenance.VALUE,
        "p": Provenance.VALUE,
    }
    conditions = [fact.condition for fact in function.facts if fact.kind is FactKind.ENFORCED]
    assert conditions == [m >= 0, n >= 0]


def test_an_extent_wins_over_a_value_of_the_same_symbol() -> None:
    function = main_of(module('s: R.Shape(["m"]), x: R.Tensor(("m",), "float32")', "return x"))
    assert [info.provenance for info in function.symbols] == [Provenance.EXTENT]


def test_bounds_match_by_name_against_types_of_the_signature() -> None:
    # TVM's planner collects symbols from types; the type of a scalar does not contain the scalar.
    body = 'R.func_attr({"tir_var_upper_bound": {"m": 7, "p": 9, "N": 3}, "tir_non_negative_var": ["n"]})\nreturn x'
    bounds = main_of(module(f'{X}, p: R.Prim("int64")', body)).bounds
    found = {(b.kind, b.name): b.symbol for b in bounds}
    assert found == {
        (BoundKind.UPPER, "m"): m,
        (BoundKind.UPPER, "p"): None,
        (BoundKind.UPPER, "N"): None,
        (BoundKind.NON_NEGATIVE, "n"): n,
    }
    assert [b.fact.condition for b in bounds if b.fact is not None] == [m <= 7, n >= 0]
    assert all(b.fact.kind is FactKind.ASSUMED for b in bounds if b.fact is not None)


def test_parameters_after_num_input_are_not_compared() -> None:
    body = 'R.func_attr({"num_input": 1})\nreturn x'
    signature = 'x: R.Tensor(("m",), "float32"), w: R.Tensor(("m * 2", "n"), "float32")'
    function = main_of(module(signature, body))
    conditions = [fact.condition for fact in function.facts if fact.kind is FactKind.ENFORCED]
    # n is still read from the real tensor; m * 2 is compared with nothing.
    assert conditions == [m >= 0, n >= 0]


def test_match_cast_of_a_parameter_relates_its_symbols() -> None:
    function = main_of(module(X, 'q = R.match_cast(x, R.Tensor((k, 4), "float32"))\nreturn q'))
    cast = only(function, MatchCast)
    assert isinstance(cast, MatchCast)
    enforced = {fact.condition for fact in cast.facts if fact.kind is FactKind.ENFORCED}
    assert enforced == {sympy.Eq(m, k), sympy.Eq(n, 4), k >= 0}


def test_match_cast_of_a_claimed_type_says_nothing_about_its_symbols() -> None:
    # The type of a packed call is believed by TVM: that the cast succeeds says nothing about m.
    body = (
        'y = R.call_packed("f", x, ty_args=[R.Tensor((m,), "float32")])\n'
        'q = R.match_cast(y, R.Tensor((4,), "float32"))\nreturn q'
    )
    cast = only(main_of(module(X, body)), MatchCast)
    assert isinstance(cast, MatchCast)
    assert cast.facts == ()


def test_facts_hold_where_they_dominate() -> None:
    body = """
a = R.builtin.alloc_tensor(R.shape([m]), R.dtype("int8"), R.prim_value(0), R.str("global"))
R.assert_op(m <= 4, [m], format="{}")
if c:
    b = R.builtin.alloc_tensor(R.shape([m]), R.dtype("int8"), R.prim_value(0), R.str("global"))
    R.assert_op(n <= 9, [n], format="{}")
    r = b
else:
    r = a
d = R.builtin.alloc_tensor(R.shape([m]), R.dtype("int8"), R.prim_value(0), R.str("global"))
return d
"""
    function = main_of(module(f'{X}, c: R.Prim("bool")', body))
    domains = domains_of(function, entry_domain(function, trust_declared_bounds=True))

    def known(name: str) -> set[object]:
        (op,) = [op for op in function.body.walk() if op.place.binding == name]
        return {f.condition for f in domains[op.place.index].facts} - {f.condition for f in function.facts}

    assert known("a") == set()
    assert known("b") == {m <= 4}
    # The assert in the branch does not dominate what follows the If.
    assert known("d") == {m <= 4}


def test_a_comparison_of_symbols_is_known_in_its_branches() -> None:
    body = """
c = R.prim_value(m < n)
if c:
    r = R.builtin.alloc_tensor(R.shape([m]), R.dtype("int8"), R.prim_value(0), R.str("global"))
else:
    r = R.builtin.alloc_tensor(R.shape([m]), R.dtype("int8"), R.prim_value(0), R.str("global"))
return r
"""
    branch = only(main_of(module(X, body)), If)
    assert isinstance(branch, If)
    assert [fact.condition for fact in branch.facts] == [m < n]
    assert [fact.condition for fact in branch.else_facts] == [m >= n]


def test_program_order_counts_branches_then_first() -> None:
    body = """
if c:
    a = R.add(x, x)
    r = R.add(a, a)
else:
    r = R.multiply(x, x)
z = R.add(r, r)
return z
"""
    function = main_of(module(f'{X}, c: R.Prim("bool")', body))
    order = [(op.place.index, type(op).__name__) for op in function.body.walk()]
    # The If has the index of its own binding; its branches follow.
    assert order == [
        (0, "If"),
        (1, "KernelCall"),
        (2, "KernelCall"),
        (3, "KernelCall"),
        (4, "KernelCall"),
    ]


def test_views_aliases_tuples_and_kills() -> None:
    body = """
a = x
v = R.memory.view(x, R.shape([m]), R.dtype("int8"), R.prim_value(4))
z = R.memory.ensure_zero_offset(v)
r = R.reshape(x, R.shape([m * n]))
t = (x, (v, r))
i = t[1]
R.memory.kill_tensor(v)
return i
"""
    function = main_of(module(X, body))
    ops = {op.place.binding: op for op in function.body.walk()}
    assert isinstance(ops["a"], Alias)
    assert ops["a"].source == function.parameters[0]
    view = ops["v"]
    assert isinstance(view, View)
    assert (view.kind, view.offset, view.source) == (ViewKind.MEMORY_VIEW, 4, function.parameters[0])
    assert isinstance(ops["z"], View)
    assert ops["z"].kind is ViewKind.ZERO_OFFSET
    assert isinstance(ops["r"], View)
    reshaped = function.tensor_type(ops["r"].result)
    assert reshaped is not None
    assert reshaped.shape == (m * n,)
    assert isinstance(ops["t"], MakeTuple)
    item = ops["i"]
    assert isinstance(item, GetItem)
    assert (item.tuple, item.item) == (ops["t"].result, 1)
    kill = only(function, Kill)
    assert isinstance(kill, Kill)
    assert (kill.kind, kill.target) == (KillKind.TENSOR, view.result)


def test_calls_of_functions_and_kernels_are_told_apart() -> None:
    before = (
        '    @T.prim_func\n    def f(a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")):\n'
        "        for i in range(4):\n            b[i] = a[i]\n"
        '    @R.function\n    def g(y: R.Tensor(("m", "n"), "float32")) -> R.Tensor(("m", "n"), "float32"):\n'
        "        m, n = T.int64(), T.int64()\n        return y\n"
    )
    body = """
y = Module.g(x)
o = R.builtin.alloc_tensor(R.shape([4]), R.dtype("float32"), R.prim_value(0), R.str("global"))
Module.f(o, o)
return y
"""
    function = main_of(module(X, body, before=before))
    call = only(function, FunctionCall)
    assert isinstance(call, FunctionCall)
    assert call.callee == "g"
    kernel = only(function, KernelCall)
    assert isinstance(kernel, KernelCall)
    assert kernel.callee == "f"
    assert len(kernel.arguments) == 2


def test_lowered_modules_get_their_shapes_back_from_the_shape_heap() -> None:
    text = module(
        'x: R.Tensor(("m",), "float32")',
        'a = R.builtin.alloc_tensor(R.shape([m * 2 + 1, 3]), R.dtype("float32"), R.prim_value(0), R.str("global"))\n'
        "return a",
    )
    lowered = tvm.transform.Sequential(
        [
            transform.LowerAllocTensor(),
            transform.KillAfterLastUse(),
            transform.LowerRuntimeBuiltin(),
            transform.VMShapeLower(),
        ]
    )(tvm.script.from_source(text))
    (function,) = build_program(lowered).functions
    storage, tensor = only(function, AllocStorage), only(function, AllocTensor)
    assert isinstance(storage, AllocStorage)
    assert isinstance(tensor, AllocTensor)
    assert tensor.shape == (2 * m + 1, 3)
    assert sympy.expand(storage.size - (24 * m + 12)) == 0
    shapes = [op.type for op in function.body.walk() if isinstance(op, Constant)]
    assert ShapeType((2 * m + 1, sympy.Integer(3))) in shapes


def test_an_unknown_shape_is_said_to_be_unknown() -> None:
    body = (
        's = R.call_packed("f", x, ty_args=[R.Shape(ndim=1)])\n'
        't = R.vm.alloc_storage(R.shape([4]), R.prim_value(0), R.dtype("int8"), R.str("global"))\n'
        'a = R.vm.alloc_tensor(t, R.prim_value(0), s, R.dtype("float32"))\nreturn x'
    )
    tensor = only(main_of(module(X, body)), AllocTensor)
    assert isinstance(tensor, AllocTensor)
    assert isinstance(tensor.shape, Unknown)
    assert isinstance(tensor.bytes, Unknown)


def test_inner_functions_share_the_symbols_of_the_outer_one() -> None:
    body = """
@R.function
def inner(y: R.Tensor((m, n), "float32")) -> R.Tensor((m, n), "float32"):
    w = R.add(y, x)
    return w
z = inner(x)
return z
"""
    parsed = tvm.script.from_source(module(X, body), check_well_formed=False)
    outer, inner = build_program(parsed).functions
    assert (outer.name, inner.name) == ("main", "main.inner")
    add = only(inner, KernelCall)
    assert isinstance(add, KernelCall)
    assert outer.parameters[0] in add.arguments


def test_an_assert_on_a_tensor_gives_no_fact() -> None:
    body = 'R.assert_op(c, [m], format="{}")\nreturn x'
    check = only(main_of(module(f'{X}, c: R.Tensor((), "bool")', body)), Assert)
    assert isinstance(check, Assert)
    assert check.fact is None


def test_every_binding_has_its_node_at_hand() -> None:
    function = main_of(module(X, "y = R.add(x, x)\nreturn y"))
    (op,) = function.body.walk()
    assert str(op.place.node.op.name) == "relax.add"
    assert str(op.place.var.name) == op.place.binding == "y"


@pytest.mark.parametrize(
    "call",
    [
        '"vm.builtin.alloc_storage", (R.shape([16]),)',
        '"vm.builtin.alloc_storage", (x, R.prim_value(0), R.dtype("uint8"), R.str("global"))',
        '"vm.builtin.alloc_storage", (R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))',
        '"vm.builtin.alloc_tensor", (storage, R.prim_value(0))',
        '"vm.builtin.alloc_tensor", (storage, R.shape([4]), R.prim_value(0), R.dtype("float32"))',
        '"vm.builtin.reshape", (x,)',
        '"vm.builtin.copy", ()',
        '"vm.builtin.shape_of", ()',
        '"vm.builtin.alloc_shape_heap", ()',
        '"vm.builtin.match_prim_value", (R.prim_value(1), x)',
        '"vm.builtin.make_prim_value", (x, R.str("0"), R.prim_value(0))',
        '"vm.builtin.cuda_graph.get_cached_alloc", ()',
        '"runtime.TVMTensorCreateView", (x, R.shape([4]))',
    ],
)
def test_a_builtin_with_arguments_that_it_does_not_take_is_an_unknown_function(call: str) -> None:
    function = main_of(
        module(
            X,
            "storage = R.memory.alloc_storage("
            'R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))\n'
            f"what = R.call_builtin_with_ctx({call}, ty_args=[R.Any])\n"
            "late = R.memory.alloc_tensor("
            'storage, R.prim_value(0), R.shape([5]), R.dtype("float32"))\nreturn late',
        )
    )
    assert only(function, KernelCall).callee == call.split('"')[1]
    # What follows is as it is without the call.
    assert only(function, AllocTensor).bytes == 20


@pytest.mark.parametrize("call", ["(x, heap, R.prim_value(9))", '(x, heap, R.prim_value(1), R.str("1"), x)'])
def test_a_check_of_a_shape_without_its_codes_tells_nothing(call: str) -> None:
    function = main_of(
        module(
            'x: R.Tensor("float32", ndim=1)',
            'heap = R.call_builtin_with_ctx("vm.builtin.alloc_shape_heap", (R.prim_value(2),), ty_args=[R.Any])\n'
            f'checked = R.call_packed("vm.builtin.match_shape", {call[1:-1]}, ty_args=[R.Any])\n'
            "return x",
        )
    )
    assert only(function, Assert).fact is None
    assert function.type_of(function.parameters[0]) == TensorType(None, DType("float32", 32), 1)
