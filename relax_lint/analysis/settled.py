"""Answers about functions that depend on each other, which may go round in a circle."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Settled(Generic[K, V]):
    """The answers to some questions. Each is the most that it could be at first, and is narrowed down until
    nothing that it depends on changes any more.
    """

    def __init__(self) -> None:
        self._known: dict[K, V] = {}
        self._so_far: dict[K, V] = {}
        self._asked_by: dict[K, dict[K, None]] = {}
        self._open: dict[K, None] = {}
        self._asking: list[K] = []

    def of(self, question: K, most: Callable[[K], V], narrower: Callable[[K, V], V]) -> V:
        """The answer to a question; to one that is being answered, what is so far.

        Args:
            question: what is asked.
            most: what an answer is at first.
            narrower: an answer after another look, which may ask for others.
        """
        if question in self._known:
            return self._known[question]
        if question not in self._so_far:
            self._so_far[question] = most(question)
            self._asked_by[question] = {}
            self._open[question] = None
        if self._asking:
            self._asked_by[question][self._asking[-1]] = None
            return self._so_far[question]
        # What was asked last is looked at first. Of functions that call each other in a row that is the
        # innermost one: each is looked at twice, however many there are.
        while self._open:
            one, _ = self._open.popitem()
            self._asking.append(one)
            found = narrower(one, self._so_far[one])
            self._asking.pop()
            if found != self._so_far[one]:
                self._so_far[one] = found
                self._open.update(self._asked_by[one])
        self._known.update(self._so_far)
        self._so_far.clear()
        self._asked_by.clear()
        return self._known[question]
