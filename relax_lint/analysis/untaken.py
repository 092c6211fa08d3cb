"""The operations that no run reaches: branches of an `If` whose condition is known, as a constant or because
an assertion or an `If` around it asked for the same; and what follows an assertion that cannot hold.

A condition is a tensor: what a branch tells of it holds until something may write to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from types import MappingProxyType

from relax_lint.analysis.access_paths import AccessPath
from relax_lint.analysis.aliases import Aliases
from relax_lint.analysis.callees import Callees
from relax_lint.analysis.conditions import Branched, Literal, of_facts
from relax_lint.analysis.effects import Effect
from relax_lint.analysis.liveness import leaves, operands
from relax_lint.model.operations import (
    Alias,
    AllocTensor,
    Assert,
    Block,
    FunctionCall,
    If,
    KernelCall,
    MatchCast,
    Op,
    ValueId,
)
from relax_lint.model.program import Function
from relax_lint.vm.calls import CallKind

EffectOf = Callable[[KernelCall], Effect]
"""What a call does."""

_NOT, _AND, _OR = "relax.logical_not", "relax.logical_and", "relax.logical_or"
_COMPUTED = frozenset({_NOT, _AND, _OR})


def constant_conditions(function: Function) -> Iterator[tuple[ValueId, bool]]:
    """The constants of a function that are one number, and whether that is true."""
    for value, (low, high) in function.index_ranges.items():
        if low == high:
            yield value, bool(low)


def given_constants(function: Function, callees: Callees) -> dict[ValueId, bool]:
    """The parameters that are the same constant in every call, where all calls are seen."""
    return _Given(lambda one: callees.calls_of(one) if callees.knows_callers(one) else (), callees).of(
        function
    )


def untaken_in_read_calls(
    function: Function, callees: Callees, aliases: Aliases, effect_of: EffectOf
) -> frozenset[int]:
    """The indices of the operations that no call reaches which was read, where some were not. Without such a
    call it is not known what a parameter is: the operations that it decides about.
    """
    if callees.is_partly_read(function) and not callees.read_calls_of(function):
        decided = (op for op in function.body.of(If) if op.condition in function.parameters)
        return frozenset(
            one.place.index
            for op in decided
            for branch in (op.then_block, op.else_block)
            for one in branch.walk()
        )

    def calls_of(one: Function) -> Iterable[tuple[Function, FunctionCall]]:
        return callees.read_calls_of(one) or (callees.calls_of(one) if callees.knows_callers(one) else ())

    given = _Given(calls_of, callees).of(function)
    return Untaken(function, aliases, effect_of, given).places if given else frozenset()


class _Given:
    """The parameters of functions that are the same constant in all calls of them, also of those that hand on
    what they are given.
    """

    def __init__(
        self, calls_of: Callable[[Function], Iterable[tuple[Function, FunctionCall]]], callees: Callees
    ) -> None:
        self._calls_of = calls_of
        self._callees = callees

    def of(self, function: Function) -> dict[ValueId, bool]:
        """Those of one function."""
        return {
            parameter: found
            for parameter in (*function.parameters, *self._callees.closures.captured(function.name))
            if (found := self._constant(function, parameter)) is not None
        }

    def _constant(self, function: Function, parameter: ValueId) -> bool | None:
        found, seen, left = set[bool](), {(function.name, parameter)}, [(function, parameter)]
        while left:
            one, asked = left.pop()
            calls = tuple(self._calls_of(one))
            if not calls:
                return None
            for caller, call in calls:
                path = self._callees.passed(call, one).get(asked)
                if path is None or path != AccessPath(path.value):
                    return None
                constant = dict(constant_conditions(caller)).get(path.value)
                if constant is not None:
                    found.add(constant)
                elif path.value not in caller.parameters:
                    return None
                elif (caller.name, path.value) not in seen:
                    # A call of itself may hand on what it was given.
                    seen.add((caller.name, path.value))
                    left.append((caller, path.value))
        return found.pop() if len(found) == 1 else None


@dataclass
class _Known:
    """What the operations before and the branches around an operation tell: the value of each condition, and
    of which others a condition is computed. What `fixed` says nothing changes.
    """

    fixed: Mapping[ValueId, bool]
    holds: dict[ValueId, bool]
    computed: dict[ValueId, tuple[str, tuple[ValueId, ...]]] = field(default_factory=dict)
    changed: tuple[int, int] = (-1, -1)
    """The last operations that may have changed any condition, and a tensor of the function's own."""

    def value(self, condition: ValueId) -> bool | None:
        """What a condition is; None where that is not known."""
        found = self.fixed.get(condition, self.holds.get(condition))
        if found is not None or condition not in self.computed:
            return found
        operator, arguments = self.computed[condition]
        values = [self.value(argument) for argument in arguments]
        if operator == _NOT:
            return None if values[0] is None else not values[0]
        decides, (one, other) = operator == _OR, map(self.origin, arguments)
        if decides in values or (one[0] == other[0] and one[1] != other[1]):
            return decides
        return None if None in values else not decides

    def origin(self, condition: ValueId) -> tuple[ValueId, bool]:
        """What a condition is, or is the negation of."""
        holds = True
        while self.computed.get(condition, ("",))[0] == _NOT:
            condition, holds = self.computed[condition][1][0], not holds
        return condition, holds

    def learn(self, condition: ValueId, holds: bool) -> None:
        """A condition is true, or it is not."""
        self.holds[condition] = holds
        operator, arguments = self.computed.get(condition, ("", ()))
        if operator == _NOT:
            self.learn(arguments[0], not holds)
        elif operator and holds is (operator == _AND):
            for argument in arguments:
                self.learn(argument, holds)
        elif operator:
            # One of them decides it, and only one still may.
            may = [argument for argument in arguments if self.value(argument) in (holds, None)]
            if len(may) == 1:
                self.learn(may[0], holds)

    def taken(self, condition: ValueId, holds: bool) -> _Known:
        """What is known in a branch."""
        inside = _Known(self.fixed, dict(self.holds), dict(self.computed), self.changed)
        inside.learn(condition, holds)
        return inside

    def forget(self, may_change: Callable[[ValueId], bool]) -> None:
        """Drop what an operation may have changed."""
        self.holds = {value: holds for value, holds in self.holds.items() if not may_change(value)}
        # What an operator computes is new memory: it changes only where anything may.
        self.computed = {
            value: (operator, arguments)
            for value, (operator, arguments) in self.computed.items()
            if not any(map(may_change, arguments))
        }


class _Changes(IntEnum):
    """What some operations may write."""

    NOTHING = 0
    OWN = 1
    """Tensors that the function itself allocates, and what shares memory with them."""
    ANYTHING = 2


class Untaken:
    """The operations of one function that no run reaches (`places`: their indices), and what is known of
    conditions. `given` are the parameters that every call gives the same constant.
    """

    def __init__(
        self,
        function: Function,
        aliases: Aliases,
        effect_of: EffectOf,
        given: Mapping[ValueId, bool] = MappingProxyType({}),
    ) -> None:
        self._aliases = aliases
        self._effect_of = effect_of
        self._found: list[int] = []
        self._known: dict[int, bool] = {}
        self._asked: dict[tuple[int, bool], tuple[Literal, ...]] = {}
        self._given_from_outside = frozenset((*function.parameters, *function.constants))
        asked = any(op.condition is not None for op in function.body.of(Assert))
        if asked or function.body.of(If):
            self._made = {op.result: op for op in function.body.walk()}
            constants = {aliases.identity(value): holds for value, holds in constant_conditions(function)}
            written = self._handed_on(function) if constants else frozenset()
            fixed = {value: holds for value, holds in constants.items() if value not in written}
            self._block(function.body, _Known(fixed, {**constants, **given}))
        self.places: frozenset[int] = frozenset(self._found)

    def taken(self, op: If) -> bool | None:
        """The branch of an `If` that is taken whenever it is reached: True for the first; None for either."""
        return self._known.get(op.place.index)

    def branched(self, op: If) -> Branched:
        """What is known of conditions in the branches of an `If`."""
        then, otherwise = (self._asked.get((op.place.index, holds), ()) for holds in (True, False))
        return Branched(op, then, otherwise)

    def asserted(self, op: Assert) -> tuple[Literal, ...]:
        """What is known of conditions behind an assertion."""
        return self._asked.get((op.place.index, True), ())

    def _handed_on(self, function: Function) -> frozenset[ValueId]:
        """The values that somebody may get who writes them: all but those that are only asked for."""
        found = list(leaves((function.result,), function))
        for op in function.body.walk():
            is_operator = isinstance(op, KernelCall) and op.kind is CallKind.OPERATOR
            if not is_operator and not isinstance(op, (Alias, MatchCast, Assert, If)):
                found += operands(op, function)
            elif isinstance(op, If):
                found += leaves((op.then_result, op.else_result), function)
        inner = function.function_values and function.constants
        return frozenset(map(self._aliases.identity, (*found, *(inner or ()))))

    def _block(self, block: Block, known: _Known) -> tuple[_Changes, bool]:
        """Follow a block; what it may write, and whether no run gets to its end."""
        changes = _Changes.NOTHING
        for number, op in enumerate(block.ops):
            changed, ends = self._if(op, known) if isinstance(op, If) else (self._changed(op), False)
            if isinstance(op, Assert) and op.condition is not None:
                condition = self._aliases.identity(op.condition)
                ends = known.value(condition) is False
                behind = known.taken(condition, True)
                self._note(op, True, self._learned(condition, True, known, behind))
                known.holds = behind.holds
            elif isinstance(op, Assert) and op.fact is not None and (fact := of_facts((op.fact,))):
                self._note(op, True, (fact,))
            self._forget(changed, known, op)
            changes = max(changes, changed)
            if ends:
                rest = Block(block.ops[number + 1 :])
                self._found += [unreached.place.index for unreached in rest.walk()]
                return changes, True
            if isinstance(op, KernelCall) and op.kind is CallKind.OPERATOR and op.callee in _COMPUTED:
                known.computed[op.result] = op.callee, tuple(map(self._aliases.identity, op.arguments))
        return changes, False

    def _if(self, op: If, known: _Known) -> tuple[_Changes, bool]:
        changes = _Changes.NOTHING
        condition = self._aliases.identity(op.condition)
        value = known.value(condition)
        if value is not None:
            self._known[op.place.index] = value
        left = []
        for branch, holds in ((op.then_block, True), (op.else_block, False)):
            if value is (not holds):
                self._found += [inner.place.index for inner in branch.walk()]
                continue
            inside = known.taken(condition, holds)
            symbols = of_facts(op.facts if holds else op.else_facts)
            self._note(op, holds, (symbols,) if symbols else self._learned(condition, holds, known, inside))
            changed, ends = self._block(branch, inside)
            changes = max(changes, changed)
            left += [] if ends else [holds]
        if len(left) == 1:
            known.learn(condition, left[0])
        return changes, not left

    def _learned(
        self, condition: ValueId, holds: bool, before: _Known, inside: _Known
    ) -> tuple[Literal, ...]:
        more = (one for one in inside.holds.items() if before.holds.get(one[0]) is not one[1])
        found = (self._literal(*one, before) for one in ((condition, holds), *more))
        return tuple(dict.fromkeys(found))

    def _literal(self, condition: ValueId, holds: bool, known: _Known) -> Literal:
        """That a condition holds as it is now, or does not."""
        origin, is_same = known.origin(condition)
        anything, own = known.changed
        version = anything, own if self._may_be_own(origin) else -1
        return Literal((origin, *version), holds is is_same)

    def _note(self, op: If | Assert, holds: bool, literals: tuple[Literal, ...]) -> None:
        self._asked[op.place.index, holds] = literals

    def _changed(self, op: Op) -> _Changes:
        if isinstance(op, FunctionCall):
            return _Changes.ANYTHING
        if not isinstance(op, KernelCall):
            return _Changes.NOTHING
        effect, count = self._effect_of(op), len(op.arguments)
        written = [op.arguments[position] for position in effect.writes if position < count]
        if not effect.known or not all(map(self._is_own, written)):
            return _Changes.ANYTHING
        return _Changes.OWN if written else _Changes.NOTHING

    def _forget(self, changes: _Changes, known: _Known, op: Op) -> None:
        if changes is _Changes.ANYTHING:
            known.forget(lambda value: True)
            known.changed = op.place.index, known.changed[1]
        elif changes is _Changes.OWN:
            known.forget(self._may_be_own)
            known.changed = known.changed[0], op.place.index

    def _is_own(self, value: ValueId) -> bool:
        """Whether a value is nothing but tensors that the function itself allocates."""
        return all(map(self._is_allocated, self._aliases.roots_of(value)))

    def _may_be_own(self, value: ValueId) -> bool:
        """Whether a condition may be one of those, or on memory that is given to them."""
        return not all(map(self._is_apart, self._aliases.roots_of(value)))

    def _is_allocated(self, root: ValueId) -> bool:
        return isinstance(self._made.get(root), AllocTensor)

    def _is_apart(self, root: ValueId) -> bool:
        """Whether nothing that the function allocates shares memory with a root: it came with the call, or is
        new memory for certain. What a call gives may be what it was given, or lie on a storage of that.
        """
        if root in self._given_from_outside:
            return True
        is_kernel = isinstance(self._made.get(root), KernelCall)
        return is_kernel and self._aliases.roots.presumed_new(root) is None
