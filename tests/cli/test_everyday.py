"""What a person does with a linter every day: choose rules, count, list, fix, and read arguments from files."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from relax_lint.cli import main
from relax_lint.judging.selection import unknown_rule, with_codes
from relax_lint.rule import load_rules
from relax_lint.settings.config import Config, ConfigError, load_config
from relax_lint.settings.options import OPTIONS
from tests.cli.conftest import FINE, ORDINARY, OVERFLOW, Run

Write = Callable[[str, str | bytes], str]


def test_rules_are_chosen_by_name_and_all_together() -> None:
    config = with_codes(
        Config(
            select=("ALL",),
            ignore=("storage-overflow", "RLX2"),
            per_file_ignores=(("a.py", ("use-after-kill",)),),
        )
    )
    on = {code for code, rule in load_rules().items() if rule.is_on(config)}
    assert on == {code for code in load_rules() if code != "RLX101" and not code.startswith("RLX2")}
    assert config.per_file_ignores == (("a.py", (_code("use-after-kill"),)),)
    assert with_codes(config) == config


def _code(name: str) -> str:
    return next(rule.code for rule in load_rules().values() if rule.name == name)


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("RLX10l", "RLX101"),
        ("RLX1O1", "RLX101"),
        ("rlx101", "RLX101"),
        ("all", "ALL"),
        ("storage-overfow", "storage-overflow"),
        ("storage_overflow", "storage-overflow"),
    ],
)
def test_the_nearest_rule_is_suggested(word: str, meant: str) -> None:
    assert unknown_rule([word]) == f"unknown rule `{word}`; did you mean `{meant}`?"


def test_an_unknown_rule_is_named_with_its_file_line_and_key(tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text('[tool.relax-lint]\nstrict = true\nignore = ["RLX10l"]\n', encoding="utf-8")
    with pytest.raises(ConfigError) as error:
        with_codes(load_config(str(path)))
    assert str(error.value).startswith(f"{path}: [tool.relax-lint]: line 3: `ignore`: unknown rule `RLX10l`;")


def test_counts_by_rule_take_the_place_of_findings(run: Run, write: Write) -> None:
    write("model.py", OVERFLOW)
    counted = run("--statistics", "--exit-zero", "model.py")
    assert counted.stdout.startswith(
        "1  RLX101  [*] storage-overflow\n[*] can be fixed with `--fix`\n\n11 checks in 1 function"
    )
    assert counted.returncode == 0
    assert run("--statistics", "-q", "model.py").returncode == 1


def test_what_a_fix_did_is_said_to_a_quiet_hook(run: Run, write: Write, tmp_path: Path) -> None:
    write("model.py", OVERFLOW)
    fixed = run("check", "--fix", "--show-fixes", "--quiet", "model.py")
    assert fixed.stderr == "fixed 1 finding in 1 file\n  model.py: 1 x RLX101 storage-overflow\n"
    assert (fixed.returncode, fixed.stdout) == (0, "")
    again = run("check", "--fix", "--show-fixes", "--quiet", "model.py")
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")


def test_verbose_says_on_standard_error_what_is_read(run: Run, write: Write) -> None:
    write("pyproject.toml", "[tool.relax-lint]\nstrict = true\n")
    told = run("-v", write("a.py", ORDINARY), write("fine.py", FINE))
    assert "configuration: " in told.stderr
    assert "pyproject.toml\n" in told.stderr
    assert "relax-lint: a.py: skipped (no Relax function in it)\n" in told.stderr
    assert "relax-lint: fine.py: checked, functions: 1\n" in told.stderr
    assert "ok: 3 operations proved safe" in told.stdout
    assert "configuration" not in told.stdout


def test_the_settings_shown_are_a_file_with_these_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = """\
        [tool.relax-lint]
        select = ["ALL"]
        allocators = ["pooled"]
        max-memory = {"global" = "2 MiB"}
        fail-on = "error"
        per-file-ignores = {"tests/\\u007f*" = ["ALL", "RLX2"]}
        severities = {"RLX101" = "note", "ALL" = "error"}
        assume-in = {"Module.main" = ["n <= 4"]}
        """
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["--show-settings", "--assume", "n <= 8"]) == 0
    shown = capsys.readouterr().out
    assert f"# from {tmp_path}/pyproject.toml, and the command line\n" in shown
    (tmp_path / "again.toml").write_text(shown, encoding="utf-8")
    again, before = with_codes(load_config("again.toml")), with_codes(load_config())
    assert again.assume == ("n <= 8",)
    for option in OPTIONS:
        if option.key not in (None, "assume"):
            assert getattr(again, option.field) == getattr(before, option.field), option.name


def test_the_files_shown_are_the_inputs(run: Run, write: Write) -> None:
    write("models/a.py", ORDINARY)
    write("models/gone/b.py", ORDINARY)
    write("models/picture.png", b"")
    shown = run("--show-files", "--exclude", "gone", "models")
    assert (shown.returncode, shown.stdout) == (0, "models/a.py\n")


def test_arguments_come_from_files(run: Run, write: Write, tmp_path: Path) -> None:
    write("a.py", ORDINARY)
    write("some arguments", "--show-files\n\na.py\n")
    assert run("check", "@some arguments").stdout == "a.py\n"
    assert run("@some arguments").stdout == "a.py\n"
    missing = run("@gone")
    assert (missing.returncode, missing.stderr) == (
        2,
        "relax-lint: error: cannot read arguments from `gone`: No such file or directory\n",
    )


def test_only_a_line_feed_ends_an_argument(run: Run, write: Write, tmp_path: Path) -> None:
    # The list may hold names that somebody else chose, with what Python takes for the end of a line.
    (tmp_path / "list").write_bytes("a\u2028--version\r\n--output-format\n".encode() + b"concise\n")
    assert "--version: no such file" in run("check", "@list").stderr


def test_a_file_whose_name_begins_with_an_at_sign_is_no_list_of_arguments(run: Run, write: Write) -> None:
    # A hook passes the names of files that somebody else chose.
    write("a.py", "--version\n")
    write("@a.py", ORDINARY)
    assert run("check", "@a.py").stdout == "no Relax function in 1 input\n"


def test_what_was_judged_before_ctrl_c_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupting(words: str) -> None:
        if words == "1 of 2 inputs judged":
            raise KeyboardInterrupt

    @contextmanager
    def waiting(*, quiet: bool) -> Iterator[Callable[[str], None]]:
        yield interrupting

    monkeypatch.chdir(tmp_path)
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text(OVERFLOW, encoding="utf-8")
    monkeypatch.setattr("relax_lint.commands.judging.waiting", waiting)
    assert main(["--jobs", "1", "--no-cache", "--output-format", "json", "a.py", "b.py"]) == 130
    said = capsys.readouterr()
    assert said.err == "relax-lint: interrupted: 1 of 2 inputs judged\n"
    report = json.loads(said.out)
    judged, left = sorted(report["inputs"], key=lambda one: str(one["status"]))
    assert (judged["status"], judged["reason"]) == ("checked", None)
    assert (left["status"], left["reason"]) == ("failed", "interrupted before all of it was judged")
    assert {check["path"] for check in report["checks"]} == {judged["path"]}
    # What changes files needs the whole report.
    assert main(["--jobs", "1", "--no-cache", "--fix", "a.py", "b.py"]) == 130
    assert capsys.readouterr().err == "relax-lint: interrupted\n"
    assert (tmp_path / "a.py").read_text(encoding="utf-8") == OVERFLOW


@pytest.mark.parametrize(
    ("variables", "painted"),
    [
        ({"FORCE_COLOR": "1"}, True),
        ({"CLICOLOR_FORCE": "1"}, True),
        ({"FORCE_COLOR": "0"}, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ({}, False),
    ],
)
def test_colour_that_the_environment_asks_for(
    variables: dict[str, str],
    painted: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("FORCE_COLOR", "NO_COLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert main(["rules"]) == 0
    assert ("\x1b[" in capsys.readouterr().out) == painted


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--show-fixes", "a.py"], "--show-fixes needs --fix or --diff"),
        (["check"], "the following arguments are required: PATH (see `relax-lint check --help`)"),
        (["memory", "-q"], "the following arguments are required: PATH (see `relax-lint memory --help`)"),
        (["--watch", "-"], "`--watch` watches files, and standard input is not a file"),
        (["--watch", "--add-ignore", "a.py"], "`--watch` cannot be combined with `--add-ignore`"),
    ],
)
def test_requests_without_sense(
    arguments: Sequence[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "a.py").touch()
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    assert capsys.readouterr().err == f"relax-lint: error: {words}\n"


def test_watching_needs_its_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").touch()
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    assert main(["--watch", "a.py"]) == 2
    assert capsys.readouterr().err == (
        "relax-lint: error: `--watch` needs `watchfiles`: install relax-lint with the extra `watch`, as in "
        "`pip install 'relax-lint[watch]'`\n"
    )


def test_what_is_not_asked_for_is_not_imported(run: Run, write: Write, tmp_path: Path) -> None:
    program = "import sys; from relax_lint.cli import main; main(['a.py']); print(json.dumps([*sys.modules]))"
    (tmp_path / "a.py").write_text(ORDINARY, encoding="utf-8")
    command = [sys.executable, "-c", f"import json; {program}"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stdout.splitlines()[-1]))
    ours = {f"relax_lint.commands.{name}" for name in ("watch", "completion", "showing", "verbose", "doctor")}
    assert not (ours | {"watchfiles", "difflib", "shutil"}) & loaded
