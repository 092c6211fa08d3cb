"""The Python blocks of a guide run, one after the other, and print what the guide shows; its commands do, too."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from tests.command import said

ROOT = Path(__file__).resolve().parents[2]
GUIDES = (
    "tutorial.md",
    "verdicts.md",
    "compile-script.md",
    "pytest.md",
    "fixes.md",
    "python-api.md",
    "speed.md",
)


@pytest.mark.parametrize("name", GUIDES)
def test_the_blocks_of_a_guide_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (ROOT / "docs" / name).read_text(encoding="utf-8")
    script = tmp_path / "guide.py"
    # TVM reads the source of what it parses, so that the text must be a file.
    script.write_text("\n\n".join(re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)))
    monkeypatch.chdir(ROOT)
    runpy.run_path(str(script), run_name="__main__")
    printed = capsys.readouterr().out
    for shown in re.findall(r"^```text\n(.*?)^```", page, re.DOTALL | re.MULTILINE):
        assert shown in printed


def _commands() -> list[str]:
    """Every command of the linter that a guide shows with its output, in a block of its own."""
    found = []
    for page in sorted((ROOT / "docs").glob("*.md")):
        for block in re.findall(
            r"^```console\n(\$ relax-lint .*?)^```", page.read_text("utf-8"), re.DOTALL | re.M
        ):
            shown = block.split("\n", 1)[1]
            if "examples/" in block and shown and "\n$ " not in block:
                found.append(block)
    return found


@pytest.mark.parametrize("block", _commands(), ids=lambda block: block.split("\n")[0])
def test_a_command_says_what_a_guide_shows(block: str) -> None:
    command, expected = block.split("\n", 1)
    arguments = command.removeprefix("$ relax-lint ").split()
    assert said(ROOT, *arguments, "--color", "never").stdout == expected
