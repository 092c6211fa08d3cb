"""A Relax function around a PrimFunc: every parameter of the kernel is a parameter of the function."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from tvm import relax, tirx

_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mul": operator.mul,
    "FloorDiv": operator.floordiv,
    "FloorMod": operator.mod,
    "Max": tirx.max,
    "Min": tirx.min,
}


def called(prim_func: Any, name: str = "kernel") -> Any:
    """A module with the kernel and a function `main` that calls it once, on tensors of its own shapes."""
    symbols: dict[Any, Any] = {}
    operands = [_operand(var, symbols) for var in prim_func.params]
    # A shape tells every symbol, also one that stands in no tensor's shape alone.
    shape = relax.Var("symbols", relax.ShapeType(list(symbols.values())))
    builder = relax.BlockBuilder()
    with builder.function("main", [shape, *operands], pure=False):
        callee = builder.add_func(prim_func.with_attr("global_symbol", name), name)
        builder.emit(relax.Call(callee, operands, ty_args=[relax.TupleType([])]))
        builder.emit_func_output(relax.Tuple([]))
    return builder.get()


def _operand(var: Any, symbols: dict[Any, Any]) -> Any:
    if type(var.ty).__name__ != "BufferType":
        return relax.Var(var.name, var.ty)
    shape = [_wide(extent, symbols) for extent in var.shape]
    return relax.Var(var.name, relax.TensorType(shape, str(var.dtype)))


def _wide(extent: Any, symbols: dict[Any, Any]) -> Any:
    """An extent over 64-bit symbols, which are those that Relax has."""
    kind = type(extent).__name__
    if kind == "IntImm":
        return tirx.IntImm("int64", int(extent.value))
    if kind == "Var":
        return symbols.setdefault(extent, tirx.Var(extent.name, "int64"))
    if kind == "Cast":
        return _wide(extent.value, symbols)
    return _OPERATIONS[kind](_wide(extent.a, symbols), _wide(extent.b, symbols))
