"""Whether the next run may give the same although this one overwrites a constant: what is stored is what was
there, or is written before anything reads it. The function is carried out twice for this, at some sizes.
"""

from __future__ import annotations

from relax_lint.analysis.liveness import operands
from relax_lint.analysis.trial_course import Constants
from relax_lint.analysis.trial_runs import Run, Trials
from relax_lint.analysis.trial_sizes import Sizes
from relax_lint.analysis.trial_tensors import TrialTensor, Unclear
from relax_lint.analysis.trial_values import fields
from relax_lint.model.operations import FunctionCall, KernelCall, Op, ValueId


class NextRun(Trials):
    """Asked of one function."""

    def may_be_the_same(self, call: KernelCall | FunctionCall, constant: ValueId) -> bool:
        """Whether the next run was seen to give the same, with all contents that were tried that take one
        path; where that was not found out, whether it is not certain that this one reads the constant first.
        """
        seen = self.seen(lambda sizes, trial: _Twice(self, sizes, trial, call))
        return True in seen or (False not in seen and not self._is_read(call, constant))

    def _is_read(self, call: KernelCall | FunctionCall, constant: ValueId) -> bool:
        """Whether a call, or something before it, is certain to read a constant."""
        flow = self.flow
        if isinstance(call, KernelCall):
            effect = flow.effect_of(call)
            sure = effect.reads - effect.unsure_reads if effect.known else frozenset()
            read = [one for position, one in enumerate(call.arguments) if position in sure]
            found = any(constant in flow.aliases.roots_of(one) for one in read)
        else:
            summary = flow.summary_of(call)
            paths = () if summary is None else map(summary.path, summary.reads)
            found = any(constant in flow.aliases.roots.of(path) for path in paths)
        return found or any(
            constant in flow.aliases.roots_of(one)
            for op in flow.function.body.of(KernelCall, FunctionCall)
            if op.place.index < call.place.index and flow.paths.always_with(op, call)
            for one in operands(op, flow.function)
        )


class _Twice(Run):
    """Two runs, one after the other, with the same arguments."""

    def __init__(
        self,
        trials: Trials,
        sizes: Sizes,
        trial: int,
        call: KernelCall | FunctionCall,
        constants: Constants | None = None,
    ) -> None:
        super().__init__(trials, sizes, trial, call, -1)
        if constants is not None:
            self.course.constants = constants
        self._is_met = False

    def _op(self, op: Op) -> None:
        if op is self._call:
            self._is_met = True
        if op is self._call and isinstance(op, KernelCall):
            self._carry_out()
        else:
            super()._op(op)

    def results(self) -> list[TrialTensor]:
        """What a run returns. Raises `Unclear` where that is not followed."""
        self._block(self._function.body)
        returned = list(fields(self._of(self._function.result)))
        found = [one.copied() for one in returned if isinstance(one, TrialTensor)]
        if len(found) < len(returned):
            raise Unclear
        return found

    def is_the_same(self) -> bool | None:
        """Whether both give the same; None where they do not come to the call."""
        first = self.results()
        if not self._is_met:
            return None
        again = _Twice(self._trials, self._sizes, self._trial, self._call, self.course.constants)
        second = again.results()
        if again.taken != self.taken or len(first) != len(second):
            raise Unclear
        return all(one.is_as(other) for one, other in zip(first, second, strict=True))
