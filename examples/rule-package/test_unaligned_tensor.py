"""What the rule says of the offsets in `program.py`."""

from __future__ import annotations

from pathlib import Path

import relax_lint


def test_verdicts() -> None:
    report = relax_lint.check(Path(__file__).with_name("program.py"), {"select": ["DMA101"]})
    assert {check.binding: check.verdict.value for check in report.checks} == {
        "first": "always-fine",
        "second": "always-wrong",
        "third": "always-fine",
        "fourth": "needs-runtime-check",
    }
