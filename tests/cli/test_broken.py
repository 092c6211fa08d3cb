"""The command on bad input, bad options and bad surroundings: one clear line, a fixed exit code, no traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import FINE, ORDINARY, OVERFLOW, Run

Write = Callable[[str, str | bytes], str]

BODY_OF_17322 = OVERFLOW.split("\n", 1)[1]


def restore_interrupt() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def said(result: subprocess.CompletedProcess[str]) -> str:
    """Everything that the command said, after making sure that it is no traceback."""
    text = result.stdout + result.stderr
    assert "Traceback" not in text
    return text


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("syntax.py", OVERFLOW + "\nx = (\n", "error[RLX901] parse-error: syntax error: '(' was never closed"),
        ("binary.py", b"\x00\xff\xfe\x80 tvm ir_module \x00" * 50, "error[RLX901] parse-error: not readable as text"),
        ("truncated.json", '{"root_index": 1, "nodes": [{"type":', "error[RLX901] parse-error: "),
        ("other.json", '{"name": "no saved module"}', "error[RLX901] parse-error: "),
        ("large.py", b"# tvm ir_module\n" * 3_300_000, "error[RLX901] parse-error: cannot be read: larger than 32 MiB"),
    ],
)  # fmt: skip
def test_input_that_cannot_be_read(
    run: Run, write: Write, name: str, content: str | bytes, message: str
) -> None:
    write(name, content)
    result = run(name)
    assert message in said(result)
    assert f"--> {name}" in result.stdout
    assert result.returncode == 1
    assert result.stderr == ""


def test_a_module_that_tvm_refuses_does_not_hide_the_others(run: Run, write: Write) -> None:
    refused = BODY_OF_17322.replace("Module", "Refused").replace("R.shape([m])", "R.no_such([m])")
    result = run(write("two.py", OVERFLOW + refused))
    assert "note[RLX902] unresolved-name: judged in part: " in said(result)
    assert "no_such" in result.stdout
    assert "warning[RLX101] storage-overflow: " in result.stdout
    assert result.returncode == 1


def test_files_that_are_not_files(start: Run, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    assert "not a regular file: a pipe" in said(start("pipe.py"))


def test_a_folder_goes_on_after_a_broken_file(run: Run, write: Write) -> None:
    write("models/a.py", OVERFLOW + "\nx = (\n")
    write("models/b.py", OVERFLOW)
    write("models/readme.txt", "nothing")
    result = run("models")
    assert "--> models/a.py:" in result.stdout
    assert "--> models/b.py:10:17" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "usage: relax-lint"),
        (("--no-such-option", "a.py"), "unknown option `--no-such-option`"),
        (("check",), "the following arguments are required: PATH"),
        (("--output-format", "yaml", "a.py"), "invalid choice: 'yaml'"),
        (
            ("--page-size", "0", "a.py"),
            "command line: `page-size` must be a whole number of at least 1, not 0",
        ),
        (("--select", "RLX110", "a.py"), "unknown rule `RLX110`; did you mean `RLX1"),
        (
            ("--ignore", "storage-overfow", "a.py"),
            "unknown rule `storage-overfow`; did you mean `storage-overflow`?",
        ),
        (("explain", "RLX110"), "unknown rule `RLX110`; did you mean `RLX1"),
        (("explain", "weather"), "unknown rule `weather`"),
        (
            ("--output-file", "no/such/folder", "a.py"),
            "cannot write no/such/folder: No such file or directory",
        ),
        (("--config", "missing.toml", "a.py"), "missing.toml: No such file or directory"),
    ],
)
def test_usage_errors(run: Run, write: Write, arguments: tuple[str, ...], message: str) -> None:
    write("a.py", ORDINARY)
    result = run(*arguments)
    assert message in said(result)
    assert result.stdout == ""
    assert result.returncode == 2


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("pge-size = 1", "unknown key `pge-size`; did you mean `page-size`?"),
        ("page-size = 'large'", "`page-size` must be a whole number of at least 1, not 'large'"),
        ("select = 'RLX101'", "`select` must be a list of texts, not 'RLX101'"),
        ("select = ['RLX9999']", "unknown rule `RLX9999`"),
        ("fail-on = ", "not TOML"),
    ],
)
def test_a_bad_configuration_is_an_error_even_without_relax(
    run: Run, write: Write, table: str, message: str
) -> None:
    write("pyproject.toml", f"[tool.relax-lint]\n{table}\n")
    result = run(write("a.py", ORDINARY))
    assert message in said(result)
    assert result.returncode == 2


def test_the_command_line_wins_over_the_configuration(run: Run, write: Write) -> None:
    write("pyproject.toml", '[tool.relax-lint]\nfail-on = "error"\n')
    write("model.py", OVERFLOW)
    assert run("model.py").returncode == 0
    assert run("--fail-on", "warning", "model.py").returncode == 1


@pytest.mark.cold
def test_tvm_that_cannot_be_loaded_is_an_error_of_the_run(launch: Run, write: Write) -> None:
    write("pyproject.toml", '[tool.relax-lint]\nmemory-limit = "150 MiB"\n')
    result = launch(write("model.py", OVERFLOW))
    assert said(result).startswith("relax-lint: error: TVM cannot be loaded: ")
    assert result.returncode == 2


def test_debug_shows_the_traceback(start: Run, write: Write) -> None:
    write("pyproject.toml", "[tool.relax-lint]\nx = 1\n")
    result = start(write("a.py", ORDINARY), env={"RELAX_LINT_DEBUG": "1"})
    assert "Traceback" in result.stderr
    assert result.returncode == 1


def test_a_reader_that_goes_away_is_no_error(write: Write, tmp_path: Path) -> None:
    write("model.py", OVERFLOW + "\n".join(BODY_OF_17322.replace("Module", f"M{n}") for n in range(60)))
    command = f"'{sys.executable}' -m relax_lint.cli --output-format json model.py | head -n 1"
    result = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (result.stdout, result.stderr) == ("{\n", "")


def test_a_full_disk_is_one_line(start: Run, write: Write) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("needs /dev/full")
    result = start("--output-file", "/dev/full", write("model.py", FINE))
    assert said(result) == "relax-lint: error: cannot write /dev/full: No space left on device\n"
    assert result.returncode == 2


def test_names_that_the_terminal_cannot_write_are_escaped(start: Run, write: Write) -> None:
    write("модель.py", OVERFLOW)
    result = start("модель.py", env={"PYTHONIOENCODING": "ascii"})
    assert r"--> \u043c\u043e\u0434\u0435\u043b\u044c.py:10:17" in said(result)
    assert result.returncode == 1


def test_nothing_is_imported_from_the_folder_that_is_linted(write: Write, tmp_path: Path) -> None:
    for module in ("tvm", "sympy", "numpy", "json", "pathspec", "sitecustomize", "relax_lint_rules"):
        write(f"{module}.py", f"open({str(tmp_path / 'was_here')!r}, 'w')\n")
    write("model.py", OVERFLOW)
    # As an installed command does it: the first entry of the import path is the script's folder.
    write("bin/relax-lint", "import sys\nfrom relax_lint.cli import main\nsys.exit(main())\n")
    command = [sys.executable, str(tmp_path / "bin" / "relax-lint"), "."]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "--> model.py:10:17" in result.stdout
    assert not (tmp_path / "was_here").exists()


def test_ctrl_c_ends_with_one_line(write: Write, tmp_path: Path) -> None:
    write("model.py", OVERFLOW + "\n".join(BODY_OF_17322.replace("Module", f"M{n}") for n in range(300)))
    process = subprocess.Popen(
        [sys.executable, "-m", "relax_lint.cli", "model.py"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # Started by a script in the background, the tests themselves ignore it.
        preexec_fn=restore_interrupt,
    )
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    deadline = time.monotonic() + 30
    while children.exists() and not children.read_text().strip() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1.5)
    os.killpg(process.pid, signal.SIGINT)
    output, error = process.communicate(timeout=60)
    assert (process.returncode, output, error) == (130, "", "relax-lint: interrupted\n")
