"""Whether what an operation leaves in memory is looked at by anybody."""

from __future__ import annotations

from collections.abc import Callable

import sympy

from relax_lint.analysis.aliases import Aliases
from relax_lint.analysis.certainty import Certainty
from relax_lint.analysis.effects import Effect
from relax_lint.analysis.liveness import operands
from relax_lint.analysis.paths import Paths
from relax_lint.analysis.summaries import Summary
from relax_lint.model.operations import (
    Alias,
    FunctionCall,
    GetItem,
    KernelCall,
    MakeTuple,
    MatchCast,
    Op,
    ValueId,
    View,
)
from relax_lint.model.program import Function

_NAMES = Alias | GetItem | MakeTuple | MatchCast | View
"""What only gives memory another name."""


class ReadAfter:
    """Looks for reads behind operations of one function; `outside` are the values that its callers know, and
    `left_out` tells the operations that TVM may leave out.
    """

    def __init__(
        self,
        function: Function,
        aliases: Aliases,
        paths: Paths,
        effect_of: Callable[[KernelCall], Effect],
        summary_of: Callable[[FunctionCall], Summary | None],
        outside: frozenset[ValueId],
        left_out: Callable[[], frozenset[int]],
    ) -> None:
        self._function = function
        self._aliases = aliases
        self._paths = paths
        self._effect_of = effect_of
        self._summary_of = summary_of
        self._outside = outside
        self._left_out = left_out

    def is_read(self, value: ValueId, done: Op) -> bool:
        """Whether somebody may read the bytes of a value before all of them are written again, after an
        operation.
        """
        roots = self._aliases.roots_of(value)
        if any(self._aliases.roots.value_of(root) in self._outside for root in roots):
            return True
        for op in self._function.body.walk():
            if op.place.index <= done.place.index or op.place.index in self._left_out():
                continue
            if isinstance(op, FunctionCall) and self._only_writes(op, roots):
                if self._is_filled(op, roots) and self._paths.always_with(op, done):
                    return False
                continue
            if not isinstance(op, KernelCall):
                if not isinstance(op, _NAMES) and self._uses(op, roots):
                    return True
                continue
            effect = self._effect_of(op)
            at = [p for p, a in enumerate(op.arguments) if not roots.isdisjoint(self._aliases.roots_of(a))]
            if at and (not effect.known or any(p in effect.reads for p in at)):
                return True
            if any(self._is_overwritten(op, p, effect, roots, done) for p in at):
                return False
        return not roots.isdisjoint(self._aliases.roots_of(self._function.result))

    def _uses(self, op: Op, roots: frozenset[ValueId]) -> bool:
        return any(not roots.isdisjoint(self._aliases.roots_of(one)) for one in operands(op, self._function))

    def _only_writes(self, call: FunctionCall, roots: frozenset[ValueId]) -> bool:
        """Whether a function does nothing else with what it is given than to write it."""
        summary = self._summary_of(call)
        if summary is None or call.value is not None:
            return False
        used = (*summary.reads, *summary.passed, *summary.handed_on, *summary.returned_paths)
        return all(roots.isdisjoint(self._aliases.roots.of(summary.path(path))) for path in used)

    def _is_filled(self, call: FunctionCall, roots: frozenset[ValueId]) -> bool:
        """Whether a function certainly writes all of the memory that a value has, and TVM leaves that in."""
        summary = self._summary_of(call)
        written = () if summary is None else summary.touched(summary.writes)
        return any(
            certainty is Certainty.MUST
            and len(roots) == 1
            and self._aliases.roots.of(path) == roots
            and summary is not None
            and path not in summary.perhaps_superseded
            for path, certainty in written
        )

    def _is_overwritten(
        self, op: KernelCall, position: int, effect: Effect, roots: frozenset[ValueId], done: Op
    ) -> bool:
        """Whether a call certainly writes all of the memory that a value has."""
        argument = op.arguments[position]
        own = self._aliases.roots_of(argument)
        whole = effect.whole.get(position) == sympy.true and argument not in self._aliases.windows
        return whole and len(own) == 1 and own == roots and self._paths.always_with(op, done)
