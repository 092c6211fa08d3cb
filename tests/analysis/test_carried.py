"""What becomes of one field of what a call returns: who reads it, and what is returned of it."""

from __future__ import annotations

from typing import Any

import pytest
import tvm

from relax_lint.analysis.carried import Carried, CarriedNull
from relax_lint.analysis.certainty import Certainty
from relax_lint.analysis.flow import ProgramFlow, _carried
from relax_lint.model.builder import build_program
from relax_lint.model.operations import FunctionCall

T4 = 'R.Tensor((4,), "float32")'
ANY = 'R.Tensor("float32", ndim=1)'
PAIR = f"R.Tuple({T4}, {T4})"
MUST, MAY = Certainty.MUST, Certainty.MAY
MODULE = f"""\
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def double(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        for i in range(4):
            y[i] = x[i] * T.float32(2)

    @T.prim_func(private=True, s_tir=True)
    def fill(y: T.Buffer((4,), "float32")):
        for i in range(4):
            y[i] = T.float32(2)

    @R.function(private=True, pure=False)
    def pair(x: {T4}) -> {PAIR}:
        a = R.add(x, x)
        b = R.multiply(x, x)
        return (a, b)

    @R.function(private=True, pure=False)
    def reads(p: {T4}, q: {T4}) -> {T4}:
        a = R.add(p, p)
        return a

    @R.function(private=True, pure=False)
    def reads_field(p: {PAIR}) -> {T4}:
        g = p[0]
        a = R.add(g, g)
        return a

    @R.function(private=True, pure=False)
    def writes(p: {T4}) -> {T4}:
        k = Module.fill(p)
        return p

    @R.function(private=True, pure=False)
    def gives(p: {T4}, q: {T4}) -> {PAIR}:
        return (q, p)

    @R.function(private=True, pure=False)
    def either(p: {T4}, q: {T4}, c: R.Tensor((), "bool")) -> {T4}:
        if c:
            r = p
        else:
            r = q
        return r

    @R.function(private=True, pure=False)
    def flag(x: {T4}) -> R.Tuple(R.Tensor((), "bool"), {T4}):
        a = R.less(R.sum(x), R.const(0.0))
        return (a, x)

    @R.function(private=True, pure=False)
    def passes(p: {PAIR}) -> {T4}:
        a = R.call_packed("f", p, ty_args={T4})
        return a

    @R.function(private=True, pure=False)
    def reads_second(p: {PAIR}) -> {T4}:
        g = p[1]
        a = R.add(g, g)
        return a

    @R.function(private=True, pure=False)
    def opaque(p: R.Object) -> {T4}:
        a = R.call_packed("f", p, ty_args={T4})
        return a

    @R.function(private=True, pure=False)
    def held_last(o: R.Object, n: R.Object, q: {T4}) -> R.Object:
        return o

    @R.function(private=True, pure=False)
    def pair_held_last(o: R.Object, n: R.Object, q: {PAIR}) -> R.Object:
        return o

    @R.function(private=True, pure=False)
    def gives_reads(x: {T4}) -> R.Callable(({T4}, {T4}), {T4}, False):
        h = Module.reads
        return h

    @R.function(pure=False)
    def main(x: {T4}, c: R.Tensor((), "bool"), g: R.Callable(({T4},), {T4}, False)):
        t = Module.pair(x)
        u = t[0]
        w = t[1]
        f = Module.flag(x)
        d = f[0]
        {{lines}}
"""


HOLDS = "v = R.make_closure(Module.{}, {})\nr = R.invoke_closure(v, (x,), ty_args=R.Object)"
INSIDE = """\
@R.function(pure=False)
def inside(y: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    a = R.add(y, {})
    return a

v = inside
return x"""


def _found(
    lines: str, kind: Any = Carried, fields: tuple[int, ...] = (0,), callee: str = "pair"
) -> tuple[Any, Any]:
    """Who reads the field, and which fields of the result it is."""
    text = MODULE.format(lines=lines.replace("\n", "\n        "))
    flow = ProgramFlow(build_program(tvm.script.from_source(text, check_well_formed=False)))
    main = next(function for function in flow.program.functions if function.name == "main")
    call = next(op for op in main.body.of(FunctionCall) if op.callee == callee)
    carried = _carried(flow, kind, main, call, fields)
    return carried.used, carried.returned


@pytest.mark.parametrize(
    ("lines", "used", "returned"),
    [
        ("return x", None, {}),
        ("return w", None, {}),
        ("return u", None, {(): MUST}),
        ("return t", None, {(0,): MUST}),
        ("return (x, u)", None, {(1,): MUST}),
        ("return (x, (u, t))", None, {(1, 0): MUST, (1, 1, 0): MUST}),
        ("v = R.add(x, u)\nreturn x", MUST, {}),
        ("v = R.add(w, x)\nreturn x", None, {}),
        ("v = Module.double(u, x)\nreturn x", MUST, {}),
        ("v = u\nv1 = R.add(v, x)\nreturn x", MUST, {}),
        ("v = (x, u)\nv1 = v[1]\nv2 = R.add(v1, x)\nreturn v", MUST, {(1,): MUST}),
        ("v = (x, u)\nv1 = v[0]\nv2 = R.add(v1, x)\nreturn x", None, {}),
        # On one path only, and on both.
        ("if c:\n    a = R.add(u, u)\n    v = a\nelse:\n    a = R.add(x, x)\n    v = a\nreturn x", MAY, {}),
        ("if c:\n    a = R.add(u, u)\n    v = a\nelse:\n    a = R.add(u, x)\n    v = a\nreturn x", MUST, {}),
        ("if c:\n    a = u\n    v = a\nelse:\n    a = u\n    v = a\nreturn v", None, {(): MUST}),
        ("if c:\n    a = u\n    v = a\nelse:\n    a = x\n    v = a\nreturn v", None, {(): MAY}),
        (
            "if c:\n    a = (u, t)\n    v = a\nelse:\n    a = (x, t)\n    v = a\nreturn v",
            None,
            {(0,): MAY, (1, 0): MUST},
        ),
        # An assertion of it is a read; what is not known may be one, and may write it.
        (f'v = R.call_packed("f", u, ty_args={T4})\nreturn u', MAY, {(): MAY}),
        (f'v = R.call_packed("f", x, u, ty_args={T4})\nv1 = R.add(u, u)\nreturn x', MAY, {}),
        (f'v = R.call_packed("f", w, ty_args={T4})\nv1 = R.add(u, u)\nreturn u', MUST, {(): MUST}),
        ('v = R.call_packed("vm.builtin.make_closure", u, ty_args=R.Object)\nreturn x', MAY, {}),
        ('v = R.call_packed("vm.builtin.make_tuple", u, ty_args=R.Object)\nreturn x', None, {}),
        # An assertion shows it where it fails.
        ('v = R.assert_op(c, (u,), format="{}")\nreturn x', MAY, {}),
        ('v = R.assert_op(c, (w,), format="{}")\nreturn x', None, {}),
        # What is written over it is not read behind.
        ("v = Module.fill(u)\nv1 = R.add(u, u)\nreturn u", MAY, {(): MAY}),
        ("v = Module.fill(w)\nv1 = R.add(u, u)\nreturn u", MUST, {(): MUST}),
        ("v = Module.fill(u)\nreturn x", None, {}),
        # Functions of the program.
        ("v = Module.reads(u, x)\nreturn x", MUST, {}),
        ("v = Module.reads(x, u)\nreturn x", None, {}),
        ("v = Module.reads_field(t)\nreturn x", MUST, {}),
        ("v = Module.reads_field((u, x))\nreturn x", MUST, {}),
        ("v = Module.reads_field((x, u))\nreturn x", None, {}),
        ("v = Module.writes(u)\nreturn u", MAY, {(): MAY}),
        ("v = Module.writes(w)\nreturn u", None, {(): MUST}),
        ("v = Module.gives(u, x)\nreturn v", None, {(1,): MUST}),
        ("v = Module.gives(x, u)\nv1 = v[0]\nreturn (v1, v)", None, {(0,): MUST, (1, 0): MUST}),
        ("v = Module.either(u, x, c)\nreturn v", None, {(): MAY}),
        ("v = Module.either(u, u, c)\nreturn v", None, {(): MUST}),
        # The field is in several places.
        ("v = (u, u)\nreturn v", None, {(0,): MUST, (1,): MUST}),
        ("v = (u, u)\nv1 = v[1]\nv2 = R.add(v1, x)\nreturn x", MUST, {}),
        (f'v = R.call_packed("f", (u, u), ty_args={T4})\nreturn x', MAY, {}),
        ("v = Module.passes(t)\nreturn x", MAY, {}),
        ("v = Module.passes((x, w))\nreturn x", None, {}),
        ("v = Module.reads_second((u, u))\nreturn x", MUST, {}),
        ("v = Module.reads_second((u, x))\nreturn x", None, {}),
        ("v = Module.opaque(t)\nreturn x", MAY, {}),
        ("v = Module.opaque((x, w))\nreturn x", None, {}),
        # A closure reads it when it is called.
        ("v = R.make_closure(Module.reads, (u,))\nreturn x", None, {}),
        ("v = R.make_closure(Module.reads, (u,))\nreturn v", None, {(0,): MUST}),
        (
            "v = R.make_closure(Module.reads, (u,))\nr = R.invoke_closure(v, (x,), ty_args=T4)\nreturn x".replace(
                "T4", T4
            ),
            None,
            {},
        ),
        (
            "v = R.make_closure(Module.reads, (x,))\nr = R.invoke_closure(v, (u,), ty_args=T4)\nreturn x".replace(
                "T4", T4
            ),
            MUST,
            {},
        ),
        # Of a function that is not known it is not certain that it reads what it holds, or leaves it alone.
        ("v = R.make_closure(g, (u,))\nreturn x", MAY, {}),
        ("v = R.make_closure(g, (u,))\nv1 = R.add(u, u)\nreturn u", MAY, {(): MAY}),
        ("v = R.make_closure(g, (w,))\nv1 = R.add(u, u)\nreturn u", MUST, {(): MUST}),
        (INSIDE.format("u"), MAY, {}),
        (INSIDE.format("w"), None, {}),
        # Which function this is, is not known.
        ("v = g(u)\nreturn u", MAY, {(): MAY}),
        ("v = g(x)\nv1 = R.add(u, u)\nreturn u", MAY, {(): MAY}),
    ],
)
def test_a_field_is_read_and_returned(lines: str, used: Any, returned: Any) -> None:
    assert _found(lines) == (used, returned)


@pytest.mark.parametrize(
    ("lines", "used"),
    [
        ("return x", None),
        ("v = u\nreturn x", None),
        ("v = (x, u)\nreturn x", None),
        ("v = R.add(u, x)\nreturn x", MUST),
        ("v = R.add(x, u)\nreturn x", MUST),
        ("v = Module.fill(u)\nreturn x", MUST),
        ("v = Module.double(x, u)\nreturn x", MUST),
        ("v = Module.double(x, w)\nreturn x", None),
        (f'v = R.call_packed("f", u, ty_args={T4})\nreturn x', MAY),
        # A cast of a null fails where its type is compared.
        (f"v = R.match_cast(u, {T4})\nreturn x", None),
        (f"v = R.match_cast(u, {ANY})\nreturn x", MAY),
        (f"v = R.match_cast(w, {ANY})\nreturn x", None),
        ("v = R.reshape(u, R.shape([2, 2]))\nreturn x", MAY),
        ("v = R.reshape(w, R.shape([2, 2]))\nreturn x", None),
        # A function checks that its parameters are tensors.
        ("v = Module.reads(x, u)\nreturn x", MUST),
        ("v = Module.reads_field(t)\nreturn x", MUST),
        ("v = Module.reads_field((x, u))\nreturn x", MUST),
        ("v = Module.reads_field((x, w))\nreturn x", None),
        ("v = g(u)\nreturn x", MAY),
        ("v = Module.reads_field((u, u))\nreturn x", MUST),
        (f'v = R.call_packed("f", (u, u), ty_args={T4})\nreturn x', MAY),
        (f"v = (u, u)\nv1 = R.match_cast(v, R.Tuple({ANY}, {ANY}))\nreturn x", MAY),
        # What a closure holds comes behind the arguments.
        (f"{HOLDS.format('held_last', '(x, u)')}\nreturn x", MUST),
        (f"{HOLDS.format('held_last', '(u, x)')}\nreturn x", MAY),
        (f"{HOLDS.format('pair_held_last', '(x, t)')}\nreturn x", MUST),
        (f"{HOLDS.format('pair_held_last', '(t, (x, x))')}\nreturn x", MAY),
        ("v = R.make_closure(Module.held_last, (x, u))\nreturn x", None),
    ],
)
def test_a_register_that_was_cleared_is_used(lines: str, used: Any) -> None:
    assert _found(lines, CarriedNull)[0] is used


@pytest.mark.parametrize(
    ("lines", "fields", "used"),
    [
        # All of the tuple, or a field that it does not have.
        ("v = Module.reads_field(t)\nreturn x", (), MAY),
        ("v = Module.reads_field(t)\nreturn x", (2,), MAY),
        ("v = Module.reads_field(t)\nreturn x", (0, 0), MAY),
        ("v = t[0]\nv1 = R.add(v, x)\nreturn x", (), MAY),
    ],
)
def test_of_a_field_that_is_no_tensor_nothing_is_certain(
    lines: str, fields: tuple[int, ...], used: Any
) -> None:
    assert _found(lines, CarriedNull, fields)[0] is used


@pytest.mark.parametrize(
    ("lines", "used"),
    [
        ("if d:\n    a = R.add(x, x)\n    v = a\nelse:\n    a = R.add(x, x)\n    v = a\nreturn x", MUST),
        ('v = R.assert_op(d, format="")\nreturn x', MUST),
        ("return x", None),
    ],
)
def test_a_condition_is_read(lines: str, used: Any) -> None:
    assert _found(lines, callee="flag") == (used, {})


@pytest.mark.parametrize(
    ("lines", "used", "returned"),
    [
        ("v = Module.reads_field(t)\nreturn t", MAY, {(): MUST}),
        ("return u", None, {(): MAY}),
        ("return x", None, {}),
    ],
)
def test_a_value_that_is_not_told_apart_from_its_fields_may_be_any_of_them(
    lines: str, used: Any, returned: Any
) -> None:
    assert _found(lines, fields=()) == (used, returned)


def test_nothing_is_certain_of_a_value_that_is_called_itself() -> None:
    assert (
        _found("h = Module.gives_reads(x)\nv = h(x, x)\nreturn x", CarriedNull, (), "gives_reads")[0] is MAY
    )
