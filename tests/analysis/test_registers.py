"""Which names share a register: rebuilt tuples, casts, fields, and what calls in place make."""

from __future__ import annotations

from dataclasses import replace

import pytest

from relax_lint.analysis.access_paths import AccessPath
from relax_lint.analysis.aliases import Aliases
from relax_lint.model.operations import Block, GetItem, KernelCall, MakeTuple, Op, OperationId, ValueId
from relax_lint.model.program import Function
from relax_lint.vm.calls import CallKind
from tests.model.test_builder import main_of, module

T4 = 'R.Tensor((4,), "float32")'
PARAMETERS = (
    f"x: {T4}, y: {T4}, p: R.Tuple({T4}, {T4}), q: R.Tuple({T4}, {T4}), o: R.Object, d: R.Shape(ndim=1)"
)
FIELDS = "p0 = p[0]\np1 = p[1]\nq1 = q[1]\n"
ANY = 'R.Tensor("float32", ndim=1)'
CHECK = (
    'h = R.call_packed("vm.builtin.alloc_shape_heap", R.prim_value(1), ty_args=R.Tensor(ndim=1, dtype="int64"))\n'
    'k = R.call_packed("vm.builtin.match_shape", y, h, R.prim_value(1), R.prim_value(0), R.prim_value(4), '
    'R.str(""), ty_args=R.Tuple)\n'
)


def _function(body: str) -> Function:
    return main_of(module(PARAMETERS, f"{body}\nreturn x"))


def _id(function: Function, name: str) -> ValueId:
    return next(value.id for value in function.values.values() if value.name == name)


def _register(function: Function, name: str) -> str:
    return function.values[Aliases(function).register(_id(function, name))].name


@pytest.mark.parametrize(
    ("body", "register"),
    [
        # All fields of a parameter, in order: TVM takes the parameter.
        ("v = (p0, p1)", "p"),
        ("w = (p0, p1)\nv = w", "p"),
        ("v = (p1, p0)", "v"),
        ("v = (p0,)", "v"),
        ("v = (p0, q1)", "v"),
        ("v = (p0, p1, p1)", "v"),
        ("v = (x, p1)", "v"),
        # A cast that says less makes another object of it.
        (f"w = (p0, p1)\nv = R.match_cast(w, R.Tuple({ANY}, {ANY}))", "v"),
        # The fields of what was put together again are those of the tuple, and not the names that they had.
        ("w = (p0, p1)\nv = w[0]", "v"),
        ("w = (p0, p1)\nu = w\nv = u[0]", "v"),
        ("w = (p0, x)\nv = w[1]", "x"),
        # So are those of tuples inside of tuples.
        ("w = (x, (p0, y))\nu = w[1]\nv = u[1]", "y"),
        ("q = (p0, p1)\nw = (x, q)\nu = w[1]\nv = u[1]", "v"),
        # One without a name is not what TVM takes for the tuple.
        ("w = (x, (p0, p1))\nu = w[1]\nv = u[1]", "p1"),
        # What an operation binds keeps its own name.
        (f't = R.call_packed("f", ty_args=R.Tuple({T4}, {T4}))\na = t[0]\nb = t[1]\nv = (a, b)', "v"),
        (f"v = R.match_cast(x, {T4})", "x"),
        (f"v = R.match_cast(x, {ANY})", "v"),
    ],
)
def test_a_name_is_in_the_register_of_what_tvm_puts_in_its_place(body: str, register: str) -> None:
    assert _register(_function(FIELDS + body), "v") == register


def test_casts_may_be_left_where_types_have_changed_since() -> None:
    function = _function(
        f"a = R.match_cast(x, {T4})\nb = a\nc = R.match_cast(R.add(x, x), {T4})\ne = c\ng = x"
    )
    aliases = Aliases(function)
    assert {function.values[value].name for value in aliases.cast_names} == {"a", "b"}
    # What is cast where it is computed has no name but that of the cast.
    assert aliases.register(_id(function, "e")) == _id(function, "c")


@pytest.mark.parametrize("checks", [False, True])
def test_behind_the_checks_of_lowered_functions_casts_and_fields_have_registers(checks: bool) -> None:
    function = _function(f"{CHECK if checks else ''}t = (x, y)\nf = t[0]\nc = R.match_cast(x, {T4})\ne = x")
    aliases = Aliases(function)
    assert _register(function, "c") == ("c" if checks else "x")
    fields = {name: aliases.is_field_to_check(_id(function, name)) for name in "fce"}
    assert fields == {"f": checks, "c": False, "e": False}


def _with(function: Function, *ops: Op) -> Function:
    values = {op.result: replace(function.values[0], id=op.result, name=f"new {op.result}") for op in ops}
    return replace(function, body=Block((*function.body.ops, *ops)), values={**function.values, **values})


HERE = OperationId("made", 99)


def test_a_field_of_what_is_no_tuple_rebuilds_nothing() -> None:
    # An object may be a tuple, but of which length is not known.
    function = _function("v = x")
    field = GetItem(HERE, ValueId(990), _id(function, "o"), 0)
    made = MakeTuple(HERE, ValueId(991), (field.result,))
    assert Aliases(_with(function, field, made)).register(made.result) == made.result


@pytest.mark.parametrize(("item", "register"), [(0, "x"), (1, None), (2, None)])
def test_a_field_of_a_call_in_place_is_the_argument_that_it_overwrites(
    item: int, register: str | None
) -> None:
    function = _function("v = x")
    x, y = _id(function, "x"), _id(function, "y")
    type_ = function.type_of(_id(function, "p"))
    call = KernelCall(HERE, ValueId(990), CallKind.CALL_TIR_INPLACE, "f", (x, y), type_, (0, -1))
    field = GetItem(HERE, ValueId(991), call.result, item)
    found = Aliases(_with(function, call, field)).register(field.result)
    assert found == (field.result if register is None else _id(function, register))


@pytest.mark.parametrize(
    ("kind", "inplace", "register"),
    [
        # What is left of the call is a name of the argument; a call of another kind makes an object of it.
        (CallKind.CALL_TIR_INPLACE, (1,), "y"),
        (CallKind.CALL_TIR_INPLACE, (-1,), None),
        (CallKind.CALL_INPLACE_PACKED, (1,), None),
    ],
)
def test_what_a_call_in_place_makes_is_in_the_register_of_the_argument(
    kind: CallKind, inplace: tuple[int, ...], register: str | None
) -> None:
    function = _function("v = x")
    x, y = _id(function, "x"), _id(function, "y")
    call = KernelCall(HERE, ValueId(990), kind, "f", (x, y), function.type_of(y), inplace)
    found = Aliases(_with(function, call)).register(call.result)
    assert found == (call.result if register is None else _id(function, register))


def test_a_path_leads_to_the_value_of_a_field_as_far_as_tuples_are_built() -> None:
    function = _function("t = (x, (y, p))\nv = t")
    aliases, v = Aliases(function), _id(function, "v")
    inner = aliases.leaf(AccessPath(v, (1,)))
    found = {
        fields: aliases.leaf(AccessPath(v, fields))
        for fields in ((), (0,), (1, 0), (1, 1), (1, 1, 0), (2,), (1, 2))
    }
    x, y, p = (_id(function, name) for name in "xyp")
    assert found == {(): v, (0,): x, (1, 0): y, (1, 1): p, (1, 1, 0): p, (2,): v, (1, 2): inner}
    assert aliases.leaves(v) == (x, y, p)


@pytest.mark.parametrize(
    ("body", "windows"),
    [
        ("v = x", False),
        ('v = R.memory.view(x, R.shape([2]), R.dtype("float32"), R.prim_value(T.int64(0)))', True),
        (
            'w = R.memory.view(x, R.shape([2]), R.dtype("float32"), R.prim_value(T.int64(0)))\nv = (y, w)',
            True,
        ),
        ("v = (y, x)", False),
        (
            'w = R.memory.view(x, R.shape([2]), R.dtype("float32"), R.prim_value(T.int64(0)))\n'
            'v = R.call_inplace_packed("f", w, inplace_indices=[0], ty_args=R.Tensor((2,), "float32"))',
            True,
        ),
        (
            'w = R.memory.view(x, R.shape([2]), R.dtype("float32"), R.prim_value(T.int64(0)))\n'
            f'v = R.call_inplace_packed("f", w, y, inplace_indices=[1], ty_args={T4})',
            False,
        ),
        (
            'w = R.memory.view(x, R.shape([2]), R.dtype("float32"), R.prim_value(T.int64(0)))\n'
            f'v = R.call_packed("f", w, ty_args={T4})',
            False,
        ),
    ],
)
def test_a_window_may_be_less_than_all_of_the_memory(body: str, windows: bool) -> None:
    function = _function(body)
    assert (_id(function, "v") in Aliases(function).windows) is windows


@pytest.mark.parametrize(
    ("inplace", "type_of", "roots"),
    [
        ((0,), "x", {"x"}),
        ((-1,), "x", {"own"}),
        # A type with one field for each output, or one that does not tell them apart.
        ((0, 1), "p", {"x", "y"}),
        ((0, -1), "p", {"x", "own"}),
        ((0, 1), "x", {"x", "y"}),
        ((0, -1), "x", {"x", "own"}),
        ((0, 1, 1), "p", {"x", "y"}),
        ((), "x", {"own"}),
    ],
)
def test_the_result_of_a_call_in_place_lies_where_its_outputs_do(
    inplace: tuple[int, ...], type_of: str, roots: set[str]
) -> None:
    function = _function("v = x")
    x, y, kind = (_id(function, name) for name in ("x", "y", type_of))
    type_, result = function.type_of(kind), ValueId(990)
    call = KernelCall(HERE, result, CallKind.CALL_INPLACE_PACKED, "f", (x, y), type_, inplace)
    value = replace(function.values[x], id=result, name="own", type=type_)
    changed = replace(
        function, body=Block((*function.body.ops, call)), values={**function.values, result: value}
    )
    aliases = Aliases(changed)
    found = {aliases.roots.path(root).value for root in aliases.roots_of(result)}
    assert {changed.values[one].name for one in found} == roots
