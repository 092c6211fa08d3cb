"""Files that are no files, names that are no names, and settings that are traps: the command ends, and says so."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import forking
from tests.api.programs import OVERFLOW

LIMIT_S = 30


def lint(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return forking.run(
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
    result = lint(tmp_path, "--quiet", ".")
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


def is_fixed(path: Path) -> bool:
    return path.read_text() != OVERFLOW


def test_nothing_outside_of_the_folder_is_fixed(tmp_path: Path) -> None:
    for name in (
        "outside/a.py",
        "inside/own.py",
        "inside/target.txt",
        "inside/.venv/b.py",
        "inside/build/c.py",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(OVERFLOW)
    inside = tmp_path / "inside"
    (inside / "link.py").symlink_to("../outside/a.py")
    (inside / "folder").symlink_to("../outside")
    (inside / "within.py").symlink_to("target.txt")
    result = lint(inside, "--fix", ".")
    assert result.returncode == 0
    assert result.stderr == (
        "relax-lint: warning: links that leave the named folders are not followed: `folder`, `link.py`\n"
        "fixed 2 findings in 2 files\n"
    )
    left = sorted(
        str(path.relative_to(tmp_path))
        for path in tmp_path.rglob("*")
        if path.is_file() and not is_fixed(path)
    )
    assert {"outside/a.py", "inside/.venv/b.py", "inside/build/c.py"} <= set(left)
    assert is_fixed(inside / "own.py")
    assert is_fixed(inside / "target.txt")
    assert (inside / "within.py").is_symlink()


@pytest.mark.parametrize("option", ["--fix", "--add-ignore"])
def test_what_cannot_be_written_safely_is_left_and_the_rest_is_written(option: str, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "elsewhere.py").write_text(OVERFLOW)
    names = ("first.py", "link.py", "locked.py", "other-name.py", "zz.py")
    for name in names:
        (tmp_path / "work" / name).write_text(OVERFLOW)
    (tmp_path / "work" / "link.py").unlink()
    (tmp_path / "work" / "link.py").symlink_to("../elsewhere.py")
    (tmp_path / "work" / "locked.py").chmod(0o444)
    os.link(tmp_path / "work" / "other-name.py", tmp_path / "second-name.py")
    result = lint(tmp_path / "work", option, *names)
    assert result.returncode == 1
    *said, last = result.stderr.splitlines()
    assert said == [
        f"relax-lint: warning: link.py is a link that leaves its folder, to {tmp_path}/elsewhere.py: left as it is",
        "relax-lint: warning: locked.py is read-only: left as it is",
        "relax-lint: warning: other-name.py is one of 2 names of a file (hard links): left as it is",
    ]
    assert last.endswith("in 2 files")
    fixed = {path.name for path in tmp_path.rglob("*.py") if is_fixed(path)}
    assert fixed == {"first.py", "zz.py"}
    assert (tmp_path / "work" / "other-name.py").samefile(tmp_path / "second-name.py")
    # What was not written is reported as it is.
    assert result.stdout.count("RLX101] storage-overflow") == 3


def test_what_is_fixed_keeps_its_attributes(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(OVERFLOW)
    path.chmod(0o640)
    try:
        os.setxattr(path, "user.note", b"kept")
    except OSError:
        pytest.skip("no extended attributes here")
    if os.geteuid() == 0:
        os.chown(path, 12345, 54321)
    before = path.stat()
    assert lint(tmp_path, "--fix", ".").returncode == 0
    after = path.stat()
    assert is_fixed(path)
    assert (after.st_uid, after.st_gid, after.st_mode) == (before.st_uid, before.st_gid, before.st_mode)
    assert os.getxattr(path, "user.note") == b"kept"
    assert os.listdir(tmp_path) == ["model.py"]


@pytest.mark.parametrize(
    "output",
    ["text", *(pytest.param(name, marks=pytest.mark.slow) for name in ("json", "sarif", "github", "junit"))],
)
def test_a_name_that_is_not_utf_8(output: str, tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.py")
    try:
        (tmp_path / name).write_text(OVERFLOW)
    except OSError:
        pytest.skip("this file system holds no such names")
    result = lint(tmp_path, "--output-format", output, ".")
    assert (result.returncode, result.stderr) == (1, "")
    assert "storage-overflow" in result.stdout
    assert "surrogates not allowed" not in result.stdout
    assert r"caf\udce9.py" in result.stdout or "caf%E9.py" in result.stdout


def test_a_working_directory_that_is_gone_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(OVERFLOW)
    command = (
        f'mkdir gone && cd gone && rmdir ../gone && "{sys.executable}" -m relax_lint.cli check ../model.py . '
    )
    result = subprocess.run(
        ["sh", "-c", command],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    said = [line for line in result.stderr.splitlines() if line.startswith("relax-lint")]
    assert said == ["relax-lint: error: the working directory cannot be used: No such file or directory"]
    assert result.returncode == 2


HOSTILE_SETTINGS = '[tool.relax-lint]\nignore = ["RLX"]\nbaseline = "accepted.json"\n'


def test_nothing_that_came_with_untrusted_inputs_is_used(tmp_path: Path) -> None:
    (tmp_path / "elsewhere.py").write_text(OVERFLOW)
    work = tmp_path / "work"
    work.mkdir()
    (work / "model.py").write_text(OVERFLOW)
    (work / "link.py").symlink_to("../elsewhere.py")
    (work / "pyproject.toml").write_text(HOSTILE_SETTINGS)
    assert lint(work, ".").returncode == 2
    result = lint(work, "--untrusted", ".", "link.py")
    assert result.returncode == 1
    assert result.stdout.count("RLX101] storage-overflow") == 1
    assert "cannot be read: a link, and links are not followed" in result.stdout
    assert not any(path.name.startswith("CACHEDIR") for path in tmp_path.rglob("*"))


HIDDEN = {
    "ignored": {".gitignore": "*model.py\n"},
    "ignored_inside": {"inner/.gitignore": "*\n"},
    "environment": {"inner/pyvenv.cfg": ""},
}


@pytest.mark.parametrize("files", HIDDEN.values(), ids=HIDDEN.keys())
def test_an_untrusted_folder_does_not_tell_what_is_searched_in_it(
    files: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "model.py").write_text(OVERFLOW)
    (tmp_path / "ordinary.py").write_text("")
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    trusting = lint(tmp_path, ".")
    assert (trusting.returncode, trusting.stderr) == (0, "")
    result = lint(tmp_path, "--untrusted", ".")
    assert (result.returncode, result.stderr) == (1, "")
    assert result.stdout.count("RLX101] storage-overflow") == 1


def test_what_is_not_searched_of_an_untrusted_folder_is_said(tmp_path: Path) -> None:
    for name in ("build", ".git", "__pycache__", "inner/venv"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "model.py").write_text(OVERFLOW)
    result = lint(tmp_path, "--untrusted", ".")
    assert result.returncode == 0
    said = "folders with these names are searched only if they are named: `build`, `inner/venv`"
    assert said in result.stderr + result.stdout
    assert lint(tmp_path, "--untrusted", ".", "build").returncode == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "--fix"),
        ("check", "--add-ignore"),
        ("check", "--confirm"),
        ("check", "--trust-models"),
        ("memory", "--trust-models"),
        ("check", "--write-baseline", "--baseline", "b.json"),
        ("check", "--executor", "dask://localhost:1"),
        ("check", "--cache-dir", "kept"),
        ("replay",),
    ],
)
def test_what_does_not_go_with_untrusted_inputs(arguments: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(OVERFLOW)
    command, *options = arguments
    result = forking.run(
        [sys.executable, "-m", "relax_lint.cli", command, "--untrusted", *options, "model.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    refused = options[0] if options else "replay"
    assert result.stderr == f"relax-lint: error: `{refused}` cannot be combined with `--untrusted`\n"
    assert (result.returncode, result.stdout) == (2, "")


def test_a_baseline_from_elsewhere_does_not_go_with_untrusted_inputs(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / "b.json").write_text('{"version": 1, "findings": []}')
    (work / "link.json").symlink_to("../b.json")
    (work / "own.json").write_text('{"version": 1, "findings": []}')
    for name in ("../b.json", "link.json"):
        result = lint(work, "--untrusted", "--baseline", name, ".")
        assert result.returncode == 2
        assert result.stderr == (
            "relax-lint: error: with `--untrusted` a baseline must be inside the working directory\n"
        )
    assert lint(work, "--untrusted", "--baseline", "own.json", ".").returncode == 0
