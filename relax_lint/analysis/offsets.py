"""At which byte a tensor starts, counted from its data pointer."""

from __future__ import annotations

from functools import cached_property

import sympy

from relax_lint.model.operations import (
    Alias,
    AllocTensor,
    Block,
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
from relax_lint.symbolic.quantity import Size, Unknown
from relax_lint.vm.builtins import ViewKind

_ZERO = sympy.Integer(0)
_CHOSEN = Unknown("the offset depends on the caller")


class Offsets:
    """The byte offsets of the tensors of one function.

    Tensors that come from outside (parameters, results of calls) are taken to start at their data pointer.
    `moved` are parameters that some caller gives a tensor which does not.
    What an in-place call makes of an argument starts where that does.

    With `in_memory` bytes are counted from where the data pointer of a tensor was before
    `ensure_zero_offset` moved it: the start of the memory.
    """

    def __init__(
        self, function: Function, moved: frozenset[ValueId] = frozenset(), *, in_memory: bool = False
    ) -> None:
        self._function = function
        self._moved = moved
        self._in_memory = in_memory

    def of(self, value: ValueId) -> Size:
        """The byte offset of a tensor."""
        return self._known.get(value, _ZERO)

    @cached_property
    def _known(self) -> dict[ValueId, Size]:
        """The offsets that are not plainly 0."""
        known: dict[ValueId, Size] = dict.fromkeys(self._moved, _CHOSEN)
        self._walk(self._function.body, known, dict(self._function.inline_tuples))
        return known

    def _walk(
        self, block: Block, known: dict[ValueId, Size], fields: dict[ValueId, tuple[ValueId, ...]]
    ) -> None:
        for op in block.ops:
            if isinstance(op, Kill) or (isinstance(op, KernelCall) and not op.inplace):
                continue
            if isinstance(op, If):
                self._walk(op.then_block, known, fields)
                self._walk(op.else_block, known, fields)
            elif isinstance(op, MakeTuple):
                fields[op.result] = op.items
            elif isinstance(op, KernelCall) and len(op.inplace) > 1:
                fields[op.result] = _outputs(op)
            offset = self._offset(op, known, fields)
            if offset is not _ZERO and offset != 0:
                known[op.result] = offset

    def _offset(self, op: Op, known: dict[ValueId, Size], fields: dict[ValueId, tuple[ValueId, ...]]) -> Size:
        if isinstance(op, AllocTensor):
            return op.offset
        if isinstance(op, KernelCall) and len(op.inplace) == 1:
            return known.get(_outputs(op)[0], _ZERO)
        if isinstance(op, Alias | MatchCast):
            return known.get(op.source, _ZERO)
        if isinstance(op, GetItem):
            items = fields.get(op.tuple, ())
            return known.get(items[op.item], _ZERO) if op.item < len(items) else _ZERO
        if isinstance(op, If):
            taken, other = known.get(op.then_result, _ZERO), known.get(op.else_result, _ZERO)
            return taken if taken == other else Unknown("the offset depends on the branch taken")
        if isinstance(op, View) and (self._in_memory or op.kind is not ViewKind.ZERO_OFFSET):
            base = known.get(op.source, _ZERO)
            if isinstance(base, Unknown) or isinstance(op.offset, Unknown):
                return base if isinstance(base, Unknown) else op.offset
            return base + op.offset
        return _ZERO


def _outputs(call: KernelCall) -> tuple[ValueId, ...]:
    """The argument that each output of an in-place call is; for a tensor of its own the call's result."""
    return tuple(call.arguments[index] if index >= 0 else call.result for index in call.inplace)
