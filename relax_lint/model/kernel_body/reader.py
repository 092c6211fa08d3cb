"""The walk over the statements of a PrimFunc: loops as they run, blocks inside of them, and ways out.

A block has no loops of its own: its axes stand for what the loops around it make them. What may not be
reached, because of a condition or a way out before it, counts as guarded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.model.kernel_body.conditions import conditions_of
from relax_lint.model.kernel_body.expressions import ExpressionReader
from relax_lint.model.kernel_body.first_steps import REDUCTION_AXIS, FirstSteps, steps_of
from relax_lint.model.kernel_body.loops import Loops
from relax_lint.model.kernel_body.sure_reads import add, follow, in_each, where
from relax_lint.model.kernel_body.touches import Loop, Touch
from relax_lint.model.kernel_body.ways_out import Around, left_if
from relax_lint.model.kernels import KernelParameter, Reduction
from relax_lint.symbolic.functions import FloorDiv
from relax_lint.symbolic.translate import Translator, Untranslatable
from relax_lint.vm import comparing, nodes
from relax_lint.vm.exits import BREAK, RETURN, exit_of, exits_in

_ONE_AFTER_THE_OTHER = frozenset((0, 3))
"""Serial and unrolled loops; the others are parallel, vectorised or bound to threads."""


class BodyReader(ExpressionReader):
    """Reads one body; the findings are in its public attributes afterwards."""

    around: ClassVar[type[Around]] = Around

    def __init__(
        self,
        variables: Sequence[Any],
        parameters: Sequence[KernelParameter],
        translator: Translator,
        loops: Loops,
        body: Any,
    ) -> None:
        super().__init__(variables, parameters, translator, loops)
        self.reductions: list[Reduction] = []
        self._entered: dict[sympy.Symbol, tuple[int, int]] = {}
        """How many conditions stand around a loop, and how many of them are known."""
        self._around = self.around(body)
        self._threads: dict[str, Loop] = {}
        """The loop over each thread of a device around a statement."""
        self._counted: dict[Any, tuple[sympy.Expr, sympy.Expr, sympy.Expr] | None] = {}
        """The variables of loops before, each with its first number, how many there are and the step."""

    def statement(self, node: Any) -> None:
        """Read a statement and what is inside it."""
        handler = self.statements.get(type(node).__name__)
        if handler is None:
            self._give_up(f"the kernel has a statement of the kind {type(node).__name__}")
        else:
            handler(self, node)

    def _sequence(self, node: Any) -> None:
        reached: Boolean = sympy.true
        with self._part_by_part(len(self._nest), self._uncertain) as come:
            statements = node.seq[:]
            for number, (statement, matters) in enumerate(self._in_turn(statements), 1):
                with self._parts() as sure, self._around.before(statements[number:]):
                    self.statement(statement)
                come({} if not matters else sure if reached == sympy.true else where(sure, reached))
                if self._left:
                    reached = sympy.And(reached, sympy.Not(left_if(statement, self._translator)))

    def _leave(self, node: Any) -> None:
        found = exit_of(node)
        assert found is not None
        if self._around.skips(found):
            self._order.act()
        self._left.add(found)
        if found == RETURN and getattr(node, "value", None) is not None:
            self._control(node.value)

    def _for(self, node: Any) -> None:
        self._control(node.min)
        self._control(node.extent)
        serial = int(node.kind) in _ONE_AFTER_THE_OTHER
        step = getattr(node, "step", None)
        if step is not None:
            self._control(step)
        loop = self._enter(node.loop_var, node.min, node.extent, step, serial=serial)
        with self._counted_by(node.min, node.extent):
            self._thread(nodes.shared_thread(node), node.loop_var, loop, node.body)

    def _thread(self, tag: str | None, var: Any, loop: Loop, body: Any) -> None:
        """Read the body of a loop. Inside of a loop over a thread, one over the same thread has one step."""
        around = None if tag is None else self._threads.get(tag)
        if tag is None:
            self._inside((loop,), body)
        elif around is None:
            self._threads[tag] = loop
            self._inside((loop,), body)
            del self._threads[tag]
        elif self._one_loop(around, loop):
            assert around.symbol is not None
            self._translator.know(var, around.symbol)
            self._inside((), body)
        else:
            self._inside((Loop(None, None),), body)

    def _one_loop(self, around: Loop, loop: Loop) -> bool:
        """Whether two loops run over the same numbers."""
        if around.symbol is None or loop.symbol is None:
            return False
        return bool(self._loops.range_of(around.symbol) == self._loops.range_of(loop.symbol) is not None)

    def _inside(self, loops: tuple[Loop, ...], body: Any) -> None:
        """Read the body of loops. A step before this one may have left it."""
        before, left = set(self._left), not exits_in(body).isdisjoint((BREAK, RETURN))
        nest = self._nest
        for loop in loops:
            if loop.symbol is not None:
                self._entered[loop.symbol] = self._uncertain, len(self._asked)
        self._guards += left
        self._nest = (*nest, *loops)
        with self._parts() as sure, self._around.loop(body):
            self.statement(body)
        self._come_from(loops, sure, whole=not left)
        self._nest = nest
        self._guards -= left
        self._left = before | (self._left & {RETURN})

    def _while(self, node: Any) -> None:
        self._guards += 1
        self._order.act()
        self._nest, before = (*self._nest, Loop(None, None)), set(self._left)
        self._control(node.condition)
        has_round = self._first_round(node.condition)
        self._held.clear()
        with self._parts() as sure, self._around.loop(node.body):
            self.statement(node.body)
        add(self.effects.sure, where(sure, has_round))
        self._nest = self._nest[:-1]
        self._guards -= 1
        self._left = before | (self._left & {RETURN})

    def _if(self, node: Any) -> None:
        since = self._order.now
        with self._parts() as asked:
            self._control(node.condition)
        start = len(self.touches)
        with self._where(node.condition) as then:
            self._guarded(node.then_case, node.condition, holds=True)
        middle = len(self.touches)
        if node.else_case is not None:
            with self._where(node.condition, holds=False) as other:
                self._guarded(node.else_case, node.condition, holds=False)
            add(self.effects.sure, in_each((then, other)))
            if asked and comparing.are_equal(node.then_case, node.else_case):
                asked.clear()
            self._join(self.touches[start:middle], self.touches[middle:])
        self._decided(asked, since, self.touches[start:], len(self._nest))

    def _guarded(self, node: Any, condition: Any, *, holds: bool) -> None:
        self._asked.append(conditions_of(condition, self._translator, self._loops, holds=holds))
        self._guards += 1
        self.statement(node)
        self._guards -= 1
        self._asked.pop()

    def _join(self, then: Sequence[Touch], other: Sequence[Touch]) -> None:
        """What both branches store is stored in any case."""
        level = self._uncertain + 1
        stored = [
            {
                (touch.parameter, touch.indices, touch.loops)
                for touch in branch
                if touch.guards == level and touch.writes
            }
            for branch in (then, other)
        ]
        for parameter, indices, loops in sorted(stored[0] & stored[1], key=str):
            shape, order = self._shape(parameter), len(self.touches)
            joined = Touch(
                parameter,
                indices,
                shape,
                loops,
                order,
                level - 1,
                writes=True,
                joined=True,
                conditions=self._conditions,
            )
            self.touches.append(joined)

    def _attribute(self, node: Any) -> None:
        if type(node.node).__name__ == "IterVar":
            self._control(node.value)
            loop = self._enter(node.node.var, 0, node.value, None, serial=False)
            self._thread(nodes.shared_thread(node), node.node.var, loop, node.body)
        else:
            self.statement(node.body)

    def _realize(self, node: Any) -> None:
        for value in node.iter_values[:]:
            self._control(value)
        self._control(node.predicate)
        guarded = not nodes.is_constant_true(node.predicate)
        if guarded:
            self._asked.append(conditions_of(node.predicate, self._translator, self._loops))
        self._guards += guarded
        with self._where(node.predicate):
            self._block(node.block, node.iter_values)
        self._guards -= guarded
        if guarded:
            self._asked.pop()

    def _block(self, block: Any, values: Sequence[Any]) -> None:
        for buffer in block.alloc_buffers:
            self._roots.setdefault(buffer, None)
            self._layout(buffer)
        for axis, value in zip(block.iter_vars[:], values, strict=True):
            self._name_axis(axis.var, value)
        for match in block.match_buffers:
            for part in match.source.region[:]:
                self._perhaps(part.min, part.extent)
            self._window(match.buffer, nodes.region_source(match.source))
        if block.init is not None:
            self._initialise(block, values)
        with self._parts() as sure:
            self.statement(block.body)
        follow(self.effects.sure, sure)

    def _name_axis(self, var: Any, value: Any) -> None:
        """From here on an axis of a block stands for what the loops around make it."""
        try:
            self._translator.know(var, self._translator.expr(value))
        except (Untranslatable, AttributeError):
            return

    def _initialise(self, block: Any, values: Sequence[Any]) -> None:
        """What is done in the first step of the loops that are reduced: for every element that is kept,
        unless it depends on these loops.
        """
        steps = steps_of(block, values, [loop.symbol for loop in self._nest], self._translator, self._loops)
        if steps is not None:
            self._reduction(steps)
        reduced = steps.reduced if steps is not None and steps.is_first else None
        self._guards += reduced is None
        touches = len(self.touches)
        with self._parts() as sure:
            self.statement(block.init)
        add(self.effects.sure, where(sure, self._at_start(block, REDUCTION_AXIS)))
        self._guards -= reduced is None
        for place in range(touches, len(self.touches)):
            touch = self.touches[place]
            if any(
                index is None or not index.free_symbols.isdisjoint(reduced or ()) for index in touch.indices
            ):
                self.touches[place] = replace(touch, guards=touch.guards + 1, conditions=None)
            elif touch.conditions and steps is not None and reduced is not None:
                self.touches[place] = replace(touch, conditions=steps.at_first(touch.conditions))

    def _reduction(self, steps: FirstSteps) -> None:
        if not steps.is_read or not any(axis.reduced for axis in steps.axes):
            return
        reduced = tuple(axis.extent for axis in steps.axes if axis.reduced)
        kept = tuple(axis.extent for axis in steps.axes if not axis.reduced)
        needed = steps.extents() if self._comes(steps) else None
        if needed is None or not all(map(self._loops.in_signature, needed)):
            self.reductions.append(Reduction(reduced, kept, begins=False))
        else:
            self.reductions.append(Reduction(needed, kept))

    def _comes(self, steps: FirstSteps) -> bool:
        """Whether the step that initialises comes: no condition inside of the reduced loops leaves it out."""
        if not steps.comes:
            return False
        entered = [self._entered[symbol] for symbol in steps.reduced if symbol in self._entered]
        guards, asked = min(entered, default=(self._uncertain, len(self._asked)))
        inside = self._asked[asked:]
        known = [part for part in inside if part is not None]
        return len(known) >= max(self._uncertain - guards, len(inside)) and all(map(steps.hold, known))

    def _declare(self, node: Any) -> None:
        source = nodes.data_of_buffer(node.data)
        if source in self._roots:
            self._window(node.buffer, source)
        else:
            self._control(node.data)
            self._layout(node.buffer)

    def _window(self, buffer: Any, source: Any) -> None:
        self._roots[buffer] = self._roots.get(source)
        self._shown[buffer] = self._shown.get(source, source)
        self._windows.add(buffer)
        self.flow.give_up(self._roots[buffer])
        self._layout(buffer)

    def _allocate(self, node: Any) -> None:
        # An own buffer may be looked at as if it were a parameter.
        self._roots.setdefault(node.buffer, None)
        self._layout(node.buffer)

    def _layout(self, buffer: Any) -> None:
        """What tells where the elements of a buffer are is read where one of them is used."""
        self._perhaps(*buffer.shape[:], *buffer.strides[:], buffer.elem_offset)

    def _perhaps(self, *expressions: Any) -> None:
        self._guards += 1
        with self._parts():
            for one in expressions:
                self._control(one)
        self._guards -= 1

    def _bind(self, node: Any) -> None:
        before = len(self.touches)
        with self._naming(node.var, node.value):
            self._control(node.value)
        if len(self.touches) == before:
            self._name_axis(node.var, node.value)

    def _evaluate(self, node: Any) -> None:
        if exit_of(node) is not None:
            self._leave(node)
        elif not nodes.only_computes(node.value):
            # Of anything else nothing takes what is computed, and compilers leave it out.
            taken = self.takes_unknown
            self._control(node.value)
            self.takes_unknown = taken

    def _assert(self, node: Any) -> None:
        self._order.act()
        self._control(node.condition)

    def _enter(self, var: Any, first: Any, extent: Any, step: Any, *, serial: bool) -> Loop:
        """A loop whose variable runs over `extent` integers from `first` on, or every so many of them."""
        symbol = self._loops.symbol_of(var)
        steps = self._steps_of(first, extent, step)
        if self._counted.setdefault(var, steps) != steps:
            # A variable has one symbol, and that one range. TVM calls such a kernel ill-formed.
            self._loops.forget(symbol)
            self._counted[var] = steps = None
        if steps is None:
            return Loop(None, None)
        start, width, stride = steps
        if stride == 1:
            self._loops.enter(symbol, start, width)
        elif stride.is_Integer and stride > 1:
            self._loops.enter(symbol, sympy.Integer(0), FloorDiv(width + stride - 1, stride))
            self._translator.know(var, start + stride * symbol)
        else:
            return Loop(None, None)
        return Loop(symbol, width, serial)

    def _steps_of(
        self, first: Any, extent: Any, step: Any
    ) -> tuple[sympy.Expr, sympy.Expr, sympy.Expr] | None:
        """The first number of a loop, how many there are, and the step; None where one cannot be read."""
        try:
            stride = sympy.Integer(1) if step is None else self._translator.expr(step)
            return self._translator.expr(first), self._translator.expr(extent), stride
        except (Untranslatable, AttributeError):
            return None

    statements: ClassVar[Mapping[str, Callable[[Any, Any], None]]] = {
        "SeqStmt": _sequence,
        "For": _for,
        "While": _while,
        "IfThenElse": _if,
        "AttrStmt": _attribute,
        "SBlockRealize": _realize,
        "DeclBuffer": _declare,
        "AllocBuffer": _allocate,
        "Bind": _bind,
        "Evaluate": _evaluate,
        "AssertStmt": _assert,
        "BufferStore": ExpressionReader._store,
        **dict.fromkeys(("Break", "Continue", "Return"), _leave),
    }
    """What reads a statement, by its kind."""
