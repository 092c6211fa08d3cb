"""Runs without an answer: on a busy computer a child runs out of time, and nothing was compared.

Such runs are counted and told apart from both agreements and disagreements.
"""

from __future__ import annotations

from relax_lint.replay import Outcome
from relax_lint.replay.machine import RunResult

NOT_COMPARED = "no answer in time: not compared"
"""What such runs are counted as."""


def is_answer(result: RunResult) -> bool:
    """Whether a run ended by itself, in whatever way."""
    return result.outcome is not Outcome.TIMEOUT
