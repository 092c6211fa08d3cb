"""Which values are one and the same: in a register of the VM, and in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from types import MappingProxyType

from relax_lint.analysis.access_paths import AccessPath, everything
from relax_lint.analysis.offsets import Offsets
from relax_lint.analysis.results import Result
from relax_lint.analysis.roots import Roots
from relax_lint.analysis.windows import Windows
from relax_lint.model.operations import (
    Alias,
    AllocTensor,
    Assert,
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
from relax_lint.model.types import OpaqueType, TupleType
from relax_lint.vm.builtins import ViewKind
from relax_lint.vm.calls import CallKind


def _nothing_known(call: FunctionCall) -> Result:
    return None


def _known(call: FunctionCall) -> bool:
    return True


def _kept_by_nobody(call: FunctionCall | None) -> bool:
    return False


def _none(call: KernelCall) -> tuple[ValueId, ...]:
    return ()


def _nothing(path: AccessPath) -> int:
    return 0


def _overwritten(call: KernelCall, output: int) -> ValueId | None:
    """The argument that an output of an in-place call is; None where the output is a tensor of its own."""
    index = call.inplace[output] if output < len(call.inplace) else -1
    return call.arguments[index] if index >= 0 else None


def _item(op: GetItem, fields: Mapping[ValueId, tuple[ValueId, ...]]) -> ValueId | None:
    """The value that a field is; None where the tuple is not built in the function."""
    items = fields.get(op.tuple, ())
    return items[op.item] if op.item < len(items) else None


def _named(op: Alias | MatchCast | GetItem, fields: Mapping[ValueId, tuple[ValueId, ...]]) -> ValueId | None:
    """The value that an operation gives another name."""
    return _item(op, fields) if isinstance(op, GetItem) else op.source


class Aliases:
    """The names and views of one function that share a register or bytes.

    `result_of` gives what the result of a call of another Relax function may be; by default it has bytes of
    its own. `viewed` gives the arguments of which TVM may make the result of a kernel a view, `keeps` says
    whether somebody may keep what a call is given; `held` and `holds` as in `Roots`. `offsets` tells where
    the values start, in their memory (True) or counted from their data pointers.
    """

    def __init__(
        self,
        function: Function,
        result_of: Callable[[FunctionCall], Result] = _nothing_known,
        is_known: Callable[[FunctionCall], bool] = _known,
        viewed: Callable[[KernelCall], tuple[ValueId, ...]] = _none,
        keeps: Callable[[FunctionCall | None], bool] = _kept_by_nobody,
        *,
        held: Mapping[ValueId, tuple[ValueId, ...]] = MappingProxyType({}),
        holds: Callable[[AccessPath], int] = _nothing,
        offsets: Callable[[bool], Offsets] | None = None,
        moves_pointers: bool = False,
    ) -> None:
        self._function = function
        self._result_of = result_of
        self._is_known = is_known
        self._viewed = viewed
        self._keeps = keeps
        self._held = held
        self._holds = holds
        self._offsets_of = offsets or (
            lambda in_memory: Offsets(function, in_memory=in_memory, viewed=viewed)
        )
        self.moves_pointers = moves_pointers
        """Whether a device moves the data pointer of a tensor by its offset on the storage."""
        self._roots_of: dict[ValueId, frozenset[ValueId]] = {}

    @cached_property
    def fields(self) -> dict[ValueId, tuple[ValueId, ...]]:
        """The fields of every tuple that is built in the function, also under its other names and as a field
        of another one, and what functions and closures hold.
        """
        fields = {**self._held, **self._function.inline_tuples}
        for op in self._function.body.of(MakeTuple, Alias, MatchCast, GetItem):
            if isinstance(op, MakeTuple):
                fields[op.result] = op.items
            elif isinstance(op, Alias | MatchCast | GetItem):
                source = _named(op, fields)
                if source in fields:
                    fields[op.result] = fields[source]
        return fields

    @cached_property
    def registers(self) -> dict[ValueId, ValueId]:
        """The value in whose register each value sits; a value that has its own is not listed.

        TVM removes trivial bindings (`b = a`, a cast to the type that the value has, a field of a tuple
        that is built in the function) before it assigns registers, so killing one name kills the other. What
        `R.call_tir_inplace` makes of an argument is a trivial binding of it once the call is rewritten.
        """
        found: dict[ValueId, ValueId] = {}
        for op in self._renaming:
            source = self._same_register(op)
            if source is not None:
                found[op.result] = found.get(source, source)
        return found

    @cached_property
    def _renaming(self) -> tuple[Op, ...]:
        """The operations whose result may be another value, as an object or in a register."""
        body = self._function.body
        if any(call.kind is CallKind.CALL_TIR_INPLACE for call in body.of(KernelCall)):
            return body.of(Alias, MatchCast, View, MakeTuple, GetItem, KernelCall)
        return body.of(Alias, MatchCast, View, MakeTuple, GetItem)

    @cached_property
    def cast_names(self) -> frozenset[ValueId]:
        """The names that share a register by a cast, which KillAfterLastUse may have left: the type of the
        value may have become that of the cast since, unless it is that of an allocation.
        """
        found: set[ValueId] = set()
        for op in self._renaming:
            source = self._same_register(op)
            if source is not None and (source in found or self._may_have_been_left(op, source)):
                found.add(op.result)
        return frozenset(found)

    def _may_have_been_left(self, op: Op, source: ValueId) -> bool:
        if not isinstance(op, MatchCast) or op.unnamed:
            return False
        return op.trivial is None or not isinstance(self._definitions.get(self.register(source)), AllocTensor)

    def register(self, value: ValueId) -> ValueId:
        """The value in whose register a value sits."""
        return self.registers.get(value, value)

    def is_field_to_check(self, value: ValueId) -> bool:
        """Whether a value is a field of a tuple that is built in the function, read by VMShapeLower for its
        checks: it runs behind the last pass that removes such bindings.
        """
        return self._has_checks and isinstance(self._definitions.get(value), GetItem)

    def is_trivial(self, op: Op) -> bool:
        """Whether TVM removes a binding, so that it does not use its operands."""
        return op.result in self.registers and not isinstance(op, KernelCall)

    def _same_register(self, op: Op) -> ValueId | None:
        if isinstance(op, Alias):
            return op.source
        if isinstance(op, KernelCall) and op.kind is CallKind.CALL_TIR_INPLACE and len(op.inplace) == 1:
            return _overwritten(op, 0)
        if isinstance(op, MatchCast) and op.unnamed:
            return op.source
        if isinstance(op, MatchCast) and not self._has_checks and op.trivial is not False:
            return op.source
        if isinstance(op, GetItem):
            call = self._definitions.get(op.tuple)
            if isinstance(call, KernelCall) and call.kind is CallKind.CALL_TIR_INPLACE:
                return _overwritten(call, op.item)
            item = None if op.tuple in self._rebuilt else _item(op, self.fields)
            # A tuple that is written as a field is in no variable that TVM could name in its place.
            return None if item in self._function.inline_tuples else item
        if isinstance(op, MakeTuple) and op.result in self._rebuilt:
            # A tuple that is bound by an operation is not its own name to TVM, but that operation's value.
            source = self._rebuilt[op.result]
            return None if source in self._definitions else source
        return None

    @cached_property
    def _rebuilt(self) -> dict[ValueId, ValueId]:
        """The tuples that put all fields of another one together again, also under their other names."""
        found: dict[ValueId, ValueId] = {}
        for op in self._function.body.of(MakeTuple, Alias, MatchCast, GetItem):
            if isinstance(op, MakeTuple):
                source = self._rebuilt_tuple(op)
                if source is not None:
                    found[op.result] = source
            elif isinstance(op, Alias | MatchCast | GetItem):
                named = _named(op, self.fields)
                if named in found:
                    found[op.result] = found[named]
        return found

    @cached_property
    def _has_checks(self) -> bool:
        """Whether VMShapeLower has put its checks in: a shape that it compared is known from then on, and the
        casts that are left were not trivial before.
        """
        return any(not op.written for op in self._function.body.of(Assert))

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
    def roots(self) -> Roots:
        """The values whose bytes each value may share, over all paths: allocations, parameters,
        constants, results of calls. Where nothing is known of what a call returns, that is taken for new.
        """
        return Roots(
            self._function,
            self.offsets,
            self._result_of,
            self._is_known,
            self._viewed,
            self._keeps,
            self._held,
            self._holds,
            moves_pointers=self.moves_pointers,
        )

    def roots_of(self, value: ValueId) -> frozenset[ValueId]:
        """The values whose bytes a value may share; what comes from outside of the function is its own."""
        known = self._roots_of.get(value)
        if known is None:
            known = self._roots_of[value] = everything(self.roots.tree(value))
        return known

    def leaves(self, value: ValueId) -> tuple[ValueId, ...]:
        """The fields of a tuple that is built in the function, of its fields too; else the value itself."""
        if value not in self.fields:
            return (value,)
        return tuple(leaf for field in self.fields[value] for leaf in self.leaves(field))

    @cached_property
    def _holders(self) -> set[ValueId]:
        """The functions and closures that hold something, also under other names and as fields of tuples."""
        found = set(self._held)
        for op in self._function.body.of(Alias, MatchCast, GetItem) if found else ():
            if isinstance(op, Alias | MatchCast | GetItem):
                source = _named(op, self.fields)
                if source in found:
                    found.add(op.result)
        return found

    def leaves_and_held(self, value: ValueId) -> Iterator[tuple[ValueId, bool]]:
        """The same, and whether each is held by a function or a closure: who calls that may write it first,
        or leave it alone.
        """
        if value in self._holders:
            yield from ((leaf, True) for leaf in self.leaves(value))
        elif value in self.fields:
            for field in self.fields[value]:
                yield from self.leaves_and_held(field)
        else:
            known = self._function.values.get(value)
            is_object = known is not None and isinstance(known.type, OpaqueType)
            yield value, is_object and value not in self.roots_of(value)

    def leaf(self, path: AccessPath) -> ValueId:
        """The value that a field has where the tuple is built in the function; else the tuple."""
        value = path.value
        for field in path.fields:
            fields = self.fields.get(value, ())
            if field >= len(fields):
                return value
            value = fields[field]
        return value

    @cached_property
    def offsets(self) -> Offsets:
        """At which byte each tensor starts."""
        return self._offsets_of(False)

    @cached_property
    def places(self) -> Offsets:
        """At which byte of its memory each tensor starts, wherever its data pointer is."""
        return self._offsets_of(True)

    @cached_property
    def windows(self) -> frozenset[ValueId]:
        """The values that may be less than all of the memory behind them."""
        return frozenset(Windows(self._function, self.roots, self.leaves, self._viewed).found)

    @cached_property
    def _identities(self) -> dict[ValueId, ValueId]:
        found: dict[ValueId, ValueId] = {}
        for op in self._renaming:
            source = self._same_register(op)
            if isinstance(op, Alias | MatchCast) or (isinstance(op, View) and op.kind is ViewKind.COPY):
                source = op.source
            if source is not None:
                found[op.result] = found.get(source, source)
        return found

    def identity(self, value: ValueId) -> ValueId:
        """The first name of the tensor object that a value is."""
        return self._identities.get(value, value)
