"""The walks of a function with everything that happens in them, callees where they are called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sympy

from relax_lint.model.operations import AllocTensor, FunctionCall, If, KernelCall
from relax_lint.model.program import Function
from relax_lint.model.types import TensorType
from relax_lint.totals.frame import Frame
from relax_lint.totals.paths import every_path
from relax_lint.totals.plans import Plans
from relax_lint.totals.quantities import Indeterminate, Quantity, Scope, value_bytes
from relax_lint.totals.walk import CallPoint, ExecMode, Inventory, Placed, Walk
from relax_lint.totals.walker import Walker

MAX_OPERATIONS = 1 << 16
"""Operations of a path that are followed before a function is entered."""


def paths_of(
    plans: Plans,
    function: Function,
    inventory: Inventory,
    binding: Mapping[sympy.Symbol, int] | None = None,
    exec_mode: ExecMode = ExecMode.BYTECODE,
    calls: int = 1,
) -> list[Walk]:
    """The walks of every path through a function, called `calls` times one after the other.

    With a `binding` of the symbols of its signature all sizes are ints, and a branch whose condition the
    binding decides is the only one that is followed. Raises Indeterminate. The walks are not to be changed:
    without a binding they are kept, as several totals are made of them.
    """
    # Where there are no symbols, none has a value.
    if binding is not None and function.symbols:
        return _followed(plans, function, inventory, binding, exec_mode, calls)
    key = (id(function), inventory, exec_mode, calls)
    known = plans.walks.get(key)
    if known is None and calls == 1:
        known = _first_calls(plans.walks.get((*key[:3], 2), ()))
    if known is None:
        known = _followed(plans, function, inventory, None, exec_mode, calls)
    plans.walks[key] = known
    return known


def repeats_itself(function: Function, inventory: Inventory, exec_mode: ExecMode) -> bool:
    """Whether a second call of a function does what the first one did, and nothing ends between them: on one
    path, with nothing of a caller's, and with what was returned kept by the machine.
    """
    keeps = inventory is Inventory.STORAGES and exec_mode is ExecMode.BYTECODE
    return keeps and not function.body.of(If, FunctionCall)


def _first_calls(walks: Sequence[Walk]) -> list[Walk] | None:
    """The first of two calls, where there is one path through both."""
    return [walks[0].first_call()] if len(walks) == 1 else None


def _followed(
    plans: Plans,
    function: Function,
    inventory: Inventory,
    binding: Mapping[sympy.Symbol, int] | None,
    exec_mode: ExecMode,
    calls: int,
) -> list[Walk]:

    def follow(decisions: tuple[bool, ...], room: int) -> tuple[Walk, tuple[bool, ...]]:
        walk = InlinedWalker(plans, inventory, exec_mode, decisions, room).run(function, binding, calls)
        return walk, walk.taken

    return every_path(follow)


class InlinedWalker(Walker):
    """Notes every operation."""

    def run(self, function: Function, binding: Mapping[sympy.Symbol, int] | None, calls: int = 1) -> Walk:
        """The walk of one call or several."""
        self._walk = Walk(allocations=self._allocations, operations=self._operations)
        if calls == 2 and self._inventory is Inventory.STORAGES and not function.body.of(If, FunctionCall):
            # On one path, and with nothing of a caller's, the second call does what the first one did.
            self._let_go(self._run(function, binding, 1))
            self._walk.repeat()
        else:
            self._run(function, binding, calls)
        self._walk.taken, self._walk.chosen = tuple(self.taken), tuple(self.chosen.items())
        return self._walk

    def _returns(self) -> None:
        self._walk.end_call()

    def _happens(self, event: int) -> None:
        walk, operations = self._walk, self._operations
        walk.events.append(event)
        walk.steps.append(len(operations) - 1 if operations else 0)

    def _enter(self, frame: Frame, op: FunctionCall, callee: Function, scope: Scope) -> None:
        if len(self._walk.operations) > MAX_OPERATIONS:
            raise Indeterminate(f"it makes more than {MAX_OPERATIONS:,} operations with what it calls")
        super()._enter(frame, op, callee, scope)

    def _puts(self, frame: Frame, op: AllocTensor, allocation: int) -> None:
        try:
            offset, size = frame.scope.quantity(op.offset), frame.scope.quantity(op.bytes)
        except Indeterminate:
            # What the allocator holds is known all the same.
            return
        self._walk.placed.append(Placed(allocation, op, offset, size, max(len(self._operations) - 1, 0)))

    def _calls(self, frame: Frame, op: KernelCall | FunctionCall) -> None:
        walk, function = self._walk, frame.function
        constants: tuple[Quantity, ...] = ()
        if function.constants and self._inventory is Inventory.VALUES:
            constants = self._constants(frame, op)
        walk.calls.append(CallPoint(op, len(walk.events), function, frame.scope, constants))

    def _constants(self, frame: Frame, op: KernelCall | FunctionCall) -> tuple[Quantity, ...]:
        """The bytes of the constants among the arguments of a call."""
        function = frame.function
        return tuple(
            value_bytes(type_, frame.scope)
            for argument in dict.fromkeys(op.arguments)
            if argument in function.constants and isinstance(type_ := function.type_of(argument), TensorType)
        )
