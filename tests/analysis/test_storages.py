"""Which storages and which functions values are, followed through names, fields, branches and calls."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import tvm

from relax_lint.analysis.access_paths import AccessPath
from relax_lint.analysis.callees import Callees
from relax_lint.analysis.function_values import FunctionValues
from relax_lint.analysis.storages import StorageResolver
from relax_lint.model.builder import build_program
from relax_lint.model.operations import Block, FunctionCall, GetItem, OperationId, ValueId
from relax_lint.model.program import Function, Program
from relax_lint.symbolic.quantity import Unknown

HERE = "the storage is not allocated in this function"
RECURSIVE = "the storage comes from a recursive call"
ALLOCATION = 'R.memory.alloc_storage({}, R.prim_value(0), R.str("global"), R.dtype("float32"))'
S = ALLOCATION.format("R.shape([16])")
T4 = 'R.Tensor((4,), "float32")'
MODULE = f"""\
@I.ir_module
class Module:
    @R.function(private=True, pure=False)
    def made(x: {T4}):
        s = {S}
        return s

    @R.function(private=True, pure=False)
    def sized(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        z = {ALLOCATION.format("R.shape([n])")}
        return z

    @R.function(private=True, pure=False)
    def unsized(d: R.Shape(ndim=1)):
        z = {ALLOCATION.format("d")}
        return z

    @R.function(private=True, pure=False)
    def paired(x: {T4}):
        s = {S}
        return (x, s)

    @R.function(private=True, pure=False)
    def given(p: R.Object, x: {T4}):
        u = p
        return u

    @R.function(private=True, pure=False)
    def again(p: R.Object, x: {T4}) -> R.Object:
        r = Module.again(p, x)
        return r

    @R.function(private=True, pure=False)
    def escaping(p: R.Object, x: {T4}):
        u = p
        return u

    @R.function(pure=False)
    def main(x: {T4}, c: R.Tensor((), "bool"), d: R.Shape(ndim=1)):
        a = {S}
        b = {S}
        kept = R.call_packed("keep", Module.escaping, ty_args=R.Object)
        {{lines}}
        return x
"""


def _program(lines: str = "v = a") -> Program:
    text = MODULE.format(lines=lines.replace("\n", "\n        "))
    return build_program(tvm.script.from_source(text, check_well_formed=False))


def _named(program: Program, name: str) -> Function:
    return next(function for function in program.functions if function.name == name)


def _id(function: Function, name: str) -> ValueId:
    return next(value.id for value in function.values.values() if value.name == name)


def _found(program: Program, function: str = "main", name: str = "v") -> list[str] | str:
    """The bindings of the storages, or why they are not known."""
    own = _named(program, function)
    found = StorageResolver(Callees(program)).storages_of(own, _id(own, name))
    return found.reason if isinstance(found, Unknown) else [one.place.binding for one in found]


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("v = a", ["a"]),
        ("w = a\nv = w", ["a"]),
        ("t = (x, a)\nv = t[1]", ["a"]),
        ("t = (x, (b, a))\nu = t[1]\nv = u[0]", ["b"]),
        ("t = (x, a)\nv = t[0]", HERE),
        ("v = (x, a)", HERE),
        ("v = x", HERE),
        ("if c:\n    p = a\n    v = p\nelse:\n    q = b\n    v = q", ["a", "b"]),
        ("if c:\n    p = a\n    v = p\nelse:\n    q = a\n    v = q", ["a"]),
        ("v = Module.made(x)", ["s"]),
        ("t = Module.paired(x)\nv = t[1]", ["s"]),
        ("v = Module.given(a, x)", ["a"]),
        ("v = Module.sized(x)", "the storage is allocated in `sized` with a size that is not a constant"),
        ("v = Module.unsized(d)", "the storage is allocated in `unsized` with a size that is not a constant"),
        ("v = Module.again(a, x)", RECURSIVE),
        ('v = R.call_packed("any", a, ty_args=R.Object)', HERE),
    ],
)
def test_a_value_is_the_storages_that_it_may_be(lines: str, found: list[str] | str) -> None:
    assert _found(_program(lines)) == found


@pytest.mark.parametrize(
    ("lines", "function", "found"),
    [
        ("v = Module.given(a, x)", "given", ["a"]),
        ("v = Module.given(a, x)\nw = Module.given(b, x)", "given", ["a", "b"]),
        ("v = Module.given(a, x)\nw = Module.given(x, x)", "given", HERE),
        ("v = a", "given", HERE),
        # Somebody else may call it too.
        ("v = Module.escaping(a, x)", "escaping", HERE),
        ("v = Module.again(a, x)", "again", ["a"]),
        # Nobody calls it but itself.
        ("v = a", "again", RECURSIVE),
    ],
)
def test_a_parameter_is_what_the_callers_pass(lines: str, function: str, found: list[str] | str) -> None:
    assert _found(_program(lines), function, "p") == found


@pytest.mark.parametrize(
    ("value", "item", "found"), [("t", 0, ["a"]), ("t", 1, ["b"]), ("t", 2, HERE), ("a", 0, HERE)]
)
def test_a_field_that_a_value_does_not_have_is_not_known(
    value: str, item: int, found: list[str] | str
) -> None:
    program = _program("t = (a, b)\nv = a")
    main = _named(program, "main")
    taken = GetItem(OperationId("v", 99), ValueId(990), _id(main, value), item)
    changed = replace(main, body=Block((*main.body.ops, taken)))
    resolved = StorageResolver(Callees(program)).storages_of(changed, taken.result)
    names = resolved.reason if isinstance(resolved, Unknown) else [one.place.binding for one in resolved]
    assert names == found


@pytest.mark.parametrize(("item", "found"), [(0, ["a"]), (1, ["b"]), (2, HERE), (None, HERE)])
def test_fields_of_a_tuple_without_a_name_are_its_fields(item: int | None, found: list[str] | str) -> None:
    program, inline = _program(), ValueId(960)
    main = _named(program, "main")
    taken = GetItem(OperationId("v", 99), ValueId(990), inline, item or 0)
    changed = replace(
        main,
        body=Block((*main.body.ops, taken)),
        inline_tuples={inline: (_id(main, "a"), _id(main, "b"))},
    )
    asked = inline if item is None else taken.result
    resolved = StorageResolver(Callees(program)).storages_of(changed, asked)
    names = resolved.reason if isinstance(resolved, Unknown) else [one.place.binding for one in resolved]
    assert names == found


def _alone(**methods: Any) -> Any:
    """Callees that know what they are told."""
    usual: dict[str, Any] = {
        "of": lambda call: None,
        "escapes": lambda function: False,
        "calls_of": lambda function: [],
        "passed": _passed,
        "closures": SimpleNamespace(of=lambda function: {}),
    }
    return SimpleNamespace(**{**usual, **methods})


def _passed(call: FunctionCall, function: Function) -> dict[ValueId, AccessPath]:
    return dict(zip(function.parameters, map(AccessPath, call.arguments), strict=False))


def _call(main: Function, *names: str) -> FunctionCall:
    arguments = tuple(_id(main, name) for name in names)
    return FunctionCall(OperationId("w", 98), ValueId(980), "given", arguments, main.type_of(arguments[0]))


def test_a_call_with_too_few_arguments_passes_nothing_that_is_known() -> None:
    program = _program()
    main, given = _named(program, "main"), _named(program, "given")
    for names, number, found in ((("a", "x"), 0, ["a"]), (("a",), 0, ["a"]), (("a",), 1, None)):
        calls = [(main, _call(main, *names))]
        parameter = given.parameters[number]
        callees = _alone(calls_of=lambda _, calls=calls: calls)
        storages = StorageResolver(callees).storages_of(given, parameter)
        known = None if isinstance(storages, Unknown) else [one.place.binding for one in storages]
        assert known == found
    both = [(main, _call(main, "a", "b")), (main, _call(main, "a"))]
    callees = _alone(calls_of=lambda _: both)
    assert isinstance(StorageResolver(callees).storages_of(given, given.parameters[1]), Unknown)


def test_fields_of_fields_of_a_parameter_are_followed_so_far_and_no_further() -> None:
    program = _program()
    given = _named(program, "given")
    place, parameter = OperationId("f", 97), given.parameters[0]
    field = GetItem(place, ValueId(970), parameter, 0)
    call = FunctionCall(place, ValueId(971), "given", (field.result,), given.type_of(parameter))
    changed = replace(given, body=Block((field, call)))
    callees = _alone(calls_of=lambda _: [(changed, call)])
    found = StorageResolver(callees).storages_of(changed, parameter)
    assert isinstance(found, Unknown)
    assert found.reason == RECURSIVE


def test_what_is_passed_in_is_known_by_any_name() -> None:
    program = _program("w = x\nt = (a, x)\nu = t[1]\nv = a")
    main = _named(program, "main")
    resolver = StorageResolver(Callees(program))
    found = {name: resolver.is_passed_in(main, _id(main, name)) for name in ("x", "w", "t", "v", "a")}
    assert found == {"x": True, "w": True, "t": False, "v": False, "a": False}
    constant = next(value.id for value in main.values.values() if not value.name)
    assert not resolver.is_passed_in(main, constant)
    assert isinstance(resolver.storages_of(main, constant), Unknown)


INNER = """\
@R.function(pure=False)
def inside(y: R.Tensor((4,), "float32")):
    w = R.add(y, x)
    return w

v = inside"""


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("v = Module.made", ("made",)),
        ("w = Module.made\nv = w", ("made",)),
        ("t = (x, Module.made)\nv = t[1]", ("made",)),
        ("t = (x, Module.made)\nv = t[0]", None),
        ("v = (x, Module.made)", None),
        (
            "if c:\n    p = Module.made\n    v = p\nelse:\n    q = Module.paired\n    v = q",
            ("made", "paired"),
        ),
        # What it captures is a field of the value, wherever that goes.
        (INNER, ("main.inside",)),
        ("v = x", None),
        ("v = R.add(x, x)", None),
    ],
)
def test_a_value_is_the_functions_that_it_may_be(lines: str, found: tuple[str, ...] | None) -> None:
    program = _program(lines)
    main = _named(program, "main")
    values = FunctionValues(program, lambda _: True, lambda _: ())
    assert _names(values, main, _id(main, "v")) == found


@pytest.mark.parametrize(
    ("value", "item", "found"),
    [("t", 0, ("made",)), ("t", 1, None), ("t", 2, None), ("f", 0, None), ("h", 0, None)],
)
def test_a_field_that_is_no_function_is_none(value: str, item: int, found: tuple[str, ...] | None) -> None:
    program = _program("f = Module.made\nh = f\nt = (f, x)\nv = a")
    main = _named(program, "main")
    taken = GetItem(OperationId("v", 99), ValueId(990), _id(main, value), item)
    changed = replace(main, body=Block((*main.body.ops, taken)))
    values = FunctionValues(program, lambda _: True, lambda _: ())
    assert _names(values, changed, taken.result) == found


@pytest.mark.parametrize(
    ("calls", "known", "found"),
    [
        ([("f", "x")], True, ("made",)),
        ([("f", "x"), ("g", "x")], True, ("made", "paired")),
        ([("f", "x"), ("x", "x")], True, None),
        ([("f", "x")], False, None),
        ([], True, None),
    ],
)
def test_a_parameter_is_the_function_that_is_passed(
    calls: list[tuple[str, ...]], known: bool, found: tuple[str, ...] | None
) -> None:
    program = _program("f = Module.made\ng = Module.paired\nv = a")
    main, given = _named(program, "main"), _named(program, "given")
    passed = tuple((main, _passed(_call(main, *names), given)) for names in calls)
    values = FunctionValues(program, lambda function: known and function is given, lambda _: passed)
    assert _names(values, given, given.parameters[0]) == found
    fewer = tuple((main, _passed(_call(main, *names[:1]), given)) for names in calls)
    values = FunctionValues(program, lambda _: True, lambda _: fewer)
    assert _names(values, given, given.parameters[1]) is None


def test_a_recursion_passes_on_what_it_got() -> None:
    program = _program("f = Module.made\nv = a")
    main, again = _named(program, "main"), _named(program, "again")
    own = next(op for op in again.body.of(FunctionCall))
    calls = ((again, _passed(own, again)), (main, _passed(_call(main, "f", "x"), again)))
    values = FunctionValues(program, lambda _: True, lambda _: calls)
    assert _names(values, again, again.parameters[0]) == ("made",)


def _names(values: FunctionValues, function: Function, value: ValueId) -> tuple[str, ...] | None:
    found = values.of(function, AccessPath(value))
    return None if found is None else found[0]
