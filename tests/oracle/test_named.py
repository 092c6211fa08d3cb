"""Inputs that findings name get to the tensor and are refused there."""

from __future__ import annotations

from collections import Counter

import pytest

from relax_lint.replay import Machine
from relax_lint.symbolic.decision import Decision
from tests.oracle.named import compare, some
from tests.oracle.passing import Disagreement


def _compare_all(count: int, seed: int) -> Counter[str]:
    seen: Counter[str] = Counter()
    with Machine() as machine:
        for program in some(count, seed):
            seen += compare(machine, program)
    return seen


@pytest.mark.vm
def test_what_is_named_is_refused() -> None:
    seen = _compare_all(3, 2)
    assert seen["refused by naive"] > 15
    assert seen["refused by pooled"] > 3


@pytest.mark.vm
def test_an_input_that_a_guess_refuses_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """All examples are named, also those of domains without the guesses."""
    monkeypatch.setattr(Decision, "named", property(lambda self: (self.fine, self.wrong)))
    with pytest.raises(Disagreement, match="AssertionError"):
        _compare_all(4, 1)
