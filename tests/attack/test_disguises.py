"""Attacks in other encodings and containers: nothing is executed, and what cannot be read is said."""

from __future__ import annotations

from pathlib import Path

from tests.attack import disguises
from tests.attack.trying import attempt

# What is no text of Python, or no code cell: there is nothing in it to judge.
_NOTHING_IN_IT = {
    *("encoded-utf-16-le", "encoded-utf-16-be", "encoded-cp037", "empty"),
    *("notebook-output", "notebook-raw", "notebook-cell-number", "notebook-nan"),
    "page-console",
}
# TVM follows a graph that leads in a circle, or asks for a function, until the process dies.
_DEADLY = {"metadata-circle"}


def test_nothing_is_executed_and_everything_is_said(tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    outcomes = attempt(disguises.all_attacks(canary))
    assert not canary.exists()
    for name, outcome in outcomes.items():
        assert not outcome.events, (name, outcome)
        assert outcome.refused == (name not in _NOTHING_IN_IT), (name, outcome)
        assert bool(outcome.failure) == (name in _DEADLY), (name, outcome)
