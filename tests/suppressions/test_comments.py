"""Ignore comments: which are found, and what they are about."""

from __future__ import annotations

import pytest

from relax_lint.results.location import Location
from relax_lint.sources.ignore_comment import IgnoreComment
from relax_lint.sources.ignore_comments import read_comments
from relax_lint.sources.reading import read_units
from relax_lint.sources.text import SourceText

RELAX = "from tvm.script import relax as R\n@R.function\ndef f(x: R.Tensor((4,))):\n    return x\n"


def comments(text: str) -> tuple[IgnoreComment, ...]:
    return read_comments(SourceText("a.py", text))


def lines_of(comment: IgnoreComment) -> list[int]:
    return [line for line in range(1, 20) if comment.covers(Location("a.py", line, 1, line, 9))]


@pytest.mark.parametrize(
    ("text", "rules", "reason"),
    [
        ("x  # relax-lint: ignore[RLX101]", ("RLX101",), ""),
        ("x  #relax-lint:ignore [ RLX101 , RLX2,]", ("RLX101", "RLX2"), ""),
        ("x  # relax-lint: ignore[RLX101] -- see #12, [ok]", ("RLX101",), "see #12, [ok]"),
        ("x  # noqa  # relax-lint: ignore[storage-overflow]  # type: ignore", ("storage-overflow",), ""),
        ("x  ## relax-lint: ignore[RLX1]", ("RLX1",), ""),
    ],
)
def test_what_is_understood(text: str, rules: tuple[str, ...], reason: str) -> None:
    (comment,) = comments(text)
    assert (comment.rules, comment.reason, comment.problem) == (rules, reason, "")


@pytest.mark.parametrize(
    "text",
    ["ignore", "ignore RLX101", "ignore[RLX101", "ignore[]", "ignore[RLX101] because", "allow[RLX101]", ""],
)
def test_what_is_not_understood_suppresses_nothing(text: str) -> None:
    (comment,) = comments(f"x  # relax-lint: {text}")
    assert comment.problem
    assert comment.rules == ()


def test_two_directives_in_one_comment() -> None:
    both = comments("x  # relax-lint: ignore[RLX1]  # relax-lint: ignore-file[RLX2]")
    assert [comment.rules for comment in both] == [("RLX1",), ("RLX2",)]
    assert [comment.scope is None for comment in both] == [False, True]


@pytest.mark.parametrize(
    "text", ["x = '# relax-lint: ignore[RLX1]'", "# x = y  # relax-lint: ignore[RLX1]", "# relax-linter: x"]
)
def test_what_is_no_comment_to_the_tool(text: str) -> None:
    assert comments(text) == ()


def test_a_comment_on_a_statement_is_about_all_its_lines() -> None:
    text = "a = 1\nb = f(  # relax-lint: ignore[RLX1]\n    1,\n    2,\n)\nc = 3\n"
    (comment,) = comments(text)
    assert lines_of(comment) == [2, 3, 4, 5]
    (comment,) = comments(
        text.replace("  # relax-lint: ignore[RLX1]", "").replace(")\n", ")  # relax-lint: ignore[RLX1]\n")
    )
    assert lines_of(comment) == [2, 3, 4, 5]


def test_a_comment_of_its_own_line_is_about_the_next_statement() -> None:
    text = "a = 1\n# relax-lint: ignore[RLX1]\n# why\n\nb = f(\n    1)\nc = 3\n"
    (comment,) = comments(text)
    assert lines_of(comment) == [5, 6]
    inside = comments("a = 1\nb = f(\n    # relax-lint: ignore[RLX1]\n    1)\nc = 3\n")
    assert lines_of(inside[0]) == [2, 3, 4]


def test_a_comment_on_a_def_is_about_its_head_only() -> None:
    (comment,) = comments("def f(x):  # relax-lint: ignore[RLX1]\n    y = x\n    return y\n")
    assert lines_of(comment) == [1]


def test_a_comment_for_the_file_is_about_everything() -> None:
    (comment,) = comments("x = 1\n# relax-lint: ignore-file[RLX5]\n")
    assert lines_of(comment) == [*range(1, 20)]
    assert comment.covers(None)


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_places_do_not_depend_on_the_ends_of_lines(ends: str) -> None:
    (comment,) = comments(ends.join(["x = 1", "é = 'ü'  # relax-lint: ignore[RLX1]", "y = 2"]))
    assert comment.location == Location("a.py", 2, 10, 2, 36)
    assert lines_of(comment) == [2]


def test_what_stands_before_a_broken_place_is_found() -> None:
    found = comments("# relax-lint: ignore-file[RLX901]\nx = 1  # relax-lint: ignore[RLX1]\ny = (\n'''")
    assert [comment.rules for comment in found] == [("RLX901",), ("RLX1",)]


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("x = 1  # relax-lint: ignore[RLX1]\ny = 2\n", "x = 1\ny = 2\n"),
        ("x = 1  # noqa  # relax-lint: ignore[RLX1]\n", "x = 1  # noqa\n"),
        ("x = 1  # relax-lint: ignore[RLX1]  # noqa\n", "x = 1  # noqa\n"),
        ("    # relax-lint: ignore[RLX1] -- why\nx = 1\n", "x = 1\n"),
        ("x = 1\n# relax-lint: ignore[RLX1]", "x = 1\n"),
    ],
)
def test_what_to_remove(text: str, rest: str) -> None:
    (comment,) = comments(text)
    place = comment.removal
    assert place is not None
    lines = text.split("\n")
    begin = sum(len(line) + 1 for line in lines[: place.line - 1]) + place.column - 1
    end = sum(len(line) + 1 for line in lines[: place.end_line - 1]) + place.end_column - 1
    assert text[:begin] + text[end:] == rest


def test_markdown_notebooks_and_literals_have_places_of_their_own() -> None:
    commented = RELAX.replace("x\n", "x  # relax-lint: ignore[RLX1]\n")
    markdown = read_units(
        f"text # relax-lint: ignore[RLX9]\n```python\n{commented}```\n".encode(), "a.md", "markdown"
    )
    assert [(comment.location.line, comment.location.column) for comment in markdown.comments] == [(6, 15)]
    assert markdown.comments[0].removal is None
    literal = f'import tvm\ntvm.script.from_source("""\n{commented}""")\n'
    (found,) = read_units(literal.encode(), "a.py").comments
    assert (found.location.line, found.rules) == (6, ("RLX1",))
