"""The first look at inputs: what it settles is what the whole way through a run would say."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from relax_lint.cli import main
from relax_lint.commands import check
from relax_lint.commands.looking import PlainCall
from relax_lint.sources.discovery import discover, looked_at
from relax_lint.sources.inputs import Input
from relax_lint.sources.ordinary import LARGEST, Ordinary
from relax_lint.sources.prefilter import test_of as relax_test_of
from tests.scale.test_cache import PROGRAM

ORDINARY = "import os\n\n\ndef function() -> str:\n    return os.name\n"
HEAVY = {"argparse", "dataclasses", "enum", "inspect", "json", "pathlib", "re", "tempfile", "typing"}
"""What takes longer to load than a thousand files to look at."""


@pytest.fixture(autouse=True)
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Files with and without Relax, and what is no file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    for name in ("a.py", "b.md", "sub/c.py", "sub/skipped.py", "d.txt"):
        (tmp_path / name).write_text(ORDINARY)
    (tmp_path / "sub/e.json").write_text("{}")
    (tmp_path / "sub/.gitignore").write_text("skipped.py\n")
    (tmp_path / "link.py").symlink_to("a.py")
    os.mkfifo(tmp_path / "pipe.py")
    return tmp_path


def shown(paths: list[str]) -> list[tuple[str, bool]]:
    """The path of each input, and whether it is known to hold no Relax."""
    return [
        (one.path, isinstance(one, Ordinary)) for one in looked_at(paths) if isinstance(one, Input | Ordinary)
    ]


def test_what_is_found_is_what_a_search_finds_that_opens_nothing(tree: Path) -> None:
    (tree / "sub/r.py").write_text(PROGRAM)
    (tree / "sub/large.py").write_text("#" * (LARGEST + 1))
    for paths in (["."], ["sub", "."], ["a.py", "sub/c.py", "a.py"], ["sub/r.py", "."], ["d.txt"]):
        without = [one.path for one in discover(paths) if isinstance(one, Input)]
        assert [path for path, _ in shown(paths)] == without
    known = {path for path, ordinary in shown(["."]) if ordinary}
    assert known == {"a.py", "b.md", "sub/c.py", "sub/e.json"}
    # A model's name, and JSON that is named, are never put aside.
    assert shown(["sub/e.json"]) == [("sub/e.json", False)]
    assert relax_test_of("onnx", named=False) is None


def test_a_file_that_is_no_ordinary_one_goes_the_whole_way(tree: Path) -> None:
    for name in ("pipe.py", "sub/missing.py", "/dev/null"):
        assert not any(ordinary for _, ordinary in shown([name]))
    assert shown(["link.py"]) == [("link.py", True)]
    (found,) = looked_at(["link.py"], follow_links=False)
    assert not isinstance(found, Ordinary)


def test_a_file_of_which_less_is_given_than_is_there_is_not_put_aside(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tree / "sub/r.py").write_text(PROGRAM)
    read = os.read
    monkeypatch.setattr(os, "read", lambda file, count: read(file, min(count, 8)))
    for paths in (["."], ["sub"], ["sub/r.py"]):
        assert ("sub/r.py", False) in shown(paths)
    (tree / "sub/small.py").write_text("x = 1\n")
    assert ("sub/small.py", True) in shown(["sub"])


Answered = Callable[[list[str]], "tuple[int, str]"]


@pytest.fixture
def answered(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Answered:
    """The exit code and the output of a call that reads no options."""

    def say(arguments: list[str]) -> tuple[int, str]:
        code = PlainCall(arguments).answer()
        told = capsys.readouterr()
        assert code is not None
        assert not told.err
        return code, told.out

    monkeypatch.delattr(check, "run_report")
    return say


def test_calls_that_are_answered_at_once(tree: Path, answered: Answered) -> None:
    assert answered(["a.py"]) == (0, "no Relax function in 1 input\n")
    assert answered(["check", "a.py", "./a.py", "link.py"]) == (0, "no Relax function in 1 input\n")
    assert answered(["--strict", "a.py", "sub", "--no-cache"]) == (0, "no Relax function in 3 inputs\n")
    assert answered(["check", "--quiet", "a.py"]) == (0, "")
    (tree / "pyproject.toml").write_text("[project]\nname = 'p'\ndependencies = ['relax-lint']\n")
    assert answered(["a.py"])[0] == 0


@pytest.mark.parametrize(
    "arguments",
    [
        *(["a.py", "r.py"], ["r.py"], ["a.py", "missing.py"], ["a.py", "-"], ["@a.py"], ["-"], [""]),
        *(["a.py", "--verbose"], ["a.py", "--error-on-no-input"], ["--output-format", "json", "a.py"]),
        *(
            ["a.py", "pipe.py"],
            ["--", "a.py"],
            ["check"],
            ["empty"],
            ["memory", "a.py"],
            ["a.py", "--strikt"],
        ),
    ],
)
def test_calls_that_are_not(arguments: list[str], tree: Path) -> None:
    (tree / "r.py").write_text(PROGRAM)
    (tree / "empty").mkdir()
    assert PlainCall(arguments).answer() is None


def test_a_configuration_is_read_before_anything_is_said(tree: Path) -> None:
    assert PlainCall(["sub"]).answer() == 0
    (tree / "pyproject.toml").write_text("[tool.relax-lint]\nselect = ['RLX101']\n")
    assert PlainCall(["sub"]).inputs is None


PROBE = """
import sys
before = set(sys.modules)
from relax_lint.cli import main
code = main(sys.argv[1:])
print(code, *sorted(set(sys.modules) - before))
"""


def test_a_folder_without_relax_loads_next_to_nothing(tree: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROBE, "."], capture_output=True, text=True, check=True, cwd=tree
    )
    said, answer = done.stdout.splitlines()
    assert said == "no Relax function in 4 inputs"
    code, *loaded = answer.split()
    assert code == "0"
    assert not HEAVY & set(loaded)
    assert len([name for name in loaded if name.startswith("relax_lint")]) < 20


def test_a_run_that_fails_for_want_of_relax_counts_files_and_not_paths(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--quiet", "--error-on-no-input", "."]) == 3
    assert capsys.readouterr().err.startswith("relax-lint: no input of 4 has a Relax function")
