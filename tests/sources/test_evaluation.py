"""The interpreter gives what TVM's own evaluation gives, and nothing of the text is compiled or evaluated."""

from __future__ import annotations

import ast
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import tvm_ffi
from tvm.relax.script.parser import entry as relax_entry
from tvm.script.parser.core import doc, evaluator
from tvm.script.parser.core.parser import Parser

from relax_lint.sources import parser_run, parsing, permissions, recorder, sites
from relax_lint.sources.evaluation import evaluate_plainly, extent
from relax_lint.sources.interpreter import assigned
from relax_lint.sources.reading import read_units
from relax_lint.sources.refusal import RefusedError
from relax_lint.sources.unit import ParsedUnit

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = {"x": 3, "items": [5, 6, 7], "part": slice(0, 2), "word": "ab", "pair": (1, (2, 3))}


@pytest.mark.parametrize(
    "text",
    [
        *("x", "7", "len(items)", "max(x, 9)", "max(*items)", "items[1]", "items[part]", "items[0:2]"),
        *("(x, 1)", "(*items, x)", "[x, x]", "{'a': x}", "{**{'a': x}, 'b': 1}", "x + x", "x ** 2", "x << 2"),
        *("not x", "-x", "~x", "x if x else 1", "f'{x}'", "f'{word!r}{x}'", "[i for i in items]"),
        *("[i * j for i in items for j in items if i < j]", "[a + c for a, (b, c) in [pair]]"),
        *(
            "(lambda: x)()",
            "(lambda a, b=2, *c, d=4, **e: (a, b, c, d, e))(1, z=5)",
            "(lambda a: lambda b: a + b)(1)(2)",
        ),
        *("1 < x < 5", "1 < x < 2 < 9", "x in items", "x not in items", "x is None", "0 or x", "0 and x"),
        *("range(3)[1]", "list(range(3))", "sum(items)", "tuple(enumerate(items))", "abs(-x)", "int('3')"),
    ],
)
def test_an_expression_has_the_value_that_python_gives_it(text: str) -> None:
    node = doc.parse(text, mode="eval").body
    own, theirs = evaluate_plainly(node, NAMES), evaluator._eval_expr(node, dict(NAMES))
    assert (own, type(own)) == (theirs, type(theirs))
    assert evaluate_plainly(ast.parse(text, mode="eval"), NAMES) == own


@pytest.mark.parametrize(
    ("target", "value"),
    [
        ("a", 1),
        ("(a, b)", (1, 2)),
        ("[a, *b]", [1, 2, 3]),
        ("(*a, b), c", ((1, 2), 3)),
        ("a, (b, c)", "x" * 0 + "ab"),
    ],
)
def test_an_assignment_binds_what_python_binds(target: str, value: Any) -> None:
    node = doc.parse(f"{target} = 0").body[0].targets[0]
    try:
        theirs = evaluator._eval_assign(node, value)
    except ValueError as error:
        with pytest.raises(ValueError, match=str(error).replace("(", r"\(").replace(")", r"\)")):
            assigned(node, value)
    else:
        assert assigned(node, value) == theirs


@pytest.mark.parametrize("target", ["a.b", "a[0]", "(a.b, c)", "(a.b, c)[0]"])
def test_an_assignment_reaches_no_object(target: str) -> None:
    with pytest.raises(NameError):
        assigned(doc.parse(f"{target} = 0").body[0].targets[0], (1, 2))


@pytest.mark.parametrize("name", ["storage_overflow.py", "planned_transformer.py"])
def test_a_file_gives_the_same_modules_as_tvm(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    units = read_units((EXAMPLES / name).read_bytes(), name).units
    interpreted = [parsing.parse_unit(unit) for unit in units]
    monkeypatch.setattr(recorder, "closed", nullcontext)
    monkeypatch.setattr(recorder.RecordingParser, "eval_expr", Parser.eval_expr)
    monkeypatch.setattr(recorder.RecordingParser, "eval_assign", Parser.eval_assign)
    monkeypatch.setattr(parser_run, "to_doc", doc.to_doc)
    for unit, own in zip(units, interpreted, strict=True):
        theirs = parsing.parse_unit(unit)
        assert isinstance(own, ParsedUnit)
        assert isinstance(theirs, ParsedUnit)
        assert tvm_ffi.structural_equal(own.ir_module, theirs.ir_module)


def test_nothing_of_a_text_is_executed() -> None:
    heard: list[str] = []
    listening = True

    def hear(event: str, arguments: tuple[Any, ...]) -> None:
        if listening and event == "exec" and arguments[0].co_filename.startswith("<"):
            heard.append(arguments[0].co_filename)

    units = read_units((EXAMPLES / "planned_transformer.py").read_bytes(), "a.py").units
    parsing.parse_unit(units[0])
    sys.addaudithook(hear)
    parsed = [parsing.parse_unit(unit) for unit in units]
    listening = False
    assert all(isinstance(unit, ParsedUnit) for unit in parsed)
    assert heard == []


def test_the_parser_has_no_eval_while_it_works() -> None:
    before = dict(vars(evaluator))
    with sites.closed():
        for module in (evaluator, relax_entry):
            for name in ("eval", "exec", "compile", "open", "__import__"):
                with pytest.raises(RefusedError):
                    vars(module)[name]("1")
        assert evaluator._eval_expr(doc.parse("1 + 2", mode="eval").body, {}) == 3
        with pytest.raises(NameError):
            evaluator._eval_expr(doc.parse("open", mode="eval").body, {})
    assert dict(vars(evaluator)) == before


def test_a_parser_that_is_not_known_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    (unit, *_) = read_units((EXAMPLES / "storage_overflow.py").read_bytes(), "a.py").units
    monkeypatch.delattr(evaluator, "_eval_assign")
    problem = parsing.parse_unit(unit)
    assert not isinstance(problem, ParsedUnit)
    assert "its parser is unknown" in problem.message


@pytest.mark.parametrize("names", [None, {}, {"n": 1}])
def test_a_string_in_a_shape_has_no_builtins(names: dict[str, Any] | None) -> None:
    assert extent("2 * 3", names) == 6
    for text in ("open", "exit", "print", "getattr"):
        with pytest.raises(NameError, match="is not defined"):
            extent(text, names)


@pytest.mark.parametrize(
    "text",
    [
        *("word.format(1)", "word.index('a')", "items.append(1)", "(1).real", "().__class__", "part.start"),
        *(
            "pair.count",
            "(lambda: 1).__code__",
            "len.__self__",
            "int.from_bytes",
            "range(3).start",
            "{}.keys()",
        ),
        *("f'{items}'", "f'{x:>9}'", "'%s' % x", "'%9999d' % x", "b'%d' % x", "int[0]", "list[int]"),
        *(
            "foreign(1)",
            "foreign.name",
            "foreign[0]",
            "foreign + 1",
            "foreign < 1",
            "[y for y in foreign]",
            "[*foreign]",
        ),
        *(
            "max(items, key=int)",
            "x(1)",
            "word(1)",
            "items()",
            "(yield 1)",
            "{1, 2}",
            "(y := 1)",
            "(y for y in items)",
        ),
        *(
            "[0] * 99999",
            "'a' * 99999",
            "9 ** 9999",
            "1 << 9999",
            "2.0 ** x if foreign else 1",
            "max(foreign)",
        ),
        *(
            "[[[[i for i in range(999)] for j in range(999)] for k in range(999)] for l in range(999)]",
            "{**items}",
        ),
        *(
            "max(**items)",
            "range(10 ** 20)",
            "range(-(10 ** 9), 1)",
            "not foreign",
            "1 if foreign else 2",
            "{foreign: 1}",
            "foreign in items",
            "1 in foreign",
        ),
    ],
)
def test_refused_by_what_the_value_is(text: str) -> None:
    with pytest.raises(RefusedError):
        evaluate_plainly(ast.parse(text, mode="eval"), {**NAMES, "foreign": sys})


@pytest.mark.parametrize("operator", ["[[0] * 60000]", "[[[0] * 600] * 60]"])
def test_a_repetition_counts_what_is_inside(operator: str) -> None:
    with pytest.raises(RefusedError):
        evaluate_plainly(ast.parse(f"{operator} * 60000", mode="eval"), {})


def test_the_layer_can_be_switched_off_in_one_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(permissions, "refuse", lambda reason: None)
    assert evaluate_plainly(ast.parse("word.format(1)", mode="eval"), NAMES) == "ab"
