"""`--diff` of files whose names and contents somebody chose who wants another file changed, or a log or a terminal
to do something. Applied by the real `git apply` and `patch`.
"""

from __future__ import annotations

import os
import pty
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from relax_lint.output.diff import in_log
from relax_lint.repair.files import unified_diff
from tests.cli.conftest import OVERFLOW
from tests.command import command

FIXED = OVERFLOW.replace("R.shape([16])", "R.shape([m * 4])")
OTHER = "one\ntwo\n"
# What would change `other` if it stood in a line of its own.
HUNK = "--- a/other\n+++ b/other\n@@ -1,2 +1,2 @@\n one\n-two\n+owned\n"

NAMES = [
    "plain.py",
    "na\nme.py",
    f"x.py\n{HUNK}y.py".replace("/", "\u2215"),
    "x\n--- other\n+++ other\n@@ -1,2 +1,2 @@\n one\n-two\n+owned\n.py",
    "x\n+++ other\n.py",
    "x\r--- other.py",
    "tab\tname.py",
    "tab\t.py",
    'quo"te.py',
    "back\\slash.py",
    "\\n.py",
    "trailing .py ",
    " leading.py",
    "two words.py",
    "-dash.py",
    "--- a",
    "-rf",
    "..py",
    "...",
    "a..b.py",
    "\x1b[2J.py",
    "\x7f.py",
    "модель.py",
    "\u202egnp.py",
    "dev/null",
    "a/plain.py",
    "--- a/other/x.py",
]


def lint(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return command(folder, *arguments, environment={**os.environ, **environment})


def diff(folder: Path, *paths: str, **environment: str) -> bytes:
    """The diff of files that are named from `folder`; Python files, whatever their names end with."""
    done = lint(folder, "check", "--no-cache", "--quiet", "--diff", "--", *paths, **environment)
    assert b"Traceback" not in done.stderr
    return done.stdout


def put(folder: Path, name: str, text: str = OVERFLOW) -> str:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return name


def apply_with_git(folder: Path, patch: bytes) -> None:
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    subprocess.run(["git", "apply", "--whitespace=nowarn", "-"], cwd=folder, input=patch, check=True)


def apply_with_patch(folder: Path, patch: bytes) -> None:
    if shutil.which("patch") is None:
        pytest.skip("patch is not installed")
    subprocess.run(["patch", "-p1", "--batch", "--silent"], cwd=folder, input=patch, check=True)


@pytest.mark.parametrize("applied", [apply_with_git, apply_with_patch])
def test_a_name_changes_its_own_file_and_no_other(tmp_path: Path, applied) -> None:  # type: ignore[no-untyped-def]
    named = [put(tmp_path, name if name.endswith(".py") else f"{name}/m.py") for name in NAMES]
    (tmp_path / "other").write_text(OTHER, encoding="utf-8")
    before = sorted(path for path, _, _ in os.walk(os.fsencode(tmp_path)))
    # Names with a dot at the start are not searched for.
    patch = diff(tmp_path, ".", "..py", ".../m.py")
    assert patch.count(b"\n+++ ") == patch.count(b"\n--- ") + 1 == len(named)
    applied(tmp_path, patch)
    for name in named:
        assert (tmp_path / name).read_text(encoding="utf-8") == FIXED, name
    assert (tmp_path / "other").read_text(encoding="utf-8") == OTHER
    shutil.rmtree(tmp_path / ".git", ignore_errors=True)
    assert sorted(path for path, _, _ in os.walk(os.fsencode(tmp_path))) == before


@pytest.mark.parametrize("applied", [apply_with_git, apply_with_patch])
@pytest.mark.parametrize("name", [b"\xff\xfe.py", b"caf\xe9.py", b"\xff\n--- other\n.py"])
def test_a_name_that_is_not_utf_8(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: bytes, applied: Callable[[Path, bytes], None]
) -> None:
    path = put(tmp_path, os.fsdecode(name))
    monkeypatch.chdir(tmp_path)
    applied(tmp_path, unified_diff(path, OVERFLOW.encode(), FIXED.encode()))
    assert (tmp_path / path).read_text(encoding="utf-8") == FIXED


def test_names_are_quoted_as_git_quotes_them(tmp_path: Path) -> None:
    for name in NAMES:
        put(tmp_path, name if name.endswith(".py") else f"{name}/m.py")
    ours = diff(tmp_path, ".")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.invalid"]
    subprocess.run([*git, "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run([*git, "add", "--all"], cwd=tmp_path, check=True)
    apply_with_git(tmp_path, ours)
    theirs = subprocess.run([*git, "diff"], cwd=tmp_path, check=True, capture_output=True).stdout
    assert headers(ours) == headers(theirs)


def headers(patch: bytes) -> list[bytes]:
    return sorted(line for line in patch.split(b"\n") if re.match(rb'(---|\+\+\+) "?[ab]/', line))


@pytest.mark.parametrize("applied", [apply_with_git, apply_with_patch])
def test_a_file_outside_of_the_folder_is_refused_by_those_who_apply(tmp_path: Path, applied) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "here").mkdir()
    put(tmp_path, "there.py")
    for path in ("../there.py", str(tmp_path / "there.py")):
        patch = diff(tmp_path / "here", path)
        assert patch.startswith(b"--- a/../there.py\n+++ b/../there.py\n")
        with pytest.raises(subprocess.CalledProcessError):
            applied(tmp_path / "here", patch)
    assert (tmp_path / "there.py").read_text(encoding="utf-8") == OVERFLOW


def hostile_file() -> str:
    marked = "        alloc = R.memory"
    assert marked in OVERFLOW
    return OVERFLOW.replace(marked, f"        # \x1b[2J \u202e \x7f ##[error]owned\n{marked}")


def test_a_terminal_gets_text(tmp_path: Path) -> None:
    put(tmp_path, "\x1b[2J\u202e.py", hostile_file())
    parent, child = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "relax_lint.cli", "check", "--no-cache", "--diff", "."],
        cwd=tmp_path,
        stdout=child,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )
    os.close(child)
    written = b""
    try:
        while chunk := os.read(parent, 1 << 16):
            written += chunk
    except OSError:
        pass
    process.wait(timeout=60)
    os.close(parent)
    text = written.decode("utf-8").replace("\r\n", "\n")
    assert "alloc_storage(R.shape([m * 4])" in text
    assert r"\x1b[2J \u202e \x7f \x23#[error]owned" in text
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)


def test_a_log_of_github_carries_out_nothing(tmp_path: Path) -> None:
    text = hostile_file()
    put(tmp_path, "model.py", text)
    log = diff(tmp_path, ".", GITHUB_ACTIONS="true")
    first, *between, last, end = log.split(b"\n")
    (token,) = re.fullmatch(rb"::stop-commands::([0-9a-f]{32})", first).groups()  # type: ignore[union-attr]
    assert (last, end) == (b"::" + token + b"::", b"")
    assert any(b"##[error]owned" in line for line in between)
    assert all(token not in line for line in between)
    # Another run, another token: nobody can know it before.
    assert not diff(tmp_path, ".", GITHUB_ACTIONS="true").startswith(first)
    apply_with_git(tmp_path, log)
    assert (tmp_path / "model.py").read_text(encoding="utf-8") == text.replace("[16]", "[m * 4]")


def test_a_file_gets_the_patch_alone(tmp_path: Path) -> None:
    put(tmp_path, "model.py")
    with open(tmp_path / "out.patch", "wb") as file:
        subprocess.run(
            [sys.executable, "-m", "relax_lint.cli", "check", "--quiet", "--diff", "model.py"],
            cwd=tmp_path,
            stdout=file,
            check=False,
            env={**os.environ, "GITHUB_ACTIONS": "true"},
        )
    assert (tmp_path / "out.patch").read_bytes().startswith(b"--- a/model.py\n+++ b/model.py\n@@ ")


def test_a_log_of_github_skips_lines_that_are_commands_without_a_sign(tmp_path: Path) -> None:
    # The space before a line that stays is no protection: the runner leaves out blanks.
    old = b"one\n::error::owned\n  ::stop-commands::x\ntwo\nthree\n"
    log = in_log(unified_diff("model.py", old, old.replace(b"two", b"2"))).decode()
    stopped, carried_out = "", []
    for line in log.splitlines():
        command = re.match(r"\s*::([\w-]+)[^:]*::(.*)", line)
        if command and not stopped:
            carried_out.append(command[1])
            stopped = command[2] if command[1] == "stop-commands" else ""
        elif command and command[1] == stopped:
            stopped = ""
    assert carried_out == ["stop-commands"]
    assert stopped == ""
    assert " ::error::owned" in log.splitlines()
