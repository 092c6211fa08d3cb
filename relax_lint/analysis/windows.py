"""Which values may be less than all of the memory behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from relax_lint.analysis.access_paths import Tree, everything
from relax_lint.analysis.roots import Roots
from relax_lint.model.operations import (
    Alias,
    AllocStorage,
    AllocTensor,
    Assert,
    Block,
    Constant,
    FunctionCall,
    GetItem,
    If,
    KernelCall,
    Kill,
    MakeTuple,
    MatchCast,
    Op,
    ValueId,
    View,
)
from relax_lint.model.program import Function
from relax_lint.vm.builtins import GET_ITEM, MAKE_TUPLE, ViewKind

_WHOLE: frozenset[type[Op]] = frozenset({AllocStorage, AllocTensor, Assert, Constant, Kill})
"""The operations whose result is no part of anything."""


class Windows:
    """The values that may be a part of the memory behind them: views, what a call may make of a part of what
    it was given, and other names of them.
    """

    def __init__(
        self,
        function: Function,
        roots: Roots,
        parts: Callable[[ValueId], Iterable[ValueId]],
        viewed: Callable[[KernelCall], Iterable[ValueId]],
    ) -> None:
        self._roots = roots
        self._parts = parts
        self._viewed = viewed
        self._new: set[ValueId] = set()
        """The roots that are all of one field of what a call returns."""
        self.found: set[ValueId] = set()
        self._block(function.body)

    def _block(self, block: Block) -> None:
        for op in block.ops:
            if isinstance(op, If):
                # What it gives back is known behind its branches.
                self._block(op.then_block)
                self._block(op.else_block)
            if type(op) not in _WHOLE and self._is_window(op):
                self.found.add(op.result)

    def _is_window(self, op: Op) -> bool:
        if isinstance(op, View) and op.kind in (ViewKind.MEMORY_VIEW, ViewKind.RESHAPE):
            return True
        if isinstance(op, Alias | MatchCast | View):
            return self._is_any((op.source,))
        if isinstance(op, MakeTuple):
            return self._is_any(op.items)
        if isinstance(op, GetItem):
            return self._is_any((op.tuple,)) and not everything(self._roots.tree(op.result)) <= self._new
        if isinstance(op, If):
            return self._is_any((op.then_result, op.else_result))
        if isinstance(op, KernelCall):
            same = tuple(op.arguments[i] for i in op.inplace if i >= 0) or tuple(self._viewed(op))
            if op.callee in (MAKE_TUPLE, GET_ITEM):
                same = op.arguments
            return self._is_any(same) if same else self._is_handed_back(op)
        return isinstance(op, FunctionCall) and self._is_handed_back(op)

    def _is_any(self, sources: Iterable[ValueId]) -> bool:
        if not self.found:
            return False
        return any(part in self.found for source in sources for part in (source, *self._parts(source)))

    def _is_handed_back(self, op: FunctionCall | KernelCall) -> bool:
        """Whether a call may return a part of what it was given, or of another field of what it returns."""
        tree = self._roots.tree(op.result)
        if tree == frozenset((op.result,)):
            return False
        found, shared = _in_fields(tree)
        own = {root for root in found if self._roots.value_of(root) == op.result} - shared
        self._new |= own
        return len(own) < len(found)


def _in_fields(tree: Tree[ValueId]) -> tuple[set[ValueId], set[ValueId]]:
    """What is in a field, and what is in more than one. A tuple that is a field twice is walked once."""
    found: set[ValueId] = set()
    shared: set[ValueId] = set()
    pending, seen = [tree], {id(tree)}
    while pending:
        one = pending.pop()
        if isinstance(one, frozenset):
            shared |= found & one
            found |= one
            continue
        for field in one:
            if id(field) in seen:
                shared |= everything(field)
            else:
                seen.add(id(field))
                pending.append(field)
    return found, shared
