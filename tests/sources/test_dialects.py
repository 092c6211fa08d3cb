"""Each dialect rule: the old text reads as the module of today's text, and today's text stays as it is."""

from __future__ import annotations

import pytest
import tvm

from relax_lint.sources.dialects import RULES
from relax_lint.sources.parsing import parse_unit
from relax_lint.sources.reading import read_units
from relax_lint.sources.unit import ParsedUnit, Problem

IMPORTS = """import tvm
from tvm import relax
from tvm.script import ir as I, relax as R, tirx as T
"""
KERNEL = """    @T.prim_func({0})
    def copy(a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.{1}("b"):
                v = T.axis.spatial(4, i)
                b[v] = a[v]
"""
CALL = """    @R.function
    def main(x: R.Tensor((4,), "float32")):
        y = R.call_tir({0}, (x,), {1}=R.Tensor((4,), "float32"))
        return y
"""


def module(*parts: str) -> str:
    return IMPORTS + "@I.ir_module\nclass M:\n" + "".join(parts)


def function(
    body: str, parameters: str = 'x: R.Tensor((4,), "float32")', decorator: str = "@R.function"
) -> str:
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    return f"    {decorator}\n    def main({parameters}):\n{lines}"


def read(text: str, dialect: str = "auto") -> ParsedUnit:
    (unit,) = read_units(text.encode(), "a.py").units
    parsed = parse_unit(unit, dialect)
    assert isinstance(parsed, ParsedUnit), parsed
    return parsed


CASES = {
    "blocks": (
        module(KERNEL.format("", "block"), CALL.format("M.copy", "out_ty")),
        module(KERNEL.format("s_tir=True", "sblock"), CALL.format("M.copy", "out_ty")),
    ),
    "struct-info-keywords": (
        module(KERNEL.format("s_tir=True", "sblock"), CALL.format("M.copy", "out_sinfo")),
        module(KERNEL.format("s_tir=True", "sblock"), CALL.format("M.copy", "out_ty")),
    ),
    "struct-info-attributes": (
        module(function("y = R.zeros(x.struct_info.shape, 'float32')\nreturn y")),
        module(function("y = R.zeros(x.ty.shape, 'float32')\nreturn y")),
    ),
    "primitive-values": (
        module(function("y = R.zeros(R.shape([n]), 'float32')\nreturn y", 'p: R.Prim(value="n")')),
        module(function("y = R.zeros(R.shape([n]), 'float32')\nreturn y", 'n: R.Prim("int64")')),
    ),
    "external-kernel": (
        module(CALL.format('"extern"', "out_ty")),
        module(CALL.format('"extern"', "out_ty").replace("call_tir", "call_dps_packed")),
    ),
    "sibling-function": (
        module(KERNEL.format("s_tir=True", "sblock"), CALL.format("copy", "out_ty")),
        module(KERNEL.format("s_tir=True", "sblock"), CALL.format("M.copy", "out_ty")),
    ),
    "printed-types": (
        module(
            function(
                "y = R.builtin.alloc_tensor(R.shape([4]), R.dtype('float32'), R.prim_value(0), "
                "ty_args=(R.Tensor((4,), 'float32'),))\nreturn x"
            )
        ),
        module(
            function(
                "y = R.builtin.alloc_tensor(R.shape([4]), R.dtype('float32'), R.prim_value(0))\nreturn x"
            )
        ),
    ),
    "target-string": (
        module(
            "    I.module_global_infos({'vdevice': [I.vdevice('llvm -mcpu=core-avx2', 0)]})\n",
            function("return x"),
        ),
        module(
            "    I.module_global_infos({'vdevice': [I.vdevice({'kind': 'llvm', 'mcpu': 'core-avx2'}, 0)]})\n",
            function("return x"),
        ),
    ),
    "size-variable": (
        module(function("n = T.int64(is_size_var=True)\nreturn x", 'x: R.Tensor(("n",), "float32")')),
        module(function("n = T.int64()\nreturn x", 'x: R.Tensor(("n",), "float32")')),
    ),
    "declared-variable": (
        module(function('n = T.var("int64")\nreturn x', 'x: R.Tensor(("n",), "float32")')),
        module(function("n = T.int64()\nreturn x", 'x: R.Tensor(("n",), "float32")')),
    ),
    "axis-separators": (
        module(
            KERNEL.format("s_tir=True", "sblock").replace(
                'a: T.Buffer((4,), "float32")', 'a: T.Buffer((4,), "float32", axis_separators=[])'
            ),
            CALL.format("M.copy", "out_ty"),
        ),
        module(KERNEL.format("s_tir=True", "sblock"), CALL.format("M.copy", "out_ty")),
    ),
}


@pytest.mark.parametrize("rule", sorted(CASES))
def test_old_text_reads_as_todays(rule: str) -> None:
    old_text, new_text = CASES[rule]
    old, new = read(old_text), read(new_text)
    assert new.notes == ()
    assert len(old.notes) == 1
    assert rule in old.notes[0]
    tvm.ir.assert_structural_equal(old.ir_module, new.ir_module, map_free_vars=True)


@pytest.mark.parametrize("rule", sorted(CASES))
def test_todays_text_is_not_rewritten_when_it_is_forced(rule: str) -> None:
    new_text = CASES[rule][1]
    assert read(new_text, "old").notes == ()


@pytest.mark.parametrize("rule", sorted(CASES))
def test_the_current_dialect_can_be_insisted_on(rule: str) -> None:
    (unit,) = read_units(CASES[rule][0].encode(), "a.py").units
    parsed = parse_unit(unit, "current")
    assert isinstance(parsed, Problem) or parsed.ill_formed is not None


def test_subscripted_buffers_need_no_rule() -> None:
    new = module(KERNEL.format("s_tir=True", "sblock"), CALL.format("M.copy", "out_ty"))
    old = read(new.replace('T.Buffer((4,), "float32")', 'T.Buffer[(4,), "float32"]'))
    tvm.ir.assert_structural_equal(old.ir_module, read(new).ir_module, map_free_vars=True)


def test_kernel_variables_move_before_the_outputs_on_both_sides() -> None:
    kernel = """    @T.prim_func
    def fill(a: T.Buffer((4,), "int64"), {0}):
        for i in range(4):
            b[i] = a[i] + n
"""
    call = """    @R.function
    def main(x: R.Tensor((4,), "int64"), s: R.Shape(["n"])):
        n = T.int64()
        y = R.call_tir(M.fill, {0})
        return y
"""
    output = 'b: T.Buffer((4,), "int64")'
    old = module(
        kernel.format(f"{output}, n: T.int64"),
        call.format('(x,), out_sinfo=R.Tensor((4,), "int64"), tir_vars=R.shape([n])'),
    )
    new = module(
        kernel.format(f"n: T.int64, {output}"), call.format('(x, n), out_ty=R.Tensor((4,), "int64")')
    )
    first, second = read(old), read(new)
    tvm.ir.assert_structural_equal(first.ir_module, second.ir_module, map_free_vars=True)
    assert "kernel-variables" in first.notes[0]


def test_positions_survive_rewriting() -> None:
    text = CASES["struct-info-keywords"][0]
    unit = read(text)
    binding = unit.ir_module["main"].body.blocks[0].bindings[0]
    place = unit.positions.binding(binding.var, binding.value)
    assert place is not None
    found = text.split("\n")[place.line - 1][place.column - 1 : place.end_column - 1]
    assert found == 'R.call_tir(M.copy, (x,), out_sinfo=R.Tensor((4,), "float32"))'


def test_purity_only_in_a_text_that_is_old_otherwise() -> None:
    impure = "R.print(x, format='{}')\nreturn x"
    assert read(module(function(impure))).ill_formed is not None
    old = read(
        module(function("y = R.call_pure_packed('f', x, sinfo_args=R.Tensor((4,), 'float32'))\n" + impure))
    )
    assert old.ill_formed is None
    assert "pure-flag" in old.notes[0]


def test_a_mistake_in_todays_text_keeps_its_message() -> None:
    (unit,) = read_units(module(function("y = R.add(x, z)\nreturn y")).encode(), "a.py").units
    problem = parse_unit(unit)
    assert isinstance(problem, Problem)
    assert (problem.rule, problem.message) == ("RLX902", "the value of `z` is not known")


def test_rule_names_are_unique() -> None:
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)


def test_type_parameters_and_type_variables() -> None:
    parameters = (
        IMPORTS + '@R.function\ndef f[n, m: int](x: R.Tensor((n, m * 2), "float32"), y: R.Tensor((m,))):\n'
    )
    strings = IMPORTS + '@R.function\ndef f(x: R.Tensor(("n", "m * 2"), "float32"), y: R.Tensor(("m",))):\n'
    variables = (
        IMPORTS
        + 'from typing import TypeVar\nn = TypeVar("n")\nm = TypeVar("m")\n'
        + '@R.function\ndef f(x: R.Tensor((n, m * 2), "float32"), y: R.Tensor((m,))):\n'
    )
    body = "    z = R.zeros(R.shape([n]), 'float32')\n    return z\n"
    expected = read(strings + body)
    for text in (parameters, variables, variables.replace("TypeVar(", "T.dynamic(")):
        found = read(text + body)
        tvm.ir.assert_structural_equal(found.ir_module, expected.ir_module, map_free_vars=True)


PRINTED = {
    "printed-symbols": (
        function("return x", "x: R.Tensor((k, 4), dtype='float32'), s: R.Shape([k])"),
        function("return x", "x: R.Tensor(('k', 4), dtype='float32'), s: R.Shape(['k'])"),
    ),
    "printed-assertion": (
        function(
            'R.assert_op(R.const(True), x, x, format=R.str("a"))\nreturn x',
            decorator="@R.function(pure=False)",
        ),
        function(
            'R.assert_op(R.const(True), [x, x], format="a")\nreturn x', decorator="@R.function(pure=False)"
        ),
    ),
    "printed-primitives": (
        function("return x", "x: R.Tuple(T.int64, R.Tensor((4,), 'float32'))"),
        function("return x", "x: R.Tuple(R.Prim('int64'), R.Tensor((4,), 'float32'))"),
    ),
    "printed-constants": (
        function("y: R.Tensor((2, 3), dtype='int32') = metadata['ir.GenericConst'][0]\nreturn y"),
        function("y: R.Tensor((2, 3), dtype='int32') = R.const([[0, 0, 0], [0, 0, 0]], 'int32')\nreturn y"),
    ),
}


@pytest.mark.parametrize("rule", sorted(PRINTED))
def test_printed_modules(rule: str) -> None:
    printed, written = (read("# from tvm.script import ir as I\n" + module(text)) for text in PRINTED[rule])
    assert printed.notes == (f"read as a module printed by TVM ({rule})",)
    tvm.ir.assert_structural_equal(printed.ir_module, written.ir_module, map_free_vars=True)
