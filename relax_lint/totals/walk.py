"""What one call of a function allocates and lets go, in order: the result of a walk along one path."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeAlias, TypeVar

from relax_lint.model.operations import (
    AllocStorage,
    AllocTensor,
    FunctionCall,
    KernelCall,
    Op,
    OperationId,
)
from relax_lint.model.program import Function
from relax_lint.support.lazy_dataclass import record
from relax_lint.totals.cases import Chosen
from relax_lint.totals.quantities import Quantity, Scope, impossible
from relax_lint.vm.scopes import has_pool_of_its_own

T = TypeVar("T")
Pool: TypeAlias = "tuple[int, bool]"
"""The number of a device, and whether it is the pool that its scope has of its own."""


class Inventory(Enum):
    """What counts as memory, and when it is let go."""

    STORAGES = "storages"
    """What the VM's allocator hands out, held by registers, as in a default build."""
    TENSORS = "tensors"
    """The tensors that the function allocates, from there to their last use."""
    VALUES = "values"
    """Every tensor, parameters and results of calls included, to its last use. Calls are not entered."""


class ExecMode(str, Enum):
    """`exec_mode` of `relax.build`; bytecode is its default."""

    BYTECODE = "bytecode"
    """The machine itself keeps the value that was returned last until the next return."""
    COMPILED = "compiled"


@record(frozen=True)
class Allocation:
    """One piece of memory: its bytes, the operation that made it (None: a parameter), its location.

    `unknown` is the reason why the size is not known; that of a value is then 0, that of a storage what was
    asked for. Where not even that is known, the walk raises Indeterminate.
    """

    size: Quantity
    place: OperationId | None
    scope: str = "global"
    device: int = 0
    unknown: str | None = None

    @property
    def pool(self) -> Pool:
        """Where a pooled allocator keeps it once it is free."""
        return self.device, has_pool_of_its_own(self.scope)


def located(size: Quantity, op: AllocStorage | AllocTensor, unknown: str | None = None) -> Allocation:
    """The memory of so many bytes that an operation takes, where it takes it."""
    unknown = impossible(size) if unknown is None else unknown
    return Allocation(size, op.place, op.scope or "global", op.device or 0, unknown)


@record(frozen=True)
class CallPoint:
    """A call with everything alive at it: `moment` counts the events before it. It is in `function`, whose
    symbols mean there what `scope` says. `constants` are its inputs that are constants, in bytes, where
    values are walked.
    """

    op: KernelCall | FunctionCall
    moment: int
    function: Function
    scope: Scope
    constants: tuple[Quantity, ...] = ()


@record(frozen=True)
class Placed:
    """A tensor that was put on allocation number `allocation`: its offset and size in bytes."""

    allocation: int
    op: AllocTensor
    offset: Quantity
    size: Quantity
    step: int


@dataclass
class Events:
    """What is allocated and let go along a stretch of a path. An event is `i + 1` where allocation `i` begins
    and `-(i + 1)` where it ends.

    The events of callees are among them, or are noted once for all calls that are alike: `inside` are these
    stretches, each with the position of the event before which it happens. What outlives such a call is an
    allocation of the caller, too, without an event for its begin.
    """

    allocations: list[Allocation] = field(default_factory=list)
    events: list[int] = field(default_factory=list)
    inside: list[tuple[int, Events]] = field(default_factory=list)
    chosen: Chosen = field(default=(), kw_only=True)
    """The conditions on symbols that the path met, and whether each held, see `cases.py`."""
    known: dict[Hashable, Any] = field(default_factory=dict, init=False, compare=False, repr=False)
    """What was computed of the stretch: it may be inside of many others."""

    def find(self, key: Hashable, compute: Callable[[Events], T]) -> T:
        """What is computed of the stretch, once, and before it of those inside: there may be many levels."""
        waiting = [self]
        while waiting:
            one = waiting[-1]
            missing = [inner for _, inner in one.inside if key not in inner.known]
            if missing and key not in one.known:
                waiting += missing
            elif key not in waiting.pop().known:
                one.known[key] = compute(one)
        found: T = self.known[key]
        return found


@dataclass
class Walk(Events):
    """One path, callees where they are called.

    A step is a position in `operations`, which are those that are run, callees included; `steps` are those
    of the events. `taken` says of each branch that was not decided beforehand whether it was the then-branch.
    """

    calls: list[CallPoint] = field(default_factory=list)
    operations: list[Op] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    placed: list[Placed] = field(default_factory=list)
    taken: tuple[bool, ...] = ()
    _ends: list[tuple[int, ...]] = field(default_factory=list, compare=False, repr=False)

    def end_call(self) -> None:
        """A call of the function has ended."""
        self._ends.append(tuple(map(len, self._parts())))

    def repeat(self) -> None:
        """What the first call did happens once more, and with memory of its own."""
        first = self.first_call()
        further, later, events = len(self.allocations), len(self.operations), len(self.events)
        self.allocations += first.allocations
        self.operations += first.operations
        self.events += [event + further if event > 0 else event - further for event in first.events]
        self.steps += [step + later for step in first.steps]
        self.calls += [
            CallPoint(call.op, call.moment + events, call.function, call.scope, call.constants)
            for call in first.calls
        ]
        self.placed += [
            Placed(one.allocation + further, one.op, one.offset, one.size, one.step + later)
            for one in first.placed
        ]
        self.end_call()

    def twice(self) -> Events:
        """The events of this call and of one more that does the same, with memory of its own."""
        further = len(self.allocations)
        again = [event + further if event > 0 else event - further for event in self.events]
        return Events([*self.allocations, *self.allocations], [*self.events, *again], chosen=self.chosen)

    def first_call(self) -> Walk:
        """The first of several calls, as if there were no others."""
        parts = [part[:end] for part, end in zip(self._parts(), self._ends[0], strict=True)]
        allocations, events, inside, calls, operations, steps, placed = parts
        return Walk(allocations, events, inside, calls, operations, steps, placed, chosen=self.chosen)

    def _parts(self) -> tuple[list[Any], ...]:
        every = (self.allocations, self.events, self.inside, self.calls)
        return (*every, self.operations, self.steps, self.placed)
