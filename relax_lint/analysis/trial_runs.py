"""Runs of a function that tell whether something is the same, at some sizes and with some contents."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import TypeAlias

import sympy

from relax_lint.analysis.effects import Effect
from relax_lint.analysis.flow import FunctionFlow
from relax_lint.analysis.trial_sizes import Sizes, sizes_to_try
from relax_lint.analysis.trial_tensors import Stopped, Unclear, carry_out, written_by
from relax_lint.analysis.trial_walk import Spent, Walk
from relax_lint.model.operations import FunctionCall, KernelCall, Op

_TRIALS = 3
"""So many contents of what comes from outside are tried."""
_MORE_TRIALS = 16
"""The same where there are branches, or it was always the same."""
_MOST_TRIALS = 20
"""The same where data may decide what is stored."""
_MOST_STEPS = 20_000
"""After so many steps of kernels in one function, all writes together, it is not carried out any more."""


Way: TypeAlias = "tuple[tuple[bool, ...], tuple[frozenset[int], ...]]"
"""The branches that a run took, and which elements its call stored."""


class Trials:
    """Asked of one function."""

    def __init__(self, flow: FunctionFlow) -> None:
        self.flow = flow
        self.left = _MOST_STEPS
        """The steps that are left."""

    def seen(self, run: Callable[[Sizes, int], Run]) -> list[bool | None]:
        """What runs tell at each of some sizes; None where that was not found out."""
        return [self._seen_at(partial(run, sizes)) for sizes in self._sizes]

    @cached_property
    def _sizes(self) -> tuple[Sizes, ...]:
        return sizes_to_try(self.flow.function)

    def _seen_at(self, run: Callable[[int], Run]) -> bool | None:
        found: dict[Way, bool] = {}
        if self.left <= 0:
            return None
        try:
            for trial in range(_MOST_TRIALS):
                one = run(trial)
                try:
                    same = one.is_the_same()
                except Stopped:
                    continue
                if same is not None:
                    way = (one.taken, one.stored)
                    found[way] = same and found.get(way, True)
                if trial >= _TRIALS - 1 and one.is_whole and not one.taken and not all(found.values()):
                    break
                if trial >= _MORE_TRIALS - 1 and one.is_whole:
                    break
        except (Unclear, Spent):
            return None
        return any(found.values()) if found else None


def _writes_all(effect: Effect) -> bool:
    return all(effect.whole.get(position) == sympy.true for position in effect.writes)


class _Arrived(Exception):
    """The call comes next."""


class Run(Walk):
    """One run of a function up to the operation with an index, or (-1) to its end. One `call` is carried
    out for sure, and `is_whole` if it is known to store all of what it writes; `stored` are those elements at
    indices that do not look at data.
    """

    def __init__(
        self, trials: Trials, sizes: Sizes, trial: int, call: KernelCall | FunctionCall, at: int
    ) -> None:
        super().__init__(trials, trials.flow, sizes, trial)
        self._at = at
        self._trials = trials
        self._call = call
        self.is_whole = isinstance(call, KernelCall) and _writes_all(trials.flow.effect_of(call))
        self.stored: tuple[frozenset[int], ...] = ()

    @property
    def taken(self) -> tuple[bool, ...]:
        """The branches that were taken, here and in functions that are called."""
        return tuple(self.course.taken)

    def is_the_same(self) -> bool | None:
        """Whether a tensor holds what it did; None where this run does not come to it."""
        try:
            self._block(self._function.body)
        except _Arrived:
            return self._compared()
        return self._compared() if self._at < 0 else None

    def _compared(self) -> bool | None:
        """Whether it is the same, there; None where what was to be asked of was not met."""
        raise NotImplementedError

    def _carry_out(self) -> None:
        """Carry out the call. Raises `Unclear` where that is not possible."""
        found = self._given(self._call) if isinstance(self._call, KernelCall) else None
        if found is None:
            raise Unclear
        kernel, given = found
        self._budget.left -= 1 + carry_out(kernel, given)
        self.stored = tuple(frozenset(one.both[0].stored) for one in written_by(kernel, given))

    def _before(self, op: Op) -> None:
        if op.place.index == self._at:
            raise _Arrived
