"""Whether damage gets through all that is computed from it: operations that each look at what they are
given may come to the same together, as `(t + x) - (t + x)` and `t * 0` do. Functions are carried out for
this at some sizes, as far as it is known what they call.
"""

from __future__ import annotations

from functools import cached_property

from relax_lint.analysis.observed_parts import Flow
from relax_lint.analysis.trial_damage import DamagedWalk
from relax_lint.analysis.trial_sizes import Sizes, sized, sizes_to_try
from relax_lint.analysis.trial_tensors import TrialTensor, Unclear
from relax_lint.analysis.trial_walk import Spent, Stopped
from relax_lint.model.operations import Op, ValueId

_TRIALS = 20
"""So many contents of what comes from outside are tried."""
_MOST_STEPS = 50_000
"""After so many steps of kernels in one function, all trials together, no other one is carried out."""


class Composed:
    """Asked of one function."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._function = flow.function
        self._known: dict[tuple[ValueId, int, bool], bool | None] = {}
        self.left = _MOST_STEPS
        """The steps that are left."""

    def matters(self, op: Op, value: ValueId, since: int | None) -> bool | None:
        """Whether it was seen to matter for what a function gives back that a value which an operation reads
        does not hold what it should behind the one with the index `since`; None where that was not found out.
        """
        key = value, op.place.index if since is None else since, since is not None
        if key not in self._known:
            self._known[key] = self._tried(*key)
        return self._known[key]

    def _tried(self, value: ValueId, at: int, behind: bool) -> bool | None:
        found = {self._tried_at(sizes, value, at, behind=behind) for sizes in self._sizes}
        return False if False in found else True if True in found else None

    @cached_property
    def _sizes(self) -> tuple[Sizes, ...]:
        return sizes_to_try(self._function)

    def _tried_at(self, sizes: Sizes, value: ValueId, at: int, *, behind: bool) -> bool | None:
        """The same at some sizes: with what is written there, or where that is not known with anything."""
        if not TrialTensor.fits(sized(self._function.type_of(value), sizes)):
            return None
        for is_real in (True, False) if behind else (False,):
            try:
                return self._seen(
                    [
                        DamagedWalk(self, self._flow, sizes, trial, value, at, behind=behind, is_real=is_real)
                        for trial in range(_TRIALS)
                    ]
                )
            except Unclear:
                pass
        return None

    def _seen(self, walks: list[DamagedWalk]) -> bool | None:
        """Whether any of some runs shows the damage. Raises `Unclear`."""
        found = set[bool | None]()
        try:
            for walk in walks:
                found.add(_differs(walk))
                if True in found:
                    return True
        except Spent:
            # As far as it was tried.
            pass
        return False if False in found else None


def _differs(walk: DamagedWalk) -> bool | None:
    try:
        return walk.differs()
    except Stopped:
        # A run that ends there gives nothing back.
        return False
