"""Runs of a function in which something is wrong, and of those that call it: what it computes wrongly may
come to the same there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from relax_lint.analysis.observed_parts import Flow
from relax_lint.analysis.trial_course import Budget, Course
from relax_lint.analysis.trial_sizes import Sizes
from relax_lint.analysis.trial_tensors import Seen
from relax_lint.analysis.trial_walk import Walk


class Harmed(Walk):
    """One run of a function in which something is wrong."""

    def differs(self) -> bool | None:
        """Whether that changes what is given back; None where it, or who reads, is not reached."""
        return _judged(self, [self])

    @property
    def is_read(self) -> bool:
        """Whether whoever is to read it was reached."""
        return True

    def counts(self) -> bool:
        """Whether something is wrong, and read. Raises `Unclear` where that was not followed."""
        raise NotImplementedError

    @property
    def is_other(self) -> bool:
        """Whether it was another one at first than what would be right."""
        return True


Begin: TypeAlias = "Callable[[Budget, Flow, Sizes, int, Course | None], Harmed]"
"""Begins such a run."""


def differs_around(
    budget: Budget, flow: Flow, sizes: Sizes, trial: int, name: str, begin: Begin
) -> bool | None:
    """The same of a function that leads to calls of one with a name, in each of which something is wrong."""
    met = list[Harmed]()

    def inside(budget: Budget, flow: Flow, sizes: Sizes, trial: int, course: Course) -> Walk:
        if flow.function.name != name:
            return Walk(budget, flow, sizes, trial, course)
        met.append(begin(budget, flow, sizes, trial, course))
        return met[-1]

    try:
        found = _judged(Walk(budget, flow, sizes, trial, Course(inside)), met)
        return found if any(one.is_other for one in met) else None
    finally:
        # They know the one that they are inside of.
        met.clear()


def _judged(first: Walk, harmed: Sequence[Harmed]) -> bool | None:
    try:
        first.run()
    except Seen:
        return True if any(one.is_read for one in harmed) else None
    finally:
        first.course.watching.clear()
    return first.gives_back_damage() if any(one.counts() for one in harmed) else None
