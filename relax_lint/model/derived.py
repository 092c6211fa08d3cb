"""The types of what operators give: an annotation in the text may say more than follows from the arguments
(`v: R.Tensor((4,)) = R.add(x, x)`), and TVM's parser puts it on the call, where nothing checks it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from relax_lint.model.context import BuildContext
from relax_lint.model.types import PrimType, ShapeType, TensorType, TupleType, ValueType
from relax_lint.vm import comparing, versions

_inferences: dict[str, Callable[[Any], Any] | None] = {}
"""By the name of the operator."""


def type_of_result(
    context: BuildContext, var: Any, call: Any, args: Sequence[Any]
) -> tuple[ValueType | None, bool]:
    """The type of the result of an operator where it is not the one that the IR gives the variable, and
    whether it follows from arguments whose types are what the IR says.
    """
    inferred = _inferred(call)
    if inferred is None:
        return None, False
    written = versions.type_of(var)
    are_true = all(_is_true(context, argument) for argument in args)
    if comparing.structural_equal(inferred, written):
        return None, are_true
    declared, follows = context.types.type(written), context.types.type(inferred)
    if not isinstance(follows, (TensorType, ShapeType, TupleType)):
        return None, are_true
    if are_true and (_is_whole(follows) or not says_more(declared, follows)):
        return follows, True
    # What the annotation adds nobody checks, but a pass may have known it.
    return None, False


def _inferred(call: Any) -> Any | None:
    name = str(call.op.name)
    if name not in _inferences:
        _inferences[name] = versions.inference(call.op)
    infer = _inferences[name]
    try:
        return None if infer is None else infer(call)
    except Exception:
        # TVM's own refusals have no class in common, and what it refuses has no type.
        return None


def _is_true(context: BuildContext, argument: Any) -> bool:
    """Whether the type that the IR gives an argument says no more than what is known of it."""
    kind = versions.kind(argument)
    if kind == "Tuple":
        return all(_is_true(context, field) for field in argument.fields[:])
    if kind != "Var":
        return True
    value = context.operand(argument)
    if value not in context.retyped:
        return True
    known = context.values[value].type
    return not says_more(context.types.type(versions.type_of(argument)), known)


def _is_whole(type_: ValueType) -> bool:
    """Whether a type tells all extents and dtypes."""
    if isinstance(type_, TupleType):
        return all(map(_is_whole, type_.fields))
    if isinstance(type_, TensorType):
        return type_.shape is not None and type_.dtype is not None
    return not isinstance(type_, ShapeType) or type_.extents is not None


def says_more(declared: ValueType, known: ValueType) -> bool:
    """Whether a type tells of extents or dtypes what another one of the same value does not."""
    if declared is known or declared == known:
        return False
    if isinstance(declared, TupleType):
        if not isinstance(known, TupleType) or len(declared.fields) != len(known.fields):
            return True
        return any(map(says_more, declared.fields, known.fields))
    if isinstance(declared, TensorType):
        if not isinstance(known, TensorType):
            return True
        return declared.shape not in (None, known.shape) or declared.dtype not in (None, known.dtype)
    if isinstance(declared, ShapeType):
        return not isinstance(known, ShapeType) or declared.extents not in (None, known.extents)
    return isinstance(declared, PrimType) and not (
        isinstance(known, PrimType) and declared.value in (None, known.value)
    )
