"""What is installed is the same as what `importlib.metadata` says, and it is asked where that may differ."""

from __future__ import annotations

import importlib
import importlib.metadata
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from relax_lint.support import installed

NAMES = ("apache-tvm", "apache_tvm.ffi", "Sympy", "relax-lint", "there-is-no-such")


def declared(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "none"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that comes first on the path, and with it a distribution."""
    info = tmp_path / "My.Rules-2.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: My.Rules\nVersion: 2.1\n")
    (info / "entry_points.txt").write_text("[other]\na = b\n\n# why\n[mine]\nx = my_rules.all\ny=json\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_versions_of_this_environment() -> None:
    assert installed.versions(NAMES) == tuple(map(declared, NAMES))


@pytest.mark.parametrize("group", ["relax_lint.rules", "console_scripts", "there.is.no.such"])
def test_entry_points_of_this_environment(group: str) -> None:
    found = {entry.value for entry in installed.entry_points(group)}
    assert found == {entry.value for entry in importlib.metadata.entry_points(group=group)}


def test_what_an_entry_point_knows(folder: Path) -> None:
    entries = installed.entry_points("mine")
    assert [(entry.value, entry.module) for entry in entries] == [("my_rules.all",) * 2, ("json",) * 2]
    dist = entries[0].dist
    assert dist is not None
    assert (dist.name, dist.version) == ("My.Rules", "2.1")
    import json

    assert entries[1].load() is json
    assert installed.versions(["my-rules", "MY_RULES"]) == ("2.1", "2.1")


def test_the_first_on_the_path_counts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = folder / "later" / "my_rules-3.0.dist-info"
    info.mkdir(parents=True)
    (info / "entry_points.txt").write_text("[mine]\nx = later\n")
    monkeypatch.setattr(sys, "path", [*sys.path, str(info.parent)])
    assert installed.versions(["my.rules"]) == ("2.1",)
    assert [entry.value for entry in installed.entry_points("mine")] == ["my_rules.all", "json"]


def test_a_version_that_only_the_file_tells(folder: Path) -> None:
    info = folder / "developed.egg-info"
    info.mkdir()
    (info / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: developed\nVersion: 0.5.dev3\n")
    importlib.invalidate_caches()
    assert installed.versions(["developed"]) == ("0.5.dev3",)


def test_an_archive_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as archive:
        archive.writestr(
            "packed-4.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: packed\nVersion: 4.0\n"
        )
        archive.writestr("packed-4.0.dist-info/entry_points.txt", "[mine]\nx = packed\n")
    monkeypatch.syspath_prepend(str(tmp_path / "packed.zip"))
    assert installed.versions(["packed"]) == ("4.0",)
    assert [entry.value for entry in installed.entry_points("mine")] == ["packed"]


def test_a_run_that_finds_everything_imports_no_parser_of_e_mails(tmp_path: Path) -> None:
    program = (
        "import sys; from relax_lint.running.cache import Cache; from relax_lint.settings.config import Config\n"
        "from relax_lint.rule import load_rules\n"
        "from relax_lint.running import fingerprint; fingerprint._CLOCK_STEP_S = -1.0\n"
        "load_rules(); Cache(sys.argv[1], Config())._base\n"
        "print(*sorted({'email', 'zipfile', 'tempfile', 'pathlib', 'subprocess'} & set(sys.modules)))\n"
    )
    command = [sys.executable, "-S", "-c", f"import sys; sys.path[:] = {sys.path!r}\n{program}"]
    # The first run writes down what the files of the engine contain.
    for _ in range(2):
        done = subprocess.run([*command, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
