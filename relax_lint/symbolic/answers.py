"""What provers found out about questions, which may outlast the module that was asked about."""

from __future__ import annotations

import threading

from sympy.logic.boolalg import Boolean

from relax_lint.results.verdict import Prover, Verdict
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.decision import FailureStatus
from relax_lint.symbolic.domain import FactKind
from relax_lint.symbolic.questions import Question
from relax_lint.symbolic.search import Point


@record(frozen=True)
class Answer:
    """A decision in the terms of a normal-form question; `assumed` are positions in its facts."""

    verdict: Verdict
    by: Prover
    reason: str = ""
    reachable: bool = True
    mixed: bool = False
    region: Boolean | None = None
    fine: Point | None = None
    wrong: Point | None = None
    assumed: tuple[int, ...] = ()


MAX_ANSWERS = 4096
"""Questions whose answers outlast a module."""


class Answers:
    """What is known of questions. They are in normal form and say nothing of where they were asked, and an
    answer depends on nothing but its question and the limits of the chain that found it.
    """

    def __init__(self) -> None:
        self.decided: dict[Question, Answer] = {}
        self.failures: dict[Question, tuple[FailureStatus, Point | None]] = {}
        self.witnesses: dict[Question, tuple[bool, Point | None]] = {}
        self.proved: dict[tuple[Question, tuple[FactKind, ...]], bool] = {}

    def __len__(self) -> int:
        return len(self.decided) + len(self.failures) + len(self.witnesses) + len(self.proved)


class _OfThread(threading.local):
    def __init__(self) -> None:
        self.by_limits: dict[int, Answers] = {}


_OF_THREAD = _OfThread()


def lasting_answers(max_extent: int) -> Answers:
    """The answers that chains with this limit found in this thread, or none yet where they were too many."""
    found = _OF_THREAD.by_limits.get(max_extent)
    if found is None or len(found) > MAX_ANSWERS:
        # Of several limits one is enough: who compiles again does so with the same.
        _OF_THREAD.by_limits = {max_extent: (found := Answers())}
    return found
