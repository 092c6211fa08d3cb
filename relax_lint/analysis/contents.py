"""What tensors hold when they are read: one walk forward over reads and writes.

A tensor that was allocated holds nothing. A write fills it, and may overwrite the other tensors on its
storage; a declared in-place call leaves every older name of its argument with contents that were not
meant for it. What is read in such a state is an event. Whether bytes really meet is not asked here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from relax_lint.analysis.aliases import Aliases
from relax_lint.analysis.certainty import Certainty, must_if, weakest
from relax_lint.analysis.content_state import ContentState
from relax_lint.analysis.effects import Effect
from relax_lint.analysis.liveness import operands
from relax_lint.analysis.paths import Paths
from relax_lint.analysis.presumption import Presumption
from relax_lint.analysis.summaries import Summary
from relax_lint.model.operations import (
    Alias,
    AllocTensor,
    Assert,
    Block,
    FunctionCall,
    GetItem,
    If,
    KernelCall,
    MakeTuple,
    MatchCast,
    Op,
    ValueId,
    View,
)
from relax_lint.model.program import Function
from relax_lint.model.types import TensorType

_END = 1 << 62
"""A use after the last operation: the result."""


@dataclass(frozen=True)
class Reading:
    """`value` is read by `op`, or (None) returned. `presumed` is there where a call is only taken to read
    it.
    """

    op: Op | None
    value: ValueId
    presumed: Presumption | None = None

    @property
    def presumptions(self) -> tuple[Presumption, ...]:
        """What a verdict on the read relies on."""
        return () if self.presumed is None else (self.presumed,)


@dataclass(frozen=True)
class UnwrittenRead:
    """`tensor` is read and was not written: on no path (`MUST`), or not on all. `left` are the tensors on its
    storage that were written before.
    """

    tensor: Op
    reading: Reading
    certainty: Certainty
    left: tuple[ValueId, ...]


@dataclass(frozen=True)
class Overwriting:
    """`write` fills `written`, which shares a storage with `tensor`, which is read later as it was before:
    on every path on which `write` is executed (`MUST`), or on some.
    """

    tensor: Op
    write: Op
    written: ValueId
    reading: Reading
    certainty: Certainty


@dataclass(frozen=True)
class StaleRead:
    """`call` overwrote `argument`, and an older name of it is read later, as in `Overwriting`."""

    call: KernelCall
    argument: ValueId
    reading: Reading
    certainty: Certainty


class Contents:
    """The events of one function, and what it does to tensors from outside."""

    def __init__(
        self,
        function: Function,
        aliases: Aliases,
        paths: Paths,
        effect_of: Callable[[KernelCall], Effect],
        summary_of: Callable[[FunctionCall], Summary | None],
        captured: frozenset[ValueId],
    ) -> None:
        self._function = function
        self._aliases = aliases
        self._paths = paths
        self._effect_of = effect_of
        self._summary_of = summary_of
        self._outside = captured.union(function.parameters)
        self._ops: dict[int, Op] = {}
        self._on: dict[ValueId, list[ValueId]] = defaultdict(list)
        self._written_on: dict[ValueId, list[ValueId]] = defaultdict(list)
        self._names: dict[ValueId, list[ValueId]] = defaultdict(list)
        self._works_in_place = any(
            isinstance(op, KernelCall) and op.kind.in_place for op in function.body.walk()
        )
        self._last_use = self._last_uses()
        self._unwritten: dict[tuple[ValueId, int | None], UnwrittenRead] = {}
        self._overwritings: dict[tuple[int, ValueId, ValueId], Overwriting] = {}
        self._stale: dict[tuple[int, ValueId, ValueId], StaleRead] = {}
        self.reads: set[ValueId] = set()
        """The tensors from outside that are read as they come in."""
        self.writes: set[ValueId] = set()
        """The tensors from outside that are written."""
        self.passed: set[ValueId] = set()
        """The tensors from outside that are passed, still unmodified, to calls with unknown effects."""
        self._at_end = ContentState()
        for parameter in function.parameters:
            self._name(parameter)
        self._block(function.body, self._at_end)
        self.returns_unwritten = self._return()

    @property
    def unwritten_reads(self) -> tuple[UnwrittenRead, ...]:
        """On each path the first read of each tensor that is read before it is written."""
        return tuple(self._unwritten.values())

    @property
    def overwritings(self) -> tuple[Overwriting, ...]:
        """The writes over tensors that are read later, with the first read of each."""
        return tuple(self._overwritings.values())

    @property
    def stale_reads(self) -> tuple[StaleRead, ...]:
        """The reads of older names of what an in-place call overwrote, the first of each."""
        return tuple(self._stale.values())

    def _last_uses(self) -> dict[ValueId, int]:
        """The last operation in program order that uses the bytes of each value."""
        last: dict[ValueId, int] = {}
        for op in self._function.body.walk():
            for value in (*operands(op, self._function), *self._captured_by(op)):
                for root in self._aliases.roots_of(value):
                    last[root] = op.place.index
        for root in self._aliases.roots_of(self._function.result):
            last[root] = _END
        for leaf in self._aliases.leaves(self._function.result):
            for root in self._aliases.roots_of(leaf):
                last[root] = _END
        return last

    def _captured_by(self, op: Op) -> tuple[ValueId, ...]:
        """The values of this function that an inner function uses when it is called."""
        summary = self._summary_of(op) if isinstance(op, FunctionCall) else None
        if summary is None:
            return ()
        return tuple((summary.reads | summary.passed).difference(summary.parameters))

    # -- the walk ------------------------------------------------------------------------------

    def _block(self, block: Block, state: ContentState) -> None:
        for op in block.ops:
            self._ops[op.place.index] = op
            if isinstance(op, KernelCall):
                self._kernel(op, state)
            elif isinstance(op, AllocTensor):
                self._allocate(op, state)
            elif isinstance(op, FunctionCall):
                self._call(op, state)
            elif isinstance(op, If):
                self._branches(op, state)
            elif isinstance(op, Assert):
                self._read_all(op, op.operands, state)
            if self._works_in_place:
                self._name(op.result)
            if state.stale:
                self._pass_on(op, state)

    def _branches(self, op: If, state: ContentState) -> None:
        if op.condition is not None:
            self._read_all(op, (op.condition,), state)
        other = state.copy()
        self._block(op.then_block, state)
        self._block(op.else_block, other)
        stale = {**state.stale.get(op.then_result, {}), **other.stale.get(op.else_result, {})}
        state.merge(other, op.place.index)
        if stale:
            state.stale[op.result] = dict.fromkeys(stale, Certainty.MAY)

    def _allocate(self, op: AllocTensor, state: ContentState) -> None:
        if op.result not in self._last_use:
            return
        state.unwritten[op.result] = Certainty.MUST
        for storage in self._storages(op.result):
            self._on[storage].append(op.result)

    def _kernel(self, op: KernelCall, state: ContentState) -> None:
        effect = self._effect_of(op)
        if not effect.known:
            self._unknown(op, op.arguments, effect.why, state)
        else:
            # What a kernel reads of a tensor that it also writes, it may have written before.
            for position in sorted(effect.reads):
                first = effect.first_reads.get(position) if position in effect.writes else Certainty.MUST
                if position < len(op.arguments):
                    self._read_all(op, (op.arguments[position],), state, first=first)
                elif first is not None:
                    self._report_unwritten(op.result, Reading(op, op.result), first)
            for position in sorted(effect.writes):
                if position < len(op.arguments):
                    self._write_all(op, op.arguments[position], state)
        if op.kind.in_place:
            for position in op.inplace:
                if position >= 0:
                    self._supersede(op, op.arguments[position], state)

    def _call(self, op: FunctionCall, state: ContentState) -> None:
        summary = self._summary_of(op)
        if summary is None:
            why = f"`{op.callee}` reads its initialised arguments and writes the others"
            self._unknown(op, op.arguments, why, state)
            return
        self._read_all(op, summary.values(summary.reads, op), state)
        for value in summary.values(summary.writes, op):
            self._write_all(op, value, state)
        why = f"`{op.callee}` passes it to a function that may read or write it"
        self._unknown(op, summary.values(summary.passed, op), why, state)
        if summary.unwritten:
            state.unwritten[op.result] = Certainty.MUST

    def _unknown(self, op: Op, arguments: Iterable[ValueId], why: str, state: ContentState) -> None:
        """A call with unknown effects: it reads its initialised arguments and writes the others."""
        for argument in arguments:
            for leaf in self._aliases.leaves(argument):
                if any(root in state.unwritten for root in self._aliases.roots_of(leaf)):
                    self._write(op, leaf, state)
                else:
                    self._read(Reading(op, leaf, Presumption(why)), state)

    def _return(self) -> bool:
        """The function's result is read by the caller; whether it is a tensor that was not written."""
        result = self._function.result
        unwritten = any(root in self._at_end.unwritten for root in self._aliases.roots_of(result))
        self._read_all(None, (result,), self._at_end)
        return unwritten and isinstance(self._function.type_of(result), TensorType)

    # -- names ---------------------------------------------------------------------------------

    def _name(self, value: ValueId) -> None:
        for root in self._aliases.roots_of(value):
            self._names[root].append(value)

    def _supersede(self, op: KernelCall, argument: ValueId, state: ContentState) -> None:
        for leaf in self._aliases.leaves(argument):
            for root in self._aliases.roots_of(leaf):
                for name in self._names[root]:
                    state.stale.setdefault(name, {})[op.place.index, leaf] = Certainty.MUST

    def _pass_on(self, op: Op, state: ContentState) -> None:
        """Another name for a superseded value is superseded as well."""
        sources: tuple[ValueId, ...] = ()
        if isinstance(op, Alias | MatchCast | View):
            sources = (op.source,)
        elif isinstance(op, MakeTuple):
            sources = op.items
        elif isinstance(op, GetItem):
            sources = (op.tuple,)
        calls = {key: found for source in sources for key, found in state.stale.get(source, {}).items()}
        if calls:
            state.stale[op.result] = calls

    # -- reads and writes ----------------------------------------------------------------------

    def _read_all(
        self,
        op: Op | None,
        values: Iterable[ValueId],
        state: ContentState,
        *,
        first: Certainty | None = Certainty.MUST,
    ) -> None:
        for value in values:
            for leaf in self._aliases.leaves(value):
                self._read(Reading(op, leaf), state, first=first)

    def _read(
        self, reading: Reading, state: ContentState, *, first: Certainty | None = Certainty.MUST
    ) -> None:
        """`first`: how certain it is that the call which reads has written nothing there yet; None where it
        has, or that is not known.
        """
        roots = self._aliases.roots_of(reading.value)
        only = must_if(len(roots) == 1)
        for root in roots:
            if root in state.unwritten and first is not None:
                self._report_unwritten(root, reading, weakest(state.unwritten.pop(root), only, first))
            for (index, written), certainty in state.overwritten.get(root, {}).items():
                self._report_overwritten(root, self._ops[index], written, reading, weakest(certainty, only))
            if root in self._outside and root not in state.replaced:
                (self.reads if reading.presumed is None else self.passed).add(root)
                if reading.presumed is not None:
                    # It may hold anything by now.
                    state.replaced.add(root)
        for (index, argument), certainty in state.stale.get(reading.value, {}).items():
            call = self._ops[index]
            assert isinstance(call, KernelCall)
            together = must_if(self._paths.always_with(reading.op, call))
            found = StaleRead(call, argument, reading, weakest(certainty, together))
            self._stale.setdefault((index, argument, reading.value), found)

    def _report_unwritten(self, root: ValueId, reading: Reading, certainty: Certainty) -> None:
        left = [
            other for storage in self._storages(root) for other in self._written_on[storage] if other != root
        ]
        found = UnwrittenRead(self._paths.definitions[root], reading, certainty, tuple(dict.fromkeys(left)))
        where = None if reading.op is None else reading.op.place.index
        self._unwritten.setdefault((root, where), found)

    def _report_overwritten(
        self, root: ValueId, write: Op, written: ValueId, reading: Reading, certainty: Certainty
    ) -> None:
        certainty = weakest(certainty, must_if(self._paths.always_with(reading.op, write)))
        key = (write.place.index, written, root)
        known = self._overwritings.get(key)
        if known is None or (certainty is Certainty.MUST and known.certainty is Certainty.MAY):
            self._overwritings[key] = Overwriting(
                self._paths.definitions[root], write, written, reading, certainty
            )

    def _write_all(self, op: Op, value: ValueId, state: ContentState) -> None:
        for leaf in self._aliases.leaves(value):
            self._write(op, leaf, state)

    def _write(self, op: Op, value: ValueId, state: ContentState) -> None:
        roots = self._aliases.roots_of(value)
        for root in roots:
            state.unwritten.pop(root, None)
            state.overwritten.pop(root, None)
            if state.stale:
                for name in self._names[root]:
                    state.stale.pop(name, None)
            if root in self._outside:
                self.writes.add(root)
                state.replaced.add(root)
            for storage in self._storages(root):
                self._written_on[storage].append(root)
                self._overwrite(op, value, storage, roots, state)

    def _overwrite(
        self, op: Op, written: ValueId, storage: ValueId, roots: frozenset[ValueId], state: ContentState
    ) -> None:
        """Everything on the storage that is needed later may be overwritten."""
        index = op.place.index
        needed = [tensor for tensor in self._on[storage] if self._last_use[tensor] > index]
        self._on[storage] = needed
        for tensor in needed:
            allocation = self._paths.definitions[tensor]
            holds_nothing = state.unwritten.get(tensor) is Certainty.MUST
            if tensor in roots or holds_nothing or self._paths.never_with(allocation, op):
                continue
            # A tensor in `unwritten` holds nothing to overwrite on some of the paths.
            written_before = tensor not in state.unwritten
            always = written_before and len(roots) == 1 and self._paths.always_with(allocation, op)
            state.overwritten.setdefault(tensor, {})[index, written] = must_if(always)

    def _storages(self, tensor: ValueId) -> frozenset[ValueId]:
        """The storages that an allocated tensor may be on."""
        op = self._paths.definitions.get(tensor)
        if not isinstance(op, AllocTensor) or op.storage is None:
            return frozenset()
        return self._aliases.roots_of(op.storage)
