"""The walk over the expressions of a PrimFunc: loads, and everything else that touches a parameter.

Node classes are told apart by name. A buffer is a variable of TVM; local buffers, windows
(`T.match_buffer` in a block) and second declarations of the same data are traced back to the parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, TypeAlias

import sympy

from relax_lint.model.kernel_body.data_flow import Store
from relax_lint.model.kernel_body.fills import filled_by_sorting
from relax_lint.model.kernel_body.lent import lend, may_ignore
from relax_lint.model.kernel_body.one_number import are_same, is_one_number
from relax_lint.model.kernel_body.places import Places
from relax_lint.model.kernel_body.sure_reads import Sure, add, follow, in_each, stored_in
from relax_lint.model.kernel_body.touches import Touch, has_steps_for
from relax_lint.symbolic.translate import Untranslatable
from relax_lint.vm import nodes
from relax_lint.vm.sorting import sorting_of

_READ, _WRITE = 1, 2
_ARITHMETIC = ("Add", "Sub", "Mul", "Div", "Mod", "FloorDiv", "FloorMod", "Min", "Max")
_LOGIC = ("And", "Or", "EQ", "NE", "LT", "LE", "GT", "GE")
_BITS = ("BitwiseAnd", "BitwiseOr", "BitwiseXor", "LShift", "RShift")
_SHORT = ("And", "Or")
BINARY = frozenset((*_ARITHMETIC, *_LOGIC, *_BITS)) - frozenset(_SHORT)
"""The operations whose operands both count."""
_UNARY = {"Not": "a", "BitwiseNot": "a", "Cast": "value", "Broadcast": "value", "Ramp": "base"}
Loads: TypeAlias = "list[tuple[Any, tuple[sympy.Expr | None, ...]]]"
"""The buffers that an expression loads from, each with the indices."""


class ExpressionReader(Places):
    """Reads the expressions and stores of one body; the findings are in its public attributes afterwards."""

    def _store(self, node: Any) -> None:
        loads: Loads = []
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
        elif position is not None and self._is_sure_of(buffer):
            self._look_up(position, given)
        self._order.store(memory, touch)

    # -- expressions ---------------------------------------------------------------------------

    def _control(self, node: Any) -> bool:
        """An expression whose value decides where or whether something is done; whether it looks at data."""
        loads: Loads = []
        self._expression(node, loads)
        for source, _ in loads:
            self.flow.give_up(self._roots.get(source))
        return bool(loads)

    def _expression(self, node: Any, loads: Loads) -> None:
        kind = type(node).__name__
        handler = self.expressions.get(kind)
        if handler is None:
            self._give_up(f"the kernel contains an expression of the kind {kind}")
        else:
            handler(self, node, loads)

    def _constant(self, node: Any, loads: Loads) -> None:
        """A constant touches nothing."""

    def _variable(self, node: Any, loads: Loads) -> None:
        if node in self._named:
            self.effects.sure[node] = sympy.true
        self._opaque(node)

    def _short(self, node: Any, loads: Loads) -> None:
        # The second may be left out, and of the first nothing depends where the second decides alone.
        holds = type(node).__name__ == "And"
        with self._where(node.b, holds=holds, unknown=sympy.true):
            self._expression(node.a, loads)
        self._guards += 1
        with self._where(node.a, holds=holds):
            self._expression(node.b, loads)
        self._guards -= 1

    def _computed(self, node: Any, loads: Loads) -> None:
        with self._parts() as sure:
            self._expression(node.a, loads)
            self._expression(node.b, loads)
        if sure and not is_one_number(node):
            add(self.effects.sure, sure)

    def _unary(self, node: Any, loads: Loads) -> None:
        self._expression(getattr(node, _UNARY[type(node).__name__]), loads)

    def _select(self, node: Any, loads: Loads) -> None:
        self._choice(node.condition, (node.true_value, node.false_value), loads)

    def _let(self, node: Any, loads: Loads) -> None:
        with self._parts() as whole:
            with self._naming(node.var, node.value):
                self._expression(node.value, loads)
            with self._parts() as sure:
                self._expression(node.body, loads)
            follow(whole, sure, (node.var,))
        add(self.effects.sure, whole)

    def _load(self, node: Any, loads: Loads) -> None:
        buffer = nodes.loaded_buffer(node)
        given = node.indices[:]
        for index in given:
            self._control(index)
        indices = self._indices(given)
        loads.append((buffer, indices))
        position = self._roots.get(buffer)
        self._order.load(self._memory(buffer))
        if position is None:
            if self._own_buffer(buffer) not in self._given:
                self.effects.sure[self._cell(buffer, node.indices)] = sympy.true
            return
        certain = has_steps_for(self._nest, self._shape(position))
        self.effects.read(position, guarded=self._uncertain > 0, certain=certain)
        self.effects.sure[position] = sympy.true
        self._touch(buffer, position, indices, writes=False)
        if self._is_sure_of(buffer) and getattr(node, "predicate", None) is None:
            self._look_up(position, node.indices)

    def _call(self, node: Any, loads: Loads) -> None:
        name = str(getattr(node.op, "name", "")).rpartition(".")[2]
        is_foreign = may_ignore(node, name)
        self.takes_unknown |= is_foreign
        if not nodes.is_plain_call(node) and not is_foreign:
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
            with self._parts() as sure:
                around, self._is_foreign = self._is_foreign, self._is_foreign or is_foreign
                for argument in node.args:
                    self._expression(argument, loads)
                self._is_foreign = around
            if not is_foreign:
                add(self.effects.sure, sure)

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

    def _choice(self, condition: Any, values: Sequence[Any], loads: Loads) -> None:
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
        if self._is_foreign:
            self._given.add(own)
        elif own is not None or position is not None:
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

    expressions: ClassVar[Mapping[str, Callable[[Any, Any, Loads], None]]] = {
        **dict.fromkeys(nodes.CONSTANTS, _constant),
        **dict.fromkeys(_SHORT, _short),
        **dict.fromkeys(BINARY, _computed),
        **dict.fromkeys(_UNARY, _unary),
        **dict.fromkeys(nodes.LOADS, _load),
        "Var": _variable,
        "Call": _call,
        "Select": _select,
        "Let": _let,
    }
    """What reads an expression, by its kind."""
