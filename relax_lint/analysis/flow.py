"""The data flow of a program and of its functions, each part computed when it is first asked for."""

from __future__ import annotations

from functools import cached_property, partial
from weakref import proxy

from relax_lint.analysis.access_paths import AccessPath
from relax_lint.analysis.aliases import Aliases
from relax_lint.analysis.at_return import combined, use_of_returned
from relax_lint.analysis.callees import Callees
from relax_lint.analysis.carried import Carried, CarriedNull, Fields
from relax_lint.analysis.certainty import Certainty
from relax_lint.analysis.cleared_results import is_always_missed
from relax_lint.analysis.contents import Contents
from relax_lint.analysis.dominance import UndominatedUse, captured_values, undominated_uses, used_inside
from relax_lint.analysis.effects import Effect, EffectTable
from relax_lint.analysis.events import Overwriting, StaleRead, Write
from relax_lint.analysis.keepers import Keepers
from relax_lint.analysis.kills import Kills
from relax_lint.analysis.left_out import LeftOut
from relax_lint.analysis.lowered_operators import Lowered, LoweredOperators
from relax_lint.analysis.made_as import Thing, Things
from relax_lint.analysis.made_views import MadeViews
from relax_lint.analysis.moved import Moved
from relax_lint.analysis.observed_parts import Entered
from relax_lint.analysis.observers import Observers
from relax_lint.analysis.offsets import Offsets
from relax_lint.analysis.overlaps import TensorMemory
from relax_lint.analysis.paths import Paths
from relax_lint.analysis.read_after import ReadAfter
from relax_lint.analysis.reported import says_more, weighs_more
from relax_lint.analysis.result_uses import ResultUses
from relax_lint.analysis.results import Result
from relax_lint.analysis.returned_offsets import ReturnedOffsets
from relax_lint.analysis.storages import StorageResolver, Storages
from relax_lint.analysis.summaries import Summaries, Summary
from relax_lint.analysis.summarised import summarised
from relax_lint.analysis.sure_reads import CallEffects
from relax_lint.analysis.together import Together
from relax_lint.analysis.untaken import Untaken, given_constants
from relax_lint.model.operations import FunctionCall, KernelCall, Op, ValueId
from relax_lint.model.program import Function, Program


class ProgramFlow:
    """What all functions of one program share."""

    def __init__(self, program: Program) -> None:
        self.program = program

    @cached_property
    def callees(self) -> Callees:
        """Which functions call which."""
        return Callees(self.program)

    @cached_property
    def storages(self) -> StorageResolver:
        """Which storages a value of any function may be."""
        return StorageResolver(self.callees)

    @cached_property
    def effects(self) -> EffectTable:
        """What kernels do to the contents of their arguments."""
        return EffectTable(self.program)

    @cached_property
    def things(self) -> Things:
        """What the values of any function were made as."""
        return Things(self.callees, self.program.functions)

    @cached_property
    def left_out(self) -> LeftOut:
        """What TVM may leave out of functions."""
        return LeftOut(self.program, self.callees)

    @cached_property
    def keepers(self) -> Keepers:
        """Which functions give what they get to somebody who may keep it."""
        return Keepers(self.program, self.callees)

    @cached_property
    def made_views(self) -> MadeViews:
        """Which results TVM may put into the memory of an argument."""
        return MadeViews(self.program)

    @cached_property
    def lowered_operators(self) -> LoweredOperators:
        """What becomes of operators."""
        return LoweredOperators()

    @cached_property
    def result_uses(self) -> ResultUses:
        """Which fields of what functions return their callers read."""
        return ResultUses(self.callees, partial(_carried, proxy(self), Carried), Paths, Certainty.MUST)

    @cached_property
    def null_uses(self) -> ResultUses:
        """Which fields of what functions return their callers use where these are cleared registers."""
        return ResultUses(self.callees, partial(_carried, proxy(self), CarriedNull), Paths, Certainty.MAY)

    @cached_property
    def observers(self) -> Observers:
        """What the functions of the program show of that which they are given."""
        shared = proxy(self)
        return Observers(
            self.callees,
            lambda function: FunctionFlow(shared, function),
            lambda calls, others: shared.result_uses.is_harmed(calls, others),
        )

    @cached_property
    def summaries(self) -> Summaries:
        """What the functions of the program do to the tensors that they are given."""
        # With a reference to itself all facts would stay until the collector comes.
        shared = proxy(self)
        return Summaries(self.callees, self.program.functions, lambda one: FunctionFlow(shared, one).summary)

    @cached_property
    def moved(self) -> Moved:
        """Where the tensors of functions start, those that come from outside among them."""
        returned = ReturnedOffsets(self.callees, self.program, self.made_views.of)
        moved = Moved(self.program, self.callees, returned)
        if not returned.moves or not moved.is_given_to(self.keepers.may_keep):
            return moved
        # Somebody who is not known may keep a tensor that does not start at its data pointer, and return it.
        returned = ReturnedOffsets(self.callees, self.program, self.made_views.of, kept=True)
        return Moved(self.program, self.callees, returned)

    def summary_of(self, call: FunctionCall) -> Summary | None:
        """What a call of a Relax function does; None where it is not known which function that is."""
        return self.summaries.of(call)


class FunctionFlow:
    """The data flow of one function."""

    def __init__(self, shared: ProgramFlow, function: Function) -> None:
        self.program = shared.program
        self.function = function
        self._shared = shared

    @cached_property
    def operations(self) -> tuple[Op, ...]:
        """Every operation in program order, branches included."""
        return tuple(self.function.body.walk())

    @property
    def calls(self) -> tuple[KernelCall, ...]:
        """Every call of a kernel, a packed function or an operator."""
        return self.function.body.of(KernelCall)

    @property
    def function_calls(self) -> tuple[FunctionCall, ...]:
        """Every call of a Relax function."""
        return self.function.body.of(FunctionCall)

    @cached_property
    def effects(self) -> EffectTable:
        """What kernels do to the contents of their arguments."""
        return self._shared.effects

    def effect_of(self, call: KernelCall) -> Effect:
        """What a call does to the contents of its arguments."""
        return self._effects.of(call)

    @cached_property
    def _effects(self) -> CallEffects:
        return CallEffects(self.effects, self.function)

    def storages_of(self, value: ValueId) -> Storages:
        """The storages that a value may be."""
        return self._shared.storages.storages_of(self.function, value)

    def things_of(self, value: ValueId, function: Function | None = None) -> tuple[Thing, ...]:
        """What a value of this function, or of another one, was made as, on one path or another."""
        return tuple(self._shared.things.of(function or self.function, value))

    @property
    def are_kinds_claimed(self) -> bool:
        """Whether a type of the program may say a tensor, say, of what is something else."""
        return self._shared.things.are_claimed

    def is_passed_in(self, value: ValueId) -> bool:
        """Whether a storage is what the callers of this function pass."""
        return self._shared.storages.is_passed_in(self.function, value)

    @property
    def knows_callers(self) -> bool:
        """Whether every call of the function is seen."""
        return self._shared.callees.knows_callers(self.function)

    @property
    def calls_of_this(self) -> list[tuple[Function, FunctionCall]]:
        """The calls of the function that the module shows, each with the function that it is in."""
        return self._shared.callees.calls_of(self.function)

    @cached_property
    def is_cleared_result_missed(self) -> bool:
        """Whether whoever calls the function certainly fails at a result that was killed and is no tensor."""
        return is_always_missed(self._shared.callees, self.function)

    def use_at_return(self, value: ValueId, *, cleared: bool = False) -> Certainty | None:
        """How certain it is that callers use a returned value, of a `cleared` one its register, if any do."""
        if not self.function.private:
            return Certainty.MUST
        uses = self._shared.null_uses if cleared else self._shared.result_uses
        use = use_of_returned(value, self.function, self.aliases, partial(uses.of, self.function))
        if use is Certainty.MUST and not cleared and not self.is_shown(None, value):
            return Certainty.MAY
        return use

    @cached_property
    def overwritings(self) -> tuple[Overwriting, ...]:
        """The writes over tensors that are read later, here or by a caller."""
        found = self.contents.reported
        return combined(found.overwritings, found.overwritings_at_return, weighs_more, self.use_at_return)

    @cached_property
    def stale_reads(self) -> tuple[StaleRead, ...]:
        """The reads of older names of what an in-place call overwrote, here or by a caller."""
        found = self.contents.reported
        return combined(found.stale, found.stale_at_return, says_more, self.use_at_return)

    @property
    def callees(self) -> Callees:
        """Which functions call which."""
        return self._shared.callees

    def callees_of(self, call: FunctionCall) -> tuple[Function, ...]:
        """The functions one of which a call is of; none where that is not known."""
        return self._shared.callees.all_of(call)

    def entered(self, call: FunctionCall) -> Entered | None:
        """The function that a call is of; None where that is not known, or it is one of several."""
        return self._shared.observers.entered(call)

    def arguments_of(self, call: FunctionCall, callee: Function) -> tuple[ValueId, ...]:
        """What a call, or a closure, gives the parameters of a function: values that are known by a name."""
        passed = self._shared.callees.passed(call, callee)
        return tuple(self.aliases.leaf(passed[one]) for one in callee.parameters if one in passed)

    @cached_property
    def aliases(self) -> Aliases:
        """Which values share a register, or bytes."""
        shared, function = self._shared, self.function

        def returned(call: FunctionCall) -> Result:
            summary = shared.summary_of(call)
            return None if summary is None else summary.returned

        def is_known(call: FunctionCall) -> bool:
            return bool(shared.callees.all_of(call))

        def viewed(call: KernelCall) -> tuple[ValueId, ...]:
            return shared.made_views.of(call, function)

        def offsets(in_memory: bool) -> Offsets:
            return shared.moved.inside(function, in_memory=in_memory)

        def holds(path: AccessPath) -> int:
            return shared.callees.holds(function, path)

        return Aliases(
            function,
            returned,
            is_known,
            viewed,
            shared.keepers.keeps,
            held=shared.callees.closures.held(function),
            holds=holds,
            offsets=offsets,
            moves_pointers=self.program.moves_pointers,
        )

    def lowered(self, call: KernelCall) -> Lowered:
        """What becomes of the call of an operator."""
        return self._shared.lowered_operators.of(call)

    def may_call_unknown(self, call: FunctionCall) -> bool:
        """Whether a call leads to a function that is not known."""
        return self._shared.keepers.keeps(call) or not self._shared.callees.all_of(call)

    def is_left_out(self, op: Op | None) -> bool:
        """Whether TVM may leave an operation out (None: the return), as nothing uses what it makes."""
        return op is not None and op.place.index in self.left_out

    @cached_property
    def left_out(self) -> frozenset[int]:
        """The indices of the operations that TVM may leave out, as nothing uses what they make."""
        return self._shared.left_out.of(self.function)

    @cached_property
    def paths(self) -> Paths:
        """The branches around each operation, and what defines each value."""
        return Paths(self.function)

    @cached_property
    def untaken(self) -> Untaken:
        """What no run reaches."""
        given = given_constants(self.function, self._shared.callees)
        return Untaken(self.function, self.aliases, self._shared.effects.effect_of, given)

    @cached_property
    def captured(self) -> frozenset[ValueId]:
        """The values of outer functions that an inner function may use."""
        return captured_values(self.program, self.function)

    @cached_property
    def kills(self) -> Kills:
        """What is used or killed after a kill."""
        callees = self._shared.callees
        held = callees.closures.held(self.function)
        return Kills(self.function, self.aliases, self.untaken, callees.of, held)

    @cached_property
    def undominated_uses(self) -> tuple[UndominatedUse, ...]:
        """What is used where it is not defined on every path."""
        return tuple(undominated_uses(self.program, self.function, self.paths, self.captured))

    @cached_property
    def contents(self) -> Contents:
        """What tensors hold when they are read."""
        flow = proxy(self)
        return Contents(
            self.function,
            self.aliases,
            self.paths,
            self.memory,
            lambda call: flow.effect_of(call),
            self._shared.summary_of,
            self.captured,
            self._shared.callees.closures.held(self.function),
            self.untaken,
            lambda: flow.left_out,
            self.function.private or bool(self.calls_of_this),
            lambda op, value, damage, made: flow.is_shown(op, value, damage, made),
        )

    def is_shown(
        self, op: Op | None, value: ValueId | None, damage: Write | None = None, made: Op | None = None
    ) -> bool:
        """Whether every run shows what an operation, or (None) the return, reads of a value, or computes."""
        return self._shared.observers.is_shown(self.function, op, value, damage, made)

    def shows_sharing(self, call: KernelCall, written: int) -> bool:
        """Whether every run shows that an argument which a call writes is another one, too."""
        return self._shared.observers.shows_sharing(self.function, call, written)

    @cached_property
    def read_after(self) -> ReadAfter:
        """Whether what an operation leaves in memory is looked at."""
        flow, outside = proxy(self), self.captured.union(self.function.parameters, self.used_inside)
        return ReadAfter(
            self.function,
            self.aliases,
            self.paths,
            lambda call: flow.effect_of(call),
            self._shared.summary_of,
            outside,
            lambda: flow.left_out,
        )

    @cached_property
    def memory(self) -> TensorMemory:
        """Where the bytes of the tensors are."""
        return TensorMemory(self.function, self.aliases, self.paths.definitions)

    @cached_property
    def together(self) -> Together:
        """Which of their tensors two values are at once."""
        return Together(self.function, self.aliases, self.paths, self.untaken)

    @cached_property
    def returned(self) -> frozenset[ValueId]:
        """The values whose bytes the result may share."""
        return self.aliases.roots_of(self.function.result)

    @cached_property
    def used_inside(self) -> frozenset[ValueId]:
        """The values that functions inside of this one use."""
        return used_inside(self.program, self.function)

    @property
    def summary(self) -> Summary:
        """What the function does to the tensors that it is given."""
        outside = self.captured.union(self.function.parameters)
        return summarised(self.function, self.aliases, self.contents, outside)

    def summary_of(self, call: FunctionCall) -> Summary | None:
        """What a call of a Relax function does; None where it is not known which function that is."""
        return self._shared.summary_of(call)


def _carried(
    shared: ProgramFlow, kind: type[Carried], caller: Function, call: FunctionCall, fields: Fields
) -> Carried:
    """What becomes of a field of what a call returns."""
    flow = FunctionFlow(shared, caller)
    parts = flow.aliases, flow.paths, flow.effect_of, flow.summary_of, flow.used_inside, flow.callees.of
    return kind(caller, call, fields, *parts)
