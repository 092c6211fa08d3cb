"""What rules may ask about the lifetimes and the aliasing of the values of one function."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.analysis.aliases import Aliases
from relax_lint.analysis.argument_overlaps import ArgumentOverlap, ArgumentOverlaps, OutsideWrite
from relax_lint.analysis.contents import Contents, Overwriting, Reading, StaleRead, UnwrittenRead
from relax_lint.analysis.dominance import UndominatedUse, captured_values, undominated_uses
from relax_lint.analysis.effects import Effect
from relax_lint.analysis.kills import Kills
from relax_lint.analysis.liveness import operands
from relax_lint.analysis.overlaps import ByteRanges, either_empty
from relax_lint.analysis.paths import Paths
from relax_lint.analysis.summaries import Summaries, Summary
from relax_lint.facts.placements import Claim
from relax_lint.model.program import (
    AllocStorage,
    AllocTensor,
    Function,
    FunctionCall,
    KernelCall,
    Kill,
    Op,
    Place,
    Program,
    Unknown,
    ValueId,
)
from relax_lint.results.verdict import Verdict
from relax_lint.symbolic.decision import Decision, certain
from relax_lint.symbolic.domain import Domain, Fact, FactKind

EffectOf = Callable[[KernelCall], Effect]


@dataclass(frozen=True)
class Finding:
    """The verdict on an event, and whether only tensors without a byte are safe."""

    decision: Decision
    only_empty: bool = False


class LifetimeFacts:
    """The lifetimes of one function: kills, scopes, contents, and the memory that is never used."""

    def __init__(
        self,
        program: Program,
        function: Function,
        effect_of: EffectOf,
        summaries: Summaries,
        domain_at: Callable[[Place], Domain],
        entry: Domain,
        judge: Callable[..., Decision],
        holds_only_if: Callable[[Claim, Boolean | None], bool],
    ) -> None:
        self._program = program
        self._function = function
        self._effect_of = effect_of
        self._summaries = summaries
        self._domain_at = domain_at
        self._entry = entry
        self._judge = judge
        self._holds_only_if = holds_only_if

    # -- what happens --------------------------------------------------------------------------

    @cached_property
    def kills(self) -> Kills:
        """What is used or killed after a kill."""
        return Kills(self._function, self._aliases)

    @cached_property
    def undominated_uses(self) -> tuple[UndominatedUse, ...]:
        """What is used where nothing has made it."""
        return tuple(undominated_uses(self._program, self._function, self._paths, self._captured))

    @cached_property
    def contents(self) -> Contents:
        """What tensors hold when they are read."""
        return _contents(
            self._function, self._aliases, self._paths, self._captured, self._effect_of, self._summaries
        )

    @cached_property
    def unwritten_reads(self) -> tuple[UnwrittenRead, ...]:
        """The tensors that are read before they are written, each with the first such read that some input
        reaches. What a private function returns is for its caller to write.
        """
        inside = self._function.private or bool(self._captured)
        found: dict[ValueId, UnwrittenRead] = {}
        for read in self.contents.unwritten_reads:
            known = read.tensor.result in found or (inside and read.reading.op is None)
            if not known and self.unwritten(read).decision.reachable:
                found[read.tensor.result] = read
        return tuple(found.values())

    @cached_property
    def argument_overlaps(self) -> tuple[ArgumentOverlap, ...]:
        """The arguments that may share bytes with one that the call writes."""
        return tuple(self._arguments.overlaps(self._calls))

    @cached_property
    def outside_writes(self) -> tuple[OutsideWrite, ...]:
        """The writes to constants, and the declared in-place writes to the parameters of public functions."""
        found = self._arguments.outside_writes(self._calls)
        return tuple(write for write in found if write.constant or not self._function.private)

    @cached_property
    def sharing(self) -> tuple[AllocTensor, ...]:
        """The tensors on storages that an earlier tensor was on, and whose bytes are never an issue."""
        seen: set[ValueId] = set()
        written = {overwriting.written for overwriting in self.contents.overwritings}
        blamed = {root for value in written for root in self._aliases.roots_of(value)}
        found = []
        for op in self._operations:
            if isinstance(op, AllocTensor) and op.storage is not None:
                storages = self._aliases.roots_of(op.storage)
                if not storages.isdisjoint(seen) and op.result not in blamed:
                    found.append(op)
                seen |= storages
        return tuple(found)

    # -- waste ---------------------------------------------------------------------------------

    @cached_property
    def unused(self) -> tuple[AllocStorage | AllocTensor, ...]:
        """The allocations that nothing uses."""
        used = {value for op in self._operations for value in operands(op, self._function)}
        used |= {self._function.result, *self._function.inline_tuples.get(self._function.result, ())}
        return tuple(op for op in self._allocations if op.result not in used)

    @cached_property
    def never_killed(self) -> tuple[tuple[AllocStorage | AllocTensor, bool], ...]:
        """The allocations of a function that kills explicitly which no kill names and which are not returned;
        True where there is no kill at all, False where there is one on some paths.
        """
        kills: dict[ValueId, list[Kill]] = defaultdict(list)
        for op in self._operations:
            if isinstance(op, Kill):
                kills[self._aliases.register(op.target)].append(op)
        if not kills:
            return ()
        returned = {
            root
            for leaf in self._aliases.leaves(self._function.result)
            for root in self._aliases.roots_of(leaf)
        }
        found = []
        for allocation in self._allocations:
            ends = kills.get(allocation.result, [])
            if allocation.result not in returned and not any(
                self._paths.always_with(kill, allocation) for kill in ends
            ):
                found.append((allocation, not ends))
        return tuple(found)

    @cached_property
    def _allocations(self) -> tuple[AllocStorage | AllocTensor, ...]:
        return tuple(op for op in self._operations if isinstance(op, AllocStorage | AllocTensor))

    @staticmethod
    def reader(reading: Reading) -> str:
        """Who reads, for a message: the callee of a call, else the binding."""
        op = reading.op
        if op is None:
            return "is returned"
        return f"`{op.callee if isinstance(op, KernelCall | FunctionCall) else op.place.binding}` still reads"

    # -- verdicts ------------------------------------------------------------------------------

    def on_path(self, op: Op | None, *, certain: bool, why: str) -> Decision:
        """The verdict on what is wrong whenever `op` is executed, or (not `certain`) on some paths."""
        return self._decide(sympy.false, op, certain=certain, why=why)

    def unwritten(self, read: UnwrittenRead) -> Finding:
        """A tensor without bytes holds nothing to read."""
        value = read.reading.value
        empty = self._ranges.of(value).empty
        if self.leftovers(read):
            decision = self.on_path(read.reading.op, certain=False, why="it reads what another tensor left")
            return Finding(decision)
        decision = self._decide(
            sympy.false if isinstance(empty, Unknown) else empty,
            read.reading.op,
            certain=read.certain,
            why="not written on some paths",
            assumed=read.reading.assumed,
        )
        return Finding(decision, decision.safe_when is not None)

    def leftovers(self, read: UnwrittenRead) -> tuple[ValueId, ...]:
        """The tensors that were written before on bytes of a tensor that was not."""
        ours = self._ranges.of(read.tensor.result)
        return tuple(v for v in read.left if ours.disjoint(self._ranges.of(v)) != sympy.true)

    def overwriting(self, event: Overwriting) -> Finding:
        """The bytes that are written and those that are read later do not meet, or stay what they are."""
        write = event.write
        if isinstance(write, KernelCall):
            if self._arguments.changes_nothing(write, event.written):
                return Finding(certain(Verdict.ALWAYS_FINE, "each byte is written as it is"))
            if self._arguments.may_change_nothing(write, event.written):
                why = "each byte may be written as it is"
                return self._disjoint(event.written, event.reading, write, certain=False, why=why)
        return self._disjoint(event.written, event.reading, write, certain=event.certain)

    def stale(self, event: StaleRead) -> Finding:
        """The bytes that an in-place call wrote and those that are read later do not meet."""
        return self._disjoint(event.argument, event.reading, event.call, certain=event.certain)

    def _disjoint(
        self,
        written: ValueId,
        reading: Reading,
        op: Op,
        *,
        certain: bool,
        why: str = "read later on some paths",
    ) -> Finding:
        one, two = self._ranges.of(written), self._ranges.of(reading.value)
        condition = one.disjoint(two)
        decision = self._decide(condition, op, certain=certain, why=why, assumed=reading.assumed)
        return Finding(decision, self._only_empty(decision, condition, op, either_empty(one, two)))

    def overlapping(self, event: ArgumentOverlap) -> Finding:
        """The two arguments do not meet, or the kernel works element by element."""
        if event.harmless:
            return Finding(certain(Verdict.ALWAYS_FINE, "each element depends on itself only"))
        one, two = self._ranges.of(event.written), self._ranges.of(event.other)
        condition = one.disjoint(two)
        if event.elementwise:
            condition = one.disjoint_or_same_start(two)
        # A schedule may merge the loops of a kernel.
        why = (
            "fine as long as the kernel reads everything first"
            if event.ordered
            else "one memory on some paths"
        )
        on_all = event.certain and not event.ordered
        decision = self._decide(condition, event.call, certain=on_all, why=why)
        if event.elementwise and decision.verdict is Verdict.ALWAYS_WRONG:
            # In rising order, what lies in front of its source is written when that has been read.
            why = "the order in which the kernel works decides"
            decision = self._decide(condition, event.call, certain=False, why=why)
        return Finding(decision, self._only_empty(decision, condition, event.call, either_empty(one, two)))

    def _only_empty(
        self, decision: Decision, condition: Boolean | Unknown, op: Op, empty: Boolean | None
    ) -> bool:
        """Whether a verdict is safe only where there is no byte to share."""
        if decision.safe_when is None:
            return False
        return self._holds_only_if(Claim(condition, self._domain_at(op.place)), empty)

    def _decide(
        self, condition: Boolean | Unknown, op: Op | None, *, certain: bool, why: str, assumed: str = ""
    ) -> Decision:
        """The verdict on a condition that matters at `op`, on all paths or (not `certain`) on some."""
        decision = self._judge(Claim(condition, self._domain(op)))
        if not certain and decision.reachable and decision.verdict is not Verdict.ALWAYS_FINE:
            proof = replace(decision.proof, detail=why)
            decision = Decision(Verdict.NEEDS_RUNTIME_CHECK, proof, wrong=decision.wrong)
        if assumed:
            fact = Fact(sympy.true, FactKind.ASSUMED, assumed)
            decision = replace(decision, assumptions=(*decision.assumptions, fact))
        return decision

    def _domain(self, op: Op | None) -> Domain:
        """What holds where an operation is, or (None) where the function returns."""
        ops = self._function.body.ops
        last = op or (ops[-1] if ops else None)
        return self._entry if last is None else self._domain_at(last.place)

    # -- what it is computed from --------------------------------------------------------------

    @cached_property
    def _operations(self) -> tuple[Op, ...]:
        return tuple(self._function.body.walk())

    @cached_property
    def _aliases(self) -> Aliases:
        return _aliases(self._function, self._summaries)

    @cached_property
    def _paths(self) -> Paths:
        return Paths(self._function)

    @cached_property
    def _captured(self) -> frozenset[ValueId]:
        return captured_values(self._program, self._function)

    @cached_property
    def _ranges(self) -> ByteRanges:
        return ByteRanges(self._function, self._paths.definitions, self._aliases.offsets)

    @cached_property
    def _calls(self) -> tuple[KernelCall, ...]:
        return tuple(op for op in self._operations if isinstance(op, KernelCall))

    @cached_property
    def _arguments(self) -> ArgumentOverlaps:
        return ArgumentOverlaps(self._function, self._aliases, self._paths, self._ranges, self._effect_of)


def summaries_of(program: Program, effect_of: EffectOf) -> Summaries:
    """The summaries of the functions of a program."""

    def summarise(function: Function, summaries: Summaries) -> Summary:
        captured = captured_values(program, function)
        aliases = _aliases(function, summaries)
        contents = _contents(function, aliases, Paths(function), captured, effect_of, summaries)
        outside = captured.union(function.parameters)
        result = frozenset(
            root for leaf in aliases.leaves(function.result) for root in aliases.roots_of(leaf)
        )
        return Summary(
            function.parameters,
            frozenset(contents.reads),
            frozenset(contents.writes),
            frozenset(contents.passed),
            result & outside,
            bool(result - outside),
            contents.returns_unwritten,
        )

    return Summaries(program, summarise)


def _aliases(function: Function, summaries: Summaries) -> Aliases:
    def returned(call: FunctionCall) -> tuple[ValueId, ...]:
        summary = summaries.of(call, function)
        return (call.result,) if summary is None else summary.returned(call)

    return Aliases(function, returned)


def _contents(
    function: Function,
    aliases: Aliases,
    paths: Paths,
    captured: frozenset[ValueId],
    effect_of: EffectOf,
    summaries: Summaries,
) -> Contents:
    def summary_of(call: FunctionCall) -> Summary | None:
        return summaries.of(call, function)

    return Contents(function, aliases, paths, effect_of, summary_of, captured)
