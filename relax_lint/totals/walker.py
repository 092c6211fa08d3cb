"""Running a memory program on paper.

A walk follows one path. Branches of an `If` are alternatives, so a function has as many walks as
it has paths. Callees are walked where they are called. What is noted is left to the walkers that are made of
this one: everything (`inlined.py`), or what is allocated and let go (`folded.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.analysis.liveness import ENTRY
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
    OperationId,
    ValueId,
    View,
)
from relax_lint.model.program import Function
from relax_lint.model.types import NO_FIELDS, TensorType, TupleType, ValueType
from relax_lint.totals.cases import condition_of, implied
from relax_lint.totals.counted import Counted
from relax_lint.totals.frame import Decisions, Frame, Reference, decided_by_symbols
from relax_lint.totals.paths import MAX_PATHS
from relax_lint.totals.places import Memory, Register
from relax_lint.totals.plans import Plans
from relax_lint.totals.quantities import (
    CallsItself,
    Indeterminate,
    Scope,
    learn,
    match_arguments,
    planned_bytes,
    value_bytes,
)
from relax_lint.totals.references import field_of, passed_on, tuple_of
from relax_lint.totals.scoped import storage_for, storage_of
from relax_lint.totals.walk import Allocation, ExecMode, Inventory, located
from relax_lint.vm.builtins import SHAPE_HEAP, SHAPE_HEAP_SLOT_BYTES, ViewKind


class Walker(Counted):
    """Follows one path: the given decisions first, then-branches after them, `room` of both at most."""

    def __init__(
        self,
        plans: Plans,
        inventory: Inventory,
        exec_mode: ExecMode,
        decisions: tuple[bool, ...] = (),
        room: int = MAX_PATHS,
    ) -> None:
        super().__init__()
        self.taken: list[bool] = []
        self.chosen: dict[Boolean, bool] = {}
        """What was decided of conditions on the symbols, which keep their values."""
        self._plans = plans
        self._inventory = inventory
        self._in_registers = inventory is Inventory.STORAGES
        """Registers hold what there is; else values do."""
        self._of_values = inventory is Inventory.VALUES
        self._of_tensors = inventory is Inventory.TENSORS
        self._keeps_result = self._in_registers and exec_mode is ExecMode.BYTECODE
        self._decisions = decisions
        self._room = room
        self._decided = Decisions()
        self._operations: list[Op] = []
        self._active: list[str] = []
        self._returned: Reference = None

    def _run(self, function: Function, binding: Mapping[sympy.Symbol, int] | None, calls: int) -> Reference:
        """One call or several, and the result of the last; the caller lets go of the others."""
        self._active.append(function.name)
        result: Reference = None
        for call in range(calls):
            frame = self._frame(function, Scope(binding))
            frame.is_outermost = True
            for parameter in function.parameters if self._inventory is Inventory.VALUES else ():
                self._hold(frame, parameter, self._fresh(frame, function.type_of(parameter), None))
            result = self._call(frame)
            self._returns()
            if call < calls - 1:
                self._let_go(result)
        return result

    def _let_go(self, result: Reference) -> None:
        """The caller's reference to a result ends; the machine may keep it until it returns another."""
        if self._keeps_result:
            result, self._returned = self._returned, result
        self._count(result, -1)

    def _frame(self, function: Function, scope: Scope) -> Frame:
        releases = self._plans.releases(function, self._inventory)
        return Frame(function, scope, self._plans.aliases(function), releases, self._plans.roots)

    def _call(self, frame: Frame) -> Reference:
        """Runs a frame; its result comes back with one reference of its own."""
        self._release(frame, frame.releases.after.get(ENTRY, ()))
        self._block(frame, frame.function.body)
        result = self._reference(frame, frame.function.result)
        self._count(result, 1)
        for reference in frame.held.values():
            self._count(reference, -1)
        return result

    def _block(self, frame: Frame, block: Block) -> None:
        registers = frame.registers if self._in_registers else {}
        after, held, operations = frame.releases.after, frame.held, self._operations
        counts = self._references
        for op in block.ops:
            operations.append(op)
            reference = _HANDLERS[type(op)](self, frame, op)
            if reference is not None and op.result not in registers:
                held[op.result] = reference
                if isinstance(reference, int) and reference >= 0:
                    counts[reference] += 1
                else:
                    self._count(reference, 1)
            for value in after.get(op.place.index, ()):
                reference = held.pop(value, None)
                if type(reference) is int and reference >= 0:
                    # As in `_count`: nearly all are so.
                    left = counts[reference] = counts[reference] - 1
                    if left == 0:
                        self._happens(-(reference + 1))
                elif reference is not None:
                    self._count(reference, -1)

    # -- what is noted -------------------------------------------------------------------------

    def _returns(self) -> None:
        """A call of the outermost function has ended; its result is still held."""

    def _puts(self, frame: Frame, op: AllocTensor, allocation: int) -> None:
        """A tensor is put on an allocation."""

    def _calls(self, frame: Frame, op: KernelCall | FunctionCall) -> None:
        """A kernel is called, or a function that is not walked."""

    # -- references ----------------------------------------------------------------------------

    def _reference(self, frame: Frame, value: ValueId) -> Reference:
        if value in frame.tuples:
            return tuple_of(tuple(self._reference(frame, item) for item in frame.tuples[value]))
        if self._in_registers:
            value = frame.registers.get(value, value)
        return frame.held.get(value)

    def _hold(self, frame: Frame, value: ValueId, reference: Reference) -> None:
        self._count(reference, 1)
        frame.held[value] = reference

    def _release(self, frame: Frame, values: tuple[ValueId, ...]) -> None:
        held = frame.held
        for value in values:
            reference = held.pop(value, None)
            if reference is not None:
                self._count(reference, -1)

    def _fresh(self, frame: Frame, type_: ValueType, place: OperationId | None) -> Reference:
        """New memory for every tensor of a type."""
        if type_ is NO_FIELDS:
            return None
        if isinstance(type_, TupleType):
            items = type_.fields
            return tuple_of([self._fresh(frame, item, place) for item in items]) if items else None
        if not isinstance(type_, TensorType):
            return None
        try:
            return self._allocate(Allocation(value_bytes(type_, frame.scope), place))
        except Indeterminate as reason:
            return self._allocate(Allocation(0, place, unknown=str(reason)))

    # -- operations ----------------------------------------------------------------------------

    def _alloc_storage(self, frame: Frame, op: AllocStorage) -> Reference:
        if not self._in_registers:
            return None
        return self._allocate(storage_of(op, frame.scope))

    def _alloc_tensor(self, frame: Frame, op: AllocTensor) -> Reference:
        if self._of_tensors:
            return self._allocate(located(frame.scope.quantity(op.bytes), op))
        if op.storage is not None and self._in_registers:
            reference = self._reference(frame, op.storage)
            if isinstance(reference, int):
                self._puts(frame, op, reference)
            return reference
        if not self._in_registers:
            return self._allocate(located(planned_bytes(op.shape, op.dtype, frame.scope), op))
        number = self._allocate(storage_for(op, frame.scope))
        self._puts(frame, op, number)
        return number

    def _source(self, frame: Frame, op: Alias) -> Reference:
        return self._reference(frame, op.source)

    def _view(self, frame: Frame, op: View) -> Reference:
        copied = op.kind is ViewKind.ZERO_OFFSET and frame.is_moved(op.source)
        if copied and self._inventory is not Inventory.VALUES:
            # The copy is memory of the device's, not of the machine's allocators.
            return None
        return self._reference(frame, op.source)

    def _match_cast(self, frame: Frame, op: MatchCast) -> Reference:
        for fact in op.facts:
            if isinstance(fact.condition, sympy.Eq):
                learn(frame.scope, *fact.condition.args)
        return self._reference(frame, op.source)

    def _make_tuple(self, frame: Frame, op: MakeTuple) -> Reference:
        self._hold_tuples(frame, op.items)
        return tuple_of(tuple(self._reference(frame, item) for item in op.items))

    def _get_item(self, frame: Frame, op: GetItem) -> Reference:
        return field_of(self._reference(frame, op.tuple), op.item)

    def _kernel_call(self, frame: Frame, op: KernelCall) -> Reference:
        if op.callee == SHAPE_HEAP:
            return self._shape_heap(frame, op)
        of_values = self._of_values
        if not of_values:
            self._plans.check_closures(frame.function, op)
        self._run_kernel(frame, op)
        reference: Reference = None
        if frame.tuples:
            self._hold_tuples(frame, op.arguments)
        if op.kind.in_place:
            reference = self._in_place(frame, op)
        elif of_values:
            reference = self._fresh(frame, op.type, op.place)
        else:
            reference = passed_on(op, partial(self._reference, frame), frame.function)
        self._calls(frame, op)
        return reference

    def _shape_heap(self, frame: Frame, op: KernelCall) -> Reference:
        if self._inventory is not Inventory.STORAGES:
            return None
        slots = getattr(frame.function.type_of(op.arguments[-1]), "value", None) if op.arguments else None
        if slots is None:
            raise Indeterminate("the size of the shape heap is unknown")
        size = frame.scope.quantity(slots * SHAPE_HEAP_SLOT_BYTES)
        return self._allocate(Allocation(size, op.place, device=self._plans.host_device))

    def _in_place(self, frame: Frame, op: KernelCall) -> Reference:
        types = op.type.fields if isinstance(op.type, TupleType) else (op.type,)
        outputs = []
        for index, type_ in zip(op.inplace, types, strict=False):
            if index >= 0:
                outputs.append(self._reference(frame, op.arguments[index]))
            elif self._inventory is Inventory.VALUES:
                outputs.append(self._fresh(frame, type_, op.place))
            else:
                outputs.append(None)
        if not isinstance(op.type, TupleType):
            return outputs[0] if outputs else None
        return tuple_of(tuple(outputs))

    def _function_call(self, frame: Frame, op: FunctionCall) -> Reference:
        if self._inventory is Inventory.VALUES:
            reference = self._fresh(frame, op.type, op.place)
            self._overwrite(frame, op.arguments)
            if self._decided:
                self._decided.overwritten(self._plans.written_elsewhere(op))
            self._calls(frame, op)
            return reference
        callee = self._plans.callee(op)
        if callee.name in self._active:
            raise CallsItself(callee.name, self._active.index(callee.name))
        scope = match_arguments(frame.function, frame.scope, callee, op.arguments)
        self._hold_tuples(frame, op.arguments)
        self._enter(frame, op, callee, scope)
        return None

    def _enter(self, frame: Frame, op: FunctionCall, callee: Function, scope: Scope) -> None:
        """Walk the callee here."""
        inner = self._frame(callee, scope)
        for parameter, argument in zip(callee.parameters, op.arguments, strict=False):
            self._hold(inner, parameter, self._reference(frame, argument))
            inner.arguments[parameter] = (frame, argument)
        self._active.append(callee.name)
        result = self._call(inner)
        self._active.pop()
        self._hold(frame, op.result, result)
        self._let_go(result)

    def _hold_tuples(self, frame: Frame, values: Iterable[ValueId]) -> None:
        """A tuple that is written as an argument, as a field of another or as the result of a branch is in a
        register of its own that is never killed. What tensors need does not depend on registers.
        """
        for value in values if frame.tuples and self._in_registers else ():
            if value in frame.tuples:
                self._hold_tuples(frame, frame.tuples[value])
                self._hold(frame, value, self._reference(frame, value))

    def _if(self, frame: Frame, op: If) -> Reference:
        taken = self._choose(frame, op)
        self._release(frame, frame.releases.on_entry.get((op.place.index, taken), ()))
        self._block(frame, op.then_block if taken else op.else_block)
        result = op.then_result if taken else op.else_result
        self._hold_tuples(frame, (result,))
        return self._reference(frame, result)

    def _choose(self, frame: Frame, op: If) -> bool:
        """The branch to follow; what was decided about a condition stays so until it is overwritten."""
        origin = frame.origin(op.condition)
        known = self._known(origin)
        if known is not None:
            return known
        forced = decided_by_symbols(op, frame.scope)
        if forced is None:
            forced = self._choose_case(condition_of(op, frame.scope))
        self._note(origin, frame.memory(op.condition, self._reference(frame, op.condition)), forced)
        return forced

    def _choose_case(self, case: tuple[Boolean, bool] | None) -> bool:
        """The branch to follow where the symbols may choose it."""
        if case is None:
            return self._decide()
        condition, taken_where_it_holds = case
        holds = implied(condition, self.chosen)
        if holds is None:
            holds = self.chosen[condition] = self._decide() == taken_where_it_holds
        return holds == taken_where_it_holds

    def _known(self, origin: Register) -> bool | None:
        """What was decided about a condition."""
        return self._decided.of(origin)

    def _decide(self) -> bool:
        """The branch to follow where nothing says which."""
        position = len(self.taken)
        if position >= self._room:
            raise Indeterminate(f"there are more than {MAX_PATHS} paths through the branches")
        self.taken.append(self._decisions[position] if position < len(self._decisions) else True)
        return self.taken[-1]

    def _note(self, origin: Register, memory: Memory, taken: bool) -> None:
        """A condition is decided from here on."""
        self._decided.note(origin, memory, taken)

    def _overwrite(self, frame: Frame, values: Iterable[ValueId]) -> None:
        """A call may write these values."""
        if self._decided:
            for value in values:
                self._decided.overwritten(frame.memory(value, self._reference(frame, value)))

    def _run_kernel(self, frame: Frame, op: KernelCall) -> None:
        """A call may write some of its arguments. To know which, its kernel has to be read."""
        for value in self._plans.written(op) if self._decided.made else ():
            copied = [frame.origin(one) for one in self._plans.copied(op, value)]
            self._decided.overwritten(frame.memory(value, self._reference(frame, value)), copied)

    def _kill(self, frame: Frame, op: Kill) -> Reference:
        if self._in_registers:
            self._release(frame, (frame.aliases.register(op.target),))
        return None

    def _nothing(self, frame: Frame, op: Op) -> Reference:
        return None


_HANDLERS: Mapping[type[Op], Callable[[Walker, Frame, Any], Reference]] = {
    AllocStorage: Walker._alloc_storage,
    AllocTensor: Walker._alloc_tensor,
    View: Walker._view,
    Alias: Walker._source,
    MatchCast: Walker._match_cast,
    MakeTuple: Walker._make_tuple,
    GetItem: Walker._get_item,
    KernelCall: Walker._kernel_call,
    FunctionCall: Walker._function_call,
    If: Walker._if,
    Kill: Walker._kill,
    Constant: Walker._nothing,
    Assert: Walker._nothing,
}
