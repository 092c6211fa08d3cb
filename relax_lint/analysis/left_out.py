"""What TVM may leave out: `FoldConstant` and `FuseTIR`, which targets run, drop what nothing uses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property

import sympy

from relax_lint.analysis.callees import Callees
from relax_lint.analysis.dominance import used_inside
from relax_lint.analysis.liveness import leaves, operands
from relax_lint.model.operations import (
    Alias,
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
)
from relax_lint.model.program import Function, Program
from relax_lint.model.types import ShapeType, TensorType, TupleType, ValueType
from relax_lint.vm import versions
from relax_lint.vm.builtins import REPLACED_BY_SHAPE


class LeftOut:
    """Which operations of functions nothing needs. Needed is what a function returns of which a call is kept,
    what casts and checks look at, what is killed, and what calls are given that their operators and types say
    have effects.
    """

    def __init__(self, program: Program, callees: Callees) -> None:
        self._program = program
        self._callees = callees
        self._left: dict[str, frozenset[int]] = {}
        self._parameters: dict[str, frozenset[ValueId]] = {}

    def of(self, function: Function) -> frozenset[int]:
        """The indices of the operations that TVM may leave out."""
        if function.name not in self._left:
            begun = [one for one in self._callers_first(function) if one.name not in self._left]
            # A function that leads to itself is needed.
            self._left.update({one.name: self._needs(one, self._unread).left for one in begun})
            for one in begun:
                if not self._is_called(one):
                    self._left[one.name] = frozenset(op.place.index for op in one.body.walk())
        return self._left[function.name]

    def _callers_first(self, function: Function) -> list[Function]:
        """The functions from which calls lead to one, and that last."""
        found: dict[str, Function] = {}
        seen, left = set[str](), [(function, False)]
        while left:
            one, is_done = left.pop()
            if is_done:
                found[one.name] = one
            elif one.name not in seen:
                seen.add(one.name)
                left += [(one, True), *((caller, False) for caller, _ in self._callees.calls_of(one))]
        return list(found.values())

    def _needs(self, function: Function, unread: Callable[[FunctionCall], frozenset[int]]) -> Needs:
        inside = {value: self._inside(function, name) for value, name in function.function_values.items()}
        return Needs(function, inside, unread)

    def _inside(self, function: Function, name: str) -> tuple[ValueId, ...]:
        """What an inner function uses of the one around it, and the functions that it calls there."""
        calls = [
            call.target
            for inner in self._program.functions
            if f"{inner.name}.".startswith(f"{name}.")
            for call in inner.body.of(FunctionCall)
        ]
        called = [value for value, one in function.function_values.items() if one in calls]
        return tuple(sorted({*used_inside(self._program, function, name), *called}))

    def _is_called(self, function: Function) -> bool:
        """Whether any call of a function is kept. One that is never called is judged as one that is."""
        if not self._callees.knows_callers(function):
            return True
        calls = [one for one in self._callees.calls_of(function) if self._runs(one[0], function)]
        return not calls or any(call.place.index not in self._left[caller.name] for caller, call in calls)

    @cached_property
    def _distances(self) -> dict[str, int]:
        """How many calls lead to each function at least, from one that anybody may call."""
        calls: dict[str, list[str]] = {function.name: [] for function in self._program.functions}
        for function in self._program.functions:
            for caller, _ in self._callees.calls_of(function):
                calls[caller.name].append(function.name)
        public = (one for one in self._program.functions if not self._callees.knows_callers(one))
        found = {function.name: 0 for function in public}
        left = list(found)
        for name in left:
            new = [called for called in dict.fromkeys(calls[name]) if called not in found]
            found.update(dict.fromkeys(new, found[name] + 1))
            left += new
        return found

    def _runs(self, function: Function, without: Function) -> bool:
        """Whether calls lead to a function from one that anybody may call, `without` another one."""
        mine, its = self._distances.get(function.name), self._distances.get(without.name)
        if mine is None or (function is not without and (its is None or its >= mine)):
            # The shortest way to a function leads through none that is as far away.
            return mine is not None
        seen, left = {without.name}, [function]
        while left:
            one = left.pop()
            if one.name in seen:
                continue
            if not self._callees.knows_callers(one):
                return True
            seen.add(one.name)
            left += [caller for caller, _ in self._callees.calls_of(one)]
        return False

    def _unread(self, call: FunctionCall) -> frozenset[int]:
        """The arguments of a call that the function does nothing with itself."""
        callee = self._callees.of(call)
        if callee is None or not self._callees.knows_callers(callee):
            return frozenset()
        known = self._parameters.get(callee.name)
        if known is None:
            known = self._needs(callee, lambda _: frozenset()).needed.intersection(callee.parameters)
            self._parameters[callee.name] = known
        return frozenset(at for at, parameter in enumerate(callee.parameters) if parameter not in known)


class Needs:
    """What one function needs: one walk backwards. `inside` are the values that inner functions use, by the
    value that such a function is, `unread` the arguments that a call does nothing with.
    """

    def __init__(
        self,
        function: Function,
        inside: Mapping[ValueId, Iterable[ValueId]],
        unread: Callable[[FunctionCall], frozenset[int]],
    ) -> None:
        self._function = function
        self._definitions = {op.result: op for op in function.body.walk()}
        self._inside = inside
        self._functions = {name: value for value, name in function.function_values.items()}
        self._unread = unread
        self._left: set[int] = set()
        self._needed: set[ValueId] = set()
        self._need((function.result,))
        self._walk(function.body)
        self.left = frozenset(self._left)
        self.needed = frozenset(self._needed)

    def _need(self, values: Iterable[ValueId]) -> None:
        self._needed.update(leaves(tuple(values), self._function))

    def _walk(self, block: Block) -> bool:
        """Adds what a block needs, and what is left out; whether anything in it is kept."""
        kept = False
        for op in reversed(block.ops):
            is_needed = op.result in self._needed or _is_kept(op, self._function)
            if isinstance(op, If):
                if is_needed:
                    self._need((op.then_result, op.else_result))
                inside = [self._walk(part) for part in (op.then_block, op.else_block)]
                is_needed = is_needed or any(inside)
            if is_needed:
                self._need_operands(op)
                kept = True
            else:
                self._left.add(op.place.index)
        return kept

    def _need_operands(self, op: Op) -> None:
        if isinstance(op, GetItem):
            self._need_field(op)
        elif isinstance(op, Kill):
            # A kill reads nothing, but what it kills has to be there.
            self._need((op.target,))
        elif isinstance(op, Constant) and op.result in self._inside:
            self._need(self._inside[op.result])
        elif isinstance(op, FunctionCall):
            unread = self._unread(op)
            self._need(value for at, value in enumerate(op.arguments) if at not in unread)
            called = op.value if op.target is None else self._functions.get(op.target)
            if called is not None:
                self._need((called,))
        elif isinstance(op, KernelCall) and op.callee in REPLACED_BY_SHAPE:
            self._need(op.arguments[1:])
        else:
            self._need(operands(op, self._function))

    def _need_field(self, op: GetItem) -> None:
        """TVM takes a field of a tuple that it sees made for what was put there."""
        items = self._items(op.tuple)
        if items is not None and op.item < len(items):
            self._need((items[op.item],))
        else:
            self._need((op.tuple,))

    def _items(self, value: ValueId) -> tuple[ValueId, ...] | None:
        """The fields of a tuple that is made here."""
        source = self._source(value)
        if source in self._function.inline_tuples:
            return self._function.inline_tuples[source]
        made = self._definitions.get(source)
        return made.items if isinstance(made, MakeTuple) else None

    def _source(self, value: ValueId) -> ValueId:
        """What a value is another name of, or a field of a tuple that is made here."""
        op = self._definitions.get(value)
        if isinstance(op, Alias):
            return self._source(op.source)
        items = self._items(op.tuple) if isinstance(op, GetItem) else None
        if isinstance(op, GetItem) and items is not None and op.item < len(items):
            return self._source(items[op.item])
        return value


def _is_kept(op: Op, function: Function) -> bool:
    if isinstance(op, MatchCast):
        return not _is_proved(function.type_of(op.source), op.type)
    if isinstance(op, Assert | Kill):
        return True
    node = op.place.node
    return versions.is_call(node) and not versions.is_pure_call(node)


def _is_proved(declared: ValueType, target: ValueType) -> bool:
    """Whether a cast asks nothing but what a type says already: its symbols stand for what they are compared
    with.
    """
    if isinstance(declared, TupleType) and isinstance(target, TupleType):
        if len(declared.fields) != len(target.fields):
            return False
        return all(map(_is_proved, declared.fields, target.fields))
    if isinstance(declared, TensorType) and isinstance(target, TensorType):
        return declared.dtype == target.dtype and _are_proved(declared.shape, target.shape)
    if isinstance(declared, ShapeType) and isinstance(target, ShapeType):
        return _are_proved(declared.extents, target.extents)
    return False


def _are_proved(declared: tuple[sympy.Expr, ...] | None, target: tuple[sympy.Expr, ...] | None) -> bool:
    if declared is None or target is None or len(declared) != len(target):
        return False
    return all(
        want.is_Symbol or sympy.expand(have - want) == 0 for have, want in zip(declared, target, strict=True)
    )
