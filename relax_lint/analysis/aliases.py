"""Which values are one and the same: in a register of the VM, and in memory."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from relax_lint.analysis.offsets import Offsets
from relax_lint.model.operations import (
    Alias,
    Assert,
    Block,
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
from relax_lint.model.types import TupleType, ValueType
from relax_lint.vm.builtins import ViewKind
from relax_lint.vm.calls import CallKind


def _own_result(call: FunctionCall) -> tuple[ValueId, ...]:
    return (call.result,)


def _overwritten(call: KernelCall, output: int) -> ValueId | None:
    """The argument that an output of an in-place call is; None where the output is a tensor of its own."""
    index = call.inplace[output] if output < len(call.inplace) else -1
    return call.arguments[index] if index >= 0 else None


class Aliases:
    """The names and views of one function that share a register or bytes.

    `returned` gives the values whose bytes the result of a call of another Relax function may share; by
    default that result has bytes of its own.
    """

    def __init__(
        self, function: Function, returned: Callable[[FunctionCall], tuple[ValueId, ...]] = _own_result
    ) -> None:
        self._function = function
        self._returned = returned

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
        that is built in the function) before it assigns registers, so killing one name kills the other. What
        `R.call_tir_inplace` makes of an argument is a trivial binding of it once the call is rewritten.
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

    def is_trivial(self, op: Op) -> bool:
        """Whether TVM removes a binding, so that it does not use its operands."""
        return op.result in self.registers and not isinstance(op, KernelCall)

    def _same_register(self, op: Op) -> ValueId | None:
        if isinstance(op, Alias):
            return op.source
        if isinstance(op, KernelCall) and op.kind is CallKind.CALL_TIR_INPLACE and len(op.inplace) == 1:
            return _overwritten(op, 0)
        if isinstance(op, MatchCast) and not self._has_checks and op.type == self._written_type(op.source):
            return op.source
        if isinstance(op, GetItem):
            call = self._definitions.get(op.tuple)
            if isinstance(call, KernelCall) and call.kind is CallKind.CALL_TIR_INPLACE:
                return _overwritten(call, op.item)
            items = () if op.tuple in self._rebuilt else self.fields.get(op.tuple, ())
            return items[op.item] if op.item < len(items) else None
        if isinstance(op, MakeTuple) and op.result in self._rebuilt:
            # A tuple that is bound by an operation is not its own name to TVM, but that operation's value.
            source = self._rebuilt[op.result]
            return None if source in self._definitions else source
        return None

    @cached_property
    def _rebuilt(self) -> dict[ValueId, ValueId]:
        """The tuples that put all fields of another one together again, also under their other names."""
        found: dict[ValueId, ValueId] = {}
        for op in self._function.body.walk():
            if isinstance(op, MakeTuple):
                source = self._rebuilt_tuple(op)
                if source is not None:
                    found[op.result] = source
            elif isinstance(op, Alias | MatchCast) and op.source in found:
                found[op.result] = found[op.source]
        return found

    @cached_property
    def _has_checks(self) -> bool:
        """Whether VMShapeLower has put its checks in: a shape that it compared is known from then on, and the
        casts that are left were not trivial before.
        """
        return any(isinstance(op, Assert) and not op.written for op in self._function.body.walk())

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

        The result of a packed function is treated as a tensor of its own unless the call declares
        that it works in place.
        """
        function = self._function
        found = {value: frozenset((value,)) for value in (*function.parameters, *function.constants)}
        self._collect_roots(function.body, found)
        return found

    def roots_of(self, value: ValueId) -> frozenset[ValueId]:
        """The values whose bytes a value may share; what comes from outside the function is its own."""
        known = self.roots.get(value)
        return frozenset((value,)) if known is None else known

    def leaves(self, value: ValueId) -> tuple[ValueId, ...]:
        """The fields of a tuple that is built in the function, of its fields too; else the value itself."""
        if value not in self.fields:
            return (value,)
        return tuple(leaf for field in self.fields[value] for leaf in self.leaves(field))

    @cached_property
    def offsets(self) -> Offsets:
        """At which byte each tensor starts."""
        return Offsets(self._function)

    def _is_copied(self, op: View) -> bool:
        """Whether a view is a tensor of its own: what does not plainly start at 0 is copied."""
        return op.kind is ViewKind.ZERO_OFFSET and self.offsets.of(op.source) != 0

    def _collect_roots(self, block: Block, found: dict[ValueId, frozenset[ValueId]]) -> None:
        def of(*values: ValueId) -> frozenset[ValueId]:
            parts = [
                of(*self.fields[v]) if v in self.fields else found.get(v, frozenset((v,))) for v in values
            ]
            return frozenset().union(*parts)

        for op in block.ops:
            if isinstance(op, If):
                self._collect_roots(op.then_block, found)
                self._collect_roots(op.else_block, found)
                found[op.result] = of(op.then_result, op.else_result)
            elif isinstance(op, View) and self._is_copied(op):
                found[op.result] = frozenset((op.result,))
            elif isinstance(op, Alias | MatchCast | View):
                found[op.result] = of(op.source)
            elif isinstance(op, FunctionCall):
                found[op.result] = of(*(v for v in self._returned(op) if v != op.result))
                if op.result in self._returned(op):
                    found[op.result] |= {op.result}
            elif isinstance(op, MakeTuple):
                found[op.result] = of(*op.items)
            elif isinstance(op, GetItem):
                items = self.fields.get(op.tuple, ())
                found[op.result] = of(items[op.item] if op.item < len(items) else op.tuple)
            elif isinstance(op, KernelCall) and op.kind.in_place:
                fresh = frozenset((op.result,)) if -1 in op.inplace or not op.inplace else frozenset()
                found[op.result] = fresh | of(*(op.arguments[i] for i in op.inplace if i >= 0))
            elif not isinstance(op, Kill):
                found[op.result] = frozenset((op.result,))
