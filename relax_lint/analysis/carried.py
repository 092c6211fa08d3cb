"""What becomes of one field of what a call returns, in the function that calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from relax_lint.analysis.access_paths import AccessPath, with_fields
from relax_lint.analysis.aliases import Aliases
from relax_lint.analysis.certainty import Certainty, must_if, weakest
from relax_lint.analysis.effects import Effect
from relax_lint.analysis.liveness import operands
from relax_lint.analysis.paths import Paths
from relax_lint.analysis.summaries import Summary
from relax_lint.model.operations import (
    Alias,
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
from relax_lint.model.types import TensorType, TupleType, ValueType
from relax_lint.vm.calls import CLOSURE_BUILTINS

Fields: TypeAlias = tuple[int, ...]
_Held: TypeAlias = dict[Fields, Certainty]


class Carried:
    """The values of `function` that are, or hold, a field of what `call` returns, and who reads them.

    `used`: how certain it is that an execution of the call leads to such a read, None where none does.
    `returned` are the fields of the result of the function that are the field. What is written in between is
    read perhaps.
    """

    def __init__(
        self,
        function: Function,
        call: FunctionCall,
        fields: Fields,
        aliases: Aliases,
        paths: Paths,
        effect_of: Callable[[KernelCall], Effect],
        summary_of: Callable[[FunctionCall], Summary | None],
        captured: frozenset[ValueId],
        callee_of: Callable[[FunctionCall], Function | None],
    ) -> None:
        self._function = function
        self._call = call
        self._aliases = aliases
        self._paths = paths
        self._effect_of = effect_of
        self._summary_of = summary_of
        self._callee_of = callee_of
        self._roots = aliases.roots.of(AccessPath(call.result, fields))
        self._held: dict[ValueId, _Held] = {}
        self._readers: list[Op] = []
        self._is_reached = False
        self._is_used = False
        self._is_written = False
        self._first = fields
        self._block(function.body)
        if not captured.isdisjoint(self._held):
            self._is_used = True
        certain = paths.one_always_with(self._readers, call)
        self.used = must_if(certain) if self._is_used else None
        written = must_if(not self._is_written)
        self.returned = {
            returned: weakest(certainty, written) for returned, certainty in self._of(function.result)
        }

    def _of(self, value: ValueId) -> Iterator[tuple[Fields, Certainty]]:
        """The fields of a value that are the field, or () where it is or may hold it."""
        items = self._function.inline_tuples.get(value)
        if items is None:
            yield from self._held.get(value, {}).items()
            return
        for index, item in enumerate(items):
            for fields, certainty in self._of(item):
                yield (index, *fields), certainty

    def _hold(self, value: ValueId, found: Iterable[tuple[Fields, Certainty]]) -> None:
        for fields, certainty in found:
            held = self._held.setdefault(value, {})
            held[fields] = must_if(Certainty.MUST in (certainty, held.get(fields)))

    def _read(self, op: Op, certainty: Certainty) -> None:
        self._is_used = True
        if certainty is Certainty.MUST and not self._is_written:
            self._readers.append(op)

    # -- the walk ------------------------------------------------------------------------------

    def _block(self, block: Block) -> None:
        for op in block.ops:
            if isinstance(op, If):
                self._branches(op)
            elif op is self._call:
                self._is_reached = True
                self._hold(op.result, [(self._first, Certainty.MUST)])
            elif self._is_reached and not self._paths.never_with(op, self._call):
                self._op(op)

    def _branches(self, op: If) -> None:
        found = self._at(AccessPath(op.condition))
        if found is not None:
            self._read(op, found)
        self._block(op.then_block)
        self._block(op.else_block)
        then, other = dict(self._of(op.then_result)), dict(self._of(op.else_result))
        taken = dict(self._paths.of(self._call)).get(op.place.index)
        for fields in {**then, **other}:
            branches = [then] if taken is True else [other] if taken is False else [then, other]
            found = weakest(*(branch.get(fields, Certainty.MAY) for branch in branches))
            self._hold(op.result, [(fields, found)])

    def _op(self, op: Op) -> None:
        if isinstance(op, Alias | MatchCast | View):
            self._hold(op.result, self._of(op.source))
        elif isinstance(op, GetItem):
            self._hold(op.result, self._taken(op))
        elif isinstance(op, MakeTuple):
            self._make(op.result, op.items)
        elif isinstance(op, KernelCall) and op.result in self._aliases.fields:
            # A closure is a tuple of what it holds.
            self._make(op.result, self._aliases.fields[op.result])
        elif isinstance(op, KernelCall):
            self._kernel(op)
        elif isinstance(op, FunctionCall):
            self._arguments(op)
        elif isinstance(op, Assert):
            for value in operands(op, self._function):
                found = self._at(AccessPath(value))
                if found is not None:
                    self._read(op, weakest(found, must_if(value == op.condition)))

    def _make(self, result: ValueId, items: Iterable[ValueId]) -> None:
        for index, item in enumerate(items):
            self._hold(result, [((index, *fields), found) for fields, found in self._of(item)])

    def _taken(self, op: GetItem) -> Iterator[tuple[Fields, Certainty]]:
        for fields, certainty in self._of(op.tuple):
            if not fields:
                # Which field of a tuple it is is not known.
                yield (), Certainty.MAY
            elif fields[0] == op.item:
                yield fields[1:], certainty

    def _kernel(self, op: KernelCall) -> None:
        effect = self._effect_of(op)
        known = effect.known and op.callee not in CLOSURE_BUILTINS
        for position, argument in enumerate(op.arguments):
            for _, certainty in self._of(argument):
                if not known:
                    self._read(op, Certainty.MAY)
                elif position in effect.reads:
                    self._read(op, weakest(certainty, must_if(position not in effect.unsure_reads)))
        for position, argument in enumerate(op.arguments):
            if (not known or position in effect.writes) and not self._aliases.roots_of(argument).isdisjoint(
                self._roots
            ):
                self._is_written = True

    def _arguments(self, op: FunctionCall) -> None:
        """What a function does with its arguments, and which of them it gives back."""
        summary = self._summary_of(op)
        if summary is None:
            self._is_written = True
            values = op.arguments if op.value is None else (*op.arguments, op.value)
            if any(True for value in values for _ in self._of(value)):
                self._read(op, Certainty.MAY)
            return
        for path, certainty in summary.touched(summary.reads):
            found = self._at(path)
            if found is not None:
                self._read(op, weakest(found, certainty))
        others = (*summary.writes, *summary.superseded, *summary.passed, *summary.places, *summary.handed_on)
        for path in (summary.path(path) for path in others):
            if self._at(path) is not None:
                self._read(op, Certainty.MAY)
            if not self._aliases.roots.of(path).isdisjoint(self._roots):
                self._is_written = True
        returned = summary.returned
        for fields, sources in () if returned is None else with_fields(returned):
            for source in sources:
                found = self._at(source) if isinstance(source, AccessPath) else None
                if found is not None:
                    self._hold(op.result, [(fields, weakest(found, must_if(len(sources) == 1)))])

    def _at(self, path: AccessPath) -> Certainty | None:
        """How certain it is that a value or a field of it is the field; None where it is not."""
        found = None
        for fields, certainty in self._of(path.value):
            if fields == path.fields:
                return certainty
            if fields[: len(path.fields)] == path.fields or path.fields[: len(fields)] == fields:
                found = Certainty.MAY
        return found


class CarriedNull(Carried):
    """The same of a register that was cleared: it may be copied, but no kernel and no function takes it."""

    def _op(self, op: Op) -> None:
        if isinstance(op, View) or (
            isinstance(op, MatchCast) and op.type != self._function.type_of(op.source)
        ):
            for _ in self._of(op.source):
                self._read(op, Certainty.MAY)
        super()._op(op)

    def _kernel(self, op: KernelCall) -> None:
        effect = self._effect_of(op)
        for position, argument in enumerate(op.arguments):
            # Who makes a closure looks at nothing that it holds.
            touched = op.callee not in CLOSURE_BUILTINS and position in effect.reads | effect.writes
            touched = touched and effect.known
            for _, certainty in self._of(argument):
                self._read(op, weakest(certainty, must_if(touched)))

    def _arguments(self, op: FunctionCall) -> None:
        callee = self._callee_of(op)
        types = [] if callee is None else [callee.type_of(parameter) for parameter in callee.parameters]
        for position, argument in enumerate(op.arguments):
            type_ = types[position] if position < len(types) else None
            for fields, certainty in self._of(argument):
                # Of a tensor the virtual machine checks that it is one, also in a tuple.
                self._read(op, weakest(certainty, must_if(_is_tensor(type_, fields))))
        for fields, certainty in () if op.value is None else self._of(op.value):
            # What a closure holds is given behind the arguments.
            at = len(op.arguments) + fields[0] if fields else len(types)
            type_ = types[at] if at < len(types) else None
            self._read(op, weakest(certainty, must_if(_is_tensor(type_, fields[1:]))))


def _is_tensor(type_: ValueType | None, fields: Fields) -> bool:
    """Whether a field is declared to be a tensor."""
    for field in fields:
        if not isinstance(type_, TupleType) or field >= len(type_.fields):
            return False
        type_ = type_.fields[field]
    return isinstance(type_, TensorType)
