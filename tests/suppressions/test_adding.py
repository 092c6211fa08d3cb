"""`--add-ignore`: comments are written, and nothing else changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from relax_lint.repair.apply import apply_edits
from relax_lint.results.location import Location
from relax_lint.support.codec import decode
from relax_lint.suppressions.adding import Plan, Wanted, plan
from tests.command import said

from .programs import MODULE, OVERFLOW, commented

Call = Callable[..., "CompletedProcess[str]"]
LITERAL = f'import tvm\nfrom tvm.script import ir as I, relax as R, tirx as T\ntvm.script.from_source("""\n{MODULE}""")\n'


@pytest.fixture
def call(tmp_path: Path) -> Call:
    def run(*arguments: str, **options: Any) -> CompletedProcess[str]:
        return said(tmp_path, *arguments, **options)

    return run


def test_what_was_found_is_accepted(call: Call, tmp_path: Path) -> None:
    inputs = {
        "plain.py": OVERFLOW.encode(),
        "crlf.py": OVERFLOW.replace("\n", "\r\n").encode(),
        "latin.py": ("# -*- coding: latin-1 -*-\n# é\n" + OVERFLOW).encode("latin-1"),
        "page.md": f"# é\n\n```python\n{OVERFLOW}```\n".encode(),
        "literal.py": LITERAL.encode(),
    }
    for name, data in inputs.items():
        (tmp_path / name).write_bytes(data)
    result = call("--add-ignore", "--reason", "the  caller\nchecks m", ".")
    assert (result.returncode, result.stderr) == (0, "5 findings accepted by comments in 5 files\n")
    comment = b"  # relax-lint: ignore[RLX101] -- the caller checks m"
    for name, old in inputs.items():
        new = (tmp_path / name).read_bytes()
        assert new.replace(comment, b"", 1) == old
        row = new.split(b"\n")[[comment in line for line in new.split(b"\n")].index(True)]
        assert (b"alloc_tensor" in row) is (name != "literal.py")
    assert call("--fail-on", "note", ".").returncode == 0


def test_what_no_comment_can_accept_is_left(call: Call, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text(OVERFLOW + "(\n")
    (tmp_path / "unused.py").write_text(
        commented("# relax-lint: ignore[RLX102]", 9, OVERFLOW.replace("[16]", "[4 * m]"))
    )
    before = {path: path.read_text() for path in tmp_path.glob("*.py")}
    result = call("--add-ignore", ".")
    assert (result.returncode, result.stderr) == (1, "0 findings accepted by comments in 0 files\n")
    assert {path: path.read_text() for path in before} == before
    assert "RLX901" in result.stdout
    assert "RLX905" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--add-ignore", "-"), "`--add-ignore` writes into files, and standard input is not a file"),
        (("--reason", "why", "a.py"), "--reason needs --add-ignore"),
        (
            ("--add-ignore", "--fix", "a.py"),
            "--fix, --add-ignore, --write-baseline and --update-baseline cannot be combined",
        ),
    ],
)
def test_what_makes_no_sense(call: Call, arguments: tuple[str, ...], message: str) -> None:
    result = call(*arguments, input=OVERFLOW)
    assert (result.returncode, result.stderr) == (2, f"relax-lint: error: {message}\n")


def planned(text: str, *findings: tuple[int, str], reason: str = "") -> str:
    """The text with comments for findings, each at column 5 of a line."""
    wanted = [Wanted(rule, Location("a.py", line, 5, line, 9)) for line, rule in findings]
    (value,) = plan(text, "a.py", "python", wanted, reason)
    return apply_edits(text, decode(Plan, value).edits)


def test_one_comment_for_all_findings_of_a_statement() -> None:
    text = "a = 1\nb = f(\n    1,\n    2)  # noqa\nc = 3"
    found = planned(text, (2, "RLX304"), (3, "RLX101"), (3, "RLX101"), (5, "RLX2"))
    assert (
        found
        == text.replace("# noqa", "# noqa  # relax-lint: ignore[RLX101, RLX304]")
        + "  # relax-lint: ignore[RLX2]"
    )


@pytest.mark.parametrize(
    "line",
    [
        "x = 1  # relax-lint: ignore[RLX2] -- why  ",
        "x = f('''\n    # no comment\n    ''')  # relax-lint: ignore[RLX2] -- why",
    ],
)
def test_a_comment_that_is_there_is_extended(line: str) -> None:
    text = f"{line}\ny = 2\n"
    assert planned(text, (1, "RLX101"), reason="new") == text.replace(
        "[RLX2] -- why", "[RLX2, RLX101] -- why; new"
    )


def test_a_comment_above_is_extended_too() -> None:
    text = "# relax-lint: ignore[RLX2]\nx = 1\n"
    assert planned(text, (2, "RLX101")) == text.replace("[RLX2]", "[RLX2, RLX101]")


@pytest.mark.parametrize("text", ["x = (\n", "", "# only a comment\n"])
def test_where_no_statement_stands_nothing_is_written(text: str) -> None:
    assert planned(text, (1, "RLX101")) == text
