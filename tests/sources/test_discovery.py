"""From paths to inputs."""

from __future__ import annotations

import io
import os
import subprocess
from pathlib import Path

import pytest

from relax_lint.results.problem import Problem
from relax_lint.sources import inputs
from relax_lint.sources.discovery import discover
from relax_lint.sources.inputs import Input, UnreadableError
from relax_lint.sources.search import LEFT_OUT


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
    tree(tmp_path, "keep.py", "drop.py", "out/x.py", "sub/drop.py", "sub/other.py", "sub/deep/other.py")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("drop.py\nout/\n")
    (tmp_path / "sub" / ".gitignore").write_text("!drop.py\n/other.py\n")
    assert shown(tmp_path, discover([str(tmp_path)])) == ["keep.py", "sub/deep/other.py", "sub/drop.py"]
    # A search that starts inside the repository knows the files above.
    assert shown(tmp_path, discover([str(tmp_path / "out")])) == []
    everything = discover([str(tmp_path)], respect_gitignore=False)
    assert "out/x.py" in shown(tmp_path, everything)


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


def told(found: list[Input | Problem]) -> list[str]:
    return [item.message for item in found if isinstance(item, Problem)]


def test_a_search_does_not_leave_its_folder(tmp_path: Path) -> None:
    tree(tmp_path, "outside/a.py", "inside/b.py", "inside/text.txt")
    root = tmp_path / "inside"
    (root / "file.py").symlink_to(tmp_path / "outside" / "a.py")
    (root / "folder").symlink_to(tmp_path / "outside")
    (root / "twice.py").symlink_to(root / "file.py")
    (root / "text.py").symlink_to("text.txt")
    notes: list[str] = []
    found = discover([str(root)], tell=notes.append)
    # Of the links, that counts which leads to a file in the folder that nothing else leads to.
    assert shown(root, found) == ["b.py", "text.py"]
    names = ", ".join(f"`{root / name}`" for name in ("file.py", "folder", "twice.py"))
    assert notes == [f"links that leave the named folders are not followed: {names}"]
    # Both folders are named: nothing leaves them.
    both = discover([str(root), str(tmp_path / "outside")], tell=notes.append)
    assert shown(tmp_path, both) == ["inside/b.py", "outside/a.py", "inside/text.py"]
    assert len(notes) == 1


def test_a_named_link_is_followed(tmp_path: Path) -> None:
    tree(tmp_path, "real/a.py")
    (tmp_path / "link.py").symlink_to("real/a.py")
    (tmp_path / "folder").symlink_to("real")
    for path, name in (("link.py", "link.py"), ("folder", "folder/a.py")):
        (found,) = discover([str(tmp_path / path)])
        assert isinstance(found, Input)
        assert (found.path, found.read()) == (str(tmp_path / name), b"real/a.py")


def test_no_link_is_followed_where_that_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(tmp_path, "real/a.py", "real/text.txt")
    (tmp_path / "link.py").symlink_to("real/a.py")
    (tmp_path / "folder").symlink_to("real")
    (tmp_path / "real" / "text.py").symlink_to("text.txt")
    monkeypatch.chdir(tmp_path)
    for path in ("link.py", "folder", "folder/a.py", str(tmp_path / "link.py")):
        assert told(discover([path], follow_links=False)) == [
            "cannot be read: a link, and links are not followed"
        ]
    assert shown(tmp_path, discover(["real", "real/a.py"], follow_links=False)) == ["real/a.py"]


@pytest.mark.parametrize("follow_links", [True, False])
def test_what_becomes_a_link_after_the_search_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, follow_links: bool
) -> None:
    tree(tmp_path, "root/sub/a.py", "secret/a.py")
    monkeypatch.chdir(tmp_path)
    named = [] if follow_links else discover(["root/sub/a.py"], follow_links=False)
    for found in (*discover(["root"]), *named):
        (tmp_path / "root" / "sub").rename(tmp_path / "root" / "other")
        (tmp_path / "root" / "sub").symlink_to(tmp_path / "secret")
        assert isinstance(found, Input)
        with pytest.raises(UnreadableError, match="Not a directory"):
            found.read()
        (tmp_path / "root" / "sub").unlink()
        (tmp_path / "root" / "other").rename(tmp_path / "root" / "sub")
        assert found.read() == b"root/sub/a.py"


def test_folders_of_other_peoples_text_are_left_out_unless_named(tmp_path: Path) -> None:
    tree(tmp_path, "a.py", "my-env/pyvenv.cfg", "my-env/b.py", *(f"x/{name}/c.py" for name in LEFT_OUT))
    assert shown(tmp_path, discover([str(tmp_path)])) == ["a.py"]
    for name in ("my-env", *(f"x/{name}" for name in LEFT_OUT)):
        assert len(discover([str(tmp_path / name)])) == 1


def test_folders_may_be_deep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for _ in range(1500):
        os.mkdir("a")
        os.chdir("a")
    Path("x.py").write_text("")
    monkeypatch.chdir(tmp_path)
    (found,) = discover(["."])
    assert isinstance(found, Input)
    assert (found.path, found.read()) == ("a/" * 1500 + "x.py", b"")
    # `shutil.rmtree`, which tidies up behind the tests, cannot go as deep in every version of Python.
    subprocess.run(["rm", "-r", "a"], check=True)


def test_more_patterns_than_count_are_told(tmp_path: Path) -> None:
    tree(tmp_path, "a.py", "sub/b.py", "sub/sub/c.py")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("a.py\n" + "\n".join(["*" + "x" * 1022] * 17))
    (tmp_path / "sub" / ".gitignore").write_text("b*.py\n")
    (tmp_path / "sub" / "sub" / ".gitignore").write_text("#" * (2 << 20))
    found = discover([str(tmp_path)])
    assert shown(tmp_path, found) == ["sub/b.py", "sub/sub/c.py"]
    assert [message.split(":")[0] for message in told(found)] == [
        "some patterns are not used",
        "some patterns are not used",
        "not used",
    ]


def test_a_path_that_does_not_exist() -> None:
    for path in ("/no/such/path.py", "nul\0byte.py"):
        (found,) = discover([path])
        assert isinstance(found, Problem)
        assert found.kind == "parse-error"


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
    monkeypatch.setattr(inputs, "MAX_BYTES", 1 << 20)
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
