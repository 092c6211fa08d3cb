"""What tensors hold when they are read: one walk forward over reads and writes.

A tensor that was allocated holds nothing. A write fills it, and may overwrite the other tensors on its
storage; a declared in-place call leaves every older name of its argument with contents that were not
meant for it. What is read in such a state is an event. A write that is not certain to reach all of a tensor
leaves it as it was, but is kept with the event. Whether bytes really meet is not asked here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import MappingProxyType

import sympy

from relax_lint.analysis.access_paths import AccessPath, everything, with_fields
from relax_lint.analysis.aliases import Aliases
from relax_lint.analysis.at_return import combined
from relax_lint.analysis.certainty import Asked, Certainty, must_if, perhaps, surely, weakest
from relax_lint.analysis.content_reads import ContentReads
from relax_lint.analysis.content_state import ContentState, joined_damages
from relax_lint.analysis.effects import Effect, superseded
from relax_lint.analysis.events import Apart, Damage, Mending, Overwriting, Reading, StaleRead, UnwrittenRead
from relax_lint.analysis.last_uses import last_uses
from relax_lint.analysis.overlaps import TensorMemory
from relax_lint.analysis.paths import Paths
from relax_lint.analysis.presumption import Presumption
from relax_lint.analysis.reported import IsShown, says_more, weighs_more
from relax_lint.analysis.summaries import Summary
from relax_lint.analysis.untaken import Untaken
from relax_lint.model.operations import (
    AllocTensor,
    Assert,
    Block,
    FunctionCall,
    If,
    KernelCall,
    Op,
    ValueId,
)
from relax_lint.model.program import Function
from relax_lint.vm.calls import CLOSURE_MAKERS


class Contents(ContentReads):
    """The events of one function, and what it does to tensors from outside."""

    def __init__(
        self,
        function: Function,
        aliases: Aliases,
        paths: Paths,
        memory: TensorMemory,
        effect_of: Callable[[KernelCall], Effect],
        summary_of: Callable[[FunctionCall], Summary | None],
        captured: frozenset[ValueId],
        held: Mapping[ValueId, tuple[ValueId, ...]],
        untaken: Untaken,
        left_out: Callable[[], frozenset[int]] = frozenset,
        is_called: bool = True,
        is_shown: IsShown = lambda *_: True,
    ) -> None:
        super().__init__(function, aliases, paths, memory, captured, left_out, is_called, is_shown)
        self._effect_of = effect_of
        self._summary_of = summary_of
        self._held = held
        self._untaken = untaken
        self._works_in_place = any(
            isinstance(op, FunctionCall) or superseded(op, effect_of(op))
            for op in function.body.of(FunctionCall, KernelCall)
        )
        self._last_use.update(last_uses(function, aliases, self._roots, self._captured_by))
        self.at_end = ContentState()
        """What holds when the function returns."""
        for value in sorted(self._outside):
            self._names.add(value)
        self._block(function.body, self.at_end)
        self.returns_presumed: dict[tuple[int, ...], Presumption] = {}
        """The fields of the result that calls with unknown effects are taken to write."""
        self.returns_partly = frozenset[tuple[int, ...]]()
        """The fields of the result of which perhaps a part is not written."""
        self.returns_unwritten = self._return()

    @property
    def unwritten_reads(self) -> tuple[UnwrittenRead, ...]:
        """On each path the first read of each tensor that is read before it is written."""
        return tuple(self.reported.unwritten.values())

    @property
    def overwritings(self) -> tuple[Overwriting, ...]:
        """The writes over tensors that are read later, with the first read of each range of bytes."""
        return combined(self.reported.overwritings, self.reported.overwritings_at_return, weighs_more)

    @property
    def apart(self) -> tuple[Apart, ...]:
        """The writes that leave others on their storage alone."""
        return tuple(self._neighbours.apart.values())

    @property
    def stale_reads(self) -> tuple[StaleRead, ...]:
        """The reads of older names of what an in-place call overwrote, the first of each."""
        return combined(self.reported.stale, self.reported.stale_at_return, says_more)

    @property
    def late_reads(self) -> Iterable[tuple[ValueId, ValueId]]:
        """(written, read): what comes from outside and is not read for the last time before the write."""
        for written, begin in self._first_write.items():
            for read, end in self._last_read.items():
                if end >= begin:
                    yield written, read

    def _captured_by(self, call: FunctionCall) -> tuple[AccessPath, ...]:
        """The values of this function that the one which is called uses without being given them."""
        summary = self._summary_of(call)
        held = () if call.value is None else self._held.get(call.value, ())
        return (*map(AccessPath, held), *(() if summary is None else summary.captured))

    # -- the walk ------------------------------------------------------------------------------

    def _block(self, block: Block, state: ContentState) -> None:
        for op in block.ops:
            self._ops[op.place.index] = op
            # Who calls a closure reads what it holds, if anybody does.
            if isinstance(op, KernelCall) and op.result not in self._held:
                self._kernel(op, state)
            elif isinstance(op, AllocTensor):
                self._allocate(op, state)
            elif isinstance(op, FunctionCall):
                self._call(op, state)
            elif isinstance(op, If):
                self._branches(op, state)
            elif isinstance(op, Assert):
                self._assert(op, state)
            if self._works_in_place:
                self._names.add_result(op)
            if state.stale:
                captured = self._captured_by(op) if isinstance(op, FunctionCall) else ()
                called = (op.value,) if isinstance(op, FunctionCall) and op.value is not None else ()
                self._names.pass_on(op, state, (*map(self._aliases.leaf, captured), *called))

    def _assert(self, op: Assert, state: ContentState) -> None:
        if op.condition is not None:
            self._read_all(op, (op.condition,), state)
        # Where the condition holds nobody looks at them.
        self._read_all(op, op.operands, state, first=perhaps)
        state.know(self._untaken.asserted(op))

    def _branches(self, op: If, state: ContentState) -> None:
        self._read_all(op, (op.condition,), state)
        only = self._untaken.taken(op)
        if only is not None:
            self._block(op.then_block if only else op.else_block, state)
        other = state.copy()
        branched = self._untaken.branched(op)
        if only is None:
            state.know(branched.then)
            other.know(branched.otherwise)
            self._block(op.then_block, state)
            self._block(op.else_block, other)
        self._choices.note(branched)
        joined = self._names.join(op, state, other) if self._works_in_place else {}
        if only is None:
            state.merge(other, branched)
        for name, damages in joined.items():
            if any(damages):
                state.stale[name] = joined_damages(*damages, branched)

    def _allocate(self, op: AllocTensor, state: ContentState) -> None:
        if op.result not in self._last_use:
            return
        state.unwritten[op.result] = Damage(Certainty.MUST)
        if self._neighbours.allocate(op.result, self._last_use[op.result]):
            return
        for storage in self._storages(op.result):
            self._on[storage].append(op.result)

    def _kernel(self, op: KernelCall, state: ContentState) -> None:
        effect = self._effect_of(op)
        if not effect.known:
            self._opaque(op, effect, state)
        else:
            # What a kernel reads of a tensor that it also writes, it may have written before.
            for position in sorted(effect.reads):
                first: Asked = partial(self._first_read, op, effect, position)
                unsure = effect.may_be_own(position)
                if op.callee in CLOSURE_MAKERS:  # Who calls it may write it first, or leave it alone.
                    first, unsure = perhaps, False
                if position < len(op.arguments):
                    self._read_all(op, (op.arguments[position],), state, first=first, unsure=unsure)
                else:
                    reading = Reading(op, op.result, unsure=unsure)
                    self.reported.read_unwritten(op.result, reading, Damage(first()), ())
            for position in sorted(effect.writes):
                if position < len(op.arguments):
                    whole = effect.whole.get(position) is sympy.true
                    argument = op.arguments[position]
                    self._write(AccessPath(argument), Mending(op, argument, position, whole), state)
            for position in sorted(effect.believed):
                self._believe(everything(self._roots.tree(op.arguments[position])), state)
        self._fill_results(op, effect, state)
        self._put_perhaps(op)
        # Where no call works in place there is nothing to be found.
        for position, certainty in superseded(op, effect).items() if self._works_in_place else ():
            self._supersede(op, AccessPath(op.arguments[position]), certainty, state)

    def _first_read(self, op: KernelCall, effect: Effect, position: int) -> Certainty:
        """How certain it is that a kernel reads what an argument held before the call."""
        first = effect.first_read(position) or Certainty.MAY
        if first is Certainty.MUST and self._may_be_written_before(op, effect, position):
            return Certainty.MAY
        return first

    def _call(self, op: FunctionCall, state: ContentState) -> None:
        summary = self._summary_of(op)
        if summary is None:
            why = f"`{op.callee}` reads its initialised arguments and writes the others"
            values = op.arguments if op.value is None else (*op.arguments, op.value)
            self._unknown(op, map(AccessPath, values), why, state)
            self._hand_on_all(op, map(AccessPath, values), state)
            return
        rests = {summary.path(path) for path in summary.rests}
        held = () if op.value is None else self._held.get(op.value, ())
        for path, certainty in summary.touched(summary.reads):
            reading = Reading(op, self._aliases.leaf(path))
            # What the callee writes under another name it may have written before.
            others = [summary.path(written) for written in summary.writes]
            roots = self._roots.of(path)
            before = any(other != path and not roots.isdisjoint(self._roots.of(other)) for other in others)
            alike = [a for a in (*op.arguments, *held) if not roots.isdisjoint(self._aliases.roots_of(a))]
            first = perhaps if before or (len(alike) > 1 and others) else surely
            for root in roots if path in rests else ():
                state.mend(root, Mending(op, reading.value))
            self._read(reading, self._tree(path), state, first=first, certainty=certainty)
        for path, certainty in summary.touched(summary.writes):
            leaf, kept = self._aliases.leaf(path), path not in summary.perhaps_superseded
            self._write(path, Mending(op, leaf, whole=certainty is Certainty.MUST, kept=kept), state)
        for path, certainty in summary.touched(summary.superseded):
            self._supersede(op, path, certainty, state)
        for path in summary.believed:
            self._believe(self._roots.of(summary.path(path)), state)
        why = f"`{op.callee}` passes it to a function that may read or write it"
        self._unknown(op, [summary.path(path) for path in sorted(summary.passed)], why, state)
        for path in sorted(summary.places):
            place = summary.path(path)
            written = Mending(op, self._aliases.leaf(place))
            for storage in self._roots.of(place):
                self._overwrite(written, storage, frozenset(), state)
                self._used_by_others.add(storage)
                if self._roots.value_of(storage) in self._outside:
                    self._first_write.setdefault(storage, op.place.index)
                    self.places.add(storage)
        self._hand_on_all(op, [summary.path(path) for path in sorted(summary.handed_on)], state)
        self._returned(op, summary, state)

    def _returned(self, op: FunctionCall, summary: Summary, state: ContentState) -> None:
        """What the callee made and put on a storage of ours, or left unwritten."""
        for root in self._roots.of(AccessPath(op.result)):
            path = self._roots.path(root)
            if path.value != op.result or root not in self._last_use:
                continue
            if path.fields in summary.unwritten:
                known = summary.presumed.get(path.fields)
                partly = known is not None or path.fields in summary.partly
                mended = (Mending(op, root, presumed=known),) if partly else ()
                state.unwritten[root] = Damage(summary.unwritten[path.fields], mended)
            for storage in self._storages(root):
                self._on[storage].append(root)

    def _opaque(self, op: KernelCall, effect: Effect, state: ContentState) -> None:
        """A call that gives arguments to somebody unknown, and perhaps only reads others itself."""
        presumed = Presumption(effect.why)
        only_read = effect.reads - effect.writes if effect.opaque else frozenset()
        for position, argument in enumerate(op.arguments):
            if position in only_read:
                self._read_all(op, (argument,), state, first=partial(self._first_read, op, effect, position))
            elif position in effect.opaque:
                taken = Damage(Certainty.MAY, (Mending(op, argument, presumed=presumed),))
                for root in sorted(everything(self._roots.tree(argument)) & state.unwritten.keys()):
                    # Perhaps nothing else reads it: what is presumed is told here.
                    self.reported.read_unwritten(root, Reading(op, argument), taken, ())
        given = [one for position, one in enumerate(op.arguments) if position not in only_read]
        whole = {
            argument: Mending(op, argument, position, whole=True)
            for position, argument in enumerate(op.arguments)
            if effect.whole.get(position) is sympy.true
        }
        self._unknown(op, map(AccessPath, given), effect.why, state, whole)

    def _unknown(
        self,
        op: Op,
        paths: Iterable[AccessPath],
        why: str,
        state: ContentState,
        whole: Mapping[ValueId, Mending] = MappingProxyType({}),
    ) -> None:
        """A call with unknown effects: it reads its initialised arguments and writes the others, those that
        are `whole` for sure.
        """
        presumed = Presumption(why)
        for path in paths:
            for value, held in self._aliases.leaves_and_held(self._aliases.leaf(path)):
                tree = self._tree(path) if value == path.value else self._roots.tree(value)
                unwritten = everything(tree) & state.unwritten.keys()
                # Of a function of the program that is not known it is not even taken that it reads.
                reads = must_if(isinstance(op, KernelCall) and op.callee not in CLOSURE_MAKERS and not held)
                if not unwritten or self._presumed_written(unwritten, state) is not None:
                    self._read(Reading(op, value, presumed), tree, state, certainty=reads)
                    self._names.doubt(everything(tree), state)
                    # He may write what was damaged again, too.
                    state.doubt(everything(tree))
                    continue
                for root in sorted(root for root in unwritten if state.unwritten[root].mended):
                    self._read_overwritten(root, Reading(op, value, presumed), perhaps, state)
                mending = whole.get(value, Mending(op, value, presumed=presumed))
                self._write(AccessPath(value), mending, state)

    def _return(self) -> dict[tuple[int, ...], Certainty]:
        """The function's result is read by the caller; the fields of it that were not written."""
        tree, unwritten = self._roots.tree(self._function.result), {}
        for fields, roots in with_fields(tree):
            found = [
                one for root in roots if (one := self._unwritten(self._function.result, root, self.at_end))
            ]
            if found:
                only = must_if(len(roots) == 1 and not found[0].mended)
                unwritten[fields] = weakest(only, *(damage.certainty for damage in found))
                if all(damage.mended for damage in found):
                    self.returns_partly |= {fields}
                presumed = self._presumed_written(roots, self.at_end)
                if presumed is not None:
                    self.returns_presumed[fields] = presumed
        self._read_all(None, (self._function.result,), self.at_end)
        return unwritten
