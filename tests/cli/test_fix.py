"""--fix and --diff: what is written, what is left alone, and with which exit code."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.cli.conftest import FINE, ORDINARY, OVERFLOW, Run
from tests.command import command

Write = Callable[[str, str | bytes], str]
FIXED = OVERFLOW.replace("R.shape([16])", "R.shape([m * 4])")
MISSPELT = OVERFLOW.replace(
    "        m = T", '        R.func_attr({"tir_var_upper_bound": {"M": 4}})\n        m = T'
)


def git(folder: Path, *arguments: str, given: bytes | None = None) -> bytes:
    return subprocess.run(
        ["git", "-c", "core.autocrlf=false", *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
        input=given,
    ).stdout


def test_fixed_files_keep_their_mode_and_links(start: Run, write: Write, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    real = tmp_path / write("real/model.py", OVERFLOW)
    real.chmod(0o754)
    (tmp_path / "link.py").symlink_to(real)
    ordinary = write("ordinary.py", ORDINARY)
    done = start("--fix", "link.py", ordinary)
    assert (done.returncode, done.stderr) == (0, "fixed 1 finding in 1 file\n")
    assert (tmp_path / "link.py").is_symlink()
    assert real.read_text() == FIXED
    assert stat.S_IMODE(real.stat().st_mode) == 0o754
    assert sorted(os.listdir(tmp_path / "real")) == ["model.py"]
    before = real.stat()
    again = start("--fix", "link.py")
    assert (again.returncode, again.stderr) == (0, "fixed 0 findings in 0 files\n")
    assert real.stat() == before


def test_git_applies_the_diff(run: Run, write: Write, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    crlf = OVERFLOW.replace("\n", "\r\n").encode()
    latin = b"# -*- coding: latin-1 -*-\n# gr\xf6\xdfer\n" + OVERFLOW.rstrip("\n").encode()
    texts = {
        "a.py": OVERFLOW.encode(),
        "b c.py": crlf,
        "d/e.py": latin,
        "f.py": b"\xef\xbb\xbf" + OVERFLOW.encode(),
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write(name, text)
    shown = command(tmp_path, "--diff", ".")
    assert shown.returncode == 1
    assert shown.stderr == b"would fix 4 findings in 4 files\n"
    assert {name: (tmp_path / name).read_bytes() for name in texts} == texts
    git(tmp_path, "apply", "--whitespace=nowarn", "-", given=shown.stdout)
    for name, text in texts.items():
        assert (tmp_path / name).read_bytes() == text.replace(b"[16]", b"[m * 4]")


def test_standard_input_comes_out_fixed(start: Run) -> None:
    done = start("--fix", "--quiet", "--stdin-filename", "model.py", "-", input=OVERFLOW)
    assert (done.returncode, done.stdout, done.stderr) == (0, FIXED, "")
    untouched = start("--fix", "-", input=ORDINARY)
    assert (untouched.returncode, untouched.stdout) == (0, ORDINARY)


def test_unsafe_fixes_are_asked_for(run: Run, write: Write, tmp_path: Path) -> None:
    path = write("model.py", MISSPELT)
    safe = run("--diff", "--select", "RLX502", path)
    assert (safe.returncode, safe.stdout) == (1, "")
    unsafe = run("--fix", "--unsafe-fixes", "--select", "RLX502", path)
    assert unsafe.returncode == 0
    assert (tmp_path / path).read_text() == MISSPELT.replace('"M"', '"m"')
    wrong = run("--unsafe-fixes", path)
    assert (wrong.returncode, wrong.stderr) == (
        2,
        "relax-lint: error: --unsafe-fixes needs --fix or --diff\n",
    )


def test_what_is_left_is_reported(run: Run, write: Write, tmp_path: Path) -> None:
    ignored = OVERFLOW.replace(
        'R.dtype("float32"))\n        Module',
        'R.dtype("float32"))  # relax-lint: ignore[RLX101]\n        Module',
    )
    path = write("model.py", ignored)
    done = run("--fix", path)
    assert (done.returncode, done.stderr) == (0, "fixed 0 findings in 0 files\n")
    assert (tmp_path / path).read_text() == ignored
    fine = run("--diff", write("fine.py", FINE))
    assert (fine.returncode, fine.stdout) == (0, "")


def test_files_that_are_not_python_are_left_alone(run: Run, write: Write, tmp_path: Path) -> None:
    page = f"# A page\n\n```python\n{OVERFLOW}```\n"
    path = write("page.md", page)
    done = run("--fix", path)
    assert (done.returncode, done.stderr) == (1, "fixed 0 findings in 0 files\n")
    assert (
        "help: make the storage as large as its tensors: `R.memory.alloc_storage(R.shape([m * 4])"
        in done.stdout
    )
    assert (tmp_path / path).read_text() == page
