"""From paths to inputs."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from relax_lint.sources import discovery
from relax_lint.sources.discovery import Input, UnreadableError, discover
from relax_lint.sources.unit import Problem


def tree(root: Path, *files: str) -> None:
    for name in files:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)


def shown(root: Path, found: list[Input | Problem]) -> list[str]:
    return [os.path.relpath(item.path, root) for item in found if isinstance(item, Input)]


def test_folders_are_sorted_and_kinds_known(tmp_path: Path) -> None:
    tree(
        tmp_path, "b.py", "a.py", "sub/c.json", "sub/d.ipynb", "sub/e.md", "sub/f.txt", "sub/__pycache__/g.py"
    )
    found = discover([str(tmp_path)])
    assert shown(tmp_path, found) == ["a.py", "b.py", "sub/c.json", "sub/d.ipynb", "sub/e.md"]
    kinds = [item.kind for item in found if isinstance(item, Input)]
    assert kinds == ["python", "python", "json", "notebook", "markdown"]
    assert not any(item.named for item in found if isinstance(item, Input))


def test_a_named_file_is_taken_whatever_its_name(tmp_path: Path) -> None:
    tree(tmp_path, "model.txt", ".gitignore")
    (found,) = discover([str(tmp_path / "model.txt")], exclude=["*.txt"])
    assert isinstance(found, Input)
    assert (found.kind, found.named, found.read()) == ("python", True, b"model.txt")


def test_each_file_once(tmp_path: Path) -> None:
    tree(tmp_path, "a.py")
    assert len(discover([str(tmp_path), str(tmp_path / "a.py"), str(tmp_path)])) == 1


def test_gitignore_nested_and_negated(tmp_path: Path) -> None:
    tree(tmp_path, "keep.py", "drop.py", "build/x.py", "sub/drop.py", "sub/other.py", "sub/deep/other.py")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("drop.py\nbuild/\n")
    (tmp_path / "sub" / ".gitignore").write_text("!drop.py\n/other.py\n")
    assert shown(tmp_path, discover([str(tmp_path)])) == ["keep.py", "sub/deep/other.py", "sub/drop.py"]
    # A search that starts inside the repository knows the files above.
    assert shown(tmp_path, discover([str(tmp_path / "build")])) == []
    everything = discover([str(tmp_path)], respect_gitignore=False)
    assert "build/x.py" in shown(tmp_path, everything)


def test_excludes(tmp_path: Path) -> None:
    tree(tmp_path, "a.py", "gen/b.py", "gen/c.py")
    assert shown(tmp_path, discover([str(tmp_path)], exclude=["gen/"])) == ["a.py"]
    assert shown(tmp_path, discover([str(tmp_path)], exclude=["b.py"])) == ["a.py", "gen/c.py"]


def test_links_in_circles_and_into_nothing(tmp_path: Path) -> None:
    tree(tmp_path, "sub/a.py")
    (tmp_path / "sub" / "loop").symlink_to(tmp_path)
    (tmp_path / "sub" / "gone.py").symlink_to(tmp_path / "nowhere.py")
    (tmp_path / "zz.py").symlink_to(tmp_path / "sub" / "a.py")
    assert shown(tmp_path, discover([str(tmp_path)])) == ["sub/a.py"]


def test_a_path_that_does_not_exist() -> None:
    for path in ("/no/such/path.py", "nul\0byte.py"):
        (found,) = discover([path])
        assert isinstance(found, Problem)
        assert found.rule == "RLX901"


def test_special_files_neither_hang_nor_crash(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    tree(tmp_path, "a.py")
    assert shown(tmp_path, discover([str(tmp_path)])) == ["a.py"]
    for path in (str(tmp_path / "pipe.py"), "/dev/zero"):
        (found,) = discover([path])
        assert isinstance(found, Input)
        with pytest.raises(UnreadableError, match="not a regular file"):
            found.read()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_no_permission(tmp_path: Path) -> None:
    tree(tmp_path, "a.py")
    (tmp_path / "a.py").chmod(0)
    (found,) = discover([str(tmp_path / "a.py")])
    assert isinstance(found, Input)
    with pytest.raises(UnreadableError, match="Permission denied"):
        found.read()


def test_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "MAX_BYTES", 1 << 20)
    (tmp_path / "a.py").write_bytes(b"#" * ((1 << 20) + 1))
    (found,) = discover([str(tmp_path / "a.py")])
    assert isinstance(found, Input)
    with pytest.raises(UnreadableError, match="larger than 1 MiB"):
        found.read()


def test_a_file_that_is_gone_when_it_is_read(tmp_path: Path) -> None:
    tree(tmp_path, "a.py")
    (found,) = discover([str(tmp_path)])
    (tmp_path / "a.py").unlink()
    assert isinstance(found, Input)
    with pytest.raises(UnreadableError, match="No such file"):
        found.read()


def test_standard_input() -> None:
    (found,) = discover(["-"], stdin_filename="model.json")
    assert isinstance(found, Input)
    assert (found.path, found.kind) == ("model.json", "json")
    assert found.read(io.BytesIO(b"text")) == b"text"
    (unnamed,) = discover(["-"])
    assert isinstance(unnamed, Input)
    assert (unnamed.path, unnamed.kind) == ("<stdin>", "python")
