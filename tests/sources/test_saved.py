"""Saved IR."""

from __future__ import annotations

import json

import pytest
import tvm

from relax_lint.results.problem import Problem
from relax_lint.sources.parsing import parse_unit
from relax_lint.sources.prefilter import test_of as relax_test_of
from relax_lint.sources.reading import read_units
from relax_lint.sources.saved import parse_json
from relax_lint.sources.spelling import json_text
from relax_lint.sources.unit import ParsedUnit

TEXT = """from tvm.script import relax as R
@R.function
def main(x: R.Tensor(("n", 4), "float32")):
    y = R.add(x, x)
    return y
"""


def saved() -> str:
    (unit,) = read_units(TEXT.encode(), "a.py").units
    parsed = parse_unit(unit)
    assert isinstance(parsed, ParsedUnit)
    return str(tvm.ir.save_json(parsed.ir_module))


def test_a_saved_module() -> None:
    loaded = parse_json(saved(), "a.json")
    assert isinstance(loaded, ParsedUnit), loaded
    assert loaded.module_name is None
    assert [v.name_hint for v in loaded.ir_module.functions] == ["main"]
    (block,) = loaded.ir_module["main"].body.blocks
    assert loaded.positions.binding(block.bindings[0].var, block.bindings[0].value) is None


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_whichever_encoding_another_program_wrote_it_in(encoding: str) -> None:
    data = saved().encode(encoding)
    for named in (True, False):
        may_matter = relax_test_of("json", named=named)
        assert may_matter is None or may_matter(data)
    assert isinstance(parse_json(json_text(data), "a.json"), ParsedUnit)
    other = relax_test_of("json", named=False)
    assert other is not None
    assert not other('{"a": "nodes"}'.encode(encoding))


@pytest.mark.parametrize("path", ["a.txt", "a", "<stdin>"])
def test_json_under_another_name_is_said(path: str) -> None:
    notebook = json.dumps({"cells": [{"cell_type": "code", "source": TEXT}]}, indent=1)
    texts = [saved(), "\n " + saved(), "\ufeff" + saved(), notebook]
    may_matter = relax_test_of("python", named=True)
    assert may_matter is not None
    for text, ending in zip(texts, ("json", "json", "json", "ipynb"), strict=True):
        assert may_matter(text.encode())
        (problem,) = read_units(text.encode(), path).problems
        assert problem.message.endswith(f"under a name that does not end in `.{ending}`")
    for text in ('{"nodes": 1}', '{"cells": "function"}', "{1: 2}\n", 'x = {"nodes": 1, "root": 2}\n'):
        assert not may_matter(text.encode())
        assert read_units(text.encode(), path).problems == ()


def test_a_saved_function_is_wrapped() -> None:
    module = tvm.ir.load_json(saved())
    loaded = parse_json(str(tvm.ir.save_json(module["main"])), "a.json")
    assert isinstance(loaded, ParsedUnit), loaded
    assert [v.name_hint for v in loaded.ir_module.functions] == ["main"]


def test_truncated() -> None:
    text = saved()
    problem = parse_json(text[: len(text) // 2], "a.json")
    assert isinstance(problem, Problem)
    assert problem.kind == "parse-error"
    assert problem.message.startswith("not complete JSON")


def test_other_json() -> None:
    problem = parse_json('{"a": 1}', "a.json")
    assert isinstance(problem, Problem)
    assert problem.message == "JSON, but not what `tvm.ir.save_json` writes"


def test_a_broken_graph() -> None:
    graph = json.loads(saved())
    graph["nodes"] = graph["nodes"][:-3]
    problem = parse_json(json.dumps(graph), "a.json")
    assert isinstance(problem, Problem)
    assert problem.message.startswith("TVM cannot load this graph")


def test_a_saved_value_that_is_no_module() -> None:
    problem = parse_json(str(tvm.ir.save_json(tvm.ir.Range(0, 4))), "a.json")
    assert isinstance(problem, Problem)
    assert problem.message == "a saved `Range`, neither a module nor a function"


def test_deeply_nested_json() -> None:
    problem = parse_json("[" * 100_000, "a.json")
    assert isinstance(problem, Problem)


def with_node(kind: object, data: object) -> str:
    graph = json.loads(saved())
    graph["nodes"].append({"type": kind, "data": data})
    return json.dumps(graph)


@pytest.mark.parametrize(
    "kind",
    [
        *("ffi.Module", "ffi.Function", "ffi.Error", "ffi.OpaquePyObject", "runtime.Module", "relax.Module", "vm.Executable"),
        *("script.ir_builder.IRBuilderFrame", "instrument.PassInstrument", "transform.PassContext", "te.Operation"),
        *("s_tir.meta_schedule.PyDatabase", "relax.PyExprVisitor", "relax.BlockBuilder", "testing.TestAttrs", "", 3, ["ir"]),
    ],
)  # fmt: skip
def test_what_is_no_ir_is_not_loaded(kind: object) -> None:
    problem = parse_json(with_node(kind, "AAAA"), "a.json")
    assert isinstance(problem, Problem)
    assert problem.kind == "unsafe-source"
    assert problem.message.endswith(", which is not IR: it is not loaded")


def test_a_function_that_tvm_would_call_by_its_name() -> None:
    problem = parse_json(with_node("ir.EnvFunc", "runtime.SystemLib"), "a.json")
    assert isinstance(problem, Problem)
    assert (problem.kind, "`runtime.SystemLib`" in problem.message) == ("unsafe-source", True)
    assert isinstance(
        parse_json(with_node("ir.EnvFunc", "tvm.relax.type.infer_view_ty"), "a.json"), ParsedUnit
    )


def test_keys_that_are_there_twice() -> None:
    twice = with_node("ir.Range", "AAAA").replace(
        '"type": "ir.Range"', '"type": "ffi.Module", "type": "None"'
    )
    loaded = parse_json(twice.replace(', "data": "AAAA"', ""), "a.json")
    assert isinstance(loaded, ParsedUnit), loaded
