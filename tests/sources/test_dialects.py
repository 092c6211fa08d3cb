"""Each dialect rule: the old text reads as the module of today's text, and today's text stays as it is."""

from __future__ import annotations

from pathlib import Path

import pytest
import tvm

from relax_lint.results.problem import Problem
from relax_lint.sources.dialects import RULES
from relax_lint.sources.parsing import parse_unit
from relax_lint.sources.reading import read_units
from relax_lint.sources.unit import ParsedUnit

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


def kernel(body: str) -> str:
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    return f'    @T.prim_func\n    def copy(a: T.Buffer((4,), "float32")):\n{lines}' + function("return x")


FOUR = 'x: R.Tensor((1, 2, 2, 4), "float32")'


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
    "struct-info-keywords, declared-variable": (
        module(
            function(
                'n = T.Var("n", "int64")\ny = R.call_pure_packed("f", x, sinfo_args=R.Tensor((n,)))\nreturn y',
                'x: R.Tensor(("n",), "float32")',
            )
        ),
        module(
            function(
                'n = T.int64()\ny = R.call_pure_packed("f", x, ty_args=R.Tensor((n,)))\nreturn y',
                'x: R.Tensor(("n",), "float32")',
            )
        ),
    ),
    "blocks, attribute-prefix, attribute-flags, schedulable": (
        module(
            KERNEL.format("", "block").replace(
                "        for", '        T.func_attr({"tir.noalias": T.bool(True)})\n        for'
            ),
            function("R.func_attr({'relax.force_pure': 1})\nreturn x"),
        ),
        module(
            KERNEL.format("s_tir=True", "sblock").replace(
                "        for", '        T.func_attr({"tirx.noalias": True})\n        for'
            ),
            function("R.func_attr({'relax.force_pure': True})\nreturn x"),
        ),
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
    "void-dtype": (
        module(function('y: R.Tensor((4,), "float32") = R.zeros_like(x, dtype="void")\nreturn y')),
        module(function('y: R.Tensor((4,), "float32") = R.zeros_like(x)\nreturn y')),
    ),
    "constant-value": (
        module(
            function('s = T.FloatImm("float32", 0.5)\ny = R.nn.attention(x, x, x, scale=s)\nreturn y', FOUR)
        ),
        module(
            function(
                's = I.meta_var(T.FloatImm("float32", 0.5))\ny = R.nn.attention(x, x, x, scale=s)\nreturn y',
                FOUR,
            )
        ),
    ),
    "allocated-pointer": (
        module(kernel('p = T.allocate([4], "float32", "global")\nb = T.Buffer((4,), data=p)\nb[0] = a[0]')),
        module(
            kernel(
                'p = T.alloc_buffer([4], "float32", scope="global")\nb = T.Buffer((4,), data=p.data)\nb[0] = a[0]'
            )
        ),
    ),
    "declared-buffer": (
        module(kernel("with T.decl_buffer((4,)) as b:\n    b[0] = a[0]")),
        module(kernel("b = T.decl_buffer((4,))\nb[0] = a[0]")),
    ),
    "bound-pointer": (
        module(kernel("p: T.handle = T.tvm_struct_get(a.data, 0, 12, dtype='handle')\nT.evaluate(p)")),
        module(kernel("p: T.let[T.handle] = T.tvm_struct_get(a.data, 0, 12, dtype='handle')\nT.evaluate(p)")),
    ),
    "function-decorator": (
        module(
            KERNEL.format("s_tir=True", "sblock").replace("prim_func", "function"),
            CALL.format("M.copy", "out_ty"),
        ),
        module(KERNEL.format("s_tir=True", "sblock"), CALL.format("M.copy", "out_ty")),
    ),
    "returned-value": (
        module(kernel("T.ret(T.int32(0))")),
        module(kernel("return T.int32(0)")),
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
    bare = read(old.replace("M.fill", "fill"))
    assert bare.ill_formed is None
    tvm.ir.assert_structural_equal(bare.ir_module, second.ir_module, map_free_vars=True)


def test_a_kernel_with_its_variables_in_the_middle_is_not_permuted() -> None:
    kernel_text = """    @T.prim_func
    def fill(a: T.Buffer((4,), "int64"), n: T.int64, b: T.Buffer((4,), "int64")):
        for i in range(4):
            b[i] = a[i] + n
"""
    call = """    @R.function
    def main(x: R.Tensor((4,), "int64"), s: R.Shape(["n"])):
        n = T.int64()
        y = R.call_tir(M.fill, {0})
        return y
"""
    old = read(
        module(kernel_text, call.format('(x,), out_sinfo=R.Tensor((4,), "int64"), tir_vars=R.shape([n])'))
    )
    new = read(module(kernel_text, call.format('(x, n), out_ty=R.Tensor((4,), "int64")')))
    assert old.ill_formed is None
    tvm.ir.assert_structural_equal(old.ir_module, new.ir_module, map_free_vars=True)


def test_a_value_that_a_shape_has_declared_is_a_parameter_of_its_own() -> None:
    parameters = 'a: R.Tensor(["m"], "float32"), p: R.Prim({0})'
    old = read(module(function("return a", parameters.format('value="m"'))))
    new = read(module(function("return a", parameters.format('"int64"'))))
    tvm.ir.assert_structural_equal(old.ir_module, new.ir_module, map_free_vars=True)


@pytest.mark.parametrize(
    ("field", "operator"),
    [
        ("x.ndim", "tensor_ndim"),
        ("x.dtype.bits", "tensor_dtype_bits"),
        ("x.dtype.lanes", "tensor_dtype_lanes"),
        ("x.dtype.type_code", "tensor_dtype_code"),
        ("x.shape[0]", "tensor_shape_i"),
        ("x.strides[0]", "tensor_stride_i"),
        ("x.byte_offset", "tensor_byte_offset"),
        ("x.elem_offset", "tensor_elem_offset"),
    ],
)
def test_fields_of_a_tensor_are_read_at_run_time(field: str, operator: str) -> None:
    parsed = read(module(function(f"y = {field}\nreturn y", "x: R.Tensor")))
    (binding,) = parsed.ir_module["main"].body.blocks[0].bindings
    assert binding.value.op.name == f"relax.inspect.{operator}"
    assert "tensor-fields" in parsed.notes[0]


def test_operators_of_tir_have_a_new_prefix() -> None:
    old = read(module(kernel('T.evaluate(T.Call("int32", tvm.ir.Op.get("tir.tvm_call_packed"), ["f"]))')))
    new = read(
        module(kernel('T.evaluate(T.Call(tvm.ir.Op.get("tirx.tvm_call_packed"), ["f"], ret_ty="int32"))'))
    )
    assert "operator-prefix, typed-call" in old.notes[0]
    tvm.ir.assert_structural_equal(old.ir_module, new.ir_module, map_free_vars=True)


def test_the_mark_of_old_printed_modules_is_ignored() -> None:
    text = module(function("return x"))
    marked = read(text + "    __tvm_meta__ = None\n")
    tvm.ir.assert_structural_equal(marked.ir_module, read(text).ir_module, map_free_vars=True)


def test_a_module_that_an_old_text_refers_to_is_rewritten_too() -> None:
    text = (
        module(KERNEL.format("", "block"), CALL.format("M.copy", "out_sinfo"))
        + """
@I.ir_module
class N:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        y = R.call_tir(M.get_global_var("copy"), (x,), out_sinfo=R.Tensor((4,), "float32"))
        return y
"""
    )
    last = read_units(text.encode(), "a.py").units[-1]
    assert last.name == "N"
    assert isinstance(parse_unit(last), ParsedUnit)


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


def test_purity_in_a_unit_of_a_file_that_is_old_elsewhere() -> None:
    impure = module(function("R.print(x, format='{}')\nreturn x"))
    other = CALL.format("'f'", "out_sinfo")
    first, _ = read_units(f"{impure}\n@I.ir_module\nclass N:\n{other}".encode(), "a.py").units
    parsed = parse_unit(first)
    assert isinstance(parsed, ParsedUnit)
    assert parsed.ill_formed is None
    assert "pure-flag" in parsed.notes[0]


def test_a_mistake_in_todays_text_keeps_its_message() -> None:
    (unit,) = read_units(module(function("y = R.add(x, z)\nreturn y")).encode(), "a.py").units
    problem = parse_unit(unit)
    assert isinstance(problem, Problem)
    assert (problem.kind, problem.message) == ("unresolved-name", "the value of `z` is unknown")


def test_rule_names_are_unique() -> None:
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)


def test_every_rule_is_tried() -> None:
    # `test_next_dialect.py` tries kernel-tensors, declared-symbols and schedulable-decorator.
    text = Path(__file__).read_text(encoding="utf-8")
    assert [rule.name for rule in RULES if rule.name not in text] == []


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
    "printed-primitives in calls": (
        function('y = R.call_pure_packed("f", x, ty_args=(T.int64,))\nreturn y'),
        function('y = R.call_pure_packed("f", x, ty_args=(R.Prim("int64"),))\nreturn y'),
    ),
    "printed-constants": (
        function("y: R.Tensor((2, 3), dtype='int32') = metadata['ir.GenericConst'][0]\nreturn y"),
        function("y: R.Tensor((2, 3), dtype='int32') = R.const([[0, 0, 0], [0, 0, 0]], 'int32')\nreturn y"),
    ),
}


@pytest.mark.parametrize("rule", sorted(PRINTED))
def test_printed_modules(rule: str) -> None:
    printed, written = (read("# from tvm.script import ir as I\n" + module(text)) for text in PRINTED[rule])
    assert printed.notes == (f"read as a module printed by TVM ({rule.split()[0]})",)
    tvm.ir.assert_structural_equal(printed.ir_module, written.ir_module, map_free_vars=True)


def test_an_old_packed_call_is_not_taken_for_a_new_one_with_an_attribute() -> None:
    text = """from tvm.script import relax as R

@R.function(pure=False)
def f(x: R.Tensor((32, 32), "float32")) -> R.Tensor:
    y = R.call_packed("vm.builtin.copy", x, sinfo_args=(R.Tensor((32, 32), "float32")))
    return y
"""
    (unit,) = read_units(text.encode(), "a.py").units
    parsed = parse_unit(unit)
    assert isinstance(parsed, ParsedUnit)
    (call,) = [binding.value for binding in parsed.ir_module["f"].body.blocks[0].bindings]
    assert [int(extent) for extent in call.ty_args[0].shape] == [32, 32]
    assert parsed.notes == ("read as TVMScript for TVM 0.25 or older (struct-info-keywords)",)
