"""Answers to questions that lead to each other: what a value is, through all who hand it on."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Answer = TypeVar("Answer")

_MOST = 300
"""Questions that one may lead to. Functions that call each other in all ways have more."""
_DEEPEST = 150
"""Questions one inside of the other, well below what the interpreter allows."""


class _TooMany(Exception):
    """More questions than are followed lead to an answer."""


class Followed(Generic[Answer]):
    """The answers that are known, each found out once, as there may be ever more ways to a question.

    A recursion that comes back to its question gets the answer `again`, which adds nothing to that of who
    began it. What was answered meanwhile lacks that, and is not kept. Where there are too many questions, the
    first one gets `unknown`.
    """

    def __init__(self, again: Answer, unknown: Answer) -> None:
        self._again = again
        self._unknown = unknown
        self._known: dict[Hashable, Answer] = {}
        self._asked: set[Hashable] = set()
        self._missed: set[Hashable] = set()
        """What was asked for again, by now."""
        self._left = _MOST

    def forget(self) -> None:
        """What was known may have changed."""
        self._known.clear()

    def answer(self, key: Hashable, find: Callable[[], Answer], entered: Hashable = None) -> Answer:
        """The answer to the question `key`, which `find` finds out if it is not known; it may depend on how
        that was `entered`.
        """
        if key in self._asked:
            self._missed.add(key)
            return self._again
        if (key, entered) in self._known:
            return self._known[key, entered]
        is_first = not self._asked
        self._left = _MOST if is_first else self._left - 1
        if self._left < 0 or len(self._asked) > _DEEPEST:
            raise _TooMany
        missed, self._missed = self._missed, set()
        self._asked.add(key)
        try:
            found = find()
        except _TooMany:
            if not is_first:
                raise
            self._missed.clear()
            found = self._unknown
        finally:
            self._asked.discard(key)
        self._missed.discard(key)
        if not self._missed:
            self._known[key, entered] = found
        self._missed |= missed
        return found
