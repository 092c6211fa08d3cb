"""The branches that no run takes: an `If` inside a branch of another one that asks for the same condition.

A condition is a tensor: what a branch tells of it holds until something may write to it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum

from relax_lint.analysis.aliases import Aliases
from relax_lint.analysis.effects import Effect
from relax_lint.model.operations import (
    AllocTensor,
    Block,
    FunctionCall,
    If,
    KernelCall,
    Op,
    ValueId,
)
from relax_lint.model.program import Function
from relax_lint.vm.calls import CallKind

_NOT = "relax.logical_not"


def _branches_again(op: If) -> bool:
    """Whether an `If` stands inside of another one."""
    return any(isinstance(inner, If) for block in (op.then_block, op.else_block) for inner in block.ops)


@dataclass
class _Known:
    """What the branches around an operation tell: the value of each condition, and which values are the
    negation of which condition.
    """

    holds: dict[ValueId, bool] = field(default_factory=dict)
    negated: dict[ValueId, ValueId] = field(default_factory=dict)

    def value(self, condition: ValueId) -> bool | None:
        """What a condition is; None where that is not known."""
        if condition not in self.negated:
            return self.holds.get(condition)
        opposite = self.holds.get(self.negated[condition])
        return None if opposite is None else not opposite

    def taken(self, condition: ValueId, holds: bool) -> _Known:
        """What is known in a branch."""
        inside = _Known(dict(self.holds), dict(self.negated))
        inside.holds[condition] = holds
        if condition in self.negated:
            inside.holds[self.negated[condition]] = not holds
        return inside

    def forget(self, may_change: Callable[[ValueId], bool]) -> None:
        """Drop what an operation may have changed."""
        self.holds = {value: holds for value, holds in self.holds.items() if not may_change(value)}
        self.negated = {
            value: other
            for value, other in self.negated.items()
            if not may_change(value) and not may_change(other)
        }


class _Changes(IntEnum):
    """What some operations may write."""

    NOTHING = 0
    OWN = 1
    """Tensors that the function itself allocates, and what shares memory with them."""
    ANYTHING = 2


class Untaken:
    """The branches of one function that no run takes. `places`: the operations in them, by index."""

    def __init__(
        self, function: Function, aliases: Aliases, effect_of: Callable[[KernelCall], Effect]
    ) -> None:
        self._aliases = aliases
        self._effect_of = effect_of
        self._found: list[int] = []
        self._known: dict[int, bool] = {}
        if any(_branches_again(op) for op in function.body.of(If)):
            self._made = {op.result: op for op in function.body.walk()}
            self._block(function.body, _Known())
        self.places: frozenset[int] = frozenset(self._found)

    def taken(self, op: If) -> bool | None:
        """The branch of an `If` that is taken whenever it is reached: True for the first; None for either."""
        return self._known.get(op.place.index)

    def _block(self, block: Block, known: _Known) -> _Changes:
        """Follow a block; what it may write."""
        changes = _Changes.NOTHING
        for op in block.ops:
            changed = self._if(op, known) if isinstance(op, If) else self._changed(op)
            self._forget(changed, known)
            changes = max(changes, changed)
            if isinstance(op, KernelCall) and op.kind is CallKind.OPERATOR and op.callee == _NOT:
                known.negated[op.result] = self._aliases.identity(op.arguments[0])
        return changes

    def _if(self, op: If, known: _Known) -> _Changes:
        changes = _Changes.NOTHING
        condition = self._aliases.identity(op.condition)
        value = known.value(condition)
        if value is not None:
            self._known[op.place.index] = value
        for branch, holds in ((op.then_block, True), (op.else_block, False)):
            if value is (not holds):
                self._found += [inner.place.index for inner in branch.walk()]
            else:
                changes = max(changes, self._block(branch, known.taken(condition, holds)))
        return changes

    def _changed(self, op: Op) -> _Changes:
        if isinstance(op, FunctionCall):
            return _Changes.ANYTHING
        if not isinstance(op, KernelCall):
            return _Changes.NOTHING
        effect, count = self._effect_of(op), len(op.arguments)
        written = [op.arguments[position] for position in effect.writes if position < count]
        if not effect.known or not all(map(self._is_own, written)):
            return _Changes.ANYTHING
        return _Changes.OWN if written else _Changes.NOTHING

    def _forget(self, changes: _Changes, known: _Known) -> None:
        if changes is _Changes.ANYTHING:
            known.forget(lambda value: True)
        elif changes is _Changes.OWN:
            known.forget(self._may_be_own)

    def _is_own(self, value: ValueId) -> bool:
        """Whether a value is nothing but tensors that the function itself allocates."""
        return all(map(self._is_allocated, self._aliases.roots_of(value)))

    def _may_be_own(self, value: ValueId) -> bool:
        """Whether a condition may be one of those, any of which may share its memory."""
        return any(map(self._is_allocated, self._aliases.roots_of(value)))

    def _is_allocated(self, root: ValueId) -> bool:
        return isinstance(self._made.get(root), AllocTensor)
