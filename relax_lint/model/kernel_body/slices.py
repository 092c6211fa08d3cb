"""Symbols that only count how often a kernel does one and the same thing.

Where a loop over `n` touches nothing but element `i` of axes of extent `n` in its step `i`, the steps have no
memory in common, and a call with any other `n` repeats what one with `n == 1` does. Buffers without such an
axis may only be read. What is found out on one slice then holds for every number of slices.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import sympy

from relax_lint.vm import nodes

_SERIAL_LOOPS = (0, 3)
_SPATIAL = 0
_OPERANDS = {
    "Not": ("a",),
    "Cast": ("value",),
    "Select": ("condition", "true_value", "false_value"),
    **dict.fromkeys(
        (
            "Add",
            "Sub",
            "Mul",
            "Div",
            "FloorDiv",
            "FloorMod",
            "Min",
            "Max",
            "EQ",
            "NE",
            "LT",
            "LE",
            "GT",
            "GE",
        ),
        ("a", "b"),
    ),
}


class _NotSliced(Exception):
    """The body does something else than to repeat itself."""


def repeated_symbols(
    prim_func: Any, symbols: Mapping[Any, sympy.Symbol], written: int, other: int
) -> frozenset[sympy.Symbol]:
    """The symbols of a kernel whose values only say how often it does the same, also where the parameters
    `written` and `other` start at one byte; `symbols` are those of its signature.
    """
    buffers = [param for param in prim_func.params if hasattr(param, "shape")]
    counted = {var for buffer in buffers for var in buffer.shape if type(var).__name__ == "Var"}
    layouts = [layout_of(prim_func.params[position], counted) for position in (written, other)]
    if not counted or layouts[0] is None or layouts[0] != layouts[1] or not layouts[0].is_sliced(counted):
        return frozenset()
    try:
        _Walk(counted).statement(prim_func.body, {})
    except _NotSliced:
        return frozenset()
    return frozenset(symbols[var] for var in counted)


@dataclass(frozen=True)
class _Layout:
    """The counted extents of a buffer in order, whether they come before all others, and how many elements a
    slice has.
    """

    extents: tuple[Any, ...]
    leading: bool
    size: int

    def is_sliced(self, counted: Set[Any]) -> bool:
        """Whether each slice has elements of its own."""
        return len(self.extents) == len(counted)


def layout_of(buffer: Any, counted: Set[Any]) -> _Layout | None:
    """The layout of a buffer; None where slices are not told by the position in memory alone."""
    if not hasattr(buffer, "shape"):
        return None
    places = [axis for axis, extent in enumerate(buffer.shape) if _is_in(extent, counted)]
    rest = [extent for extent in buffer.shape if not _is_in(extent, counted)]
    extents = tuple(buffer.shape[axis] for axis in places)
    leading = places == list(range(len(places)))
    trailing = places == list(range(len(rest), len(buffer.shape)))
    constant = all(nodes.is_kernel_constant(extent) for extent in rest)
    if len(set(extents)) < len(extents) or not constant or not (leading or trailing):
        return None
    return _Layout(extents, leading, math.prod(int(extent.value) for extent in rest))


def _is_in(node: Any, variables: Collection[Any]) -> bool:
    return type(node).__name__ == "Var" and node in variables


class _Walk:
    """One body. `steps` gives for each variable of a loop over a counted extent, and for what is bound to it,
    that extent.
    """

    def __init__(self, counted: Set[Any]) -> None:
        self._counted = counted

    def statement(self, node: Any, steps: Mapping[Any, Any]) -> None:
        handler = _STATEMENTS.get(type(node).__name__)
        if handler is None:
            raise _NotSliced
        handler(self, node, steps)

    def _sequence(self, node: Any, steps: Mapping[Any, Any]) -> None:
        for statement in node.seq:
            self.statement(statement, steps)

    def _for(self, node: Any, steps: Mapping[Any, Any]) -> None:
        if int(node.kind) not in _SERIAL_LOOPS or getattr(node, "step", None) is not None:
            raise _NotSliced
        if _is_in(node.extent, self._counted):
            starts_at_0 = nodes.is_kernel_constant(node.min) and int(node.min.value) == 0
            # A loop over the same symbol inside would combine two slices.
            if not starts_at_0 or _is_in(node.extent, list(steps.values())):
                raise _NotSliced
            steps = {**steps, node.loop_var: node.extent}
        else:
            self._plain(node.min, steps)
            self._plain(node.extent, steps)
        self.statement(node.body, steps)

    def _if(self, node: Any, steps: Mapping[Any, Any]) -> None:
        self._plain(node.condition, steps)
        self.statement(node.then_case, steps)
        if node.else_case is not None:
            self.statement(node.else_case, steps)

    def _realize(self, node: Any, steps: Mapping[Any, Any]) -> None:
        block = node.block
        if block.match_buffers:
            raise _NotSliced
        inside = dict(steps)
        for axis, value in zip(block.iter_vars, node.iter_values, strict=True):
            if _is_in(value, steps):
                # A reduction would be initialised in the first slice only.
                spatial = int(axis.iter_type) == _SPATIAL
                if not spatial or not _is_in(axis.dom.extent, [steps[value]]):
                    raise _NotSliced
                inside[axis.var] = steps[value]
            else:
                self._plain(value, steps)
                self._plain(axis.dom.min, steps)
                self._plain(axis.dom.extent, steps)
        self._plain(node.predicate, steps)
        for buffer in block.alloc_buffers:
            self._allocated(buffer)
        if block.init is not None:
            self.statement(block.init, inside)
        self.statement(block.body, inside)

    def _allocate(self, node: Any, steps: Mapping[Any, Any]) -> None:
        self._allocated(node.buffer)

    def _allocated(self, buffer: Any) -> None:
        """A buffer that is written has a slice of its own for each step."""
        layout = layout_of(buffer, self._counted)
        if layout is None or not layout.is_sliced(self._counted):
            raise _NotSliced

    def _evaluate(self, node: Any, steps: Mapping[Any, Any]) -> None:
        if not nodes.is_kernel_constant(node.value):
            raise _NotSliced

    def _store(self, node: Any, steps: Mapping[Any, Any]) -> None:
        self._allocated(node.buffer)
        self._indices(node.buffer, node.indices, steps)
        self._plain(node.value, steps)

    def _indices(self, buffer: Any, indices: Sequence[Any], steps: Mapping[Any, Any]) -> None:
        for index, extent in zip(indices, buffer.shape, strict=True):
            if not _is_in(extent, self._counted):
                self._plain(index, steps)
            elif not _is_in(index, steps) or not steps[index].same_as(extent):
                raise _NotSliced

    def _plain(self, node: Any, steps: Mapping[Any, Any]) -> None:
        """An expression that has nothing to do with the number of a slice, but for the elements it loads."""
        kind = type(node).__name__
        if isinstance(node, int) or nodes.is_kernel_constant(node):
            return
        if kind == "Var":
            if _is_in(node, steps) or _is_in(node, self._counted):
                raise _NotSliced
        elif nodes.is_load(node):
            buffer = nodes.loaded_buffer(node)
            # A buffer without such an axis is not stored to, see `_allocated`.
            if layout_of(buffer, self._counted) is None:
                raise _NotSliced
            self._indices(buffer, node.indices, steps)
        elif kind in _OPERANDS:
            for name in _OPERANDS[kind]:
                self._plain(getattr(node, name), steps)
        elif kind == "Call":
            for argument in node.args:
                self._plain(argument, steps)
        else:
            raise _NotSliced


_STATEMENTS: dict[str, Callable[[_Walk, Any, Mapping[Any, Any]], None]] = {
    "SeqStmt": _Walk._sequence,
    "For": _Walk._for,
    "IfThenElse": _Walk._if,
    "SBlockRealize": _Walk._realize,
    "AllocBuffer": _Walk._allocate,
    "Evaluate": _Walk._evaluate,
    "BufferStore": _Walk._store,
}
