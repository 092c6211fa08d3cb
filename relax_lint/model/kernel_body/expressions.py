"""The walk over the expressions of a PrimFunc: loads, and everything else that touches a parameter.

Node classes are told apart by name. A buffer is a variable of TVM; local buffers, windows
(`T.match_buffer` in a block) and second declarations of the same data are traced back to the parameter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from weakref import proxy

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.model.kernel_body.conditions import Below
from relax_lint.model.kernel_body.data_flow import DataFlow, Element, Store
from relax_lint.model.kernel_body.fills import filled_by_sorting
from relax_lint.model.kernel_body.flat_positions import flat_position
from relax_lint.model.kernel_body.lent import lend
from relax_lint.model.kernel_body.loops import Loops
from relax_lint.model.kernel_body.one_number import are_same, is_one_number
from relax_lint.model.kernel_body.sure_reads import Sure, add, follow, in_each, stored_in
from relax_lint.model.kernel_body.sure_walk import SureWalk
from relax_lint.model.kernel_body.touches import Loop, Touch, has_steps_for
from relax_lint.model.kernels import BufferParameter, KernelParameter, Lookup
from relax_lint.symbolic.quantity import Unknown
from relax_lint.symbolic.translate import Translator, Untranslatable
from relax_lint.vm import nodes
from relax_lint.vm.sorting import sorting_of

_READ, _WRITE = 1, 2
_ARITHMETIC = ("Add", "Sub", "Mul", "Div", "Mod", "FloorDiv", "FloorMod", "Min", "Max")
_LOGIC = ("And", "Or", "EQ", "NE", "LT", "LE", "GT", "GE")
_BITS = ("BitwiseAnd", "BitwiseOr", "BitwiseXor", "LShift", "RShift")
_BINARY = frozenset((*_ARITHMETIC, *_LOGIC, *_BITS))
_SHORT = frozenset(("And", "Or"))
_UNARY = {"Not": "a", "BitwiseNot": "a", "Cast": "value", "Broadcast": "value", "Ramp": "base"}


class ExpressionReader(SureWalk):
    """Reads the expressions and stores of one body; the findings are in its public attributes afterwards."""

    def __init__(
        self,
        variables: Sequence[Any],
        parameters: Sequence[KernelParameter],
        translator: Translator,
        loops: Loops,
    ) -> None:
        super().__init__(translator, loops)
        # With a reference to this one all that was read would stay until the collector comes.
        self.flow = DataFlow(partial(ExpressionReader._same_place, proxy(self)))
        self.touches: list[Touch] = []
        self.lookups: list[Lookup] = []
        self.filled: dict[int, Boolean] = {}
        """When parameters are written as a whole by what the kernel calls."""
        self._parameters = parameters
        self._loops = loops
        self._windows: set[Any] = set()
        """Buffers that show another's data under other indices."""
        self._guards = 0
        self._asked: list[tuple[Below, ...] | None] = []
        """What the conditions around a statement ask, None where that is not known."""
        self._nest: tuple[Loop, ...] = ()
        self._left: set[str] = set()
        """The ways out that a statement before this one may have taken."""
        for position, var in enumerate(variables):
            if type(var.ty).__name__ != "PrimType":
                self._roots[var] = position

    def _store(self, node: Any) -> None:
        loads: list[tuple[Any, tuple[Any, ...]]] = []
        memory = self._memory(node.buffer)
        with self._parts() as sure:
            self._expression(node.value, loads)
            given = node.indices[:]
            for index in given:
                self._control(index)
        if sure:
            cell = self._cell(node.buffer, given)
            add(self.effects.sure, sure if cell is None else stored_in(sure, cell))
        buffer = node.buffer
        position = self._roots.get(buffer)
        indices = self._indices(given)
        store = Store(
            target=self._element(buffer, indices),
            sources=tuple(self._element(source, at) for source, at in loads),
            copies=nodes.is_load(node.value),
        )
        self.flow.store(store)
        if position is not None:
            self.effects.write(position)
        copied = None if position is None else self.flow.copied(store)
        touch = self._touch(buffer, position, indices, copied=copied, writes=True)
        if getattr(node, "predicate", None) is not None:
            touch = replace(touch, guards=touch.guards + 1, conditions=None)
        self._order.store(memory, touch)

    def _touch(
        self,
        buffer: Any,
        position: int | None,
        indices: tuple[sympy.Expr | None, ...],
        *,
        writes: bool,
        copied: int | None = None,
    ) -> Touch:
        """Of an own buffer that of nobody else."""
        if buffer in self._windows:
            indices, copied = (None,), None
        touch = Touch(
            -1 if position is None else position,
            indices,
            self._shape_of(buffer if position is None else position),
            self._nest,
            len(self.touches),
            self._uncertain,
            writes,
            copied,
            conditions=self._conditions,
        )
        if position is not None:
            self.touches.append(touch)
        return touch

    @property
    def _uncertain(self) -> int:
        """The number of reasons for which a statement may not be reached."""
        return self._guards + bool(self._left)

    @property
    def _conditions(self) -> tuple[Below, ...] | None:
        """What all conditions ask under which a statement is reached, where that is known."""
        known = [part for part in self._asked if part is not None]
        if len(known) < max(self._uncertain, len(self._asked)):
            return None
        return tuple(one for part in known for one in part)

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

    def _control(self, node: Any) -> bool:
        """An expression whose value decides where or whether something is done; whether it looks at data."""
        loads: list[tuple[Any, tuple[Any, ...]]] = []
        self._expression(node, loads)
        for source, _ in loads:
            self.flow.give_up(self._roots.get(source))
        return bool(loads)

    def _expression(self, node: Any, loads: list[tuple[Any, tuple[Any, ...]]]) -> None:
        kind = type(node).__name__
        if nodes.is_kernel_constant(node):
            return
        if kind == "Var":
            if node in self._named:
                self.effects.sure[node] = sympy.true
            self._opaque(node)
        elif kind in _SHORT:
            # The second may be left out, and of the first nothing depends where the second decides alone.
            with self._where(node.b, holds=kind == "And", unknown=sympy.true):
                self._expression(node.a, loads)
            self._guards += 1
            with self._where(node.a, holds=kind == "And"):
                self._expression(node.b, loads)
            self._guards -= 1
        elif kind in _BINARY:
            with self._parts() as sure:
                self._expression(node.a, loads)
                self._expression(node.b, loads)
            if sure and not is_one_number(node):
                add(self.effects.sure, sure)
        elif kind in _UNARY:
            self._expression(getattr(node, _UNARY[kind]), loads)
        elif nodes.is_load(node):
            self._load(node, loads)
        elif kind == "Call":
            self._call(node, loads)
        elif kind == "Select":
            self._choice(node.condition, (node.true_value, node.false_value), loads)
        elif kind == "Let":
            with self._parts() as whole:
                with self._naming(node.var, node.value):
                    self._expression(node.value, loads)
                with self._parts() as sure:
                    self._expression(node.body, loads)
                follow(whole, sure, (node.var,))
            add(self.effects.sure, whole)
        else:
            self._give_up(f"the kernel contains an expression of the kind {kind}")

    def _load(self, node: Any, loads: list[tuple[Any, tuple[Any, ...]]]) -> None:
        buffer = nodes.loaded_buffer(node)
        given = node.indices[:]
        for index in given:
            self._control(index)
        indices = self._indices(given)
        loads.append((buffer, indices))
        position = self._roots.get(buffer)
        self._order.load(self._memory(buffer))
        if position is None:
            if self._own_buffer(buffer) is not None:
                self.effects.sure[self._cell(buffer, node.indices)] = sympy.true
            return
        certain = has_steps_for(self._nest, self._shape(position))
        self.effects.read(position, guarded=self._uncertain > 0, certain=certain)
        self.effects.sure[position] = sympy.true
        self._touch(buffer, position, indices, writes=False)
        if buffer not in self._windows and not self._uncertain:
            self._look_up(position, node.indices)

    def _call(self, node: Any, loads: list[tuple[Any, tuple[Any, ...]]]) -> None:
        name = str(getattr(node.op, "name", "")).rpartition(".")[2]
        if not nodes.is_plain_call(node):
            self._order.act()
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
        elif not self._sorts(node):
            lend(node, name, self._roots, self.effects.lent)
            for argument in node.args:
                self._expression(argument, loads)

    def _sorts(self, node: Any) -> bool:
        """Whether a call is one that sorts parameters, and was read as that."""
        sorting = sorting_of(node)
        if sorting is None or self._uncertain or self._nest:
            return False
        arrays = (sorting.source, *(result.array for result in sorting.results))
        positions = [self._roots.get(array.buffer) for array in arrays]
        known = [position for position in positions if position is not None]
        if len(set(known)) < len(arrays) or any(array.buffer in self._windows for array in arrays):
            return False
        shapes = [
            self._whole_of(position, array.shape) for position, array in zip(known, arrays, strict=True)
        ]
        whole = [shape for shape in shapes if shape is not None]
        if len(whole) < len(shapes):
            return False
        for position in known:
            self.flow.give_up(position)
        self.effects.reads.add(known[0])
        self.effects.sure[known[0]] = sympy.true
        self.touches.append(self._anywhere(known[0], writes=False))
        source, axis = whole[0], sorting.axis
        for position, shape in zip(known[1:], whole[1:], strict=True):
            self.effects.write(position)
            self.touches.append(self._anywhere(position, writes=True))
            self.filled[position] = filled_by_sorting(source, shape, axis, sorting.first)
        return True

    def _whole_of(self, position: int, extents: Sequence[Any]) -> tuple[sympy.Expr, ...] | None:
        """The shape of a parameter, if these are its extents."""
        shape = self._shape(position)
        try:
            given = tuple(self._translator.expr(extent) for extent in extents)
        except (Untranslatable, AttributeError):
            return None
        return shape if shape == given else None

    def _choice(
        self, condition: Any, values: Sequence[Any], loads: list[tuple[Any, tuple[Any, ...]]]
    ) -> None:
        with self._parts() as asked:
            self._control(condition)
        if asked and not (are_same(*values) and nodes.only_computes(condition)):
            add(self.effects.sure, asked)
        self._guards += 1
        sides: list[Sure] = []
        for value, holds in zip(values, (True, False), strict=True):
            with self._where(condition, holds=holds) as sure:
                self._expression(value, loads)
            sides.append(sure)
        add(self.effects.sure, in_each(sides))
        self._guards -= 1

    def _access_pointer(self, node: Any) -> None:
        buffer = nodes.data_of_buffer(node.args[1])
        mask = node.args[4]
        if buffer is None or type(mask).__name__ != "IntImm":
            self._control(node.args[1])
            return
        position = self._roots.get(buffer)
        if position is None:
            self._opaque(buffer)
            return
        self.flow.give_up(position)
        if int(mask.value) & _READ:
            self.effects.reads.add(position)
            self.effects.sure[position] = sympy.true
            self.touches.append(self._anywhere(position, writes=False))
        if int(mask.value) & _WRITE:
            self.effects.write(position)
            self.touches.append(self._anywhere(position, writes=True))

    def _anywhere(self, position: int, *, writes: bool) -> Touch:
        """A touch of nobody knows which elements."""
        return Touch(position, (None,), None, self._nest, len(self.touches), 1, writes, outside=True)

    def _opaque(self, var: Any) -> None:
        position, own = self._roots.get(var), self._own_buffer(var)
        if own is not None:
            self.effects.sure[own] = sympy.true
        if own is not None or position is not None:
            self._order.load(self._memory(var))
            self._order.act()
        if position is not None:
            self.effects.lose(position, "its address is taken in the kernel")
            self.flow.give_up(position)

    def _give_up(self, why: str) -> None:
        self._order.act()
        for position in self._roots.values():
            if position is not None:
                self.effects.lose(position, why)
                self.flow.give_up(position)

    # -- indices -------------------------------------------------------------------------------

    def _indices(self, nodes: Sequence[Any]) -> tuple[sympy.Expr | None, ...]:
        return tuple([self._index(node) for node in nodes])

    def _index(self, node: Any) -> sympy.Expr | None:
        try:
            index = self._translator.expr(node)
        except (Untranslatable, AttributeError):
            return None
        # On an axis with one element the loop variable and 0 are the same place.
        reached = self._loops.range_of(index) if index.is_Symbol else None
        return reached.first if reached is not None and reached.first == reached.last else index

    def _look_up(self, position: int, indices: Sequence[Any]) -> None:
        for axis, node in enumerate(indices):
            inner = node.value if type(node).__name__ == "Cast" else node
            if nodes.is_load(inner):
                source = self._roots.get(nodes.loaded_buffer(inner))
                steps = None if source is None else self._steps_over(source, inner)
                if steps is not None:
                    assert source is not None
                    self.lookups.append(Lookup(position, axis, source, steps))

    def _steps_over(self, source: int, load: Any) -> tuple[sympy.Expr, ...] | None:
        """The extents of the loops around a load that comes to every element of a parameter; None for any
        other.
        """
        shape, indices = self._shape(source), self._indices(load.indices)
        if shape is None or nodes.loaded_buffer(load) in self._windows:
            return None
        moving = [index for index in indices if index != 0]
        if len(set(moving)) < len(moving):
            return None
        for index, extent in zip(indices, shape, strict=True):
            reached = None if index is None else self._loops.range_of(index)
            plain = index is not None and (index.is_Symbol or index == 0)
            if not plain or reached is None or reached.first != 0 or reached.extent != extent:
                return None
        extents = [loop.extent for loop in self._nest]
        known = [extent for extent in extents if extent is not None and self._loops.in_signature(extent)]
        return tuple(known) if len(known) == len(extents) else None

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
