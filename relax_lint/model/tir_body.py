"""The walk over the body of a PrimFunc: loads, stores, and everything else that touches a parameter.

Node classes are told apart by name. A buffer is a variable of TVM; local buffers, windows
(`T.match_buffer` in a block) and second declarations of the same data are traced back to the parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sympy

from relax_lint.model.flat_positions import flat_position
from relax_lint.model.kernels import Access, BufferParameter, KernelParameter, Lookup, Reduction
from relax_lint.model.loop_nest import LoopNest
from relax_lint.model.loops import Loops, Range
from relax_lint.model.tir_effects import DataFlow, Effects, Element, Store
from relax_lint.symbolic.quantity import Unknown
from relax_lint.symbolic.translate import Translator, Untranslatable
from relax_lint.vm import nodes

_REDUCTION_AXIS = 2
_SPATIAL_AXIS = 0
_READ, _WRITE = 1, 2
_ARITHMETIC = ("Add", "Sub", "Mul", "Div", "Mod", "FloorDiv", "FloorMod", "Min", "Max")
_LOGIC = ("And", "Or", "EQ", "NE", "LT", "LE", "GT", "GE")
_BITS = ("BitwiseAnd", "BitwiseOr", "BitwiseXor", "LShift", "RShift")
_BINARY = frozenset((*_ARITHMETIC, *_LOGIC, *_BITS))
_UNARY = {"Not": "a", "BitwiseNot": "a", "Cast": "value", "Broadcast": "value", "Ramp": "base"}


class BodyReader:
    """Reads one body; the findings are in its public attributes afterwards."""

    def __init__(
        self,
        variables: Sequence[Any],
        parameters: Sequence[KernelParameter],
        translator: Translator,
        loops: Loops,
    ) -> None:
        self.effects = Effects()
        self.flow = DataFlow(self._same_place)
        self.accesses: list[Access] = []
        self.lookups: list[Lookup] = []
        self.reductions: list[Reduction] = []
        self._parameters = parameters
        self._translator = translator
        self._loops = loops
        self._roots: dict[Any, int | None] = {}
        """The parameter of each buffer variable, None for local buffers."""
        self._windows: set[Any] = set()
        """Buffers that show another's data under other indices."""
        self._guards = 0
        self._nest = LoopNest(loops)
        for position, (var, parameter) in enumerate(zip(variables, parameters, strict=True)):
            if not isinstance(parameter, BufferParameter) and type(var.ty).__name__ == "PrimType":
                continue
            self._roots[var] = position

    # -- statements ----------------------------------------------------------------------------

    def statement(self, node: Any) -> None:
        """Read a statement and what is inside it."""
        handler = _STATEMENTS.get(type(node).__name__)
        if handler is None:
            self._give_up(f"the kernel contains a statement of the kind {type(node).__name__}")
        else:
            handler(self, node)

    def _sequence(self, node: Any) -> None:
        for statement in node.seq:
            self.statement(statement)
            if not self._nest.depth:
                self.effects.next_phase()

    def _for(self, node: Any) -> None:
        self._control(node.min)
        self._control(node.extent)
        with self._nest.inside(self._enter(node.loop_var, node.min, node.extent)):
            self.statement(node.body)

    def _while(self, node: Any) -> None:
        self._control(node.condition)
        with self._nest.inside(None, repeated=True):
            self._guarded(node.body)

    def _if(self, node: Any) -> None:
        self._control(node.condition)
        self._guarded(node.then_case)
        if node.else_case is not None:
            self._guarded(node.else_case)

    def _guarded(self, node: Any) -> None:
        self._guards += 1
        self.statement(node)
        self._guards -= 1

    def _attribute(self, node: Any) -> None:
        if type(node.node).__name__ == "IterVar":
            with self._nest.inside(self._enter(node.node.var, 0, node.value)):
                self.statement(node.body)
        else:
            self.statement(node.body)

    def _realize(self, node: Any) -> None:
        for value in node.iter_values:
            self._control(value)
        self._control(node.predicate)
        guarded = not nodes.is_constant_true(node.predicate)
        self._guards += guarded
        # The block's axes take the place of the loops around it.
        outer, self._nest = self._nest, LoopNest(self._loops, self._nest)
        self._block(node.block)
        self._nest = outer
        self._guards -= guarded

    def _block(self, block: Any) -> None:
        for buffer in block.alloc_buffers:
            self._roots[buffer] = None
        for match in block.match_buffers:
            self._window(match.buffer, nodes.region_source(match.source))
        reduced: list[sympy.Symbol | None] = []
        kept: list[sympy.Symbol | None] = []
        for axis in block.iter_vars:
            symbol = self._enter(axis.var, axis.dom.min, axis.dom.extent)
            self._nest.enter(symbol, repeated=int(axis.iter_type) != _SPATIAL_AXIS)
            (reduced if int(axis.iter_type) == _REDUCTION_AXIS else kept).append(symbol)
        if block.init is not None:
            self._reduction(reduced, kept)
            self.statement(block.init)
        self.statement(block.body)

    def _reduction(self, reduced: list[sympy.Symbol | None], kept: list[sympy.Symbol | None]) -> None:
        reduced_extents = self._loops.extents(s for s in reduced if s is not None)
        kept_extents = self._loops.extents(s for s in kept if s is not None)
        if reduced_extents and kept_extents is not None:
            self.reductions.append(Reduction(reduced_extents, kept_extents))

    def _declare(self, node: Any) -> None:
        source = nodes.data_of_buffer(node.data)
        if source is not None and source in self._roots:
            self._window(node.buffer, source)
        else:
            self._control(node.data)

    def _window(self, buffer: Any, source: Any) -> None:
        self._roots[buffer] = self._roots.get(source)
        self._windows.add(buffer)
        self.flow.give_up(self._roots[buffer])

    def _allocate(self, node: Any) -> None:
        self._roots[node.buffer] = None

    def _bind(self, node: Any) -> None:
        self._control(node.value)

    def _evaluate(self, node: Any) -> None:
        self._control(node.value)

    def _assert(self, node: Any) -> None:
        self._control(node.condition)

    def _nothing(self, node: Any) -> None:
        """A statement that touches no buffer."""

    def _store(self, node: Any) -> None:
        loads: list[tuple[Any, tuple[Any, ...]]] = []
        self._expression(node.value, loads)
        for index in node.indices:
            self._control(index)
        buffer = node.buffer
        position = self._roots.get(buffer)
        indices = self._indices(node.indices)
        self.flow.store(
            Store(
                target=self._element(buffer, indices),
                sources=tuple(self._element(source, at) for source, at in loads),
                once=self._nest.visits_once(indices),
                copies=nodes.is_load(node.value),
            )
        )
        if position is not None:
            self.effects.write(position, guarded=self._guards > 0)
            self._access(buffer, position, indices, writes=True)

    def _element(self, buffer: Any, indices: tuple[sympy.Expr | None, ...]) -> Element:
        position = self._roots.get(buffer)
        return Element(buffer if position is None else position, indices)

    def _same_place(self, one: Element, other: Element) -> bool:
        shape, other_shape = self._shape_of(one.buffer), self._shape_of(other.buffer)
        if shape is None or other_shape is None or None in one.indices or None in other.indices:
            return False
        if one.indices == other.indices and shape[1:] == other_shape[1:]:
            return True
        if self._loops.variables_of(one.indices) != self._loops.variables_of(other.indices):
            return False
        position = flat_position(one.indices, shape, self._loops)
        return position is not None and position == flat_position(other.indices, other_shape, self._loops)

    # -- expressions ---------------------------------------------------------------------------

    def _control(self, node: Any) -> None:
        """An expression whose value decides where or whether something is done."""
        loads: list[tuple[Any, tuple[Any, ...]]] = []
        self._expression(node, loads)
        for source, _ in loads:
            self.flow.give_up(self._roots.get(source))

    def _expression(self, node: Any, loads: list[tuple[Any, tuple[Any, ...]]]) -> None:
        kind = type(node).__name__
        if nodes.is_kernel_constant(node):
            return
        if kind == "Var":
            self._opaque(node)
        elif kind in _BINARY:
            self._expression(node.a, loads)
            self._expression(node.b, loads)
        elif kind in _UNARY:
            self._expression(getattr(node, _UNARY[kind]), loads)
        elif nodes.is_load(node):
            self._load(node, loads)
        elif kind == "Call":
            self._call(node, loads)
        elif kind == "Select":
            self._choice(node.condition, (node.true_value, node.false_value), loads)
        elif kind == "Let":
            self._expression(node.value, loads)
            self._expression(node.body, loads)
        else:
            self._give_up(f"the kernel contains an expression of the kind {kind}")

    def _load(self, node: Any, loads: list[tuple[Any, tuple[Any, ...]]]) -> None:
        buffer = nodes.loaded_buffer(node)
        for index in node.indices:
            self._control(index)
        indices = self._indices(node.indices)
        loads.append((buffer, indices))
        position = self._roots.get(buffer)
        if position is None:
            return
        certain = self._nest.has_steps_for(self._shape(position))
        self.effects.read(position, guarded=self._guards > 0, certain=certain)
        self._access(buffer, position, indices, writes=False)
        if buffer not in self._windows and not self._guards:
            self._look_up(position, node.indices)

    def _call(self, node: Any, loads: list[tuple[Any, tuple[Any, ...]]]) -> None:
        name = str(getattr(node.op, "name", "")).rpartition(".")[2]
        if name == "if_then_else":
            self._choice(node.args[0], node.args[1:], loads)
        elif name == "tvm_access_ptr":
            self._access_pointer(node)
        elif name == "address_of":
            load = node.args[0]
            if nodes.is_load(load):
                self._opaque(nodes.loaded_buffer(load))
            self._expression(load, loads)
        elif name == "buffer_data":
            self._opaque(node.args[0])
        else:
            for argument in node.args:
                self._expression(argument, loads)

    def _choice(
        self, condition: Any, values: Sequence[Any], loads: list[tuple[Any, tuple[Any, ...]]]
    ) -> None:
        self._control(condition)
        self._guards += 1
        for value in values:
            self._expression(value, loads)
        self._guards -= 1

    def _access_pointer(self, node: Any) -> None:
        buffer = nodes.data_of_buffer(node.args[1])
        mask = node.args[4]
        if buffer is None or type(mask).__name__ != "IntImm":
            self._control(node.args[1])
            return
        position = self._roots.get(buffer)
        if position is None:
            return
        self.flow.give_up(position)
        if int(mask.value) & _READ:
            self.effects.read(position)
        if int(mask.value) & _WRITE:
            # How much of the buffer is written is not known, so that it counts as kept in part.
            self.effects.write(position, guarded=True)

    def _opaque(self, var: Any) -> None:
        position = self._roots.get(var)
        if position is not None:
            self.effects.lose(position, "its address is taken in the kernel")
            self.flow.give_up(position)

    def _give_up(self, why: str) -> None:
        for position in self._roots.values():
            if position is not None:
                self.effects.lose(position, why)
                self.flow.give_up(position)

    # -- indices -------------------------------------------------------------------------------

    def _enter(self, var: Any, first: Any, extent: Any) -> sympy.Symbol | None:
        symbol = self._loops.symbol_of(var)
        try:
            self._loops.enter(symbol, self._translator.expr(first), self._translator.expr(extent))
        except (Untranslatable, AttributeError):
            return None
        return symbol

    def _indices(self, nodes: Sequence[Any]) -> tuple[sympy.Expr | None, ...]:
        return tuple(self._index(node) for node in nodes)

    def _index(self, node: Any) -> sympy.Expr | None:
        try:
            index = self._translator.expr(node)
        except (Untranslatable, AttributeError):
            return None
        # On an axis with one element the loop variable and 0 are the same place.
        reached = self._loops.range_of(index) if index.is_Symbol else None
        return reached.first if reached is not None and reached.first == reached.last else index

    def _access(
        self, buffer: Any, position: int, indices: tuple[sympy.Expr | None, ...], *, writes: bool
    ) -> None:
        shape = self._shape(position)
        if self._guards or shape is None or buffer in self._windows or len(shape) != len(indices):
            return
        loops = None
        for axis, (index, extent) in enumerate(zip(indices, shape, strict=True)):
            reached = None if index is None else self._loops.range_of(index)
            if reached is None or _plainly_inside(reached, extent):
                continue
            if loops is None:
                loops = self._nest.extents
            if loops is not None:
                self.accesses.append(Access(position, axis, reached.first, reached.last, loops, writes))

    def _look_up(self, position: int, indices: Sequence[Any]) -> None:
        for axis, node in enumerate(indices):
            inner = node.value if type(node).__name__ == "Cast" else node
            if nodes.is_load(inner):
                source = self._roots.get(nodes.loaded_buffer(inner))
                if source is not None:
                    self.lookups.append(Lookup(position, axis, source))

    def _shape(self, position: int) -> tuple[sympy.Expr, ...] | None:
        parameter = self._parameters[position]
        if not isinstance(parameter, BufferParameter) or isinstance(parameter.shape, Unknown):
            return None
        return parameter.shape

    def _shape_of(self, buffer: Any) -> tuple[sympy.Expr, ...] | None:
        """The extents of a parameter, by its position, or of a local buffer."""
        if isinstance(buffer, int):
            return self._shape(buffer)
        try:
            return tuple(self._translator.expr(extent) for extent in buffer.shape)
        except (Untranslatable, AttributeError):
            return None


def _plainly_inside(reached: Range, extent: sympy.Expr) -> bool:
    first, room = reached.first, extent - 1 - reached.last
    return bool(first.is_Integer and first >= 0 and room.is_Integer and room >= 0)


_STATEMENTS: dict[str, Callable[[BodyReader, Any], None]] = {
    "SeqStmt": BodyReader._sequence,
    "For": BodyReader._for,
    "While": BodyReader._while,
    "IfThenElse": BodyReader._if,
    "AttrStmt": BodyReader._attribute,
    "SBlockRealize": BodyReader._realize,
    "DeclBuffer": BodyReader._declare,
    "AllocBuffer": BodyReader._allocate,
    "Bind": BodyReader._bind,
    "Evaluate": BodyReader._evaluate,
    "AssertStmt": BodyReader._assert,
    "BufferStore": BodyReader._store,
    "Break": BodyReader._nothing,
    "Continue": BodyReader._nothing,
}
