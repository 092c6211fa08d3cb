"""Answers to questions that lead to each other: what a value is, through all who hand it on.

A question asks others by yielding them. One driver answers them all, so that functions that hand a value on
to each other may be as many as there are: none is a frame of the interpreter.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeAlias, TypeVar

Answer = TypeVar("Answer")

_MOST_AGAIN = 300
"""Questions that one may lead to and that were asked before. Functions that call each other in all ways have
more.
"""
_MOST = 2000
"""Questions that one may lead to. A function that calls itself with the fields of its parameter has more:
there are ever more fields of fields.
"""


@dataclass(frozen=True)
class Question(Generic[Answer]):
    """What `key` is; `find` begins to find it out. The answer may depend on how that was `entered`."""

    key: Hashable
    find: Callable[[], Finding[Answer]]
    entered: Hashable = None


Finding: TypeAlias = Generator[Question[Answer], Answer, Answer]
"""What yields the questions that an answer depends on, is sent theirs, and returns its own."""


@dataclass
class _Open(Generic[Answer]):
    """A question without an answer so far; `missed` are those that it, or what it led to, came back to."""

    question: Question[Answer]
    finding: Finding[Answer]
    missed: set[Hashable] = field(default_factory=set)


class Followed(Generic[Answer]):
    """The answers that are known, each found out once, as there may be ever more ways to a question.

    A recursion that comes back to its question gets the answer `again`, which adds nothing to that of who
    began it. What was answered meanwhile lacks that, and is not kept. Where there are too many questions, the
    first one gets `unknown`.
    """

    def __init__(self, again: Answer, unknown: Answer) -> None:
        self._again = again
        self._unknown = unknown
        self._known: dict[tuple[Hashable, Hashable], Answer] = {}

    def forget(self) -> None:
        """What was known may have changed."""
        self._known.clear()

    def answer(self, first: Question[Answer]) -> Answer:
        """The answer to a question."""
        if (first.key, first.entered) in self._known:
            return self._known[first.key, first.entered]
        found = self._follow(first)
        self._known[first.key, first.entered] = found
        return found

    def _follow(self, first: Question[Answer]) -> Answer:
        opened = [_Open(first, first.find())]
        asked, met, again = {first.key}, {first.key}, 0
        answer: Answer | None = None
        while True:
            last = opened[-1]
            try:
                # The first value that is sent to a generator is nothing.
                question = last.finding.send(answer)  # type: ignore[arg-type]
            except StopIteration as ended:
                answer = ended.value
                opened.pop()
                asked.discard(last.question.key)
                self._keep(last, ended.value)
                if not opened:
                    return ended.value  # type: ignore[no-any-return]
                opened[-1].missed |= last.missed
                continue
            if question.key in asked:
                last.missed.add(question.key)
                answer = self._again
            elif (question.key, question.entered) in self._known:
                answer = self._known[question.key, question.entered]
            else:
                again += question.key in met
                met.add(question.key)
                if again > _MOST_AGAIN or len(met) > _MOST:
                    return self._unknown
                asked.add(question.key)
                opened.append(_Open(question, question.find()))
                answer = None

    def _keep(self, ended: _Open[Answer], answer: Answer) -> None:
        ended.missed.discard(ended.question.key)
        if not ended.missed:
            self._known[ended.question.key, ended.question.entered] = answer
