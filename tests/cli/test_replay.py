"""`relax-lint replay` and `check --confirm` as a user runs them."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.cli.conftest import FINE, OVERFLOW, Run
from tests.report_schema import report_validator

Write = Callable[[str, str | bytes], str]


@pytest.mark.vm
def test_a_confirmed_finding_is_exit_code_1_and_shows_its_runs(start: Run, write: Write) -> None:
    result = start("replay", "--select", "RLX101", write("model.py", OVERFLOW))
    assert (result.returncode, result.stderr) == (1, "")
    assert result.stdout.startswith("confirmed[RLX101] storage-overflow: ")
    assert "= wrong: main(x: float32[5]) on naive: InternalError: " in result.stdout
    assert "= fine: main(x: float32[4]) on naive: ok, float32[4] = 0.0, 2.0, 4.0, 6.0\n" in result.stdout
    assert result.stdout.endswith("1 finding: 1 confirmed, 0 not confirmed, 0 not runnable\n")


@pytest.mark.vm
def test_the_json_report_of_check_holds_the_runs(run: Run, write: Write) -> None:
    arguments = ("--confirm", "--fail-on", "error", "--select", "RLX101", "--output-format", "json")
    result = run("check", *arguments, write("model.py", OVERFLOW))
    # The exit code stays that of `check`: one warning.
    assert result.returncode == 0
    report = json.loads(result.stdout)
    report_validator().validate(report)
    (check,) = report["checks"]
    assert check["confirmation"]["status"] == "confirmed"
    assert {run["how"] for run in check["confirmation"]["runs"]} >= {"naive", "pooled"}


def test_without_a_finding_nothing_is_run(run: Run, write: Write) -> None:
    result = run("replay", "--select", "RLX101", write("model.py", FINE))
    assert (result.returncode, result.stdout) == (0, "no finding to replay\n")


@pytest.mark.parametrize("command", ["replay", "check"])
def test_the_help_warns_that_the_module_is_executed(command: str, run: Run) -> None:
    text = " ".join(run(command, "--help").stdout.split())
    assert "only for input that you trust" in text
