"""`relax-lint new-rule-package`: what it writes is a package whose tests pass."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from relax_lint.cli import main

pytest.importorskip("flit_core")


def run(folder: Path, environment: dict[str, str], *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def installed(folder: Path, name: str) -> dict[str, str]:
    """The environment of a process that has the package, installed without a network."""
    site = folder / "site"
    offline = ("--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check")
    done = run(folder, dict(os.environ), "pip", "install", "-q", *offline, "--target", str(site), f"./{name}")
    assert done.returncode == 0, done.stderr
    return {**os.environ, "PYTHONPATH": os.pathsep.join((str(site), *filter(None, sys.path)))}


def test_the_tests_of_a_new_package_pass_and_notice_a_change(folder: Path) -> None:
    assert main(["new-rule-package", "acme-rules"]) == 0
    tests = ("pytest", "-q", "-p", "no:cacheprovider", "--rootdir", "acme-rules", "acme-rules")
    environment = installed(folder, "acme-rules")
    done = run(folder, environment, *tests)
    assert done.returncode == 0, done.stdout + done.stderr
    rule = folder / "site" / "acme_rules" / "large_storage.py"
    rule.write_text(rule.read_text().replace("1 << 20", "1 << 22"))
    done = run(folder, environment, *tests)
    assert done.returncode == 1
    assert "the comments say" in done.stdout


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("Acme", "is not a package name"),
        ("../acme", "is not a package name"),
        ("rlx-more", "the prefix `RLX` is reserved"),
        ("taken", "`taken` exists"),
        ("dangling", "`dangling` exists"),
        ("class", "`class` is taken"),
        ("json", "`json` is taken"),
        ("tests", "`tests` is taken"),
        ("relax-lint", "`relax_lint` is taken"),
    ],
)
def test_what_cannot_be_written_is_said(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, complaint: str
) -> None:
    (folder / "taken").mkdir()
    (folder / "dangling").symlink_to(folder / "nowhere")
    assert main(["new-rule-package", name]) == 2
    assert complaint in capsys.readouterr().err
    assert sorted(path.name for path in folder.iterdir()) == ["dangling", "taken"]


def test_a_first_word_that_ends_in_a_digit_gives_a_code_too(folder: Path) -> None:
    assert main(["new-rule-package", "npu2"]) == 0
    assert 'code="NPU2X101"' in (folder / "npu2" / "npu2" / "large_storage.py").read_text()
