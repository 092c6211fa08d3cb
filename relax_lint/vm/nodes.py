"""The nodes of kernels and of their expressions under one name for all versions. Does not import TVM."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from relax_lint.support.lazy_dataclass import dataclass

LOADS = frozenset({"BufferLoad", "TensorLoad"})
CONSTANTS = frozenset({"IntImm", "FloatImm", "StringImm", "GenericConst", "DataTypeImm"})
_CALLS = {
    # Before 0.27 these are calls of intrinsics, from then on nodes of their own.
    "shift_left": "LShift",
    "shift_right": "RShift",
    "bitwise_and": "BitwiseAnd",
    "bitwise_or": "BitwiseOr",
    "bitwise_xor": "BitwiseXor",
    "bitwise_not": "BitwiseNot",
    "if_then_else": "Select",
}


def is_load(node: Any) -> bool:
    """Whether an expression of a kernel loads an element of a buffer."""
    return type(node).__name__ in LOADS


def is_kernel_constant(node: Any) -> bool:
    """Whether an expression of a kernel is a constant."""
    return type(node).__name__ in CONSTANTS


def is_saved_constant(value: Any) -> bool:
    """Whether a loaded object is a constant: a `GenericConst` from 0.27 on, a relax `Constant` before."""
    return type(value).__name__ in ("GenericConst", "Constant")


def expression_kind(node: Any) -> str:
    """The kind of a primitive expression under its 0.27 name; that of a call of anything but an operation
    that 0.27 has a node for is in words.
    """
    kind = type(node).__name__
    if kind == "Call":
        name = getattr(node.op, "name", "").rpartition(".")[2]
        return _CALLS.get(name, f"call of {name or node.op}")
    return "BufferLoad" if kind in LOADS else kind


def parts_of_choice(node: Any) -> tuple[Any, Any, Any]:
    """The condition of a choice, what it is where that holds, and what it is else."""
    one, then, other = node.args if is_call(node) else (node.condition, node.true_value, node.false_value)
    return one, then, other


@dataclass(frozen=True)
class BitOperation:
    """An operation on bits that is a call before TVM 0.27, as the node that it is from then on. `b` is None
    for the one that has one operand.
    """

    kind: str
    a: Any
    b: Any = None


def bit_operation(call: Any) -> BitOperation | None:
    """The operation on bits that a call stands for; None for any other call."""
    kind = expression_kind(call)
    if kind not in _CALLS.values() or kind == "Select":
        return None
    return BitOperation(kind, *call.args)


def loaded_buffer(load: Any) -> Any:
    """The buffer variable that a load reads: `TensorLoad.source` from 0.27 on, `BufferLoad.buffer` before."""
    return load.source if type(load).__name__ == "TensorLoad" else load.buffer


def region_source(region: Any) -> Any:
    """The buffer variable that a region is cut out of."""
    return region.source if type(region).__name__ == "TensorRegion" else region.buffer


def data_of_buffer(expr: Any) -> Any | None:
    """The buffer variable of which an expression is the data pointer; None for any other expression."""
    if type(expr).__name__ == "Call" and str(getattr(expr.op, "name", "")) == "tirx.buffer_data":
        return expr.args[0]
    return None


def addressed(expr: Any) -> Any | None:
    """The load whose element an expression is the address of; None for any other expression."""
    is_address = type(expr).__name__ == "Call" and str(getattr(expr.op, "name", "")).endswith(".address_of")
    return expr.args[0] if is_address and is_load(expr.args[0]) else None


def without_hint(condition: Any) -> Any:
    """A condition without the hint that it is likely to hold."""
    if type(condition).__name__ == "Call" and str(getattr(condition.op, "name", "")).endswith(".likely"):
        return condition.args[0]
    return condition


_READS_STATE = 2
"""The largest effect (`CallEffectKind`) of an operation that changes nothing."""
_PARTS = ("a", "b", "value", "condition", "true_value", "false_value", "base", "stride", "lanes", "body")
_LISTS = ("args", "indices", "vectors", "source", "init")


def is_call(node: Any) -> bool:
    """Whether an expression is a call of an intrinsic."""
    return type(node).__name__ == "Call"


def children_of(node: Any) -> Iterator[Any]:
    """The parts of an expression."""
    for part in _PARTS:
        child = getattr(node, part, None)
        if child is not None:
            yield child
    for part in _LISTS:
        children = getattr(node, part, None)
        if children is not None and not isinstance(children, str):
            yield from (children if hasattr(children, "__iter__") else (children,))


def nodes_of(expression: Any) -> Iterator[Any]:
    """An expression and all that it is made of."""
    if isinstance(expression, (int, float, str)):
        return
    yield expression
    for child in children_of(expression):
        yield from nodes_of(child)


def integers(indices: Any) -> tuple[int, ...] | None:
    """Indices that are all of them constants; None where one is not."""
    if not all(type(index).__name__ == "IntImm" for index in indices):
        return None
    return tuple(int(index.value) for index in indices)


def is_plain_call(call: Any) -> bool:
    """Whether a call changes nothing: TVM says so of its operations."""
    try:
        effect = call.op.get_attr("TCallEffectKind")
    except (AttributeError, ValueError, RuntimeError):
        return False
    return effect is not None and int(effect) <= _READS_STATE


def only_computes(expression: Any) -> bool:
    """Whether all that an expression does is to have a value."""
    if is_call(expression) and not is_plain_call(expression):
        return False
    return all(map(only_computes, children_of(expression)))


_THREAD_BINDING = 4
_OWN_THREAD = ("", "vthread")
"""Loops with these tags count for themselves; all others with one tag are one loop (`UnifyThreadBinding`)."""


def shared_thread(loop: Any) -> str | None:
    """The tag of the thread that a loop runs over, if every loop inside with this tag is the same loop."""
    if type(loop).__name__ == "For" and int(loop.kind) != _THREAD_BINDING:
        return None
    axis = loop.thread_binding if type(loop).__name__ == "For" else loop.node
    tag = str(getattr(axis, "thread_tag", ""))
    return None if tag in _OWN_THREAD else tag


def is_constant_true(condition: Any) -> bool:
    """Whether a condition is the constant true."""
    return type(condition).__name__ == "IntImm" and int(condition.value) != 0


def does_nothing(statement: Any) -> bool:
    """Whether the body of a kernel is nothing but constants, such as `T.evaluate(0)`."""
    kind = type(statement).__name__
    if kind == "Evaluate":
        return expression_kind(statement.value) in ("IntImm", "FloatImm")
    if kind == "SeqStmt":
        return all(does_nothing(part) for part in statement.seq)
    if kind in ("SBlockRealize", "BlockRealize"):
        return does_nothing(statement.block.body)
    return False


def says_no_alias(prim_func: Any) -> bool:
    """Whether a PrimFunc promises the compiler that no two of its arguments share memory."""
    attributes = prim_func.attrs
    return bool(attributes) and bool(attributes.get("tirx.noalias", attributes.get("tir.noalias", False)))
