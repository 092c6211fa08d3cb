"""What a walk over a body knows of sure reads: those of the part that it is in, and those behind names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.model.kernel_body.compared import held_in, numbers_of
from relax_lint.model.kernel_body.data_flow import Effects
from relax_lint.model.kernel_body.in_order import Moment, Order
from relax_lint.model.kernel_body.lent import is_access_pointer
from relax_lint.model.kernel_body.loops import Loops
from relax_lint.model.kernel_body.stored_anew import stored_anew
from relax_lint.model.kernel_body.sure_reads import Cell, Sure, add, buffer_of, follow, stored_in, where
from relax_lint.model.kernel_body.touches import Touch, has_steps_inside
from relax_lint.model.kernel_body.what_is_left import Left
from relax_lint.symbolic.translate import Translator, Untranslatable
from relax_lint.vm import nodes

_COMPARISONS = {"LT": sympy.Lt, "LE": sympy.Le, "GT": sympy.Gt, "GE": sympy.Ge}
_TOGETHER = 4
"""So many parts, one after the other, may store anew what one before them has stored."""
_KEEPS_WHAT_IS_HELD = ("AllocBuffer", "DeclBuffer", "While")


class SureWalk:
    """The part of the walk that asks what is read for sure; `effects.sure` is what is in the part around."""

    order: ClassVar[type[Order]] = Order

    def __init__(self, translator: Translator, loops: Loops) -> None:
        self.effects = Effects()
        self.held_if: Callable[[sympy.Expr, int], Boolean] = lambda value, bits: sympy.true
        """When a value is a number of so many bits."""
        self._order = self.order(loops)
        self._translator = translator
        self._roots: dict[Any, int | None] = {}
        """The parameter of each buffer variable, None for local buffers."""
        self._shown: dict[Any, Any] = {}
        """Of which own buffer each of these shows data."""
        self._named: set[Any] = set()
        """The variables that are names of values."""
        self._is_foreign = False
        """Whether what is read goes to a function that is not known."""
        self.takes_unknown = False
        """Whether something is computed of what such a function gives back: a zero hides all else."""
        self._given: set[Any] = {None}
        """The own buffers to which such a function may have stored something, and None."""
        self._held: dict[tuple[Any, tuple[int, ...]], Any] = {}
        """What the statements right before this one have stored in elements of own buffers."""

    @contextmanager
    def _parts(self) -> Iterator[Sure]:
        """What is read for sure inside, where that is reached."""
        around, self.effects.sure = self.effects.sure, {}
        yield self.effects.sure
        self.effects.sure = around

    @contextmanager
    def _where(self, condition: Any, *, holds: bool = True, unknown: Boolean = sympy.false) -> Iterator[Sure]:
        """The same for what is reached where a condition holds, or does not; so it is outside then. `unknown`
        stands for a condition that looks at data.
        """
        with self._parts() as sure:
            yield sure
        try:
            found = self._translator.condition(nodes.without_hint(condition))
            found = sympy.And(found if holds else sympy.Not(found), self._fit(numbers_of(condition)))
        except (Untranslatable, AttributeError):
            found = unknown
        if found != sympy.false:
            add(self.effects.sure, where(sure, found))

    @contextmanager
    def _counted_by(self, *numbers: Any) -> Iterator[None]:
        """What is read inside is read as often as some numbers say."""
        with self._parts() as sure:
            yield
        try:
            found = self._fit(one for number in numbers for one in held_in(number))
        except (Untranslatable, AttributeError):
            found = sympy.false
        if found != sympy.false:
            add(self.effects.sure, where(sure, found))

    def _fit(self, numbers: Iterable[tuple[Any, int]]) -> Boolean:
        """When numbers of the machine are those of the translation. Raises `Untranslatable`."""
        return sympy.And(*(self.held_if(self._translator.expr(one), bits) for one, bits in numbers))

    def _own_buffer(self, buffer: Any) -> Any | None:
        """What tells an own buffer from others, whatever shows its data; None for what is not one."""
        if self._roots.get(buffer, 0) is not None:
            return None
        return self._shown.get(buffer, buffer)

    def _opaque(self, var: Any) -> None:
        """Nothing is known of what is done to the data of a buffer."""
        raise NotImplementedError

    @contextmanager
    def _naming(self, var: Any, value: Any) -> Iterator[None]:
        """What is read inside gives a value its name: it does not count where nobody uses the name."""
        with self._parts() as sure:
            yield
            if is_access_pointer(value):
                self._opaque(nodes.data_of_buffer(value.args[1]))
        self._named.add(var)
        add(self.effects.sure, stored_in(sure, var))
        if sure and not nodes.only_computes(value):
            add(self.effects.sure, sure)

    @contextmanager
    def _part_by_part(self, depth: int, guards: int) -> Iterator[Callable[[Sure], None]]:
        """What parts read of which one comes after the other, under so many loops and conditions. What comes
        with `yield` takes what the part read that was walked over last.
        """
        turns = [self._order.now]
        born: dict[Any, list[int]] = {}
        left = Left()
        with self._parts() as whole:

            def come(sure: Sure) -> None:
                for back, turn in enumerate(reversed(turns[-_TOGETHER:])):
                    last = len(turns) - back
                    anew = self._order.stored_anew(turns[0], turn, depth, guards)
                    for one in [one for one in born if buffer_of(one[0]) in anew and born[one][-1] < last]:
                        del whole[one], born[one]
                hides = self._order.hides(turns[-1])
                left.come(len(turns), self._order.reached(turns[-1]), hides)
                for one in [one for one in born if buffer_of(one[0]) in hides]:
                    if left.of(buffer_of(one[0])).isdisjoint(born[one]):
                        del whole[one], born[one]
                added = follow(whole, sure, self._order.stored(turns[0], turns[-1]))
                for one in added:
                    if isinstance(one, tuple):
                        born.setdefault(one, []).append(len(turns))
                turns.append(self._order.now)

            yield come
        follow(self.effects.sure, whole)

    def _decided(self, asked: Sure, since: Moment, touches: Sequence[Touch], depth: int) -> None:
        """What is asked to decide whether something is done matters for what is stored there, under more
        loops than `depth`: where these have no step nothing is.
        """
        if self._order.has_acted(since):
            add(self.effects.sure, asked)
            return
        for memory in self._order.stored(since) if asked else ():
            when = has_steps_inside(memory, touches, depth)
            if when != sympy.false:
                add(self.effects.sure, stored_in(where(asked, when), memory))

    def _at_start(self, block: Any, kind: int) -> Boolean:
        """Where the axes of one kind, those that are reduced, are at their first number."""
        reduced = [axis for axis in block.iter_vars[:] if int(axis.iter_type) == kind]
        try:
            numbers = [
                (self._translator.expr(axis.var), self._translator.expr(axis.dom.min)) for axis in reduced
            ]
        except (Untranslatable, AttributeError):
            return sympy.false
        return sympy.And(*(sympy.Eq(number, first) for number, first in numbers))

    def _in_turn(self, statements: Sequence[Any]) -> Iterator[tuple[Any, bool]]:
        """Each statement, and whether it does more than to store what is stored anew before it is read."""
        for_nothing = stored_anew(statements, self._memory)
        for number, statement in enumerate(statements):
            self._before(statement)
            yield statement, number not in for_nothing

    def _memory(self, buffer: Any) -> Any:
        """The position of a parameter, the variable of an own buffer; None for anything else."""
        own = self._own_buffer(buffer)
        return self._roots.get(buffer) if own is None else own

    def _cell(self, buffer: Any, indices: Any) -> Any:
        """The memory of an element: of an own buffer that element alone, where its indices are numbers."""
        own = self._own_buffer(buffer)
        numbers = None if own is None or own in self._shown.values() else nodes.integers(indices)
        return self._memory(buffer) if numbers is None else Cell(own, numbers)

    def _before(self, statement: Any) -> None:
        """A statement comes next."""
        kind = type(statement).__name__
        own = self._own_buffer(statement.buffer) if kind == "BufferStore" else None
        if own is not None and own not in self._shown.values():
            indices = nodes.integers(statement.indices)
            if indices is not None:
                self._held[own, indices] = statement.value
                return
        if kind not in _KEEPS_WHAT_IS_HELD:
            self._held.clear()

    def _first_round(self, condition: Any) -> Boolean:
        """When a loop that goes on while a condition holds has a round, as far as what was stored before it
        tells.
        """
        compare = _COMPARISONS.get(type(condition).__name__)
        try:
            if compare is not None:
                return compare(self._held_by(condition.a), self._held_by(condition.b))
        except (Untranslatable, AttributeError, KeyError):
            pass
        return sympy.false

    def _held_by(self, node: Any) -> sympy.Expr:
        if nodes.is_load(node):
            node = self._held[self._own_buffer(nodes.loaded_buffer(node)), nodes.integers(node.indices) or ()]
        return self._translator.expr(node)
