"""What is evaluated directly has the value that TVM's own evaluation gives it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tvm_ffi
from tvm.script.parser.core import doc, evaluator

from relax_lint.sources import parsing, recorder
from relax_lint.sources.evaluation import direct
from relax_lint.sources.reading import read_units
from relax_lint.sources.unit import ParsedUnit

EXAMPLES = Path(__file__).parents[2] / "examples"


def collect(*arguments: Any, **named: Any) -> Any:
    return arguments, named


@pytest.mark.parametrize(
    "text",
    [
        *("x", "7", "collect()", "collect(x, 'a', b=x)", "collect(*items)", "collect(**{'b': x})", "x.real"),
        *("items[1]", "items[part]", "items[0:2]", "(x, 1)", "(*items, x)", "[x, x]", "{'a': x}", "x + x"),
        *("not x", "-x", "x if x else 1", "f'{x}'", "[i for i in items]", "(lambda: x)()", "len(items)"),
    ],
)
def test_a_node_has_the_value_that_tvm_gives_it(text: str) -> None:
    names = {"collect": collect, "x": 3, "items": [5, 6, 7], "part": slice(0, 2)}
    node = doc.parse(text, mode="eval").body
    own, theirs = direct(evaluator._eval_expr)(node, dict(names)), evaluator._eval_expr(node, dict(names))
    assert (own, type(own)) == (theirs, type(theirs))


@pytest.mark.parametrize("name", ["storage_overflow.py", "planned_transformer.py"])
def test_a_file_gives_the_same_modules_either_way(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    units = read_units((EXAMPLES / name).read_bytes(), name).units
    directly = [parsing.parse_unit(unit) for unit in units]
    monkeypatch.setattr(recorder, "direct", lambda evaluate: evaluate)
    monkeypatch.setattr(recorder, "direct_assignment", lambda assign: assign)
    monkeypatch.setattr(parsing, "to_doc", doc.to_doc)
    for unit, own in zip(units, directly, strict=True):
        theirs = parsing.parse_unit(unit)
        assert isinstance(own, ParsedUnit)
        assert isinstance(theirs, ParsedUnit)
        assert tvm_ffi.structural_equal(own.ir_module, theirs.ir_module)
