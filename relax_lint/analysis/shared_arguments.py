"""Whether it matters for what a function gives back that two arguments of a kernel are one tensor: what it
computes there may be wrong in part, and another part looked at.
"""

from __future__ import annotations

from relax_lint.analysis.composed import Budget, Spent, Walk, seen_by_somebody
from relax_lint.analysis.observed_parts import Flow
from relax_lint.analysis.trial_sizes import Sizes
from relax_lint.analysis.trial_tensors import Unclear, carry_out
from relax_lint.analysis.trial_values import leaves
from relax_lint.model.kernel_body.machine import Cells
from relax_lint.model.operations import KernelCall, Op


class ApartAndShared(Walk):
    """One run of a function in which a call is carried out with the argument that it writes at a position in
    memory of its own, and as it is, side by side.
    """

    def __init__(
        self, budget: Budget, flow: Flow, sizes: Sizes, trial: int, call: KernelCall, written: int
    ) -> None:
        super().__init__(budget, flow, sizes, trial, call.place.index, behind=True)
        self._call = call
        self._position = written
        self._is_met = False

    def matters(self) -> bool | None:
        """Whether something else is given back; None where the call is not reached."""
        return seen_by_somebody(self._run)

    def _run(self) -> bool | None:
        self._block(self._function.body)
        ends = (self._function.result, *self._function.parameters)
        found = any(one.differs for end in ends for one in leaves(self._of(end)))
        return found if self._is_met else None

    def _damage(self, op: Op | None) -> None:
        self._is_met = True

    def _kernel(self, op: KernelCall) -> None:
        if op is not self._call:
            super()._kernel(op)
            return
        found = self._given(op)
        if found is None or self._budget.left <= 0:
            raise Unclear if found is None else Spent
        kernel, given = found
        shared = given[self._position]
        if not any(one.both is shared.both for at, one in enumerate(given) if at != self._position):
            # Two tensors on one storage are followed as two.
            raise Unclear
        own, mixed = shared.with_a_side_of_its_own()
        given[self._position] = mixed
        self._budget.left -= 1 + carry_out(kernel, given)
        _become(shared.both[0], own)
        self._damaged = shared


def _become(cells: Cells, other: Cells) -> None:
    cells.held, cells.begin = other.held, other.begin
