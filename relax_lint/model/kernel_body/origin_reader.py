"""Reads a PrimFunc for the search for where what it stores comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from relax_lint.model.kernel_body.intervals import Number, Numbers, Steps, unknown
from relax_lint.model.kernel_body.lent import may_ignore
from relax_lint.model.kernel_body.one_number import are_same, is_of_equals, is_one_number, terms_of
from relax_lint.model.kernel_body.origin_loops import Repeated
from relax_lint.model.kernel_body.origins import (
    Before,
    Either,
    Element,
    Fresh,
    Part,
    Several,
    Store,
    Value,
)
from relax_lint.model.kernel_body.rounds import Rounds
from relax_lint.vm import comparing, nodes
from relax_lint.vm.exits import BREAK, RETURN, exit_of, exits_in

_REDUCTION_AXIS = 2
_THREAD_BINDING = 4
_PARTS_OF_UNARY = {"Not": "a", "BitwiseNot": "a", "Cast": "value", "Broadcast": "value"}
_ARITHMETIC = ("Add", "Sub", "Mul", "Div", "Mod", "FloorDiv", "FloorMod", "Min", "Max")
_COMPARISONS = ("EQ", "NE", "LT", "LE", "GT", "GE")
_BITS = ("BitwiseAnd", "BitwiseOr", "BitwiseXor", "LShift", "RShift")
_BINARY = frozenset((*_ARITHMETIC, *_COMPARISONS, *_BITS))
_MOST_REPEATS = 12
_POINTERS = frozenset(("tvm_access_ptr", "address_of", "buffer_data"))


class Unread(Exception):
    """The body does something that the search does not follow."""


class Unfound(Exception):
    """The body leaves something in a way that the search does not follow."""


class OriginReader:
    """Reads statements and expressions. Raises `Unread` for those that it does not know."""

    def __init__(self, scalars: Sequence[Any], kept: Iterable[Any] = ()) -> None:
        self.numbers = Numbers()
        self._rounds = Rounds(self.numbers)
        self.goal = -1
        """The memory that the search leads to."""
        self._kept = {self.numbers.variable(var) for var in kept}
        """The memory that is never stored to."""
        self._own: set[int] = set()
        """The memory that the kernel makes."""
        self._near: set[Value] = set()
        """What only looks at that memory: it is asked first."""
        self._values: dict[Any, Value] = {}
        """What names stand for."""
        self._near.add(_nothing)
        self._repeats = 0
        """How often statements were read again for another way to them."""
        self._of_loops = set(scalars)
        """The variables that are numbers."""

    def statement(self, node: Any) -> Part:
        """A statement."""
        handler = _STATEMENTS.get(type(node).__name__)
        if handler is None:
            raise Unread
        return handler(self, node)

    def _sequence(self, node: Any) -> Part:
        return self._in_order(node.seq[:])

    def _in_order(self, statements: Sequence[Any]) -> Part:
        """Statements one after the other. What comes behind one that may leave stands in its branches."""
        parts: list[Part] = []
        for number, one in enumerate(statements):
            self._rounds.before(one)
            if exits_in(one):
                return Several([*parts, self._leaving(one, statements[number + 1 :])])
            parts.append(self.statement(one))
        return Several(parts)

    def _leaving(self, node: Any, rest: Sequence[Any]) -> Part:
        kind = type(node).__name__
        if exit_of(node) is not None:
            return Several([])
        if kind == "SeqStmt":
            return self._in_order([*node.seq[:], *rest])
        if kind == "IfThenElse":
            self._repeats += bool(rest)
            if self._repeats > _MOST_REPEATS:
                raise Unfound
            condition, asked = self.numbers.number(node.condition), self.value(node.condition)
            other = [] if node.else_case is None else [node.else_case]
            return Either(
                condition, asked, self._in_order([node.then_case, *rest]), self._in_order([*other, *rest])
            )
        if kind in ("For", "While") and RETURN in exits_in(node):
            return Several(
                [self.statement(node), Either(unknown, _nothing, Several([]), self._in_order(rest))]
            )
        raise Unfound

    def _while(self, node: Any) -> Part:
        variable, asked = self.numbers.variable(node), self.value(node.condition)
        first, stride, extent = self.numbers.number(0), self.numbers.number(1), self._rounds.of(node)
        is_left = not exits_in(node.body).isdisjoint((BREAK, RETURN))
        return Repeated(variable, first, extent, stride, self._in_order([node.body]), asked, is_left)

    def _for(self, node: Any) -> Part:
        if int(node.kind) == _THREAD_BINDING:
            raise Unread
        step = getattr(node, "step", None)
        first, extent, stride = (
            self.numbers.number(one) for one in (node.min, node.extent, 1 if step is None else step)
        )
        asked = self._any([one for one in (node.min, node.extent, step) if one is not None])
        self._of_loops.add(node.loop_var)
        variable = self.numbers.variable(node.loop_var)
        is_left = not exits_in(node.body).isdisjoint((BREAK, RETURN))
        return Repeated(variable, first, extent, stride, self._in_order([node.body]), asked, is_left)

    def _if(self, node: Any) -> Part:
        condition, asked = self.numbers.number(node.condition), self.value(node.condition)
        then = self.statement(node.then_case)
        if node.else_case is None:
            return Either(condition, asked, then, Several([]))
        alike = comparing.are_equal(node.then_case, node.else_case)
        return Either(condition, asked, then, self.statement(node.else_case), alike)

    def _attribute(self, node: Any) -> Part:
        if type(node.node).__name__ == "IterVar":
            raise Unread
        return self.statement(node.body)

    def _realize(self, node: Any) -> Part:
        block = node.block
        if block.match_buffers:
            raise Unread
        for axis, value in zip(block.iter_vars[:], node.iter_values[:], strict=True):
            self._name(axis.var, value)
        condition, asked = self.numbers.number(node.predicate), self.value(node.predicate)
        parts: list[Part] = [self._fresh(buffer) for buffer in block.alloc_buffers]
        if block.init is not None:
            first = self.numbers.all_equal(
                (axis.var, axis.dom.min) for axis in block.iter_vars if int(axis.iter_type) == _REDUCTION_AXIS
            )
            parts.append(Either(first, _nothing, self.statement(block.init), Several([])))
        return Either(condition, asked, Several([*parts, self.statement(block.body)]), Several([]))

    def _name(self, var: Any, value: Any) -> None:
        self.numbers.names[var] = self.numbers.number(value)
        self._values[var] = self.value(value)

    def _allocate(self, node: Any) -> Part:
        return self._fresh(node.buffer)

    def _fresh(self, buffer: Any) -> Part:
        if buffer in self._of_loops:
            # It is looked at as if it were a parameter.
            return Several([])
        memory = self.numbers.variable(buffer)
        self._own.add(memory)
        return Fresh(memory)

    def _bind(self, node: Any) -> Part:
        if str(getattr(node.var.ty, "dtype", "handle")) == "handle":
            raise Unread
        name, value = self.numbers.variable(node.var), self.value(node.value)
        self.numbers.names[node.var] = self.numbers.number(node.value)
        named = Element(name, ())
        self._values[node.var] = lambda steps, before: before(named)
        return Store(name, (), value, _nothing)

    def _evaluate(self, node: Any) -> Part:
        if exit_of(node) is not None or not nodes.only_computes(node.value):
            raise Unread
        return Several([])

    def _store(self, node: Any) -> Part:
        if getattr(node, "predicate", None) is not None:
            raise Unread
        indices = [self._index(index) for index in node.indices]
        name = self.numbers.variable(node.buffer)
        return Store(name, indices, self.value(node.value), self._any(node.indices))

    def _index(self, node: Any) -> Number:
        if not isinstance(node, int) and type(node).__name__ in ("Ramp", "Broadcast"):
            raise Unread
        return self.numbers.number(node)

    # -- expressions ---------------------------------------------------------------------------

    def value(self, node: Any) -> Value:
        """Whether an expression comes from where the search leads to."""
        if isinstance(node, int | float | str) or nodes.is_kernel_constant(node):
            return _nothing
        kind = nodes.expression_kind(node)
        if type(node).__name__ == "Var":
            if node in self._values:
                return self._values[node]
            if node not in self._of_loops:
                raise Unread
            return _nothing
        if kind in ("And", "Or"):
            return self._both(node, holds=kind == "And")
        if kind == "BufferLoad":
            return self._load(node)
        if kind == "Select":
            return self._choice(*nodes.parts_of_choice(node))
        if nodes.is_call(node):
            return self._call(node)
        if kind in _BINARY:
            return self._computed(node)
        if kind in _PARTS_OF_UNARY:
            return self.value(getattr(node, _PARTS_OF_UNARY[kind]))
        if kind == "Let":
            self._name(node.var, node.value)
            return self.value(node.body)
        raise Unread

    def _computed(self, node: Any) -> Value:
        """An operation. What has one value for equal operands says nothing of an element and itself, nor does
        a sum of an element that it takes away again.
        """
        if is_one_number(node):
            return _nothing
        if not is_of_equals(node) and type(node).__name__ != "Add":
            return self._any((node.a, node.b))
        # The sides of a comparison are as if of their difference.
        terms = terms_of(node.a) + terms_of(node.b, 1 if type(node).__name__ == "Add" else -1)
        values = [(sign, self._element(term), self.value(term)) for sign, term in terms]
        values.sort(key=lambda one: self._is_far(one[2]))

        def found(steps: Steps, before: Before) -> bool:
            kept: dict[Element, int] = {}
            given = [(sign, element(steps), value) for sign, element, value in values]
            for sign, element, _ in given:
                if element is not None:
                    kept[element] = kept.get(element, 0) + sign
            unclear = {one for one in kept for other in kept if one != other and one.may_be(other)}
            left = (
                value
                for _, element, value in given
                if element is None or (kept[element] and element not in unclear)
            )
            return any(value(steps, before) for value in left)

        return self._of([value for _, _, value in values], found)

    def _element(self, node: Any) -> Callable[[Steps], Element | None]:
        """The element that an expression is, where it is one."""
        kind = nodes.expression_kind(node)
        if kind == "BufferLoad":
            memory = self.numbers.variable(nodes.loaded_buffer(node))
            indices = [self._index(index) for index in node.indices]
            unclear = Element(memory, None, some=True)
            return lambda steps: _at(memory, indices, steps) or unclear
        if kind == "Cast":
            return self._element(node.value)
        if kind != "Select":
            return lambda steps: None
        condition, *values = nodes.parts_of_choice(node)
        holds, sides = self.numbers.number(condition), [self._element(value) for value in values]
        memories = {self._memory_of(value) for value in values} - {None}
        either = Element(memories.pop() or 0, None, some=True) if len(memories) == 1 else None

        def found(steps: Steps) -> Element | None:
            known = holds(steps)
            return sides[known == (0, 0)](steps) if known in ((0, 0), (1, 1)) else either

        return found

    def _any(self, given: Sequence[Any]) -> Value:
        """One of several expressions."""
        found = [value for value in map(self.value, given) if value is not _nothing]
        if not found:
            return _nothing
        if len(found) == 1:
            return found[0]
        found.sort(key=self._is_far)
        return self._of(found, lambda steps, before: any(value(steps, before) for value in found))

    def _is_far(self, value: Value) -> bool:
        return value not in self._near

    def _of(self, parts: Sequence[Value], value: Value) -> Value:
        """A value that is computed from these."""
        if self._near.issuperset(parts):
            self._near.add(value)
        return value

    def _both(self, node: Any, *, holds: bool) -> Value:
        """The second of two conditions may be left out, and the first may not matter for the second."""
        numbers = self.numbers.number(node.a), self.numbers.number(node.b)
        one, other = self.value(node.a), self.value(node.b)
        open_ends = (1, 1) if holds else (0, 0)

        def found(steps: Steps, before: Before) -> bool:
            first, second = (number(steps) for number in numbers)
            if second in (None, open_ends) and one(steps, before):
                return True
            return first == open_ends and other(steps, before)

        return found

    def _load(self, node: Any) -> Value:
        memory = self.numbers.variable(nodes.loaded_buffer(node))
        indices = [self._index(index) for index in node.indices]
        asked = self._any(node.indices[:])
        if memory in self._kept:
            return self._of([asked], lambda steps, before: memory == self.goal or asked(steps, before))

        def found(steps: Steps, before: Before) -> bool:
            element = _at(memory, indices, steps)
            if element is not None:
                return before(element) or asked(steps, before)
            return asked(steps, before) or before(Element(memory, None, some=True))

        return found

    def _choice(self, condition: Any, then: Any, other: Any) -> Value:
        decided, asked = self.numbers.number(condition), self.value(condition)
        if are_same(then, other) and nodes.only_computes(condition):
            asked = _nothing
        sides, alike = (self.value(then), self.value(other)), self._may_be_one(then, other)

        def found(steps: Steps, before: Before) -> bool:
            holds = decided(steps)
            if holds in ((0, 0), (1, 1)):
                return sides[holds == (0, 0)](steps, before)
            is_asked = not alike(steps) and asked(steps, before)
            return is_asked or all(side(steps, before) for side in sides)

        return found

    def _may_be_one(self, one: Any, other: Any) -> Callable[[Steps], bool]:
        """Whether two expressions may be one element, or two of a buffer that the kernel fills itself: with
        what, and whether not with equal numbers, nobody looks at.
        """
        memories = [self._memory_of(node) for node in (one, other)]
        if memories[0] is None or memories[0] != memories[1]:
            return lambda steps: False
        if memories[0] in self._own:
            return lambda steps: True
        first, second = self._element(one), self._element(other)

        def found(steps: Steps) -> bool:
            element, another = first(steps), second(steps)
            return element is None or another is None or element.may_be(another)

        return found

    def _memory_of(self, node: Any) -> int | None:
        """The memory from which an expression loads an element."""
        while nodes.expression_kind(node) == "Cast":
            node = node.value
        is_load = nodes.expression_kind(node) == "BufferLoad"
        return self.numbers.variable(nodes.loaded_buffer(node)) if is_load else None

    def _call(self, node: Any) -> Value:
        name = str(getattr(node.op, "name", "")).rpartition(".")[2]
        if name in _POINTERS or not nodes.is_plain_call(node):
            raise Unread
        return _nothing if may_ignore(node, name) else self._any(node.args[:])


def _at(memory: int, indices: Sequence[Number], steps: Steps) -> Element | None:
    reached = [index(steps) for index in indices]
    points = tuple(one[0] for one in reached if one is not None and one[0] == one[1])
    return Element(memory, points) if len(points) == len(reached) else None


def _nothing(steps: Steps, before: Before) -> bool:
    return False


_STATEMENTS: dict[str, Callable[[OriginReader, Any], Part]] = {
    "SeqStmt": OriginReader._sequence,
    "For": OriginReader._for,
    "While": OriginReader._while,
    "IfThenElse": OriginReader._if,
    "AttrStmt": OriginReader._attribute,
    "SBlockRealize": OriginReader._realize,
    "AllocBuffer": OriginReader._allocate,
    "Bind": OriginReader._bind,
    "Evaluate": OriginReader._evaluate,
    "BufferStore": OriginReader._store,
}
