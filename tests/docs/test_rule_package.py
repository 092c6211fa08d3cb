"""The example of a rule package: installed without a network, it works and is what docs/rule-packages.md shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import forking

pytest.importorskip("flit_core")

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "examples" / "rule-package"
PAGE = (ROOT / "docs" / "rule-packages.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a process that has the package."""
    folder = tmp_path_factory.mktemp("site")
    offline = ("--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check")
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        *offline,
        "--target",
        str(folder),
        str(PACKAGE),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path}


def run(environment: dict[str, str], *command: str) -> subprocess.CompletedProcess[str]:
    start = forking.run if command[0] == "relax_lint.cli" else subprocess.run
    return start(
        [sys.executable, "-m", *command],
        cwd=PACKAGE,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_its_own_tests_pass(installed: dict[str, str]) -> None:
    done = run(installed, "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(PACKAGE))
    assert done.returncode == 0, done.stdout


def test_its_rule_is_listed_and_explained(installed: dict[str, str]) -> None:
    assert run(installed, "relax_lint.cli", "rules").stdout.startswith("DMA101  unaligned-tensor ")
    page = (PACKAGE / "aligned_tensors" / "unaligned_tensor.md").read_text(encoding="utf-8")
    assert run(installed, "relax_lint.cli", "explain", "unaligned-tensor").stdout == page


def test_it_says_what_the_guide_shows(installed: dict[str, str]) -> None:
    (shown,) = [block for block in blocks("console") if "DMA101" in block]
    command, expected = shown.split("\n", 1)
    arguments = command.removeprefix("$ relax-lint ").split()
    done = run(installed, "relax_lint.cli", *arguments, "--no-cache", "--color", "never")
    assert done.returncode == 1
    assert done.stdout == expected


def test_the_guide_quotes_the_package() -> None:
    text = "".join(
        file.read_text(encoding="utf-8") for file in PACKAGE.rglob("*") if file.suffix in (".py", ".toml")
    )
    quoted = [*blocks("python"), *blocks("toml")]
    assert len(quoted) == 5
    assert [block for block in quoted if block not in text] == []
