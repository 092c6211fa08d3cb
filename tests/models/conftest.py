from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from relax_lint import cli
from relax_lint.results.memory_figures import MemoryTotals
from relax_lint.results.report import UnitResult
from relax_lint.rule import rule_of
from relax_lint.running.file_task import analyse
from relax_lint.running.messages import Answer, FileData, UnitList, read_answer
from relax_lint.settings.config import Config
from relax_lint.sources.kinds import MODELS


@dataclass(frozen=True)
class Outcome:
    """What the command wrote and how it ended."""

    code: int
    out: str
    err: str


Run = Callable[..., Outcome]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs `relax-lint` in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> Outcome:
        try:
            code = cli.main([*arguments, "--jobs", "1"])
        except SystemExit as end:
            code = int(end.code or 0)
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run


def answers(path: Path, config: Config | None = None) -> list[Answer]:
    """What a worker answers about a file, in this process."""
    kind = MODELS.get(path.suffix, path.suffix.replace(".py", "python").lstrip("."))
    is_model = path.suffix in MODELS
    data = b"" if is_model else path.read_bytes()
    file = FileData(data, path.name, kind, True, str(path) if is_model else None)
    return [read_answer(value) for value in analyse(file, config or Config(lower=True), 0)]


def judged(path: Path, config: Config | None = None) -> UnitResult:
    """The answer about the only module of a file."""
    (answer,) = [answer for answer in answers(path, config) if isinstance(answer, UnitResult)]
    return answer


def totals(path: Path, config: Config | None = None) -> MemoryTotals:
    """The totals of the only function of a file."""
    (total,) = judged(path, config).memory
    return total


def complaint(path: Path, config: Config | None = None) -> str:
    """The rule and the words of the only thing that is wrong with a file that cannot be read."""
    found: list[str] = []
    for answer in answers(path, config):
        if isinstance(answer, UnitList):
            found += [f"{rule_of(problem.kind).code} {problem.message}" for problem in answer.problems]
        if isinstance(answer, UnitResult):
            assert answer.memory == ()
            found += [f"{check.rule} {check.message}" for check in answer.checks]
    (only,) = found
    assert "\n" not in only
    return only
