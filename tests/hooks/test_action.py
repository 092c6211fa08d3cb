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

from tests.hooks.repositories import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
EXAMPLE = ROOT / "examples" / "storage_overflow.py"
DEFAULTS = {name: given["default"] for name, given in ACTION["inputs"].items()}
_EXPRESSION = re.compile(r"\$\{\{ (.*?) \}\}")


class Runner:
    """Runs steps in bash with `-e -o pipefail`, and values for the expressions in their environment."""

    def __init__(self, folder: Path, event: str = "push", **inputs: str) -> None:
        self.folder = folder
        self.values = {f"inputs.{name}": text for name, text in {**DEFAULTS, **inputs}.items()}
        self.values["github.action_path"] = str(ROOT)
        self.values["github.event_name"] = event

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
        value: str = self.values[match[1]]
        return value


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
    assert "unknown option" in done.stderr


def test_inputs_are_never_part_of_a_script(folder: Path) -> None:
    assert not any("${{" in step.get("run", "") for step in ACTION["runs"]["steps"])
    runner = Runner(folder, paths='$(touch stolen)\n"; touch stolen; "')
    runner.step("Lint")
    assert runner.values["steps.lint.outputs.exit-code"] == "1"
    assert not (folder / "stolen").exists()


def arguments(folder: Path, event: str, **inputs: str) -> list[str]:
    """What the action passes to the linter, which is replaced by a script that writes that down."""
    program = folder / "temp/relax-lint/bin/relax-lint"
    program.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > '{folder}/arguments'\n", encoding="utf-8")
    done = Runner(folder, event, **inputs).step("Lint")
    assert done.returncode == 0, done.stderr
    return (folder / "arguments").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize(
    ("event", "given", "passed"),
    [
        ("pull_request", {}, True),
        ("pull_request_target", {}, True),
        ("push", {}, False),
        ("schedule", {"untrusted": "auto"}, False),
        ("push", {"untrusted": "true"}, True),
        ("pull_request", {"untrusted": "false"}, False),
    ],
)
def test_pull_requests_are_not_trusted(folder: Path, event: str, given: dict[str, str], passed: bool) -> None:
    found = arguments(folder, event, paths="a\n-b", options="--fail-on\nerror", **given)
    untrusted = ["--untrusted"] if passed else []
    assert found == ["check", "--output-format", "github", *untrusted, "--fail-on", "error", "--", "a", "-b"]


@pytest.mark.parametrize("value", ["", "yes", "True", "true:", "auto:push"])
def test_another_value_of_untrusted_is_refused(folder: Path, value: str) -> None:
    done = Runner(folder, "pull_request", untrusted=value).step("Lint")
    assert done.returncode == 2
    assert done.stderr == "relax-lint: the input `untrusted` is `auto`, `true` or `false`\n"
    assert not (folder / "arguments").exists()


def test_actions_of_others_are_pinned_by_commit() -> None:
    used = [step["uses"] for step in ACTION["runs"]["steps"] if "uses" in step]
    assert used
    assert all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", one) for one in used)
    text = (ROOT / "action.yml").read_text(encoding="utf-8") + (ROOT / "docs/ci.md").read_text(
        encoding="utf-8"
    )
    for line in re.findall(r"uses: .*", text):
        # The version beside it is for people, and for what proposes updates.
        assert "OWNER/relax-lint@" in line or re.search(r"@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line), line


def locked() -> dict[str, str]:
    """The requirements of the lock file with the hashes of each."""
    text = (ROOT / "requirements/action.txt").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return {line.split(" --hash")[0].strip(): line for line in lines}


def test_every_locked_package_has_a_version_and_hashes() -> None:
    assert len(locked()) > 8
    for requirement, line in locked().items():
        assert re.fullmatch(r"[a-z0-9-]+==[0-9a-z.]+( ; [^;]+)?", requirement)
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", line)
        assert not re.search(r"--hash=(?!sha256:[0-9a-f]{64}( |$))", line)
    # Where packages come from is the business of whoever installs.
    text = (ROOT / "requirements/action.txt").read_text(encoding="utf-8")
    assert "://" not in text
    assert "--index-url" not in text


@pytest.mark.parametrize("python", ["3.10", "3.11", "3.12", "3.13"])
def test_the_lock_is_enough_for_what_the_project_needs(python: str) -> None:
    requirements = pytest.importorskip("packaging.requirements")
    where = {"python_version": python, "python_full_version": f"{python}.1"}
    versions = {}
    for text in locked():
        one = requirements.Requirement(text)
        if one.marker is None or one.marker.evaluate(where):
            assert one.name not in versions
            (versions[one.name],) = [pin.version for pin in one.specifier]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    needed = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    for text in needed:
        one = requirements.Requirement(text)
        if one.marker is None or one.marker.evaluate(where):
            assert one.specifier.contains(versions[one.name]), f"{one}: run `make lock`"


@pytest.mark.parametrize("step", ["Install relax-lint", "Lint", "Pass or fail"])
def test_nothing_of_the_linted_folder_is_executed(folder: Path, step: str) -> None:
    trap = f"open({str(folder / 'executed')!r}, 'w')\n"
    for name in (
        "venv",
        "pip",
        "ensurepip",
        "site",
        "sitecustomize",
        "relax_lint",
        "setuptools",
        "tvm",
        "json",
    ):
        (folder / f"{name}.py").write_text(trap, encoding="utf-8")
    runner = Runner(folder, paths="a model.py")
    runner.values["steps.lint.outputs.exit-code"] = "0"
    if step == "Install relax-lint":
        # Without the packages themselves: what matters is who is asked to install them.
        runner.values["github.action_path"] = str(folder / "no-action")
    program = folder / "temp/relax-lint/bin/relax-lint"
    # As the installed script: the folder that it is started in is not on the import path.
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -m relax_lint.cli "$@"\n', encoding="utf-8")
    runner.step(step)
    assert not (folder / "executed").exists()


@pytest.mark.slow
def test_the_action_installs_the_linter(tmp_path: Path) -> None:
    runner = Runner(tmp_path, paths=str(EXAMPLE))
    assert runner.step("Install relax-lint").returncode == 0
    assert "::warning title=RLX101" in runner.step("Lint").stdout
