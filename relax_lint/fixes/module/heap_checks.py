"""A check behind VMShapeLower, where symbols are slots of a heap: a kernel computes the number that is
compared into a heap of its own.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

from tvm import relax, tirx
from tvm.script.ir_builder import IRBuilder
from tvm.script.ir_builder import tirx as script_tirx

from relax_lint.fixes.changes import InsertAssert
from relax_lint.fixes.module.prim_expr import PrimExprWriter
from relax_lint.fixes.module.rewriting import bindings_of
from relax_lint.model.program import Function
from relax_lint.symbolic.backend import Inexpressible
from relax_lint.vm import versions
from relax_lint.vm.builtins import MATCH_SHAPE, SHAPE_HEAP

_MAKE_SHAPE = "vm.builtin.make_shape"
_STORE = 1
"""`kStoreToHeap`; the same number is `kLoadShape`."""
_HOST = "tirx.is_host_func"


@dataclass(frozen=True)
class HeapCheck:
    """The kernel of a check and its variable, and the bindings that compute the number, which is the only
    extent of `shape`. They belong behind the binding `after`.
    """

    variable: Any
    kernel: Any
    bindings: tuple[Any, ...]
    shape: Any
    after: int


@dataclass
class _Heap:
    """The shape heap of a function: the call that allocates it, the slots of variables, and the last binding
    that fills one of them.
    """

    variable: Any
    call: Any
    slots: dict[int, int]
    last: int

    @property
    def count(self) -> int:
        """How many slots there are."""
        (count,) = self.call.args[1].fields
        return versions.integer_value(count)


def heap_check(function: Function, change: InsertAssert) -> HeapCheck:
    """What computes the number that the comparison of a check is about. Raises `Inexpressible`."""
    assert change.comparison is not None
    heap = _heap_of(function.node)
    if heap is None:
        raise Inexpressible("the shape heap is allocated in a way that is not known")
    own = relax.Var("check_heap", heap.variable.ty)
    kernel = _kernel(function, change, heap)
    variable = relax.BlockBuilder().add_func(kernel, str(kernel.attrs["global_symbol"]))
    shape = relax.Var("checked", relax.ShapeType(ndim=1))
    numbers = [versions.integer_argument(number) for number in (1, _STORE, 0)]
    made = relax.Call(relax.ExternFunc(_MAKE_SHAPE), [own, *numbers], None, [relax.ShapeType(ndim=1)])
    one = relax.Tuple([versions.integer_argument(1)])
    allocated = relax.Call(heap.call.op, [heap.call.args[0], one], heap.call.attrs, heap.call.ty_args)
    computed = relax.Call(variable, [heap.variable, own])
    values = ((own, allocated), (relax.Var("_", relax.TupleType([])), computed), (shape, made))
    bindings = tuple(relax.VarBinding(var, relax.BlockBuilder().normalize(value)) for var, value in values)
    return HeapCheck(variable, kernel, bindings, shape, heap.last)


def _kernel(function: Function, change: InsertAssert, heap: _Heap) -> Any:
    """`C[0] = value`, with loads from the heap for the symbols."""
    assert change.comparison is not None
    place = "" if change.before is None else change.before.index
    number = zlib.crc32(f"{change.condition} {place}".encode())
    with IRBuilder() as builder, script_tirx.prim_func(s_tir=True):
        script_tirx.func_name(f"{function.name}_memory_check_{number:08x}")
        given = script_tirx.arg("H", script_tirx.Buffer((heap.count,), "int64"))
        computed = script_tirx.arg("C", script_tirx.Buffer((1,), "int64"))
        loads = {
            info.symbol: given[heap.slots[versions.identity(info.var)]]
            for info in function.symbols
            if info.var is not None and versions.identity(info.var) in heap.slots
        }
        value = PrimExprWriter(loads).expr(change.comparison.value)
        script_tirx.buffer_store(computed, value, [tirx.IntImm("int64", 0)])
    return builder.get().with_attr(_HOST, True)


def _heap_of(node: Any) -> _Heap | None:
    heap = None
    for index, binding in enumerate(bindings_of(node.body)):
        name = versions.operator_name(binding.value)
        if name == "call_builtin_with_ctx" and str(binding.value.args[0].global_symbol) == SHAPE_HEAP:
            heap = _Heap(binding.var, binding.value, {}, index)
        elif name == MATCH_SHAPE and heap is not None and _note_slots(heap, binding.value):
            heap.last = index
    return heap


def _note_slots(heap: _Heap, call: Any) -> bool:
    """The slots that `match_shape(x, heap, ndim, code, slot, ..., words)` fills with single variables."""
    extents = _extents(call.args[0])
    if not heap.variable.same_as(call.args[1]) or extents is None:
        return False
    pairs = list(zip(call.args[3:-1:2], call.args[4:-1:2], strict=True))
    found = {
        versions.identity(extent): versions.integer_value(slot)
        for extent, (code, slot) in zip(extents, pairs, strict=False)
        if versions.integer_value(code) == _STORE
    }
    heap.slots.update(found)
    return bool(found)


def _extents(value: Any) -> Any:
    """The extents in the type of a tensor or a shape; None where it has none."""
    type_ = versions.type_of(value)
    shape = getattr(type_, "shape", None)
    return getattr(type_ if shape is None else shape, "values", None)
