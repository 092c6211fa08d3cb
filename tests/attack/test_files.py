"""Files that are no files, names that are no names, and settings that are traps: the command ends, and says so."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.api.programs import OVERFLOW

LIMIT_S = 30


def lint(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "relax_lint.cli", "--no-cache", *(arguments or (".",))],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=LIMIT_S,
        check=False,
    )


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


SPECIAL: dict[str, Callable[[Path], object]] = {
    "pipe": os.mkfifo,
    "socket": _socket,
    "folder": os.mkdir,
    "zeros": lambda path: path.symlink_to("/dev/zero"),
    "random": lambda path: path.symlink_to("/dev/urandom"),
    "terminal": lambda path: path.symlink_to("/dev/tty"),
    "standard_input": lambda path: path.symlink_to("/dev/stdin"),
    "messages": lambda path: path.symlink_to("/proc/kmsg"),
    "own_memory": lambda path: path.symlink_to("/proc/self/mem"),
    "kernel_memory": lambda path: path.symlink_to("/proc/kcore"),
    "itself": lambda path: path.symlink_to(path.name),
    "dangling": lambda path: path.symlink_to("nowhere"),
    "root": lambda path: path.symlink_to("/proc/self/root/proc/self/fd"),
}


@pytest.mark.parametrize("name", ["model.py", "pyproject.toml", ".gitignore"])
def test_special_files_stop_nothing(name: str, tmp_path: Path) -> None:
    for kind, make in SPECIAL.items():
        folder = tmp_path / kind
        folder.mkdir()
        make(folder / name)
    (tmp_path / "fine.py").write_text("import tvm\n# function\n")
    named = [f"{kind}/{name}" for kind in SPECIAL] if name == "model.py" else ["."]
    result = lint(tmp_path, *named)
    assert result.returncode in (0, 1)
    assert "Traceback" not in result.stderr
    assert "internal error" not in result.stderr
    if name != "model.py":
        # Where the command is started the settings are its own.
        for kind in ("pipe", "zeros", "messages"):
            result = lint(tmp_path / kind)
            assert (result.returncode, result.stderr) in ((0, ""), (3, "")), (kind, result.stderr)


def test_the_rest_of_a_folder_is_judged(tmp_path: Path) -> None:
    for kind, make in SPECIAL.items():
        make(tmp_path / f"{kind}.py")
    (tmp_path / "deep").symlink_to(tmp_path)
    (tmp_path / "everything").symlink_to("/proc/self")
    (tmp_path / "everything").unlink()
    (tmp_path / "model.py").write_text(OVERFLOW)
    result = lint(tmp_path)
    assert (result.returncode, result.stderr) == (1, "")
    assert result.stdout.count("RLX101] storage-overflow") == 1


NAMES = (
    *(
        "-",
        "--fix",
        "-rf",
        "a b",
        "$(touch canary)",
        "`touch canary`",
        ";touch canary",
        "|touch canary",
        "*",
        "[a]",
    ),
    *("\x1b[2J\x1b]0;x\x07", "a\nb", "\N{RIGHT-TO-LEFT OVERRIDE}yp", "%s%n", "{0}", "\N{BRAIN}" * 50),
)


@pytest.mark.parametrize(
    "output", ["text", *(pytest.param(name, marks=pytest.mark.slow) for name in ("sarif", "github", "junit"))]
)
def test_names_are_only_names(output: str, tmp_path: Path) -> None:
    for name in NAMES:
        (tmp_path / f"{name}.py").write_text(OVERFLOW)
    result = lint(tmp_path, "--output-format", output, ".")
    assert (result.returncode, result.stderr) == (1, "")
    assert "\x1b" not in result.stdout
    assert {path.name for path in tmp_path.iterdir()} == {f"{name}.py" for name in NAMES}


def test_patterns_that_would_take_for_ever(tmp_path: Path) -> None:
    hostile = [
        "*a" * 30 + "b",
        "a*" * 60 + "b",
        "**/a/" * 20 + "b",
        "[" + "a" * 500,
        "\\",
        "!" * 500,
        "*" * 500 + "b",
    ]
    (tmp_path / ".gitignore").write_text("\n".join(hostile))
    folder = tmp_path.joinpath(*"a" * 60)
    folder.mkdir(parents=True)
    (folder / ("a" * 200 + ".py")).write_text(OVERFLOW)
    assert lint(tmp_path).returncode == 1
    (tmp_path / "pyproject.toml").write_text(f"[tool.relax-lint]\nexclude = {hostile[:3]!r}\n")
    assert lint(tmp_path).returncode == 1
