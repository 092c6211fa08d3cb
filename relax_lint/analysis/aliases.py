"""Which values are one and the same: in a register of the VM, and in memory."""

from __future__ import annotations

from functools import cached_property

from relax_lint.model.program import (
    Alias,
    Block,
    CallKind,
    Function,
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
from relax_lint.model.types import TupleType, ValueType

IN_PLACE_CALLS = (CallKind.CALL_TIR_INPLACE, CallKind.CALL_INPLACE_PACKED)


class Aliases:
    """The names and views of one function that share a register or bytes."""

    def __init__(self, function: Function) -> None:
        self._function = function

    @cached_property
    def fields(self) -> dict[ValueId, tuple[ValueId, ...]]:
        """The fields of every tuple that is built in the function, also under its other names."""
        fields = dict(self._function.inline_tuples)
        for op in self._function.body.walk():
            if isinstance(op, MakeTuple):
                fields[op.result] = op.items
            elif isinstance(op, Alias | MatchCast) and op.source in fields:
                fields[op.result] = fields[op.source]
        return fields

    @cached_property
    def registers(self) -> dict[ValueId, ValueId]:
        """The value in whose register each value sits; a value that has its own is not listed.

        TVM removes trivial bindings (`b = a`, a cast to the type that the value has, a field of a tuple
        that is built in the function) before it assigns registers, so killing one name kills the other.
        """
        found: dict[ValueId, ValueId] = {}
        for op in self._function.body.walk():
            source = self._same_register(op)
            if source is not None:
                found[op.result] = found.get(source, source)
        return found

    def register(self, value: ValueId) -> ValueId:
        """The value in whose register a value sits."""
        return self.registers.get(value, value)

    def _same_register(self, op: Op) -> ValueId | None:
        if isinstance(op, Alias):
            return op.source
        if isinstance(op, MatchCast) and op.type == self._written_type(op.source):
            return op.source
        if isinstance(op, GetItem):
            items = self.fields.get(op.tuple, ())
            return items[op.item] if op.item < len(items) else None
        return self._rebuilt_tuple(op) if isinstance(op, MakeTuple) else None

    def _written_type(self, value: ValueId) -> ValueType:
        """The type that the IR gives a value: of a cast, less may be written than is known."""
        op = self._definitions.get(value)
        if isinstance(op, MatchCast):
            return op.type
        return self._written_type(op.source) if isinstance(op, Alias) else self._function.type_of(value)

    def _rebuilt_tuple(self, op: MakeTuple) -> ValueId | None:
        """The tuple of which `op` puts all fields together again."""
        taken = [self._definitions.get(item) for item in op.items]
        gets = [get for get in taken if isinstance(get, GetItem)]
        if not gets or [get.item for get in gets] != list(range(len(op.items))):
            return None
        source = gets[0].tuple
        type_ = self._function.type_of(source)
        complete = isinstance(type_, TupleType) and len(type_.fields) == len(op.items)
        return source if complete and all(get.tuple == source for get in gets) else None

    @cached_property
    def _definitions(self) -> dict[ValueId, Op]:
        return {op.result: op for op in self._function.body.walk()}

    @cached_property
    def roots(self) -> dict[ValueId, frozenset[ValueId]]:
        """The values whose bytes each value may share, over all paths: allocations, parameters,
        constants, results of calls.

        The result of a packed function is taken for a tensor of its own unless the call declares
        that it works in place.
        """
        function = self._function
        found = {value: frozenset((value,)) for value in (*function.parameters, *function.constants)}
        self._collect_roots(function.body, found)
        return found

    def _collect_roots(self, block: Block, found: dict[ValueId, frozenset[ValueId]]) -> None:
        def of(*values: ValueId) -> frozenset[ValueId]:
            parts = [of(*self.fields[v]) if v in self.fields else found.get(v, frozenset()) for v in values]
            return frozenset().union(*parts)

        for op in block.ops:
            if isinstance(op, If):
                self._collect_roots(op.then_block, found)
                self._collect_roots(op.else_block, found)
                found[op.result] = of(op.then_result, op.else_result)
            elif isinstance(op, Alias | MatchCast | View):
                found[op.result] = of(op.source)
            elif isinstance(op, MakeTuple):
                found[op.result] = of(*op.items)
            elif isinstance(op, GetItem):
                items = self.fields.get(op.tuple, ())
                found[op.result] = of(items[op.item] if op.item < len(items) else op.tuple)
            elif isinstance(op, KernelCall) and op.kind in IN_PLACE_CALLS:
                fresh = frozenset((op.result,)) if -1 in op.inplace or not op.inplace else frozenset()
                found[op.result] = fresh | of(*(op.arguments[i] for i in op.inplace if i >= 0))
            elif not isinstance(op, Kill):
                found[op.result] = frozenset((op.result,))
