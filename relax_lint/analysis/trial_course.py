"""What the runs of functions that call each other have in common while one of them is tried."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol, TypeAlias

from relax_lint.analysis.observed_parts import Flow
from relax_lint.analysis.trial_sizes import Sizes
from relax_lint.analysis.trial_tensors import BOTH_SIDES, MOST_ELEMENTS, TrialTensor, Unclear
from relax_lint.analysis.trial_values import Held
from relax_lint.model.operations import ValueId
from relax_lint.model.types import TensorType

_MOST_INSIDE = 12
"""So many calls may be inside of each other; functions that call themselves may have no end."""
Constants: TypeAlias = "dict[tuple[TensorType, str], TrialTensor]"


class Budget(Protocol):
    """Who counts the steps that are `left`."""

    left: int


class Watcher(Protocol):
    """Who wants to know what is stored."""

    def notice(self, stored: Sequence[TrialTensor]) -> None:
        """An operation has stored something into these tensors."""


class Stored:
    """The `tensors` into which something was stored."""

    def __init__(self) -> None:
        self.tensors: list[TrialTensor] = []

    def notice(self, stored: Sequence[TrialTensor]) -> None:
        """An operation has stored something into these tensors."""
        self.tensors += stored


class Inside(Protocol):
    """The run of a function that is called."""

    def result_with(self, given: Mapping[ValueId, Held]) -> Held:
        """What the function gives back that is given something."""


class Course:
    """One for all runs inside of the same first one. `begin` begins those of the functions that it calls."""

    def __init__(self, begin: Callable[[Budget, Flow, Sizes, int, Course], Inside]) -> None:
        self.begin = begin
        self.constants: Constants = {}
        """Those that are equal are one in the whole module."""
        self.taken: list[bool] = []
        """The branches that were taken, True for the first of two."""
        self.is_damaged = False
        self.sides: Sequence[int] = BOTH_SIDES
        """The sides that are carried out."""
        self.watching: list[Watcher] = []
        self.most = MOST_ELEMENTS
        """Of tensors with more elements not all steps are carried out."""
        self._begun = 0
        self._inside = 0

    @property
    def is_on_one_side(self) -> bool:
        """Whether what is done is done with damage only, or without it only."""
        return len(self.sides) < len(BOTH_SIDES)

    def next_number(self) -> int:
        """Another one for each run, from 0 on."""
        self._begun += 1
        return self._begun - 1

    @contextmanager
    def storing(self) -> Iterator[Stored]:
        """What is stored meanwhile."""
        stored = Stored()
        self.watching.append(stored)
        try:
            yield stored
        finally:
            self.watching.remove(stored)

    @contextmanager
    def on_side(self, side: int) -> Iterator[None]:
        """While only that side is carried out."""
        before, self.sides = self.sides, (side,)
        try:
            yield
        finally:
            self.sides = before

    @contextmanager
    def deeper(self) -> Iterator[None]:
        """While a call is carried out. Raises `Unclear` where too many are inside of each other."""
        if self._inside >= _MOST_INSIDE:
            raise Unclear
        self._inside += 1
        try:
            yield
        finally:
            self._inside -= 1
