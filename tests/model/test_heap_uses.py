"""What operations do to the slots of shape heaps: a slot that nobody writes is told from one that anybody may."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy
import tvm
from tvm import relax

from relax_lint.model.builder import build_program
from relax_lint.model.heap_contents import Written
from relax_lint.model.operations import Assert, Constant
from relax_lint.model.program import Function
from relax_lint.model.types import PrimType, ShapeType
from tests.rules.checking import parse

HEAP = (
    'R.call_packed("vm.builtin.alloc_shape_heap", R.prim_value(4), ty_args=R.Tensor(ndim=1, dtype="int64"))'
)
MODULE = f"""\
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def computes(h: T.Buffer((4,), "int64")):
        h[2] = h[0] * T.int64(2)

    @T.prim_func(private=True, s_tir=True)
    def moves(g: T.Buffer((4,), "int64"), h: T.Buffer((4,), "int64")):
        h[2] = g[0] + T.int64(1)

    @T.prim_func(private=True, s_tir=True)
    def adds(h: T.Buffer((4,), "int64"), n: T.int64):
        h[2] = n

    @T.prim_func(private=True, s_tir=True)
    def loops(h: T.Buffer((4,), "int64"), g: T.Buffer((4,), "int64")):
        for i in range(4):
            h[i] = g[i]

    @R.function(pure=False)
    def main(x: R.Tensor((7,), "float32"), y: R.Tensor((4,), "int64")):
        h = {HEAP}
        g = {HEAP}
        a = R.call_packed("vm.builtin.match_shape", x, h, 1, 1, 0, R.str(""), ty_args=[R.Any])
        b = R.call_packed("vm.builtin.match_shape", x, g, 1, 1, 0, R.str(""), ty_args=[R.Any])
        {{lines}}
        s = R.call_packed("vm.builtin.make_shape", h, 1, 1, 2, ty_args=[R.Shape(ndim=1)])
        r = R.call_packed("vm.builtin.make_shape", g, 1, 1, 2, ty_args=[R.Shape(ndim=1)])
        return x
"""
OVERWRITES = "relax_lint.tests.overwrite_heap"
NEVER, PERHAPS, ALWAYS = Written.NEVER, Written.PERHAPS, Written.ALWAYS


def _indented(lines: str) -> str:
    return lines.replace("\n", "\n        ")


def _main(lines: str) -> Function:
    text = MODULE.format(lines=_indented(lines))
    program = build_program(tvm.script.from_source(text, check_well_formed=False))
    return next(function for function in program.functions if function.name == "main")


def _packed(callee: str, *arguments: str, type_: str = "R.Any") -> str:
    return f'v = R.call_packed("{callee}", {", ".join(arguments)}, ty_args=[{type_}])'


def _either(one: str, other: str, callee: str = "unknown") -> str:
    """A call of what one of two branches gives."""
    chosen = f'b = R.const(False, "bool")\nif b:\n    t = {one}\nelse:\n    t = {other}\n'
    return chosen + _packed(callee, "t")


@pytest.mark.parametrize(
    ("lines", "written"),
    [
        ("v = R.add(x, x)", (NEVER, NEVER)),
        ("v = h", (NEVER, NEVER)),
        (_packed("unknown", "h"), (PERHAPS, NEVER)),
        (_packed("unknown", "x", "g"), (NEVER, PERHAPS)),
        (_packed("unknown", "h", "g"), (PERHAPS, PERHAPS)),
        (_packed("unknown", "(x, h)"), (PERHAPS, NEVER)),
        (_packed("unknown", "(x, (g, x))"), (NEVER, PERHAPS)),
        (_packed("vm.builtin.check_tuple_info", "(x, h)", "2", 'R.str("")'), (NEVER, NEVER)),
        ("t = (x, h)\n" + _packed("unknown", "t"), (PERHAPS, NEVER)),
        ("t = (g, h)\nu = t[0]\n" + _packed("unknown", "u"), (NEVER, PERHAPS)),
        # What only checks neither writes nor keeps it.
        (_packed("vm.builtin.check_tensor_info", "h", "1", 'R.str("")'), (NEVER, NEVER)),
        (_packed("runtime.TVMTensorCopyToBytes", "h", "x"), (NEVER, NEVER)),
        # It writes the second one.
        (_packed("runtime.TVMTensorCopyFromTo", "x", "h"), (PERHAPS, NEVER)),
        # What it returns holds the heap.
        (_packed("vm.builtin.make_tuple", "h"), (PERHAPS, NEVER)),
        (
            _packed("vm.builtin.copy", "h") + "\n" + _packed("unknown", "v").replace("v", "w", 1),
            (PERHAPS, NEVER),
        ),
        ("v = R.reshape(h, R.shape([2, 2]))", (PERHAPS, NEVER)),
        (_either("(x, h)", "(x, g)"), (PERHAPS, PERHAPS)),
        (_either("(x, h)", "(x, h)"), (PERHAPS, NEVER)),
        (_either("x", "(x, g)"), (NEVER, PERHAPS)),
        (_either("(x, y)", "(y, x)"), (NEVER, NEVER)),
        (_either("h", "h"), (PERHAPS, NEVER)),
        ("v = Module.computes(h)", (ALWAYS, NEVER)),
        ("v = Module.moves(h, g)", (NEVER, ALWAYS)),
        ("v = Module.moves(y, h)", (ALWAYS, NEVER)),
        ("v = Module.adds(h, R.prim_value(5))", (ALWAYS, NEVER)),
        ("v = Module.loops(h, g)", (PERHAPS, NEVER)),
        ("v = Module.loops(y, g)", (NEVER, NEVER)),
        ('v = R.call_tir(Module.computes, (h,), R.Tensor((4,), "int64"))', (ALWAYS, NEVER)),
        ('v = R.vm.call_tir_dyn("elsewhere", (h,))', (PERHAPS, NEVER)),
        # A code that is not written out may be that of a store; the others only compare.
        (_packed("vm.builtin.match_shape", "y", "h", "1", 'R.str("")', "2", 'R.str("")'), (PERHAPS, NEVER)),
        (_packed("vm.builtin.match_shape", "y", "g", "1", "q", "2", 'R.str("")'), (NEVER, PERHAPS)),
        (_packed("vm.builtin.match_shape", "y", "h", "1", "0", "4", 'R.str("")'), (NEVER, NEVER)),
        (_packed("vm.builtin.match_shape", "y", "h", "1", "3", "0", 'R.str("")'), (NEVER, NEVER)),
        # How many codes there are is not known, or there are fewer.
        (_packed("vm.builtin.match_shape", "y", "h", "q", "3", "0", 'R.str("")'), (PERHAPS, NEVER)),
        (_packed("vm.builtin.match_shape", "y", "g", "2", "3", "0", 'R.str("")'), (NEVER, PERHAPS)),
        (_packed("vm.builtin.match_shape", "y", "h", "-1", "3", "0", 'R.str("")'), (PERHAPS, NEVER)),
    ],
)
def test_whether_a_slot_was_written(lines: str, written: tuple[Written, Written]) -> None:
    main = _main('q = R.call_packed("count", ty_args=[R.Prim("int64")])\n' + lines)
    last = [access for access in main.slot_accesses if not access.writes][-2:]
    assert [access.heap for access in last] == ["h", "g"]
    assert tuple(access.written for access in last) == written


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("7", []),
        # The check cannot hold.
        ("8", ["False"]),
        ("q", ["Eq(7, q)"]),
        # A text is no number: nothing is known of what is compared.
        ('R.str("a")', []),
    ],
)
def test_what_a_check_compares_an_extent_with(given: str, told: list[str]) -> None:
    made = 'q = R.call_packed("count", ty_args=[R.Prim("int64")])\n'
    main = _main(made + _packed("vm.builtin.match_shape", "x", "h", "1", "0", given, 'R.str("")'))
    facts = [op.fact for op in main.body.of(Assert) if op.fact is not None]
    assert [str(fact.condition) for fact in facts] == told


def test_what_only_a_heap_names_is_no_symbol_of_the_signature() -> None:
    text = f"""\
@R.function(pure=False)
def main(x: R.Tensor("float32", ndim=1), y: R.Tensor(("k",), "float32")):
    h = {HEAP}
    a = R.call_packed("vm.builtin.match_shape", x, h, 1, 1, 3, R.str(""), ty_args=[R.Any])
    return x
"""
    (main,) = build_program(parse(text)).functions
    assert {info.symbol.name: info.in_signature for info in main.symbols} == {"k": True, "shape_3": False}


@pytest.mark.parametrize(
    ("lines", "values"),
    [
        ("v = Module.computes(h)", (14, None)),
        ("v = Module.moves(h, g)", (None, 8)),
        ("v = Module.moves(g, h)", (8, None)),
        ("v = Module.adds(h, R.prim_value(5))", (5, None)),
        # Which numbers these are is not known.
        ("v = Module.moves(y, h)", (None, None)),
        ("v = Module.loops(h, g)", (None, None)),
        ('v = R.call_tir(Module.adds, (h,), R.Tensor((4,), "int64"))', (None, None)),
    ],
)
def test_what_is_computed_into_a_slot(lines: str, values: tuple[int | None, int | None]) -> None:
    made = [op.type for op in _main(lines).body.of(Constant)][-2:]
    assert [type_.extents for type_ in made if isinstance(type_, ShapeType)] == [
        None if value is None else (sympy.Integer(value),) for value in values
    ]


@pytest.mark.vm
@pytest.mark.parametrize("lines", [_packed(OVERWRITES, "(x, h)"), _either("(x, g)", "(x, h)", OVERWRITES)])
def test_the_machine_hands_over_the_heap_in_a_tuple(lines: str) -> None:
    def overwrite(fields: Any) -> None:
        fields[1].copyfrom(np.array([5, 5, 5, 5], "int64"))

    tvm.register_global_func(OVERWRITES, overwrite, override=True)
    made = HEAP.replace("R.call_packed", "R.call_builtin_with_ctx").replace(
        "R.prim_value(4)", "(R.prim_value(4),)"
    )
    text = MODULE.format(lines=_indented(lines)).replace("return x", "return s").replace(HEAP, made)
    machine = relax.VirtualMachine(relax.build(tvm.script.from_source(text), "llvm"), tvm.cpu())
    given = (tvm.runtime.tensor(np.zeros(7, "float32")), tvm.runtime.tensor(np.zeros(4, "int64")))
    assert tuple(machine["main"](*given)) == (5,)
    # No value of a slot is known behind such a call.
    found = next(op for op in _main(lines).body.of(Constant) if isinstance(op.type, ShapeType))
    assert found.type == ShapeType(None)


def _shape(*codes: Any) -> Any:
    """The shape that `make_shape` makes of a heap whose first slot holds 7."""
    arguments = ", ".join(map(str, codes))
    line = f'q = R.call_packed("vm.builtin.make_shape", h, {arguments}, ty_args=[R.Shape(ndim=2)])'
    (found, *_) = _main(line).body.of(Constant)
    assert isinstance(found.type, ShapeType)
    return None if found.type.extents is None else tuple(map(int, found.type.extents))


@pytest.mark.parametrize(
    ("codes", "found"),
    [
        ((1, 1, 0), (7,)),
        ((1, 0, 3), (3,)),
        ((2, 1, 0, 0, 3), (7, 3)),
        ((0,), ()),
        ((1, 1, 1), None),
        # Of the second extent something is missing, or all.
        ((2,), None),
        ((2, 1), None),
        ((2, 1, 0), None),
        ((2, 1, 0, 0), None),
        ((-1,), None),
        (("R.str('one')", 1, 0), None),
        ((1, 2, 0), None),
        ((1, 1, "R.str('')"), None),
        ((1, 0, "R.str('')"), None),
    ],
)
def test_a_shape_is_made_of_numbers_and_slots(codes: tuple[Any, ...], found: tuple[int, ...] | None) -> None:
    assert _shape(*codes) == found


@pytest.mark.parametrize(("slot", "known"), [(0, True), (1, False)])
def test_a_scalar_is_made_of_a_slot(slot: int, known: bool) -> None:
    line = f'q = R.call_packed("vm.builtin.make_prim_value", h, 1, {slot}, ty_args=[R.Prim("int64")])'
    main = _main(line)
    (found, *_) = main.body.of(Constant)
    assert isinstance(found.type, PrimType)
    assert (found.type.value == 7) is known
    symbols = {str(info.symbol): info for info in main.symbols}
    if not known:
        # It may be any number, but it is one from here on.
        (info,) = [one for name, one in symbols.items() if name.startswith("q")]
        assert info.provenance.value == "value"
        assert str(info.origin) == "`q`, from the shape heap"
        assert not info.in_signature


@pytest.mark.parametrize("ndim", [0, 1, 2, 3])
@pytest.mark.parametrize("before", ["u = x", "u = R.add(x, x)"])
def test_behind_a_check_each_axis_of_a_tensor_has_a_name(ndim: int, before: str) -> None:
    """Also where it was used before; without axes it has one element."""
    codes = "".join(f"1, {axis}, " for axis in range(ndim))
    text = f"""\
@R.function(pure=False)
def main(x: R.Tensor("float32", ndim={ndim})):
    h = {HEAP}
    {before}
    a = R.call_packed("vm.builtin.match_shape", x, h, {ndim}, {codes}R.str(""), ty_args=[R.Any])
    return x
"""
    (main,) = build_program(parse(text)).functions
    type_ = main.tensor_type(main.parameters[0])
    assert type_ is not None
    assert type_.shape is not None
    assert len(set(type_.shape)) == len(type_.shape) == ndim
    assert all(isinstance(extent, sympy.Symbol) for extent in type_.shape)
