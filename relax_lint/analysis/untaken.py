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


class Untaken:
    """The operations of one function that are in a branch which no run takes, by index."""

    def __init__(
        self, function: Function, aliases: Aliases, effect_of: Callable[[KernelCall], Effect]
    ) -> None:
        self._aliases = aliases
        self._effect_of = effect_of
        self._made = {op.result: op for op in function.body.walk()}
        self.places: frozenset[int] = frozenset(self._block(function.body, _Known()))

    def _block(self, block: Block, known: _Known) -> Iterable[int]:
        found: list[int] = []
        for op in block.ops:
            if isinstance(op, If):
                found += self._if(op, known)
            self._follow(op, known)
        return found

    def _if(self, op: If, known: _Known) -> list[int]:
        if op.condition is None:
            return [*self._block(op.then_block, known.copy()), *self._block(op.else_block, known.copy())]
        condition = self._aliases.identity(op.condition)
        value, found = known.value(condition), []
        for branch, holds in ((op.then_block, True), (op.else_block, False)):
            if value is (not holds):
                found += [inner.place.index for inner in branch.walk()]
            else:
                found += self._block(branch, known.taken(condition, holds))
        return found

    def _follow(self, op: Op, known: _Known) -> None:
        """What an operation changes of what is known, and what it tells."""
        if isinstance(op, If):
            for inner in (*op.then_block.walk(), *op.else_block.walk()):
                self._forget(inner, known)
        else:
            self._forget(op, known)
        if isinstance(op, KernelCall) and op.callee == _NOT and len(op.arguments) == 1:
            known.negated[op.result] = self._aliases.identity(op.arguments[0])

    def _forget(self, op: Op, known: _Known) -> None:
        if isinstance(op, FunctionCall):
            known.forget(lambda value: True)
        elif isinstance(op, KernelCall):
            effect, count = self._effect_of(op), len(op.arguments)
            written = [op.arguments[position] for position in effect.writes if position < count]
            if not effect.known or not all(map(self._is_own, written)):
                known.forget(lambda value: True)
            elif written:
                known.forget(lambda value: self._may_be_one_of(value, written))

    def _is_own(self, value: ValueId) -> bool:
        """Whether a value is nothing but tensors that the function itself allocates."""
        return all(isinstance(self._made.get(root), AllocTensor) for root in self._aliases.roots_of(value))

    def _may_be_one_of(self, value: ValueId, written: Iterable[ValueId]) -> bool:
        """Whether a condition may lie on the memory of a tensor that is written."""
        roots = self._aliases.roots_of(value)
        on_storage = any(isinstance(self._made.get(root), AllocTensor) for root in roots)
        return on_storage or any(not roots.isdisjoint(self._aliases.roots_of(one)) for one in written)
