"""A bound on the work that one question may take, in steps that are counted and not timed: the same question
gets the same answer on every machine and after whatever other questions.

Whoever does work that grows with the question pays for it with `spend` before it is done, whether its result
is in a cache or not. A step stands for about a microsecond.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

QUESTION = 600_000
"""What the answer to one question may take, first failures and members of a domain apart."""

STAGE = QUESTION // 2
"""What one proof or one search may take of it."""

AT_ONCE = QUESTION // 30
"""What may be tried before that: a proof that needs no search."""

FACTS = 150_000
"""What it may take to work out what a list of facts says, once for all questions about them."""


class TooMuchWork(Exception):
    """The allowance is spent."""


@dataclass
class Allowance:
    """What is left, whether that has been too little at any time, and what was paid for once and for all."""

    left: int
    exhausted: bool = False
    paid: set[Any] = field(default_factory=set)


class _Current(threading.local):
    allowance: Allowance | None = None


_current = _Current()


def spend(steps: int) -> None:
    """Pay for what is done next. Raises TooMuchWork where not so much is left; without an allowance all is
    free.
    """
    allowance = _current.allowance
    if allowance is not None:
        allowance.left -= steps
        if allowance.left < 0:
            allowance.exhausted = True
            raise TooMuchWork


def spend_once(what: Any, steps: int) -> None:
    """The same for what is kept and used again by the present question, whether it was made for this one or
    for an earlier one.
    """
    allowance = _current.allowance
    if allowance is not None and what not in allowance.paid:
        allowance.paid.add(what)
        spend(steps)


def is_exhausted() -> bool:
    """Whether something was left undone since the present question was asked."""
    return _current.allowance is not None and _current.allowance.exhausted


@contextmanager
def allowed(steps: int) -> Iterator[Allowance]:
    """An allowance of its own, apart from the present one: for what is asked once and then known."""
    outer, _current.allowance = _current.allowance, Allowance(steps)
    try:
        yield _current.allowance
    finally:
        _current.allowance = outer


@contextmanager
def stage(steps: int = STAGE) -> Iterator[None]:
    """Part of the work on a question: ends quietly where it takes more than `steps`, or than is left."""
    outer = _current.allowance
    if outer is None:
        yield
        return
    given = max(min(steps, outer.left), 0)
    own = _current.allowance = Allowance(given, paid=outer.paid)
    try:
        with suppress(TooMuchWork):
            yield
    finally:
        _current.allowance = outer
        outer.left -= given - max(own.left, 0)
        outer.exhausted = outer.exhausted or own.exhausted
