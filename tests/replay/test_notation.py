from __future__ import annotations

import pytest

from relax_lint.replay import (
    Outcome,
    Output,
    RunResult,
    Scalar,
    Shape,
    Tensor,
    describe,
    parse_input,
    parse_line,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("float32[2, 3]", Tensor("float32", (2, 3))),
        ("int8[]", Tensor("int8", ())),
        ("shape(3, -4)", Shape((3, -4))),
        ("-3", Scalar(-3)),
        ("1.5", Scalar(1.5)),
        ("true", Scalar(True)),
    ],
)
def test_an_input_is_read_as_it_is_written(text: str, value: Tensor | Shape | Scalar) -> None:
    assert parse_input(text) == value
    assert str(value) == text


@pytest.mark.parametrize("text", ["float32", "float32[m]", "float32[-1]", "shape(a)", "", "None"])
def test_what_is_no_input_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_input(text)


def test_a_line() -> None:
    line = parse_line(
        "main(x: float32[2, 4], s: shape(1, 2), n: 5) on naive and pooled compiled: ok, float32[0]"
    )
    assert (line.function, line.names, line.exec_mode) == ("main", ("x", "s", "n"), "compiled")
    assert line.inputs == (Tensor("float32", (2, 4)), Shape((1, 2)), Scalar(5))
    assert line.allocators == ("naive", "pooled")
    assert line.expected == "ok, float32[0]"


@pytest.mark.parametrize(
    "text",
    [
        "main(x: float32[4]) on naive",
        "main(x: float32[4]) on paged: ok",
        "main(float32[4]) on naive: ok",
        "main(x: float32[4] y: 3) on naive: ok",
        "main(x: float32[4], ) on naive: ok",
    ],
)
def test_what_is_no_line_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_line(text)


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (RunResult(Outcome.OK, outputs=(Output("float32[2]", (0.0, 2.0)),)), "ok, float32[2] = 0.0, 2.0"),
        (RunResult(Outcome.OK, outputs=(Output("float32[-1, -1]"),)), "ok, float32[-1, -1]"),
        (RunResult(Outcome.OK, outputs=(Output("float32[0]", ()),)), "ok, float32[0]"),
        (RunResult(Outcome.SIGNAL, signal="SIGSEGV"), "SIGSEGV"),
        (RunResult(Outcome.TIMEOUT), "timeout"),
        (
            RunResult(Outcome.ERROR, "run", error_type="ValueError", message="first\nsecond"),
            "ValueError: first",
        ),
        (RunResult(Outcome.ERROR, "build", error_type="KeyError", message=""), "build fails: KeyError"),
    ],
)
def test_a_result_is_described_as_a_line_would_state_it(result: RunResult, text: str) -> None:
    assert describe(result) == text
    assert parse_line(f"main() on naive: {text}").agrees_with(result)


def test_ok_alone_leaves_the_values_open_but_not_the_outcome() -> None:
    line = parse_line("main() on naive: ok")
    assert line.agrees_with(RunResult(Outcome.OK, outputs=(Output("float32[1]", (7.0,)),)))
    assert not line.agrees_with(RunResult(Outcome.ERROR, error_type="ValueError", message="no"))


def test_values_that_differ_do_not_agree() -> None:
    line = parse_line("main() on naive: ok, float32[1] = 7.0")
    assert not line.agrees_with(RunResult(Outcome.OK, outputs=(Output("float32[1]", (8.0,)),)))
