"""Whether it matters for what a function gives back that two arguments of a kernel are one tensor: what it
computes there may be wrong in part, and another part looked at.
"""

from __future__ import annotations

from relax_lint.analysis.observed_parts import Flow
from relax_lint.analysis.trial_course import Budget, Course
from relax_lint.analysis.trial_harm import Harmed
from relax_lint.analysis.trial_sizes import Sizes
from relax_lint.analysis.trial_tensors import TrialTensor, Unclear, carry_out
from relax_lint.analysis.trial_walk import Spent
from relax_lint.model.kernel_body.machine import Cells
from relax_lint.model.operations import KernelCall


class ApartAndShared(Harmed):
    """One run of a function in which a call is carried out with the argument that it writes at a position in
    memory of its own, and as it is, side by side.
    """

    def __init__(
        self,
        budget: Budget,
        flow: Flow,
        sizes: Sizes,
        trial: int,
        call: KernelCall,
        written: int,
        course: Course | None = None,
    ) -> None:
        super().__init__(budget, flow, sizes, trial, course)
        self._call = call
        self._position = written
        self._is_met = False

    def counts(self) -> bool:
        """Whether the call was carried out."""
        return self._is_met

    def _kernel(self, op: KernelCall) -> None:
        if op is not self._call:
            super()._kernel(op)
            return
        found = self._given(op)
        if found is None or self._budget.left <= 0:
            raise Unclear if found is None else Spent
        kernel, given = found
        shared = given[self._position]
        others = [one for at, one in enumerate(given) if at != self._position]
        if not isinstance(shared, TrialTensor) or not any(
            isinstance(one, TrialTensor) and one.both is shared.both for one in others
        ):
            # Two tensors on one storage are followed as two.
            raise Unclear
        own, mixed = shared.with_a_side_of_its_own()
        given[self._position] = mixed
        self._budget.left -= 1 + carry_out(kernel, given)
        _become(shared.both[0], own)
        self._is_met = self.course.is_damaged = True


def _become(cells: Cells, other: Cells) -> None:
    cells.held, cells.begin = other.held, other.begin
