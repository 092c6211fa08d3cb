"""`check --explain`: what was asked about each operation, in the symbols of the program."""

from __future__ import annotations

from pathlib import Path

import pytest

from relax_lint.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples"


def explained(capsys: pytest.CaptureFixture[str], *options: str) -> list[str]:
    main(["--no-cache", "--quiet", *options, str(EXAMPLES / "verdicts.py")])
    return capsys.readouterr().out.splitlines()


def test_each_operation_is_listed_with_what_was_asked(capsys: pytest.CaptureFixture[str]) -> None:
    lines = explained(capsys, "--explain", "--select", "RLX101")
    asked = [line.strip() for line in lines if line.startswith("  asked:")]
    assert (
        "asked: 64 + 4*m*n <= 8*m*n + 64 (offset of `tensor`: 64, bytes of `tensor`: 4*m*n, "
        "size of `storage`: 8*m*n + 64)"
    ) in asked
    # Every certain verdict of the file has a claim: what needs a check has its region instead.
    assert sum("decided by" in line for line in lines) == 9
    assert len(asked) == 7
    assert "  assumes: n <= 4 (tir_var_upper_bound, not enforced)" in lines
    assert any("always-fine[RLX101]" in line for line in lines)
    assert any("safe iff n <= 4)" in line for line in lines)


def test_nothing_is_explained_unasked(capsys: pytest.CaptureFixture[str]) -> None:
    lines = explained(capsys, "--select", "RLX101")
    assert not [line for line in lines if "asked:" in line or "decided by" in line]
