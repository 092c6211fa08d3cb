"""Errors that are meant for a person have one base, which the front doors catch."""

from __future__ import annotations

import importlib
import pickle

import pytest

from relax_lint import cli
from relax_lint.support.errors import UserError

KINDS = (
    "relax_lint.commands.terminal:UsageError",
    "relax_lint.output.earlier:ComparisonError",
    "relax_lint.repair.files:WriteError",
    "relax_lint.rule:RuleConflictError",
    "relax_lint.running.executors:ExecutorError",
    "relax_lint.support.errors:RunError",
    "relax_lint.running.sandbox.gaps:SandboxError",
    "relax_lint.settings.config:ConfigError",
    "relax_lint.settings.memory_request:RequestError",
    "relax_lint.sources.inputs:UnreadableError",
    "relax_lint.sources.lowering:LoweringError",
    "relax_lint.suppressions.baseline:BaselineError",
)
# What was a ValueError to users of the Python interface stays one.
VALUE_ERRORS = {"BaselineError", "ComparisonError", "ConfigError", "RequestError"}


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_user_is_told_is_one_line_and_exit_code_2(
    kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module, _, name = kind.partition(":")
    error = getattr(importlib.import_module(module), name)

    def fail(arguments: list[str]) -> int:
        raise error("`x` is wrong")

    monkeypatch.setattr(cli, "_run", fail)
    assert cli.main([]) == 2
    assert capsys.readouterr().err == "relax-lint: error: `x` is wrong\n"
    assert issubclass(error, ValueError) == (name in VALUE_ERRORS)
    # Executors carry them from process to process.
    assert type(pickle.loads(pickle.dumps(error("text")))) is error


def test_another_exception_is_an_internal_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(arguments: list[str]) -> int:
        raise KeyError("x")

    monkeypatch.setattr(cli, "_run", fail)
    assert cli.main([]) == 2
    assert "internal error: KeyError" in capsys.readouterr().err
    assert not issubclass(KeyError, UserError)
