"""The composite action: its scripts run as the runner of GitHub Actions runs them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from repositories import ROOT

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
EXAMPLE = ROOT / "examples" / "storage_overflow.py"
DEFAULTS = {name: given["default"] for name, given in ACTION["inputs"].items()}
_EXPRESSION = re.compile(r"\$\{\{ (.*?) \}\}")


class Runner:
    """Runs steps in bash with `-e -o pipefail`, and values for the expressions in their environment."""

    def __init__(self, folder: Path, **inputs: str) -> None:
        self.folder = folder
        self.values = {f"inputs.{name}": text for name, text in {**DEFAULTS, **inputs}.items()}
        self.values["github.action_path"] = str(ROOT)

    def step(self, name: str) -> subprocess.CompletedProcess[str]:
        (step,) = [step for step in ACTION["runs"]["steps"] if step["name"] == name]
        output = self.folder / "output"
        output.write_text("", encoding="utf-8")
        environment = {
            **os.environ,
            "RUNNER_TEMP": str(self.folder / "temp"),
            "GITHUB_OUTPUT": str(output),
            **{key: _EXPRESSION.sub(self._value, text) for key, text in step["env"].items()},
        }
        command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]]
        done = subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False
        )
        for line in output.read_text(encoding="utf-8").splitlines():
            key, _, value = line.partition("=")
            self.values[f"steps.{step['id']}.outputs.{key}"] = value
        return done

    def _value(self, match: re.Match[str]) -> str:
        return self.values[match[1]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a linter where the first step would install it."""
    program = tmp_path / "temp/relax-lint/bin/relax-lint"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m relax_lint.cli "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    (tmp_path / "a model.py").write_text(EXAMPLE.read_text(encoding="utf-8"), encoding="utf-8")
    return tmp_path


def test_findings_are_annotations_and_fail_the_last_step(folder: Path) -> None:
    runner = Runner(folder, paths="a model.py\n", options="--select\nRLX101\n")
    done = runner.step("Lint")
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"::warning title=RLX101 storage-overflow,file=a model\.py,.*\n", done.stdout)
    assert runner.step("Pass or fail").returncode == 1


def test_sarif_goes_to_a_file_that_can_be_uploaded(folder: Path) -> None:
    runner = Runner(folder, **{"sarif-file": "out.sarif", "options": "--fail-on\nerror"})
    done = runner.step("Lint")
    assert (done.returncode, done.stdout) == (0, "")
    assert len(json.loads((folder / "out.sarif").read_text())["runs"][0]["results"]) == 1
    assert runner.step("Pass or fail").returncode == 0


def test_a_wrong_option_fails_at_once(folder: Path) -> None:
    done = Runner(folder, options="--selct\nRLX101").step("Lint")
    assert done.returncode == 2
    assert "unrecognized arguments" in done.stderr


def test_inputs_are_never_part_of_a_script(folder: Path) -> None:
    assert not any("${{" in step.get("run", "") for step in ACTION["runs"]["steps"])
    runner = Runner(folder, paths='$(touch stolen)\n"; touch stolen; "')
    runner.step("Lint")
    assert runner.values["steps.lint.outputs.exit-code"] == "1"
    assert not (folder / "stolen").exists()


@pytest.mark.slow
def test_the_action_installs_the_linter(tmp_path: Path) -> None:
    runner = Runner(tmp_path, paths=str(EXAMPLE))
    assert runner.step("Install relax-lint").returncode == 0
    assert "::warning title=RLX101" in runner.step("Lint").stdout
