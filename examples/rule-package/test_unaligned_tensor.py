"""What the rule says of the offsets in `program.py`."""

from __future__ import annotations

from pathlib import Path

from aligned_tensors import unaligned_tensor

from relax_lint.rules.testing import judgements


def test_verdicts() -> None:
    found = judgements(unaligned_tensor.RULE, Path(__file__).with_name("program.py"))
    assert {check.binding: check.verdict.value for check in found} == {
        "first": "always-fine",
        "second": "always-wrong",
        "third": "always-fine",
        "fourth": "needs-runtime-check",
    }
