"""From units to modules: what is known about names, what is refused, and with which words."""

from __future__ import annotations

import pytest
import tvm

from relax_lint.results.problem import Problem
from relax_lint.sources.parsing import parse_unit
from relax_lint.sources.reading import read_units
from relax_lint.sources.unit import ParsedUnit

IMPORTS = """import math
import numpy as np
import pytest
import tvm
from tvm import relax, topi
from tvm.script import ir as I, relax as R, tirx as T
"""


def parse_all(text: str) -> list[ParsedUnit | Problem]:
    found = read_units(text.encode(), "a.py")
    assert found.problems == ()
    return [parse_unit(unit) for unit in found.units]


def parse_one(text: str) -> ParsedUnit:
    (result,) = parse_all(text)
    assert isinstance(result, ParsedUnit), result
    return result


def problem_of(text: str) -> Problem:
    (result,) = parse_all(text)
    assert isinstance(result, Problem), result
    return result


def extent(unit: ParsedUnit, name: str = "f") -> int:
    """The first extent of the first parameter."""
    return int(unit.ir_module[name].params[0].ty.shape[0])


def function_of(shape: str, indent: str = "") -> str:
    return f"{indent}@R.function\n{indent}def f(x: R.Tensor(({shape},), 'float32')):\n{indent}    return x\n"


def test_a_class_gives_its_module_and_a_function_is_wrapped() -> None:
    module = parse_one(
        IMPORTS + "@I.ir_module\nclass M:\n    @R.function\n    def g(x: R.Tensor((4,))):\n        return x\n"
    )
    assert module.module_name == "M"
    assert isinstance(module.ir_module, tvm.IRModule)
    bare = parse_one(IMPORTS + function_of("4"))
    assert bare.module_name is None
    assert [v.name_hint for v in bare.ir_module.functions] == ["f"]


def test_a_bare_function_goes_by_its_global_symbol() -> None:
    text = (
        IMPORTS
        + "@R.function\ndef f(x: R.Tensor((4,))):\n    R.func_attr({'global_symbol': 'main'})\n    return x\n"
    )
    unit = parse_one(text)
    assert [v.name_hint for v in unit.ir_module.functions] == ["main"]
    location = unit.positions.function("main")
    assert location is not None
    assert location.line == 8


@pytest.mark.parametrize(
    ("before", "shape", "value"),
    [
        ("N = 4\n", "N", 4),
        ("N = 2 ** 10 // 3 + 1\n", "N", 342),
        ("A = 2\nN = A * 3\n", "N", 6),
        ("N, M = 4, 5\n", "M", 5),
        ("N: int = 7\n", "N", 7),
        ("SHAPE = (3, 4)\n", "SHAPE[1]", 4),
        ("SIZES = {'a': 9}\nN = SIZES['a']\n", "N", 9),
        ("N = int(math.ceil(2.5))\n", "N", 3),
        ("N = np.int64(6)\n", "int(N)", 6),
        ("N = len((1, 2, 3))\n", "N", 3),
    ],
)
def test_constants_of_the_file(before: str, shape: str, value: int) -> None:
    unit = parse_one(IMPORTS + before + function_of(shape))
    assert extent(unit) == value
    assert unit.assumptions == ()


def test_the_nearest_binding_above_counts() -> None:
    text = IMPORTS + "N = 1\nN = 2\n" + function_of("N") + "N = 3\n"
    assert extent(parse_one(text)) == 2


def test_enclosing_functions_are_scopes_and_classes_are_not() -> None:
    text = IMPORTS + "N = 1\nclass C:\n    N = 2\n    def test(self):\n" + function_of("N", "        ")
    assert extent(parse_one(text)) == 1


def test_defaults_and_first_parametrize_values_are_assumptions() -> None:
    text = (
        IMPORTS
        + "@pytest.mark.parametrize('batch, width', [(4, 8), (5, 9)])\n"
        + "@pytest.mark.parametrize('op', [R.add, R.subtract])\n"
        + "def test(batch, width, op, height=16):\n"
        + "    @R.function\n"
        + "    def f(x: R.Tensor((batch, width, height))):\n"
        + "        y = op(x, x)\n"
        + "        return y\n"
    )
    unit = parse_one(text)
    assert [int(d) for d in unit.ir_module["f"].params[0].ty.shape] == [4, 8, 16]
    assert sorted(unit.assumptions) == [
        "batch = 4 (first parametrize value)",
        "height = 16 (default)",
        "op = R.add (first parametrize value)",
        "width = 8 (first parametrize value)",
    ]


def test_parametrize_through_a_name_and_param() -> None:
    text = (
        IMPORTS
        + "VALUES = [pytest.param(4, id='four'), 5]\n@pytest.mark.parametrize('n', VALUES)\ndef test(n):\n"
        + function_of("n", "    ")
    )
    assert extent(parse_one(text)) == 4


def test_other_definitions_of_the_file() -> None:
    text = (
        IMPORTS
        + "@T.prim_func\ndef copy(a: T.Buffer((4,), 'float32'), b: T.Buffer((4,), 'float32')):\n"
        + "    for i in range(4):\n        b[i] = a[i]\n"
        + "@R.function\ndef f(x: R.Tensor((4,), 'float32')):\n"
        + "    y = R.add(x, x)\n    return y\n"
        + "@I.ir_module\nclass M:\n    g = f\n    k = copy\n"
    )
    first, second = parse_all(text)
    assert isinstance(first, ParsedUnit)
    assert isinstance(second, ParsedUnit), second
    assert {v.name_hint for v in second.ir_module.functions} >= {"g", "k"}


@pytest.mark.parametrize(
    ("before", "shape", "reason"),
    [
        (
            "import os\nN = os.cpu_count()\n",
            "N",
            "the value of `N` is unknown: computed by `os.cpu_count()`",
        ),
        ("for N in (1, 2):\n    pass\n", "N", "the value of `N` is unknown: a loop variable"),
        ("def N():\n    return 1\n", "N()", "the value of `N` is unknown: a function of the file"),
        ("", "N", "the value of `N` is unknown"),
        ("N = 10 ** 10 ** 10\n", "N", "the value of `N` is unknown: too large a number to compute"),
        ("N = 1\nN += 1\n", "N", "the value of `N` is unknown: changed while the file runs"),
        ("from . import N\n", "N", "the value of `N` is unknown: imported from a neighbouring file"),
    ],
)
def test_unknown_values_name_the_name(before: str, shape: str, reason: str) -> None:
    problem = problem_of(IMPORTS + before + function_of(shape))
    assert (problem.kind, problem.message, problem.unit) == ("unresolved-name", reason, "f")


def test_a_parameter_without_default_is_named_with_its_function() -> None:
    problem = problem_of(IMPORTS + "def build(n):\n" + function_of("n", "    "))
    assert problem.kind == "unresolved-name"
    assert problem.message == "the value of `n` is unknown: a parameter of `build` without a default"


def test_what_tvm_refuses_keeps_its_reason_and_place() -> None:
    text = IMPORTS + "@R.function\ndef f(x: R.Tensor((4,), 'float32')):\n    y = R.add(x)\n    return y\n"
    problem = problem_of(text)
    assert problem.kind == "parse-error"
    assert "missing 1 required positional argument" in problem.message
    assert problem.location is not None
    assert (problem.location.line, problem.location.column, problem.location.end_column) == (9, 9, 17)


def test_a_name_that_tvm_does_not_have() -> None:
    problem = problem_of(
        IMPORTS + "@R.function\ndef f(x: R.Tensor((4,))):\n    y = R.no_such(x)\n    return y\n"
    )
    assert (problem.kind, problem.message) == ("parse-error", "TVMScript has no name `R.no_such`")


def test_what_the_gate_refuses() -> None:
    text = (
        IMPORTS
        + "@R.function\ndef f(x: R.Tensor((4,))):\n    y = R.const(tvm.get_global_func('a'))\n    return y\n"
    )
    problem = problem_of(text)
    assert problem.kind == "unsafe-source"
    assert problem.location is not None
    assert (problem.location.line, problem.location.column, problem.location.end_column) == (9, 17, 36)


OTHERS_FUNCTION = """
@I.ir_module
class A:
    @T.prim_func(private=True)
    def double(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        for i in range(4):
            y[i] = x[i] * T.float32(2)


@I.ir_module
class B:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        y = R.call_tir(A.double, (x,), out_ty=R.Tensor((4,), "float32"))
        return y
"""


@pytest.mark.parametrize(
    ("instead", "attribute"),
    [
        ("A.double.handle", "handle"),
        ("A.double.__globals__", "__globals__"),
        ("A.update", "update"),
        ("A.__class__", "__class__"),
        # What is unsafe comes first, wherever it stands.
        ("A.double, 'x'.format(1)", "format"),
        ("A.double", None),
    ],
)
def test_a_function_of_another_module_is_not_known(instead: str, attribute: str | None) -> None:
    problem = parse_all(IMPORTS + OTHERS_FUNCTION.replace("A.double", instead))[-1]
    assert isinstance(problem, Problem)
    if attribute is None:
        reason = "the value of `A.double` is unknown: a function of another module"
        assert (problem.kind, problem.message, problem.unit) == ("unresolved-name", reason, "B")
    else:
        reason = f"the attribute `{attribute}` is not TVMScript: the parser would execute it"
        assert (problem.kind, problem.message, problem.unit) == ("unsafe-source", reason, "B")


def test_an_ill_formed_module_is_kept_with_the_reason() -> None:
    body = "    @R.function\n    def f(x: R.Tensor((4,), 'float32')):\n        R.print(x, format='{}')\n        return x\n"
    unit = parse_one(IMPORTS + "@I.ir_module\nclass M:\n" + body)
    assert unit.ill_formed is not None
    assert "impure" in unit.ill_formed
    unchecked = parse_one(IMPORTS + "@I.ir_module(check_well_formed=False)\nclass M:\n" + body)
    assert unchecked.ill_formed is None


def test_a_string_that_reaches_a_shape_is_checked_where_it_is_evaluated() -> None:
    text = IMPORTS + "S = 'print(1)'\n@R.function\ndef f(x: R.Tensor((S,), 'float32')):\n    return x\n"
    problem = problem_of(text)
    assert problem.kind == "unsafe-source"
    assert "print(1)" in problem.message


def test_builtins_are_restored_after_a_parse() -> None:
    from tvm.relax.script import builder
    from tvm.script.parser.core import evaluator

    before = (builder.emit, builder.If, evaluator._get_builtin_or_none)
    parse_one(IMPORTS + function_of("4"))
    problem_of(IMPORTS + function_of("unknown"))
    assert (builder.emit, builder.If, evaluator._get_builtin_or_none) == before


def test_a_huge_array_is_refused() -> None:
    problem = problem_of(
        IMPORTS
        + "@R.function\ndef f(x: R.Tensor((4,))):\n    y = R.const(np.zeros((100000, 100000)))\n    return y\n"
    )
    assert problem.kind == "unsafe-source"


def test_a_kernel_that_would_be_compiled_is_an_unknown_function() -> None:
    text = """import triton
from tvm.script import ir as I, relax as R, tirx as T


@I.ir_module
class M:
    @T.prim_func
    def scale(a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")):
        T.call_kernel(triton.jit(kernel), ((1,),), a.data, b.data, num_warps=4)

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        y = R.call_tir(M.scale, (x,), out_ty=R.Tensor((4,), "float32"))
        return y
"""
    (unit,) = read_units(text.encode(), "a.py").units
    parsed = parse_unit(unit)
    assert isinstance(parsed, ParsedUnit), parsed
    assert any("T.call_kernel" in note for note in parsed.notes)
    assert "compiled_kernel" in parsed.ir_module["scale"].script()


def test_test_parameters_have_their_first_value() -> None:
    text = """import tvm
from tvm.script import ir as I, relax as R

rows = tvm.testing.parameter(3, 5)
columns, dtype = tvm.testing.parameters((7, "int8"), (9, "int16"))


def test(rows, columns, dtype):
    @R.function
    def main(x: R.Tensor((rows, columns), dtype)):
        return x
"""
    (unit,) = read_units(text.encode(), "a.py").units
    parsed = parse_unit(unit)
    assert isinstance(parsed, ParsedUnit), parsed
    (parameter,) = parsed.ir_module["main"].params
    assert [int(extent) for extent in parameter.ty.shape.values] == [3, 7]
    assert "rows = 3 (first parameter value)" in parsed.assumptions
    assert len(parsed.assumptions) == 3
