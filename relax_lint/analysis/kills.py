"""What is used or killed after it was killed: one walk over the registers of the VM."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from relax_lint.analysis.aliases import Aliases
from relax_lint.analysis.certainty import Certainty, must_if, weakest
from relax_lint.analysis.liveness import leaves, registers_read
from relax_lint.analysis.storages import handed_on
from relax_lint.analysis.untaken import Untaken
from relax_lint.model.operations import (
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
    ValueId,
    View,
)
from relax_lint.model.program import Function
from relax_lint.model.types import TensorType, TupleType
from relax_lint.support.lazy_dataclass import record
from relax_lint.vm.builtins import (
    BUILTINS,
    GET_ITEM,
    MAKE_TUPLE,
    NULLS,
    PERHAPS_ARGUMENT,
    KillKind,
    ViewKind,
)
from relax_lint.vm.calls import CLOSURE_MAKERS, CallKind

_ON_SOME_PATHS = "killed only on some paths"
_BEFORE_ON_SOME_PATHS = "killed before only on some paths"


@record(frozen=True)
class KilledUse:
    """`value` is used by `op` (None: returned) after `kill`, on every path to `op` (`MUST`), or else `why`
    not.
    """

    op: Op | None
    value: ValueId
    kill: Kill
    certainty: Certainty
    why: str = _ON_SOME_PATHS

    @property
    def is_certain(self) -> bool:
        """Whether that is so on every path."""
        return self.certainty is Certainty.MUST


@record(frozen=True)
class _Killed:
    """A register that is empty, or (`inside`) holds a tuple with what is; `handed_on`: it got that by another
    operation than the kill. `given` are the branches that gave it, of an `If` that is inside so many others.
    """

    kill: Kill
    certainty: Certainty
    handed_on: bool = False
    inside: bool = False
    given: tuple[KilledUse, ...] = ()
    depth: int = 0


def _not_known(call: FunctionCall) -> Function | None:
    return None


class Kills:
    """The uses after a kill, and the kills after a kill, of one function."""

    def __init__(
        self,
        function: Function,
        aliases: Aliases,
        untaken: Untaken,
        callee_of: Callable[[FunctionCall], Function | None] = _not_known,
        held: Mapping[ValueId, tuple[ValueId, ...]] = MappingProxyType({}),
    ) -> None:
        self._function = function
        self._callee_of = callee_of
        self._held = held
        self._aliases = aliases
        self._untaken = untaken
        self.uses: list[KilledUse] = []
        self.again: list[KilledUse] = []
        self.of_constants: list[Kill] = []
        """The kills of what sits in no register: TVM cannot compile them."""
        self.of_nulls: list[Kill] = []
        """The kills of null values: compiled code cannot contain them."""
        self._constants = _constants(function)
        self._nulls = frozenset(op.result for op in function.body.of(KernelCall) if op.callee in NULLS)
        self._depth = 0
        self._empty_fields: dict[ValueId, dict[int, _Killed]] = {}
        killed: dict[ValueId, _Killed] = {}
        self._block(function.body, killed)
        self._use(None, leaves((function.result,), function), killed)

    def _block(self, block: Block, killed: dict[ValueId, _Killed]) -> None:
        for op in block.ops:
            # A trivial binding is gone before registers are assigned: the use counts, not the name.
            if killed and not self._aliases.is_trivial(op):
                self._look(op, killed)
            if isinstance(op, If):
                self._branches(op, killed)
            elif isinstance(op, Kill):
                self._kill(op, killed)

    def _branches(self, op: If, killed: dict[ValueId, _Killed]) -> None:
        only, other = self._untaken.taken(op), dict(killed)
        given: list[KilledUse] = []
        for state, block, result, holds in (
            (killed, op.then_block, op.then_result, True),
            (other, op.else_block, op.else_result, False),
        ):
            if only is not (not holds):
                self._depth += 1
                self._block(block, state)
                self._depth -= 1
                values = leaves((result,), self._function)
                given += (self._used(op, value, found) for value, found in self._hit(values, state))
                self._hand_on(values, op.result, state, state)
        if only is not None:
            after = dict(killed if only else other)
            killed.clear()
            killed.update(after)
            return
        result = self._aliases.register(op.result)
        for register in killed.keys() | other.keys():
            one, two = killed.get(register), other.get(register)
            known = one or two
            assert known is not None
            branches = (Certainty.MAY if each is None else each.certainty for each in (one, two))
            killed[register] = replace(known, certainty=weakest(*branches))
            if register == result:
                killed[register] = replace(killed[register], given=tuple(given), depth=self._depth)

    def _kill(self, op: Kill, killed: dict[ValueId, _Killed]) -> None:
        register = self._aliases.register(op.target)
        if register in self._constants:
            self.of_constants.append(op)
        if register in self._nulls:
            self.of_nulls.append(op)
        before = killed.get(register)
        if before is not None and not before.handed_on:
            used = self._used(op, op.target, before)
            why = _BEFORE_ON_SOME_PATHS if used.why == _ON_SOME_PATHS else used.why
            self.again.append(replace(used, why=why))
        killed[register] = _Killed(op, Certainty.MUST)

    def _look(self, op: Op, killed: dict[ValueId, _Killed]) -> None:
        """An operation gets what may be empty: it fails, or hands it on."""
        read = registers_read(op, self._function)
        if isinstance(op, Constant) and op.result in self._held:
            # What an inner function uses of those around it goes into a closure where it is defined.
            read = (*read, *self._held[op.result])
        if not self._meets(read, killed) and not _calls(op, MAKE_TUPLE):
            # So it is of nearly all. Of a tuple that the machine makes it is known that no field is empty.
            return
        hands_on = isinstance(op, MakeTuple | MatchCast) or _is_copy(op) or _calls(op, MAKE_TUPLE)
        if isinstance(op, GetItem) or _calls(op, GET_ITEM):
            hands_on = any(found.inside for _, found in self._hit(read, killed))
        if not hands_on or (isinstance(op, MatchCast) and isinstance(op.type, TensorType)):
            self._use(op, read, killed)
        if isinstance(op, KernelCall) and op.callee == MAKE_TUPLE:
            self._empty_fields[op.result] = {
                field: self._handed(value, found, inside=found.inside)
                for field, one in enumerate(op.arguments)
                for value, found in self._hit((one,), killed)
            }
        if hands_on and not self._takes_from_made(op, killed):
            self._hand_on(read, op.result, killed, killed)

    def _takes_from_made(self, op: Op, killed: dict[ValueId, _Killed]) -> bool:
        """Whether an operation takes a field of a tuple that the machine made here: of such it is known which
        fields are empty.
        """
        source, fields = handed_on(op, self._function) or (None, ())
        made = None if source is None else self._empty_fields.get(self._aliases.register(source))
        if made is None or not fields:
            return False
        if fields[0] in made:
            killed[self._aliases.register(op.result)] = made[fields[0]]
        return True

    def _meets(self, values: Iterable[ValueId], killed: Mapping[ValueId, _Killed]) -> bool:
        """Whether a register of some values may be empty, or hold what is."""
        registers = self._aliases.registers
        return not killed.keys().isdisjoint([registers.get(value, value) for value in values])

    def _hit(
        self, values: Iterable[ValueId], killed: Mapping[ValueId, _Killed]
    ) -> Iterator[tuple[ValueId, _Killed]]:
        registers = self._aliases.registers
        hit = [value for value in values if registers.get(value, value) in killed]
        for value in dict.fromkeys(hit) if hit else ():
            found = killed[registers.get(value, value)]
            if found.kill.kind is not KillKind.OBJECT or not self._aliases.is_field_to_check(value):
                yield value, found

    def _hand_on(
        self,
        values: Iterable[ValueId],
        result: ValueId,
        killed: Mapping[ValueId, _Killed],
        into: dict[ValueId, _Killed],
    ) -> None:
        """What is empty gets another register, or is put into a tuple: nobody has looked at it yet."""
        register = self._aliases.register(result)
        # What the machine makes is a tuple whatever type it is given.
        is_tuple = isinstance(self._function.type_of(result), TupleType) or result in self._empty_fields
        for value, found in list(self._hit(values, killed)):
            handed = self._handed(value, found, inside=found.inside or is_tuple)
            if register not in into or handed.certainty is Certainty.MUST:
                into[register] = handed

    def _handed(self, value: ValueId, found: _Killed, *, inside: bool) -> _Killed:
        certain = found.certainty is Certainty.MUST and not self._has_own_register(value, found)
        return replace(found, certainty=must_if(certain), handed_on=True, inside=inside)

    def _has_own_register(self, value: ValueId, found: _Killed) -> bool:
        """Whether a name of what was killed may have a register of its own."""
        # `b = a` shares the register of `a` because KillAfterLastUse removes such bindings. After it,
        # where `kill_object` stands, code generation gives `b` a register of its own (measured).
        # A cast that KillAfterLastUse did not remove keeps its register, too.
        by_cast = not self._aliases.cast_names.isdisjoint((value, found.kill.target))
        alias = value != found.kill.target and not found.handed_on
        return alias and (found.kill.kind is KillKind.OBJECT or by_cast)

    def _use(self, op: Op | None, values: Iterable[ValueId], killed: dict[ValueId, _Killed]) -> None:
        for value, found in self._hit(values, killed):
            fails = self._fails(op, value, found)
            if found.given and fails and self._depth <= found.depth and (op or not self._function.private):
                # Whenever one of the branches was taken this follows.
                self.uses += (use for use in found.given if use not in self.uses)
                continue
            use = self._used(op, value, found)
            if use.certainty is Certainty.MUST and not fails:
                use = replace(use, certainty=Certainty.MAY, why="it is not known whether it is looked at")
            self.uses.append(use)

    def _used(self, op: Op | None, value: ValueId, found: _Killed) -> KilledUse:
        """What is said of an operation that cannot do with a null value."""
        if self._has_own_register(value, found):
            why = "an alias has its own register unless the pipeline removes trivial bindings"
            return KilledUse(op, value, found.kill, Certainty.MAY, why)
        if isinstance(op, Assert) and value != op.condition:
            why = "an assertion shows it only where it fails"
            return KilledUse(op, value, found.kill, Certainty.MAY, why)
        return KilledUse(op, value, found.kill, found.certainty)

    def _fails(self, op: Op | None, value: ValueId, found: _Killed) -> bool:
        """Whether an operation cannot do with a null value; None returns it."""
        if found.inside:
            return op is None and not self._function.private
        if isinstance(op, FunctionCall):
            callee = self._callee_of(op)
            given = () if callee is None else zip(callee.parameters, op.arguments, strict=False)
            # The machine looks at what comes as a tensor or a tuple.
            return value == op.value or any(
                callee is not None
                and isinstance(callee.type_of(own), TensorType | TupleType)
                and value == one
                for own, one in given
            )
        if isinstance(op, MatchCast):
            # One that says nothing new is gone before the machine compares.
            return bool(op.facts)
        if not isinstance(op, KernelCall):
            return not isinstance(op, Constant) or op.result not in self._held
        if op.kind is CallKind.OPERATOR:
            # Who makes a closure looks at nothing that it holds.
            return op.callee not in PERHAPS_ARGUMENT and op.callee not in CLOSURE_MAKERS
        builtin = BUILTINS.get(op.callee)
        reads = frozenset[int]() if builtin is None or not builtin.is_call else builtin.reads
        return op.kind.runs_kernel or any(op.arguments[i] == value for i in reads if i < len(op.arguments))


def _calls(op: Op, builtin: str) -> bool:
    return isinstance(op, KernelCall) and op.callee == builtin


def _is_copy(op: Op) -> bool:
    return isinstance(op, View) and op.kind is ViewKind.COPY


def _constants(function: Function) -> frozenset[ValueId]:
    """The tensors that are written in place, or bound to a name as they are."""
    bound = (op.result for op in function.body.of(Constant))
    tensors = (value for value in bound if function.tensor_type(value) is not None)
    return frozenset((*function.constants, *tensors))
