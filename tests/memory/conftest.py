from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from relax_lint import cli


@dataclass(frozen=True)
class Outcome:
    """What the command wrote and how it ended."""

    code: int
    out: str
    err: str

    @property
    def report(self) -> dict[str, Any]:
        return dict(json.loads(self.out))


Memory = Callable[..., Outcome]


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Memory:
    """Runs `relax-lint memory model.py` with a module and options, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(module: str, *options: str) -> Outcome:
        Path("model.py").write_text(module, encoding="utf-8")
        try:
            code = cli.main(["memory", "model.py", "--jobs", "1", *options])
        except SystemExit as end:
            code = int(end.code or 0)
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run
