"""Faults that the type checker notices, and those that it does not."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from tools.mutants import generating, typed

CODE = """
    def f(a: int | None, b: int) -> int:
        value: int = "text"  # type: ignore[assignment]
        if a is None or b > 3:
            return value
        return a + b
"""


def test_a_fault_is_noticed_that_is_no_more_of_its_types(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (generating, typed):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "code_.py"
    path.write_text(dedent(CODE), encoding="utf-8")
    said = {
        one.key.fault.partition(" -> ")[2]: typed.complaint(one, tmp_path) for one in generating.mutants(path)
    }
    assert "Unsupported operand types" in said["b > 3"]
    assert {fault for fault, complaint in said.items() if complaint} == {
        *("b > 3", "a is None and b > 3", "a is not None", "if False:", "if not (a is None or b > 3):"),
    }
    assert said["a is None"] == said["a - b"] == said["b >= 3"] == ""
