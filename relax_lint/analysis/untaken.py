"""The branches that no run takes: an `If` inside a branch of another one that asks for the same condition.

A condition is a tensor: what a branch tells of it holds until something may write to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

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

    def copy(self) -> _Known:
        return _Known(dict(self.holds), dict(self.negated))

    def value(self, condition: ValueId) -> bool | None:
        """What a condition is; None where that is not known."""
        if condition in self.holds or condition not in self.negated:
            return self.holds.get(condition)
        opposite = self.holds.get(self.negated[condition])
        return None if opposite is None else not opposite

    def taken(self, condition: ValueId, holds: bool) -> _Known:
        """What is known in a branch."""
        inside = self.copy()
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


@dataclass
class _Changes:
    """What some operations may write: some values, or (`anything`) what is not known."""

    written: set[ValueId] = field(default_factory=set)
    anything: bool = False

    def add(self, other: _Changes) -> None:
        self.written |= other.written
        self.anything |= other.anything


_NOTHING = _Changes()


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
        changes = _Changes()
        for op in block.ops:
            changed = self._if(op, known) if isinstance(op, If) else self._changed(op)
            self._forget(changed, known)
            changes.add(changed)
            if isinstance(op, KernelCall) and op.callee == _NOT and len(op.arguments) == 1:
                known.negated[op.result] = self._aliases.identity(op.arguments[0])
        return changes

    def _if(self, op: If, known: _Known) -> _Changes:
        changes = _Changes()
        condition = None if op.condition is None else self._aliases.identity(op.condition)
        value = None if condition is None else known.value(condition)
        if value is not None:
            self._known[op.place.index] = value
        for branch, holds in ((op.then_block, True), (op.else_block, False)):
            if value is (not holds):
                self._found += [inner.place.index for inner in branch.walk()]
            else:
                inside = known.copy() if condition is None else known.taken(condition, holds)
                changes.add(self._block(branch, inside))
        return changes

    def _changed(self, op: Op) -> _Changes:
        if isinstance(op, FunctionCall):
            return _Changes(anything=True)
        if not isinstance(op, KernelCall):
            return _NOTHING
        effect, count = self._effect_of(op), len(op.arguments)
        written = {op.arguments[position] for position in effect.writes if position < count}
        return _Changes(written, not effect.known or not all(map(self._is_own, written)))

    def _forget(self, changes: _Changes, known: _Known) -> None:
        if changes.anything:
            known.forget(lambda value: True)
        elif changes.written:
            known.forget(lambda value: self._may_be_one_of(value, changes.written))

    def _is_own(self, value: ValueId) -> bool:
        """Whether a value is nothing but tensors that the function itself allocates."""
        return all(isinstance(self._made.get(root), AllocTensor) for root in self._aliases.roots_of(value))

    def _may_be_one_of(self, value: ValueId, written: Iterable[ValueId]) -> bool:
        """Whether a condition may lie on the memory of a tensor that is written."""
        roots = self._aliases.roots_of(value)
        on_storage = any(isinstance(self._made.get(root), AllocTensor) for root in roots)
        return on_storage or any(not roots.isdisjoint(self._aliases.roots_of(one)) for one in written)
