"""Calls that may leave elements of their results unwritten, and those whose results hold positions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.analysis.effects import Effect, outputs_of
from relax_lint.analysis.events import Mending
from relax_lint.analysis.presumption import Presumption
from relax_lint.model.operations import KernelCall
from relax_lint.model.program import Function
from relax_lint.model.types import TensorType
from relax_lint.vm.calls import CallKind

_TOP_K, _ARGSORT = "relax.topk", "relax.argsort"
_RESULT_OF_POSITIONS = {"both": 1, "indices": 0}


def left_out(
    call: KernelCall, effect: Effect, function: Function
) -> Iterator[tuple[int, tuple[Mending, ...]]]:
    """The tensors among the results of a call that it allocates and does not certainly fill, by their number,
    each with the write that may fill it; none where the call does not write it.
    """
    first = len(call.arguments)
    if call.kind is CallKind.CALL_DPS_PACKED:
        presumed = Presumption(f"`{call.callee}` writes all of what it returns")
        for number in range(outputs_of(call.type)):
            yield number, (Mending(call, call.result, presumed=presumed),)
    elif call.kind is CallKind.OPERATOR:
        for number in partial_results(call, function):
            yield number, (Mending(call, call.result, first + number),)
    elif effect.known and effect.writes:
        # What writes nothing at all is still to be written itself.
        for place, number in enumerate(_allocated(call)):
            position = first + place
            if effect.whole.get(position, sympy.false) != sympy.true:
                writes = position in effect.writes
                yield number, (Mending(call, call.result, position),) if writes else ()


def _allocated(call: KernelCall) -> list[int]:
    """The results that a call of a kernel allocates, in the order of the kernel's parameters."""
    if call.kind is CallKind.CALL_TIR:
        return list(range(outputs_of(call.type)))
    if call.kind is CallKind.CALL_TIR_INPLACE:
        return [number for number, index in enumerate(call.inplace) if index < 0]
    return []


def partial_results(call: KernelCall, function: Function) -> Mapping[int, Boolean]:
    """For each result of an operator that may be written in part: when all of it is written.

    `R.topk` becomes a call of TVM's packed function, which writes no more elements than there are.
    """
    if call.kind is not CallKind.OPERATOR or call.callee != _TOP_K:
        return {}
    extent = _sorted_extent(call, function)
    first = _number(getattr(_attributes(call), "k", None))
    if extent is None or first is None or first < 1:
        return {}
    enough = sympy.Ge(extent, first)
    if enough == sympy.true:
        return {}
    # That it never holds is known, unlike false.
    when = sympy.Ge(extent, first, evaluate=False) if enough == sympy.false else enough
    return dict.fromkeys(range(outputs_of(call.type)), when)


def positions(call: KernelCall, function: Function) -> Mapping[int, sympy.Expr]:
    """For each result of an operator that holds positions on an axis: the extent of the axis."""
    result = 0 if call.callee == _ARGSORT else None
    if call.callee == _TOP_K:
        result = _RESULT_OF_POSITIONS.get(str(getattr(_attributes(call), "ret_type", "")))
    if call.kind is not CallKind.OPERATOR or result is None or partial_results(call, function):
        return {}
    extent = _sorted_extent(call, function)
    return {} if extent is None else {result: extent}


def _sorted_extent(call: KernelCall, function: Function) -> sympy.Expr | None:
    """The extent of the axis along which an operator sorts."""
    type_ = function.type_of(call.arguments[0])
    axis = _number(getattr(_attributes(call), "axis", None))
    if not isinstance(type_, TensorType) or type_.shape is None or axis is None:
        return None
    axis = axis + len(type_.shape) if axis < 0 else axis
    return type_.shape[axis] if 0 <= axis < len(type_.shape) else None


def _attributes(call: KernelCall) -> Any:
    return getattr(call.place.node, "attrs", None)


def _number(value: Any) -> int | None:
    if type(value).__name__ == "IntImm":
        value = value.value
    return value if isinstance(value, int) else None
