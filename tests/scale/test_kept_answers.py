"""A printed answer is printed again for an equal call, and for no other one."""

from __future__ import annotations

import ast
import os
import sys
from argparse import Namespace
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import relax_lint
from relax_lint.cli import main
from relax_lint.commands import check
from relax_lint.commands.keeping import may_be_kept
from relax_lint.commands.options import report_parser
from relax_lint.running import kept_answers
from relax_lint.running.cache import Cache
from relax_lint.running.kept_answers import KEPT_OPTIONS, VARIABLES, Question, is_harmless
from relax_lint.settings.config import Config
from relax_lint.settings.options import OPTIONS
from tests.scale.test_cache import PROGRAM

Says = Callable[..., "tuple[int, str, bool]"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a program; what was written in this moment counts as settled."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(kept_answers, "_CLOCK_STEP_S", -60.0)
    (tmp_path / "a.py").write_text(PROGRAM)
    return tmp_path


@pytest.fixture
def says(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Says:
    """The exit code and the output of a call, and whether it was answered without a run."""
    ran: list[Any] = []
    run_report = check.run_report

    def watched(*arguments: Any) -> int:
        ran.append(arguments)
        return run_report(*arguments)

    def say(*arguments: str) -> tuple[int, str, bool]:
        ran.clear()
        capsys.readouterr()
        code = main(arguments)
        told = capsys.readouterr()
        assert not told.err
        return code, told.out, not ran

    monkeypatch.setattr(check, "run_report", watched)
    return say


def test_an_equal_call_prints_what_a_run_printed_and_any_other_one_runs(
    says: Says, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged, known, kept = says("a.py"), says("a.py"), says("a.py")
    assert "RLX101" in judged[1]
    assert [one[2] for one in (judged, known, kept)] == [False, False, True]
    assert judged[:2] == known[:2] == kept[:2]
    # Other options have answers of their own.
    assert says("a.py", "--exit-zero")[0] == 0
    assert says("a.py", "--exit-zero") == (0, judged[1], True)
    assert says("a.py", "--fail-on", "error")[2] is False
    assert says("a.py", "--output-format", "concise")[1].startswith("a.py:9:17: warning[RLX101]")
    assert says("a.py", "--output-format", "concise")[2]
    report = says("a.py", "--output-format", "json")
    assert says("a.py", "--output-format", "json") == (*report[:2], True)
    assert "RLX101" in report[1]
    for _ in range(2):
        assert not says("a.py", "--output-format", "sarif")[2]
        assert not says(".")[2]
        assert not says("a.py", "--quiet", "--color", "always")[2]
    # So has another environment, or another file, or other settings.
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in says("a.py")[1]
    assert not says("a.py")[2]
    monkeypatch.delenv("FORCE_COLOR")
    assert says("a.py")[2]
    (folder / "pyproject.toml").write_text("[tool.relax-lint]\nfail-on = 'error'\n")
    assert says("a.py")[0] == 0
    (folder / "pyproject.toml").unlink()
    assert says("a.py") == kept
    (folder / "a.py").write_text(PROGRAM + "\n# more\n")
    assert not says("a.py")[2]
    (folder / "a.py").write_text(PROGRAM)
    assert says("a.py")[2]


def test_an_answer_is_kept_where_the_call_keeps_results(says: Says, folder: Path) -> None:
    for words in (
        ["--cache-dir", "own"],
        ["--cache-dir=own"],
        ["--cache-dir", "other", "--cache-dir", "own"],
    ):
        assert [says(*words, "a.py")[2] for _ in range(3)][-1]
    assert not (folder / "other").exists()
    assert not says("--cache-dir", "other", "a.py")[2]
    # Where a configuration keeps them is not known without reading it.
    (folder / "pyproject.toml").write_text("[tool.relax-lint]\ncache-dir = 'own'\n")
    assert not any(says("a.py")[2] for _ in range(3))
    assert Question(["a.py", "--cache-dir"]).key is None
    assert Question(["a.py", "--cache-dir="]).key is None
    assert Question(["a.py", "--", "--cache-dir", "own"]).folder != str(folder / "own")


def test_a_baseline_and_a_warning_are_never_left_out(says: Says, folder: Path) -> None:
    assert main(["a.py", "--write-baseline", "--baseline", "known.json"]) == 0
    for _ in range(3):
        assert says("a.py", "--baseline", "known.json")[::2] == (0, False)
    (folder / "pyproject.toml").write_text("[tool.relax-lint]\nbaseline = 'known.json'\n")
    for _ in range(3):
        assert says("a.py")[::2] == (0, False)


SAMPLES = {"integer": "3", "severity": "error", "budgets": "1GiB", "allocators": "naive", "path": "p"}


@pytest.mark.parametrize("command", ["check", "memory"])
def test_every_option_is_one_with_which_answers_are_kept_or_keeps_none(command: str) -> None:
    parser = report_parser(command)
    plain = parser.parse_args(["a.py"])
    plain.all_known = True
    assert may_be_kept(plain, command, Config())
    for option in OPTIONS:
        if command not in option.commands:
            continue
        value = SAMPLES.get(option.kind, "text" if option.kind == "format" else "x")
        if option.choices:
            value = [*(option.given or option.choices)][-1]
        words = [f"--{option.name}"] if option.kind == "flag" else [f"--{option.name}", value]
        options = parser.parse_args(["a.py", *words])
        options.all_known = True
        assert may_be_kept(options, command, Config()) is (option.name in KEPT_OPTIONS), option.name


def test_what_settings_and_a_run_must_be_like() -> None:
    options = report_parser("check").parse_args(["a.py"])
    assert not may_be_kept(options, "check", Config())
    options = Namespace(**{**vars(options), "all_known": True})
    for change in ({"cache": False}, {"cache_dir": "kept"}, {"baseline": "b.json"}):
        assert not may_be_kept(options, "check", replace(Config(), **change))


@pytest.mark.parametrize(
    "arguments", [["-"], ["@list"], ["."], ["--quiet"], ["link.py"], ["pipe.py"], ["a.md"]]
)
def test_other_inputs_have_no_key(arguments: list[str], folder: Path) -> None:
    (folder / "a.md").write_text("text")
    (folder / "link.py").symlink_to("a.py")
    os.mkfifo(folder / "pipe.py")
    assert Question(["a.py"]).key is not None
    assert Question(["a.py", *arguments]).key is None or arguments == ["--quiet"]
    assert Question(arguments).key is None


def test_a_terminal_has_its_own_columns_and_no_kept_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    assert Question(["a.py"]).key is None


def _kept(folder: Path, text: str = "safe\n", code: int = 0) -> Path:
    cache = folder / "kept"
    cache.mkdir(exist_ok=True)
    (cache / "CACHEDIR.TAG").write_bytes(kept_answers._SIGNATURE)
    (folder / "rules").mkdir(exist_ok=True)
    (folder / "rules" / "one.py").write_text("pass")
    question = Question(["a.py"])
    question.text = text
    entry = question.entry(code, [str(folder / "rules")])
    assert entry is not None
    path = Path(entry[0])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(entry[1])
    return path


def test_an_answer_goes_with_the_tool_that_gave_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELAX_LINT_CACHE_DIR", str(folder / "kept"))
    _kept(folder, code=1)
    assert Question(["a.py"]).answer() == ("safe\n", 1)
    (folder / "rules" / "two.py").write_text("pass")
    assert Question(["a.py"]).answer() is None
    _kept(folder)
    assert Question(["a.py"]).answer() == ("safe\n", 0)
    monkeypatch.syspath_prepend(str(folder))
    assert Question(["a.py"]).answer() is None
    _kept(folder)
    (folder / "new-1.0.dist-info").mkdir()
    assert Question(["a.py"]).answer() is None


@pytest.mark.parametrize("text", ["\x1b[2J", "::warning::", "##[error]", "\u202e", "a\rb", "é"])
def test_what_a_terminal_or_a_ci_system_would_carry_out_is_not_printed(
    text: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELAX_LINT_CACHE_DIR", str(folder / "kept"))
    path = _kept(folder)
    assert not is_harmless(text)
    path.write_bytes(path.read_bytes().replace(b"safe", text.encode()))
    assert Question(["a.py"]).answer() is None
    question = Question(["a.py"])
    question.text = text
    assert question.entry(0, [str(folder / "rules")]) is None


def test_damaged_and_foreign_entries_are_not_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELAX_LINT_CACHE_DIR", str(folder / "kept"))
    path = _kept(folder)
    data = path.read_bytes()
    for damaged in (b"", b"\n\n", data[:20], data.replace(b"answer 1\n0", b"answer 1\n2"), b"\xff" * 9):
        path.write_bytes(damaged)
        assert Question(["a.py"]).answer() is None
    path.write_bytes(data)
    assert Question(["a.py"]).answer() == ("safe\n", 0)
    (folder / "kept" / "CACHEDIR.TAG").write_bytes(b"another")
    assert Question(["a.py"]).answer() is None
    (folder / "kept" / "CACHEDIR.TAG").write_bytes(kept_answers._SIGNATURE)
    path.rename(folder / "elsewhere")
    path.symlink_to(folder / "elsewhere")
    assert Question(["a.py"]).answer() is None


def test_a_file_that_changes_meanwhile_has_no_answer(folder: Path) -> None:
    question = Question(["a.py"])
    question.text = "safe\n"
    (folder / "a.py").write_text(PROGRAM + "\n")
    assert question.entry(0, [str(folder)]) is None


def test_a_file_with_two_names_is_judged_once_and_its_copy_again(says: Says, folder: Path) -> None:
    os.link("a.py", "b.py")
    for _ in range(3):
        assert "b.py" not in says("a.py", "b.py")[1]
    (folder / "b.py").unlink()
    (folder / "b.py").write_text(PROGRAM)
    assert "b.py" in says("a.py", "b.py")[1]
    # So it is with a folder that leads to another one.
    (folder / "here").symlink_to(".")
    for _ in range(3):
        assert "here" not in says("a.py", "here/a.py")[1]
    (folder / "here").unlink()
    (folder / "here").mkdir()
    (folder / "here" / "a.py").write_text(PROGRAM)
    assert "here/a.py" in says("a.py", "here/a.py")[1]


@pytest.mark.parametrize("name", [name for name in VARIABLES if name != "RELAX_LINT_DEBUG"])
def test_a_variable_may_have_any_value(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = set()
    for value in (None, "", "None", "1"):
        monkeypatch.delenv(name, raising=False)
        if value is not None:
            monkeypatch.setenv(name, value)
        keys.add(Question(["a.py"]).key)
    assert len(keys - {None}) == 4


def test_the_import_path_may_hold_what_is_no_text(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    known = Question(["a.py"]).key
    monkeypatch.setattr(sys, "path", [*sys.path, folder])
    assert Question(["a.py"]).key not in (None, known)
    monkeypatch.setattr(sys, "executable", None)
    assert Question(["a.py"]).key is not None


def test_an_entry_that_is_old_and_cannot_be_touched_is_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELAX_LINT_CACHE_DIR", str(folder / "kept"))
    os.utime(_kept(folder), (1e9, 1e9))

    def refuse(*_: Any) -> None:
        raise PermissionError(1, "read-only")

    monkeypatch.setattr(os, "utime", refuse)
    assert Question(["a.py"]).answer() == ("safe\n", 0)


def test_an_entry_that_names_a_whole_disk_is_not_followed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELAX_LINT_CACHE_DIR", str(folder / "kept"))
    monkeypatch.setattr(kept_answers, "_MOST_ENTRIES", 100)
    _kept(folder)
    (folder / "rules" / "again").symlink_to("..")
    seen: list[str] = []
    scandir = os.scandir

    def watched(path: str) -> Any:
        seen.append(path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", watched)
    assert Question(["a.py"]).answer() is None
    assert 0 < len(seen) <= 100
    question = Question(["a.py"])
    question.text = "safe\n"
    assert question.entry(0, [str(folder / "rules")]) is None


def test_what_an_editor_leaves_among_the_rules_is_no_rule(folder: Path) -> None:
    rules = folder / "rules"
    (rules / "folder.py").mkdir(parents=True)
    (rules / "one.py").write_text("pass")
    (rules / "folder.py" / "two.py").write_text("pass")
    (rules / ".#one.py").symlink_to("somebody@somewhere.1234")
    (rules / "loop.py").symlink_to("loop.py")
    names = [Path(path).name for path, _ in kept_answers.python_files(str(rules))]
    assert names == ["two.py", "one.py"]


def test_kept_answers_count_for_the_size_of_the_folder(says: Says, monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[bool] = []
    monkeypatch.setattr(Cache, "close", lambda cache: closed.append(cache._wrote))
    says("a.py")
    closed.clear()
    says("a.py")
    assert closed == [False, True]


# Of processes that are started, of terminals alone, and those that are asked here.
_ELSEWHERE = {"starting.py", "surroundings.py", "kept_answers.py", "installed.py"}


def test_every_environment_variable_that_is_read_is_part_of_the_question() -> None:
    root = Path(relax_lint.__file__).parent
    read: set[str] = set()
    for path in root.rglob("*.py"):
        if path.name in _ELSEWHERE or {"sandbox", "replay"} & {*path.parts}:
            continue
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text if "os.environ" in text else "")):
            if isinstance(node, ast.Call | ast.Subscript) and "os.environ" in ast.unparse(node)[:12]:
                constants = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant)]
                read |= {value for value in constants if isinstance(value, str) and value.isupper()}
    assert read, "none is found: the search is wrong"
    assert read <= {*VARIABLES, "PYTHONPATH"}
