"""TVM's error texts in one readable line."""

from __future__ import annotations

import pytest

from relax_lint.results.problem import Problem
from relax_lint.sources.parsing import parse_unit
from relax_lint.sources.reading import read_units
from relax_lint.sources.reasons import reason
from relax_lint.sources.unit import ParsedUnit


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Check failed: (a && f(b)) is false: the value is wrong", "the value is wrong"),
        ("Check failed: ndim == 2 (3 vs. 2) : cannot have both", "cannot have both"),
        (
            "Mismatched type on argument #4 when calling: `f.g(0: A, 1: Array<B>) -> C`. Expected `A` but got `B`",
            "argument 4 of `f.g` must be `A`, not `B`",
        ),
        (
            'Operator ir.Op(span=None, name="relax.memory.view", description="a) b", x=(1, 2)) expects a shape',
            "`R.memory.view` expects a shape",
        ),
        ("Function 0x55f0aa12 is annotated as pure", "Function is annotated as pure"),
        ("one\n  two", "one two"),
        ("", "TVM gives no reason"),
    ],
)
def test_what_is_left(text: str, shown: str) -> None:
    assert reason(text) == shown


def test_types_stay_and_long_calls_go() -> None:
    call = "R.nn.conv2d(x, w, strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1)"
    given = 'R.Tensor((1, 4, 64, 64), dtype="float32")'
    assert reason(f"{call} is annotated as {given}") == f"R.nn.conv2d(...) is annotated as {given}"


def test_a_long_text_ends_with_a_sentence() -> None:
    sentence = "This is a sentence of some length. "
    shown = reason(sentence * 40)
    assert len(shown) <= 320
    assert shown.endswith("length.")
    assert len(reason("x" * 5000)) <= 320


def test_a_parse_error_of_tvm_is_short_and_placed() -> None:
    text = """from tvm.script import relax as R
@R.function
def f(x: R.Tensor((4,), "float32")):
    y = R.memory.view(x, 4)
    return y
"""
    (unit,) = read_units(text.encode(), "a.py").units
    problem = parse_unit(unit)
    assert isinstance(problem, Problem)
    assert len(problem.message) < 200
    assert "span=" not in problem.message
    assert problem.location is not None
    assert problem.location.line == 4


def test_the_words_of_an_ill_formed_module_name_no_address() -> None:
    text = """from tvm.script import ir as I, relax as R
@I.ir_module
class M:
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        R.print(x, format="{}")
        return x
"""
    (unit,) = read_units(text.encode(), "a.py").units
    parsed = parse_unit(unit)
    assert isinstance(parsed, ParsedUnit)
    assert parsed.ill_formed is not None
    assert "impure" in parsed.ill_formed
    assert "0x" not in parsed.ill_formed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "cannot convert <function <lambda> at 0x7f0a1b2c3d4e> to a type",
            "cannot convert <function <lambda>> to a type",
        ),
        ("got <a.B object at 0x7F0A1B2C3D4E>, <C at 0x1>", "got <a.B object>, <C>"),
        ("object 0x55d0c0ffee00 is bad", "object is bad"),
        ("extent 0x10 is odd", "extent 0x10 is odd"),
    ],
)
def test_addresses_of_objects_are_not_told(text: str, expected: str) -> None:
    assert reason(text) == expected


def test_no_finding_tells_an_address() -> None:
    lines = [
        "y = R.add(x, lambda a: a)",
        "y = R.add(x, R.add)",
        "y = R.add(x, R)",
        "y = R.add(x, max)",
        "R.func_attr(lambda: 1)",
        "y = R.Tensor(lambda: 1)",
        "lambda: 1",
        "R.add",
        "with R.add:\n            y = x",
        "y = R.match_cast(x, lambda: 1)",
    ]
    for line in lines:
        text = (
            "from tvm.script import ir as I, relax as R\n@I.ir_module\nclass Module:\n    @R.function\n"
            f"    def main(x: R.Tensor((4,), 'float32')):\n        {line}\n        return x\n"
        )
        (unit,) = read_units(text.encode(), "a.py").units
        problem = parse_unit(unit)
        assert isinstance(problem, Problem), line
        assert "0x" not in problem.message + "".join(problem.detail), problem


def test_calls_without_an_end_are_looked_at_once() -> None:
    # Not a clock: before, each of them was followed to the end of the text.
    assert reason("R.add(" * 100_000) == "R.add(...)"
