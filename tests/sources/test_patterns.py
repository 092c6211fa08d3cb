"""Patterns of paths: what git itself says of them, and hostile ones."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from relax_lint.sources.patterns import MAX_WILD, path_patterns, patterns_in
from relax_lint.sources.wildcards import tokens_of

git = pytest.mark.skipif(shutil.which("git") is None, reason="compared with git itself")

NAMES = (
    "a",
    "b",
    "ab",
    "ba",
    "aab",
    "a b",
    "a*",
    "#a",
    "!b",
    "a\\b",
    "]",
    "-",
    "a.py",
    "ab ",
    "é",
    "A1",
    "[a]",
)
FOLDERS = ("a", "b", "ab", "aa")


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with every name in folders up to two deep."""
    root = tmp_path_factory.mktemp("repository")
    for depth in range(3):
        for folders in product(FOLDERS, repeat=depth):
            root.joinpath(*folders).mkdir(exist_ok=True)
            for name in NAMES:
                path = root.joinpath(*folders, name)
                if not (name in FOLDERS and depth < 2):
                    path.touch()
    environment = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "HOME": str(root)}
    subprocess.run(["git", "init", "--quiet", root], check=True, env={**os.environ, **environment})
    return root


def paths_in(root: Path) -> Iterator[tuple[str, bool]]:
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(set(folders) - {".git"})
        for name in (*folders, *sorted(files)):
            path = os.path.relpath(os.path.join(folder, name), root)
            yield path, name in folders


def ignored_by_git(root: Path, patterns: bytes, paths: list[str]) -> set[str]:
    (root / ".gitignore").write_bytes(patterns)
    environment = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    result = subprocess.run(
        ["git", "-C", root, "-c", "core.quotePath=false", "check-ignore", "--no-index", "-z", "--stdin"],
        input=b"".join(os.fsencode(path) + b"\0" for path in paths),
        capture_output=True,
        env={**os.environ, **environment},
        check=False,
    )
    assert result.returncode in (0, 1), result.stderr
    return {os.fsdecode(path) for path in result.stdout.split(b"\0") if path}


def ignored_by_us(root: Path, patterns: bytes) -> set[str]:
    found: set[str] = set()
    excluded: set[str] = set()
    positions = {"": patterns_in(patterns).top()}
    for path, is_folder in paths_in(root):
        folder, name = os.path.split(path)
        if folder in excluded or positions[folder].verdict(name, is_folder=is_folder):
            found.add(path)
            excluded |= {path} if is_folder else set()
        if is_folder:
            positions[path] = positions[folder].enter(name)
    return found


PIECES = (
    *(
        "a",
        "b",
        "ab",
        "*",
        "**",
        "***",
        "?",
        "/",
        "//",
        "/**",
        "**/",
        "/**/",
        "\\",
        "\\*",
        "\\a",
        "\\/",
        "\\ ",
    ),
    *(
        " ",
        "!",
        "#",
        "[ab]",
        "[!a]",
        "[^a]",
        "[a-b]",
        "[b-a]",
        "[]",
        "[]]",
        "[!]]",
        "[a",
        "[[:alpha:]]",
        "[[:digit:]",
    ),
    *(
        "[[:x:]]",
        "[[:]",
        "[[::]]",
        "[\\]]",
        "[a\\",
        "[--a]",
        "[a-]",
        "[*]",
        "[/]",
        ".py",
        "é",
        "1",
        "-",
        "]",
        "\t",
    ),
    *("[a-\\b]", "[[:upper:]-b]", "[[:alpha:]", "[[a]", "\r", "*/", "/*", "*a", "a*"),
)
LINES = st.lists(st.sampled_from(PIECES), min_size=1, max_size=7).map("".join)


@git
@settings(max_examples=int(os.environ.get("PATTERN_EXAMPLES", "150")), deadline=None)
@given(st.lists(LINES, min_size=1, max_size=4))
@example(["a**/b", "!ab/b"])
@example(["**/a/**/b", "!/a/"])
@example(["a\\ ", "ab\\  ", "b  "])
def test_every_path_is_ignored_that_git_ignores(repository: Path, lines: list[str]) -> None:
    patterns = "\n".join(lines).encode()
    everything = list(paths_in(repository))
    theirs = ignored_by_git(repository, patterns, [path for path, _ in everything])
    ours = ignored_by_us(repository, patterns)
    assert ours ^ theirs == set(), lines


FOLDERS_DEEP = "**/a/" * 20
HOSTILE = {
    "stars": ["*a" * 40 + "b0"],
    "folders": ["**/a/**/a/**/*a*a*b0"],
    "many": [f"{FOLDERS_DEEP}*a*a*b{number}" for number in range(60)],
    "sets": ["[!b]" * 200 + "*[!c]*" * 30 + "b0"],
    "stars and folders": ["a*/" * 60 + "**/" + "a*" * 60 + "b0"],
}


@pytest.mark.parametrize("patterns", HOSTILE.values(), ids=HOSTILE)
def test_no_pattern_makes_a_step_dear(patterns: list[str]) -> None:
    # Not a clock: a deep path of long names is one step of integers for each byte, or never ends.
    path = "/".join([*"a" * 1000, "a" * 200, "a" * 255])
    assert not path_patterns(patterns).match_file(path)


def test_patterns_beyond_the_room_are_left_out_and_counted() -> None:
    patterns = path_patterns([f"{'x' * 100}{number}*" for number in range(MAX_WILD // 50)])
    assert patterns.size <= MAX_WILD
    assert 0 < patterns.left_out < MAX_WILD // 50
    # Names without wildcards need no room.
    names = path_patterns([f"{'x' * 100}{number}" for number in range(MAX_WILD)])
    assert (names.size, names.left_out) == (0, 0)
    assert names.match_file(f"a/{'x' * 100}77/b.py")


def test_what_has_no_room_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[bytes] = []

    def noted(pattern: bytes, *, is_path: bool) -> list[int] | None:
        read.append(pattern)
        return tokens_of(pattern, is_path=is_path)

    monkeypatch.setattr("relax_lint.sources.patterns.tokens_of", noted)
    # A set of many bytes is one step, and as long to read as it is.
    patterns = path_patterns([f"[{'a' * 1000}]"] * 1000)
    assert sum(map(len, read)) <= MAX_WILD
    assert patterns.left_out == 1000 - len(read)


def test_names_that_are_not_utf_8() -> None:
    name = os.fsdecode(b"caf\xe9.py")
    assert patterns_in(b"caf\xe9.*").match_file(name)
    assert path_patterns([name]).match_file(f"a/{name}")
    assert not path_patterns(["café.py"]).match_file(name)
