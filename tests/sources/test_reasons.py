"""TVM's error texts in one readable line."""

from __future__ import annotations

import pytest

from relax_lint.sources.parsing import parse_unit
from relax_lint.sources.reading import read_units
from relax_lint.sources.reasons import reason
from relax_lint.sources.unit import ParsedUnit, Problem


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
