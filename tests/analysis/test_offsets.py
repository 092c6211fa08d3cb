"""Where tensors start, whether two start at one byte, and what a kernel is given."""

from __future__ import annotations

from typing import Any

import pytest
import sympy
import tvm

from relax_lint.analysis.aliases import Aliases
from relax_lint.analysis.certainty import Certainty
from relax_lint.analysis.copies import is_certain
from relax_lint.analysis.kernel_operands import operands_of
from relax_lint.analysis.offsets import Offsets, either, is_zero, joined_starts
from relax_lint.analysis.overlaps import ByteRange, TensorMemory
from relax_lint.model.operations import KernelCall, OperationId, ValueId
from relax_lint.model.program import Function
from relax_lint.model.types import DType, PrimType, TensorType, TupleType, ValueType
from relax_lint.symbolic.quantity import Unknown
from relax_lint.vm.calls import CallKind
from tests.model.test_builder import main_of, module

N, M = (sympy.Symbol(name, integer=True) for name in "nm")
ZERO, FOUR, EIGHT = map(sympy.Integer, (0, 4, 8))
WHY = Unknown("nobody knows")
BRANCH = Unknown("the offset depends on the branch taken")
SHIFT = Unknown("the offset is unknown: shift by m")
CALL = Unknown("the offset depends on what a call makes of its arguments")


@pytest.mark.parametrize(
    ("several", "joined"),
    [
        ((), ZERO),
        ((FOUR,), FOUR),
        ((FOUR, FOUR), FOUR),
        ((FOUR, EIGHT), BRANCH),
        ((FOUR, FOUR, EIGHT), BRANCH),
        (((FOUR, FOUR), FOUR), FOUR),
        (((FOUR, EIGHT), FOUR), BRANCH),
        (((FOUR, (FOUR, ZERO)),), BRANCH),
        (((), FOUR), BRANCH),
        ((WHY, WHY), WHY),
    ],
)
def test_values_start_together_where_each_does(several: Any, joined: Any) -> None:
    assert joined_starts(*several) == joined
    assert is_zero(several) is (several in ((), (ZERO,)))


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        (FOUR, FOUR, FOUR),
        (FOUR, EIGHT, BRANCH),
        ((FOUR, ZERO), (FOUR, ZERO), (FOUR, ZERO)),
        ((FOUR, ZERO), (FOUR, EIGHT), (FOUR, BRANCH)),
        ((FOUR, ZERO), ZERO, (BRANCH, ZERO)),
        (FOUR, (FOUR, FOUR, ZERO), (FOUR, FOUR, BRANCH)),
        ((FOUR, ZERO), (FOUR,), BRANCH),
        ((ZERO, ZERO), ZERO, ZERO),
    ],
)
def test_a_value_that_is_one_of_two(one: Any, other: Any, found: Any) -> None:
    assert either(one, other) == found
    assert either(other, one) == found


@pytest.mark.parametrize(
    ("offset", "certain"),
    [
        (sympy.Integer(1), True),
        (sympy.Integer(64), False),
        (ZERO, False),
        (sympy.Integer(-32), True),
        (64 * N, False),
        (64 * N + 32, True),
        (16 * N + 8, True),
        (16 * N + 32, False),
        (128 * N + 64, False),
        (N, False),
        (4 * N**2 + 2, True),
        (N / 2 + 1, False),
        (64 * N + sympy.Rational(3, 2), False),
        (4 * N + 64 * M + 32, False),
        (64 * N + 4 * M + 32, False),
        (24 * N + 36 * M + 4, False),
        (WHY, False),
    ],
)
def test_a_tensor_is_copied_where_no_size_makes_its_offset_a_multiple_of_64(
    offset: Any, certain: bool
) -> None:
    assert is_certain(offset) is certain
    if certain:
        assert all(int(sympy.sympify(offset).subs(N, n)) % 64 for n in range(130))


PARAMETERS = 'x: R.Tensor((64,), "float32"), y: R.Tensor((64,), "float32"), c: R.Tensor((), "bool")'
VIEW = 'a = R.memory.view(x, R.shape([4]), R.dtype("float32"), R.prim_value(T.int64(8)))\n'
OTHER = 'b = R.memory.view(x, R.shape([4]), R.dtype("float32"), R.prim_value(T.int64(16)))\n'
TYPE = 'R.Tensor((4,), "float32")'
PAIR, TRIPLE = f"R.Tuple({TYPE}, {TYPE})", f"R.Tuple({TYPE}, {TYPE}, {TYPE})"


def _function(body: str) -> Function:
    return main_of(module(PARAMETERS, f"{VIEW}{OTHER}{body}\nreturn x"))


def _id(function: Function, name: str) -> ValueId:
    return next(value.id for value in function.values.values() if value.name == name)


def _packed(callee: str, *arguments: str, type_: str = TYPE) -> str:
    return f'v = R.call_packed("{callee}", {", ".join(arguments)}, ty_args={type_})'


def _of_branches(one: str, other: str) -> str:
    return f"if c:\n    p = {one}\n    v = p\nelse:\n    q = {other}\n    v = q"


@pytest.mark.parametrize(
    ("body", "starts"),
    [
        ("v = a", EIGHT),
        ("v = (a, x)", (EIGHT, ZERO)),
        ("v = (x, y)", ZERO),
        ("t = (a, x)\nv = t[0]", EIGHT),
        ("t = (a, x)\nv = t[1]", ZERO),
        (_of_branches("a", "a"), EIGHT),
        (_of_branches("a", "x"), BRANCH),
        (_of_branches("(a, x)", "(b, x)"), (BRANCH, ZERO)),
        ('v = R.memory.view(a, R.shape([2]), R.dtype("float32"), R.prim_value(T.int64(4)))', FOUR + EIGHT),
        ("v = R.add(a, a)", ZERO),
        (_packed("unknown", "a"), CALL),
        (_packed("unknown", "x"), ZERO),
        (_packed("vm.builtin.make_tuple", "a", "x", type_=PAIR), (EIGHT, ZERO)),
        (_packed("vm.builtin.make_tuple", "y", "x", type_=PAIR), ZERO),
        (_packed("vm.builtin.tuple_getitem", "(a, x)", "R.prim_value(0)"), CALL),
        (_packed("vm.builtin.tuple_getitem", "(y, x)", "R.prim_value(0)"), ZERO),
        (_packed("vm.builtin.attention_kv_cache_append", "a", "x"), EIGHT),
        (_packed("vm.builtin.to_device", "a"), ZERO),
        # It is called with what it does not take, so it may do anything.
        ('v = R.call_packed("vm.builtin.read_if_cond", ty_args=R.Tensor((), "bool"))', ZERO),
        # The result is a tensor that is made for the call.
        (f'v = R.call_dps_packed("vm.builtin.attention_kv_cache_append", (a, x), {TYPE})', ZERO),
        # The type has a field that the tuple has not.
        (
            f"{_packed('vm.builtin.make_tuple', 'a', 'x', type_=TRIPLE).replace('v', 't', 1)}\nv = t[2]",
            BRANCH,
        ),
        (_packed("vm.builtin.make_closure", "a", "x"), CALL),
        (_packed("vm.builtin.make_closure", "y", "x"), ZERO),
        (f'v = R.call_inplace_packed("f", a, x, inplace_indices=[0], ty_args={TYPE})', EIGHT),
        (
            f'v = R.call_inplace_packed("f", a, x, inplace_indices=[-1, 0], ty_args=[{TYPE}, {TYPE}])',
            (ZERO, EIGHT),
        ),
        ("v = R.memory.ensure_zero_offset(a)", ZERO),
    ],
)
def test_where_a_value_starts(body: str, starts: Any) -> None:
    function = _function(body)
    assert Offsets(function).starts(_id(function, "v")) == starts


@pytest.mark.skipif(tvm.__version__.startswith("0.26"), reason="0.26 binds the offset to a variable first")
@pytest.mark.parametrize("source", ["a", "x"])
def test_an_offset_that_cannot_be_read_is_not_known(source: str) -> None:
    function = _function(
        f'v = R.memory.view({source}, R.shape([2]), R.dtype("float32"), R.prim_value(1 << m))'
    )
    assert Offsets(function).starts(_id(function, "v")) == SHIFT


def test_a_field_that_the_type_of_a_tuple_does_not_have_is_any_of_them() -> None:
    function = _function("t = (a, x)\nv = t[1]")
    offsets = Offsets(function, given={_id(function, "x"): FOUR})
    assert offsets.starts(_id(function, "v")) == FOUR
    assert offsets.of(_id(function, "t")) == BRANCH


def test_memory_is_counted_from_where_the_pointer_was_before_it_was_moved() -> None:
    function = _function("v = R.memory.ensure_zero_offset(a)")
    assert Offsets(function, in_memory=True).starts(_id(function, "v")) == EIGHT


def test_what_may_be_a_view_starts_where_it_may() -> None:
    function = _function("v = R.add(a, b)\nw = R.add(y, y)")

    def first(call: KernelCall) -> tuple[ValueId, ...]:
        return call.arguments[:1]

    offsets = Offsets(function, viewed=first)
    assert offsets.starts(_id(function, "v")) == CALL
    assert offsets.starts(_id(function, "w")) == ZERO


def test_a_view_of_a_view_that_starts_anywhere_starts_anywhere() -> None:
    function = _function("v = a")
    chosen = Unknown("the offset depends on the caller")
    assert Offsets(function, given={_id(function, "x"): chosen}).starts(_id(function, "v")) == chosen
    several = Offsets(function, given={_id(function, "x"): (FOUR, FOUR)})
    assert several.starts(_id(function, "v")) == FOUR + EIGHT


STORAGES = """\
s = R.memory.alloc_storage(R.shape([512]), R.prim_value(0), R.str("global"), R.dtype("float32"))
t = R.memory.alloc_storage(R.shape([512]), R.prim_value(0), R.str("global"), R.dtype("float32"))
p = R.memory.alloc_tensor({one}, R.shape([4]), R.dtype("float32"))
q = R.memory.alloc_tensor({other}, R.shape([4]), R.dtype("float32"))
"""
JOINED = "if c:\n    g = s\n    h = g\nelse:\n    g = t\n    h = g\n"


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("s, R.prim_value(0)", "s, R.prim_value(0)", Certainty.MUST),
        ("s, R.prim_value(0)", "t, R.prim_value(0)", None),
        ("s, R.prim_value(0)", "s, R.prim_value(16)", None),
        ("s, R.prim_value(0)", "s, R.prim_value(m)", Certainty.MAY),
        ("s, R.prim_value(m)", "s, R.prim_value(m)", Certainty.MUST),
        ("s, R.prim_value(m)", "s, R.prim_value(m + 16)", None),
        ("h, R.prim_value(0)", "s, R.prim_value(0)", Certainty.MAY),
        ("h, R.prim_value(0)", "h, R.prim_value(0)", Certainty.MAY),
        ("h, R.prim_value(0)", "s, R.prim_value(16)", None),
    ],
)
def test_two_tensors_start_at_one_byte(one: str, other: str, expected: Certainty | None) -> None:
    lines = STORAGES.format(one=one, other=other).splitlines()
    body = "\n".join([*lines[:2], JOINED.strip(), *lines[2:]])
    function = main_of(module(f"{PARAMETERS}, d: R.Shape(['m'])", f"{body}\nreturn x"))
    memory = TensorMemory(function, Aliases(function), {op.result: op for op in function.body.walk()})
    p, q = _id(function, "p"), _id(function, "q")
    assert memory.same_place(p, q) is memory.same_place(q, p) is expected


def test_of_a_start_that_is_not_known_nothing_is_certain() -> None:
    function = _function("v = a")
    moved = Offsets(function, given={_id(function, "x"): WHY})
    aliases = Aliases(function, offsets=lambda _: moved)
    memory = TensorMemory(function, aliases, {op.result: op for op in function.body.walk()})
    x, v = _id(function, "x"), _id(function, "v")
    assert memory.same_place(x, v) is memory.same_place(v, x) is Certainty.MAY
    assert memory.same_place(v, v) is Certainty.MAY
    unknown = ByteRange(WHY, FOUR)
    assert not unknown.same_start(unknown)
    assert ByteRange(N, FOUR).same_start(ByteRange(N, EIGHT))
    assert not ByteRange(N, FOUR).same_start(ByteRange(FOUR, FOUR))


def _memory(body: str, parameters: str = PARAMETERS) -> tuple[Function, TensorMemory]:
    function = main_of(module(parameters, f"{body}\nreturn x"))
    definitions = {op.result: op for op in function.body.walk()}
    return function, TensorMemory(function, Aliases(function), definitions)


def test_one_start_that_is_known_does_not_tell_the_other() -> None:
    function, memory = _memory(f"{VIEW}{OTHER}{_of_branches('a', 'b')}")
    x, v = _id(function, "x"), _id(function, "v")
    assert memory.same_place(x, v) is memory.same_place(v, x) is Certainty.MAY


@pytest.mark.parametrize(
    ("annotation", "length"),
    [
        ('R.Tensor((4,), "float32")', 16),
        ('R.Tensor("float32", ndim=1)', None),
        ("R.Tensor((4,))", None),
        ("R.Shape([4])", None),
    ],
)
def test_the_bytes_of_what_comes_from_outside(annotation: str, length: int | None) -> None:
    function, memory = _memory("", f'x: R.Tensor((4,), "float32"), z: {annotation}')
    found = memory.range(_id(function, "z")).length
    assert isinstance(found, Unknown) if length is None else found == length


INT8 = TensorType((FOUR,), DType("int8", 8), 1)
F32 = TensorType((FOUR,), DType("float32", 32), 1)
INTEGERS = [PrimType("int64", sympy.Symbol(name, integer=True)) for name in "mn"]


@pytest.mark.parametrize(
    ("kind", "names", "type_", "inplace", "given"),
    [
        (CallKind.CALL_TIR, "xy", F32, (), ["x", "y", F32]),
        (CallKind.CALL_TIR, "x", TupleType((F32, INT8)), (), ["x", F32, INT8]),
        (CallKind.CALL_TIR, "xd", F32, (), ["x", "d", F32]),
        (CallKind.CALL_TIR_INPLACE, "xy", F32, (0,), ["x", "y"]),
        (CallKind.CALL_TIR_INPLACE, "xy", TupleType((F32, INT8)), (0, -1), ["x", "y", INT8]),
        (CallKind.CALL_TIR_INPLACE, "xy", TupleType((F32, INT8)), (-1, 1), ["x", "y", F32]),
        # The type has fewer outputs than the call declares.
        (CallKind.CALL_TIR_INPLACE, "xy", INT8, (0, -1), ["x", "y"]),
        (CallKind.CALL_TIR_DYN, "xyd", F32, (), ["x", "y", *INTEGERS]),
        (CallKind.CALL_TIR_DYN, "xdy", F32, (), ["x", "d", "y"]),
        (CallKind.CALL_TIR_DYN, "xe", F32, (), ["x"]),
        (CallKind.CALL_TIR_DYN, "", F32, (), []),
        (CallKind.PRIM_FUNC, "xd", F32, (), ["x", "d"]),
    ],
)
def test_what_a_kernel_is_given(
    kind: CallKind, names: str, type_: ValueType, inplace: tuple[int, ...], given: list[Any]
) -> None:
    parameters = f'{PARAMETERS}, d: R.Shape(["m", "n"]), e: R.Shape(ndim=1)'
    function = main_of(module(parameters, "return x"))
    arguments = tuple(_id(function, name) for name in names)
    call = KernelCall(OperationId("v", 0), ValueId(99), kind, "f", arguments, type_, inplace)
    found = operands_of(call, function)
    assert [one.type if one.value is None else function.values[one.value].name for one in found] == given
    assert all(one.value is None or one.type == function.type_of(one.value) for one in found)
