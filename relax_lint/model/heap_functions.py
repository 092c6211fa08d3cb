"""PrimFuncs that get a shape heap: the slots that they compute."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any
from weakref import proxy

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.model.prim_funcs import read_kernel
from relax_lint.model.shape_heap import HeapUse
from relax_lint.symbolic.quantity import Size, Unknown
from relax_lint.symbolic.translate import Translator, Untranslatable
from relax_lint.vm import nodes, versions


def run_on_heaps(
    prim_func: Any, heaps: Mapping[int, HeapUse], arguments: Sequence[Any], translator: Translator
) -> None:
    """What a call of a PrimFunc does to the heaps that it is given, by position.

    A body of stores one after the other, as VMShapeLower makes it, is carried out. Any other may write each
    slot of what it writes.
    """
    run = _Run(prim_func, heaps, arguments, translator)
    stores = list(_stores_in_order(prim_func.body))
    if all(store is not None for store in stores):
        for store in stores:
            run.store(store)
        return
    written = read_kernel("", prim_func).writes
    for position, heap in heaps.items():
        if position in written:
            heap.blur()


class _Run:
    """One call: the values of the parameters, and the heaps behind the buffers."""

    def __init__(
        self, prim_func: Any, heaps: Mapping[int, HeapUse], arguments: Sequence[Any], translator: Translator
    ) -> None:
        parameters = list(prim_func.params)
        self._heaps = {
            versions.identity(parameters[position]): heap
            for position, heap in heaps.items()
            if position < len(parameters)
        }
        self._scalars = {
            versions.identity(parameter): argument
            for parameter, argument in zip(parameters, arguments, strict=False)
        }
        self._outside = translator
        run = proxy(self)
        self._inside = _Once(
            partial(_Run._symbol_of, run), partial(_Run._load, run), translator.fits, translator.range_of
        )

    def store(self, store: Any) -> None:
        """Carry out one store."""
        value = self._value(store.value)
        heap = self._heaps.get(versions.identity(store.buffer))
        if heap is not None:
            heap.write(self._index(store.indices), value)

    def _value(self, expr: Any) -> sympy.Expr | None:
        try:
            return self._inside.expr(expr)
        except Untranslatable:
            return None

    def _index(self, indices: Sequence[Any]) -> Size:
        try:
            return self._inside.expr(indices[0])
        except Untranslatable:
            return Unknown("the number of the slot is not known")

    def _symbol_of(self, var: Any) -> Any:
        argument = self._scalars.get(versions.identity(var))
        if argument is None:
            raise Untranslatable(f"{var} is no parameter")
        return self._outside.expr(argument)

    def _load(self, load: Any) -> sympy.Expr:
        heap = self._heaps.get(versions.identity(nodes.loaded_buffer(load)))
        value = None if heap is None else heap.read(self._index(load.indices))
        if value is None:
            raise Untranslatable("the value of a slot of the shape heap is not known")
        return value


class _Once(Translator):
    """A translator that reads each expression anew: a load gives another value after a store."""

    def expr(self, e: Any) -> sympy.Expr:
        return sympy.Integer(e) if isinstance(e, int) else self._expr(e)

    def condition(self, e: Any) -> Boolean:
        return self._condition(e)


def _stores_in_order(body: Any) -> Iterator[Any | None]:
    """The stores of a body without loops and branches; None for anything else in it."""
    pending = [body]
    while pending:
        statement = pending.pop()
        kind = type(statement).__name__
        if kind == "SeqStmt":
            pending.extend(reversed(list(statement.seq)))
        elif kind.endswith("BlockRealize") and _is_plain(statement):
            pending.append(statement.block.body)
        else:
            yield statement if kind == "BufferStore" else None


def _is_plain(realize: Any) -> bool:
    """Whether a block is only there to hold its body."""
    block = realize.block
    around = (*realize.iter_values, *block.alloc_buffers, *block.match_buffers)
    return nodes.is_constant_true(realize.predicate) and not around and block.init is None
