"""Every binding and every argument on the exact characters of the text."""

from __future__ import annotations

from typing import Any

import pytest

from relax_lint.results.location import Location
from relax_lint.sources.parsing import parse_unit
from relax_lint.sources.reading import read_units
from relax_lint.sources.unit import ParsedUnit

IMPORTS = "from tvm.script import ir as I, relax as R, tirx as T\n"


def parsed(text: str) -> tuple[ParsedUnit, list[str]]:
    (unit,) = read_units(text.encode(), "a.py").units
    result = parse_unit(unit)
    assert isinstance(result, ParsedUnit), result
    return result, unit.text.lines


def excerpt(lines: list[str], location: Location | None) -> str:
    assert location is not None
    assert location.line == location.end_line
    return lines[location.line - 1][location.column - 1 : location.end_column - 1]


def bindings(expression: Any) -> list[Any]:
    found = []
    for block in getattr(expression, "blocks", []):
        for binding in block.bindings:
            value = getattr(binding, "value", None)
            for part in ("true_branch", "false_branch", "body"):
                if type(value).__name__ in ("If", "Function") and hasattr(value, part):
                    found += bindings(getattr(value, part))
            found.append(binding)
    return found


def excerpts(text: str) -> list[tuple[str, str]]:
    unit, lines = parsed(text)
    (function,) = (f for f in unit.ir_module.functions.values() if type(f).__name__ == "Function")
    return [
        (str(b.var.name), excerpt(lines, unit.positions.binding(b.var, b.value)))
        for b in bindings(function.body)
    ]


def in_function(body: str, before: str = "") -> str:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return f'{IMPORTS}{before}@R.function(pure=False)\ndef f(x: R.Tensor((4,), "float32")):\n{lines}'


def test_plain_nested_and_returned_calls() -> None:
    text = in_function("a = R.add(R.exp(x), x)\nreturn R.add(R.log(a), a)")
    assert [found for _, found in excerpts(text)] == [
        "R.exp(x)",
        "R.add(R.exp(x), x)",
        "R.log(a)",
        "R.add(R.log(a), a)",
    ]


def test_tuples_match_cast_and_aliases() -> None:
    text = in_function(
        "a, b = R.exp(x), R.log(x)\nt = (a, b)\nc = t[1]\nd = c\n"
        'e = R.match_cast(d, R.Tensor((4,), "float32"))\nreturn e'
    )
    assert excerpts(text) == [
        ("a", "R.exp(x)"),
        ("b", "R.log(x)"),
        ("t", "(a, b)"),
        ("c", "t[1]"),
        ("d", "c"),
        ("e", 'R.match_cast(d, R.Tensor((4,), "float32"))'),
    ]


def test_annotated_assignment_and_statement() -> None:
    text = in_function('a: R.Tensor((4,), "float32") = R.exp(x)\nR.print(a, format="{}")\nreturn a')
    assert [found for _, found in excerpts(text)] == ["R.exp(x)", 'R.print(a, format="{}")']


def test_if_and_its_branches() -> None:
    text = (
        f'{IMPORTS}@R.function\ndef f(c: R.Tensor((), "bool"), x: R.Tensor((4,), "float32")):\n'
        "    if c:\n        y = R.exp(R.exp(x))\n    else:\n        y = R.log(x)\n    z = R.exp(y)\n    return z\n"
    )
    assert [found for _, found in excerpts(text)] == [
        "R.exp(x)",
        "R.exp(R.exp(x))",
        "R.log(x)",
        "if c",
        "R.exp(y)",
    ]


def test_dataflow_outputs_of_one_name() -> None:
    text = in_function(
        "with R.dataflow():\n    a = R.exp(x)\n    b = R.log(R.sin(a))\n    c = R.cos(b)\n    R.output(b, c)\n"
        "b = R.add(b, c)\nreturn b"
    )
    assert [found for _, found in excerpts(text)] == [
        "R.exp(x)",
        "R.sin(a)",
        "R.log(R.sin(a))",
        "R.cos(b)",
        "R.add(b, c)",
    ]


def test_inner_functions() -> None:
    text = in_function(
        '@R.function\ndef g(y: R.Tensor((4,), "float32")):\n    z = R.exp(y)\n    return z\na = g(x)\nreturn a'
    )
    assert excerpts(text) == [("z", "R.exp(y)"), ("g", "def g"), ("a", "g(x)")]


def test_characters_not_bytes() -> None:
    text = in_function('ß = R.str("日本語"); a = R.add(x, x)\nreturn a')
    assert excerpts(text) == [("ß", 'R.str("日本語")'), ("a", "R.add(x, x)")]


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends(end: str) -> None:
    text = in_function("a = R.exp(x)\nreturn a").replace("\n", end)
    assert excerpts(text) == [("a", "R.exp(x)")]


def test_tabs_form_feeds_and_decorators_of_several_lines() -> None:
    text = (
        IMPORTS + '\f\n@R.function(\n\tprivate=True,\n\tpure=True,\n)\ndef f(x: R.Tensor((4,), "float32")):\n'
        "\ta = R.exp(\tx)\n\treturn a\n"
    )
    assert excerpts(text) == [("a", "R.exp(\tx)")]


def test_statement_over_several_lines() -> None:
    unit, _ = parsed(in_function("a = R.add(\n    x,\n    x,\n)\nreturn a"))
    (function,) = unit.ir_module.functions.values()
    (binding,) = bindings(function.body)
    location = unit.positions.binding(binding.var, binding.value)
    assert location is not None
    assert (location.line, location.column, location.end_line, location.end_column) == (4, 9, 7, 6)


def test_arguments_by_position_and_by_keyword() -> None:
    text = in_function(
        's = R.memory.alloc_storage(R.shape([16]), virtual_device_index=0, storage_scope="global", dtype="uint8")\n'
        't = R.memory.alloc_tensor(s, dtype="float32", offset=0, shape=R.shape([4]))\n'
        'u = R.call_packed("f", x, t, sinfo_args=R.Tensor((4,), "float32"))\n'
        "v = x + t\n"
        "return v"
    ).replace("sinfo_args", "ty_args")
    unit, lines = parsed(text)
    (function,) = unit.ir_module.functions.values()
    found = {}
    for b in bindings(function.body):
        arguments = range(len(b.value.args))
        places = [unit.positions.argument(b.var, b.value, index) for index in arguments]
        found[str(b.var.name)] = [excerpt(lines, place) if place else None for place in places]
    assert found["s"] == ["R.shape([16])", "0", '"global"', '"uint8"']
    assert found["t"][:4] == ["s", "0", "R.shape([4])", '"float32"']
    assert found["u"] == ["x", "t"]
    assert found["v"] == ["x", "t"]


def test_functions_of_a_module() -> None:
    text = (
        IMPORTS + "@I.ir_module\nclass M:\n"
        '    @R.function\n    def one(x: R.Tensor((4,), "float32")):\n        return x\n'
        '    @R.function\n    def  two(x: R.Tensor((4,), "float32")):\n        return x\n'
    )
    unit, lines = parsed(text)
    assert excerpt(lines, unit.positions.function("one")) == "def one"
    assert excerpt(lines, unit.positions.function("two")) == "def  two"
    assert unit.positions.function("three") is None


def test_bindings_of_another_module_have_no_position() -> None:
    unit, _ = parsed(in_function("a = R.exp(x)\nreturn a"))
    other, _ = parsed(in_function("a = R.exp(x)\nreturn a"))
    (function,) = other.ir_module.functions.values()
    (binding,) = bindings(function.body)
    assert unit.positions.binding(binding.var, binding.value) is None
    assert unit.positions.argument(binding.var, binding.value, 0) is None
