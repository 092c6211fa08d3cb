"""The formats for CI from a real file, through the command line."""

from __future__ import annotations

import json
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from relax_lint.output.formats import FORMATS
from tests.command import said

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "storage_overflow.py"


def run(*arguments: str, folder: Path) -> CompletedProcess[str]:
    return said(folder, *arguments, str(EXAMPLE))


@pytest.mark.parametrize(("name", "part"), [("github", "::warning title=RLX101 "), ("junit", "<failure ")])
def test_a_report_goes_to_a_file(name: str, part: str, tmp_path: Path) -> None:
    done = run("--output-format", name, "--output-file", "report", folder=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")
    assert part in (tmp_path / "report").read_text(encoding="utf-8")


def test_a_budget_fails_in_every_format_that_memory_has(tmp_path: Path) -> None:
    done = run("memory", "--max-memory", "1KiB", "--output-format", "github", folder=tmp_path)
    assert done.returncode == 1
    assert done.stdout.startswith("::error title=RLX601 over-budget,")


def test_an_unknown_format_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    done = run("--output-format", "xml", folder=tmp_path)
    assert done.returncode == 2
    assert all(name in done.stderr for name in FORMATS["check"])


def test_the_first_fix_in_sarif_is_what_the_option_fix_does(tmp_path: Path) -> None:
    text = EXAMPLE.read_text(encoding="utf-8")
    file = tmp_path / "model.py"
    file.write_text(text, encoding="utf-8")
    call = ("check", "--select", "RLX101", "model.py")
    said(tmp_path, *call, "--output-format", "sarif", "--output-file", "log.sarif")
    (result,) = json.loads((tmp_path / "log.sarif").read_text(encoding="utf-8"))["runs"][0]["results"]
    assert result["relatedLocations"][0]["message"]["text"] == "`m` comes from parameter `x`"
    (change,) = result["fixes"][0]["artifactChanges"]
    assert change["artifactLocation"]["uri"] == "model.py"
    lines = text.splitlines(keepends=True)
    for replacement in reversed(change["replacements"]):
        region = replacement["deletedRegion"]
        assert region["startLine"] == region["endLine"]
        line = lines[region["startLine"] - 1]
        new = replacement["insertedContent"]["text"]
        lines[region["startLine"] - 1] = (
            line[: region["startColumn"] - 1] + new + line[region["endColumn"] - 1 :]
        )
    said(tmp_path, *call, "--fix")
    assert "".join(lines) == file.read_text(encoding="utf-8") != text
