"""What may not be read is said, under whatever name and by whatever way the command came to it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from relax_lint.cli import main

REASON = "parse-error: cannot be read: Permission denied"


@pytest.fixture(autouse=True)
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that may not be read, one in a folder that may only be listed, one in a folder that may not."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RELAX_LINT_CACHE_DIR", str(tmp_path / "cache"))
    for name in ("open/closed.py", "listed/a.py", "shut/b.py"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("x = 1\n")
    (tmp_path / "open/closed.py").chmod(0)
    (tmp_path / "listed").chmod(0o444)
    (tmp_path / "shut").chmod(0)
    return tmp_path


@pytest.fixture(autouse=True)
def reopened(tree: Path) -> Iterator[None]:
    """Afterwards all can be removed."""
    if os.access(tree / "shut", os.R_OK):
        pytest.skip("who runs this may read everything")
    yield
    for name in ("listed", "shut"):
        (tree / name).chmod(0o755)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("open", "open/closed.py"),
        ("open/closed.py", "open/closed.py"),
        ("listed", "listed/a.py"),
        ("listed/a.py", "listed/a.py"),
        ("shut", "shut"),
        ("shut/b.py", "shut/b.py"),
    ],
)
def test_it_is_said_once_and_fails(path: str, place: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([path]) == 1
    told = capsys.readouterr()
    assert told.out.count(REASON) == 1
    assert f" --> {place}" in told.out
    assert not told.err


def test_all_of_them_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["."]) == 1
    assert capsys.readouterr().out.count(REASON) == 3


def test_what_is_not_there_is_another_matter(capsys: pytest.CaptureFixture[str]) -> None:
    for path in ("missing.py", "open/closed.py/a.py"):
        assert main([path]) == 2
        assert "no such file or folder" in capsys.readouterr().err
