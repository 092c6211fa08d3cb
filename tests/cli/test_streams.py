"""Standard streams that are closed, full or read by nobody, and folders that are gone: one clear line where there is
a stream for it, a fixed exit code, no traceback.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import ORDINARY, OVERFLOW

Shell = Callable[[str], "subprocess.CompletedProcess[str]"]

COMMAND = f"{shlex.quote(sys.executable)} -m relax_lint.cli"
FULL = "relax-lint: error: cannot write to standard output: No space left on device\n"
CLOSED = "relax-lint: error: cannot write to standard output: it is closed\n"
GONE = "relax-lint: error: the working directory cannot be used: No such file or directory\n"

needs_full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")

EVERY_OUTPUT = [
    "check model.py",
    "check ordinary.py",
    "check --output-format json model.py",
    "check --diff model.py",
    "memory model.py",
    "memory --output-format html model.py",
    "memory --output-format tvm model.py",
    "explain RLX101",
    "rules",
    "--version",
    "--help",
    "check --help",
]


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A shell in a folder with two files; `lint` is the command."""
    (tmp_path / "model.py").write_text(OVERFLOW, encoding="utf-8")
    (tmp_path / "ordinary.py").write_text(ORDINARY, encoding="utf-8")

    def run(script: str) -> subprocess.CompletedProcess[str]:
        text = f'lint() {{ {COMMAND} "$@"; }}\n{script}'
        done = subprocess.run(
            ["bash", "-c", text], cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False
        )
        assert "Traceback" not in done.stderr
        assert "Exception ignored" not in done.stderr
        assert "internal error" not in done.stderr
        return done

    return run


@needs_full
@pytest.mark.parametrize("arguments", EVERY_OUTPUT)
def test_a_full_standard_output_is_one_line(shell: Shell, arguments: str) -> None:
    done = shell(f"lint {arguments} >/dev/full")
    assert done.stderr.splitlines(keepends=True)[-1] == FULL
    assert done.returncode == 2


@pytest.mark.parametrize("arguments", EVERY_OUTPUT)
def test_a_closed_standard_output_is_one_line(shell: Shell, arguments: str) -> None:
    done = shell(f"lint {arguments} >&-")
    assert (done.returncode, done.stderr) == (2, CLOSED)


def test_a_closed_standard_output_stops_a_fix_before_it_writes(shell: Shell, tmp_path: Path) -> None:
    assert shell("lint check --fix model.py >&-").stderr == CLOSED
    assert (tmp_path / "model.py").read_text(encoding="utf-8") == OVERFLOW


def test_a_report_to_a_file_needs_no_standard_output(shell: Shell, tmp_path: Path) -> None:
    done = shell("lint check --output-file report model.py >&- <&-")
    assert (done.returncode, done.stderr) == (1, "")
    # What was opened meanwhile did not get the number of a closed stream, which others print to.
    assert (tmp_path / "report").read_text(encoding="utf-8").startswith("warning[RLX101]")


@pytest.mark.parametrize("nowhere", ["2>&-", pytest.param("2>/dev/full", marks=needs_full)])
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ("", 2),
        ("check --no-such-option", 2),
        ("check missing.py", 2),
        ("check --diff model.py", 1),
        ("rules", 0),
    ],
)
def test_where_standard_error_cannot_be_written_the_exit_code_stays(
    shell: Shell, nowhere: str, arguments: str, code: int
) -> None:
    done = shell(f"lint {arguments} {nowhere}")
    assert (done.returncode, done.stderr) == (code, "")


def test_without_any_stream_there_is_still_an_exit_code(shell: Shell) -> None:
    assert shell("lint check model.py <&- >&- 2>&-").returncode == 2


def test_a_closed_standard_input_is_one_line(shell: Shell) -> None:
    done = shell("lint check - <&-")
    assert (done.returncode, done.stderr) == (
        2,
        "relax-lint: error: cannot read standard input: it is closed\n",
    )
    assert shell("lint check model.py <&-").returncode == 1


def test_the_server_needs_both_streams(shell: Shell) -> None:
    pytest.importorskip("pygls")
    for closed in ("<&-", ">&-"):
        done = shell(f"lint server {closed} </dev/null" if closed == ">&-" else f"lint server {closed}")
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "arguments", ["check --output-format json model.py", "check --diff model.py", "rules"]
)
def test_a_reader_that_goes_away_is_told_as_a_shell_tells_it(shell: Shell, arguments: str) -> None:
    # The reader is gone before anything is written.
    done = shell(f"{{ lint {arguments} --color never 2>error; echo $? >code; }} | true; cat error code")
    assert done.stdout in ("141\n", "would fix 1 finding in 1 file\n141\n")


@pytest.mark.parametrize("path", [".", '"$OLDPWD/model.py"', "-"])
def test_a_deleted_working_directory_is_one_line(shell: Shell, path: str) -> None:
    done = shell(f"mkdir gone && cd gone && rmdir ../gone && lint check {path} </dev/null")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", GONE)


def test_what_needs_no_folder_works_without_one(shell: Shell) -> None:
    done = shell("mkdir gone && cd gone && rmdir ../gone && lint explain RLX101")
    assert done.returncode == 0
    assert done.stdout.startswith("# ")


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("no/such/report", "No such file or directory"),
        ("ordinary.py/report", "Not a directory"),
        (".", "Is a directory"),
        ("/proc/report", "No such file or directory"),
    ],
)
def test_an_output_file_that_cannot_be_made(shell: Shell, path: str, reason: str) -> None:
    done = shell(f"lint check --output-file {path} model.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"relax-lint: error: cannot write {path}: {reason}\n"


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_that_is_read_only(shell: Shell) -> None:
    done = shell("mkdir locked && chmod a-w locked && lint check --output-file locked/report model.py")
    assert done.stderr == "relax-lint: error: cannot write locked/report: Permission denied\n"
    assert done.returncode == 2


@needs_full
@pytest.mark.parametrize("option", ["--write-baseline", "--update-baseline", ""])
def test_a_baseline_that_never_ends_is_one_line(shell: Shell, option: str) -> None:
    done = shell(f"lint check --baseline /dev/full {option} model.py")
    assert done.stderr == "relax-lint: error: /dev/full: not a regular file: a device\n"
    assert done.returncode == 2
