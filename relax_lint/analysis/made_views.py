"""Which results TVM may put into the memory of an argument: in a dataflow block `RewriteDataflowReshape`
makes views of kernels that only reshape, and `LegalizeOps` makes such kernels of many operators; other passes
replace an operator by its argument.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import sympy

from relax_lint.model.operations import KernelCall, Op, ValueId
from relax_lint.model.program import Function, Program
from relax_lint.model.types import TensorType, TupleType, ValueType
from relax_lint.vm import reshapes, versions
from relax_lint.vm.builtins import PERHAPS_ARGUMENT
from relax_lint.vm.calls import CallKind
from relax_lint.vm.constants import numbers_of


class MadeViews:
    """Asked of one program. Where nothing is overwritten, it does not matter what shares memory: then the
    answer is always no.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._known: dict[str, bool] = {}

    def of(self, call: KernelCall, function: Function) -> tuple[ValueId, ...]:
        """The arguments in whose memory the result of a call may lie."""
        if not call.arguments or not self._overwrites:
            return ()
        if call.kind is CallKind.OPERATOR and call.callee in PERHAPS_ARGUMENT:
            return call.arguments
        if not is_inside(call):
            return ()
        if call.kind is CallKind.CALL_TIR and not versions.packed_call_name(call.place.node):
            kernel = self._program.kernels.get(call.callee)
            is_reshape = kernel is not None and (kernel.is_reshape or kernel.copies == {(0, 1)})
            return call.arguments[:1] if is_reshape else ()
        return self._of_operator(call, function) if call.kind is CallKind.OPERATOR else ()

    @cached_property
    def _overwrites(self) -> bool:
        """Whether a call may write to something that it is given."""
        calls = (call for f in self._program.functions for call in f.body.of(KernelCall))
        return any(not call.kind.allocates_result for call in calls)

    def _of_operator(self, call: KernelCall, function: Function) -> tuple[ValueId, ...]:
        result = function.type_of(call.result)
        alike = tuple(
            argument
            for argument in call.arguments
            if any(_may_be_alike(result, type_) for type_ in _fields(argument, function))
        )
        if not alike:
            return ()
        key = operator_key(call)
        if key not in self._known:
            self._known[key] = reshapes.becomes_reshape(call.place.node)
        return alike if self._known[key] else ()


def operator_key(call: KernelCall) -> str:
    """What is the same for calls of an operator of which TVM makes the same kernel."""
    return f"{call.callee} {[_key(one) for one in call.place.node.args]} {call.place.node.attrs}"


def is_inside(op: Op) -> bool:
    """Whether a result is in a dataflow block, and nothing outside of the block uses it by its name: TVM
    leaves the others as they are.
    """
    return op.place.dataflow and (op.place.var is None or versions.is_of_dataflow(op.place.var))


def _key(argument: Any) -> str:
    """What a kernel depends on: a type, and the number of a scalar."""
    kind = versions.kind(argument)
    if kind == "Tuple":
        return str([_key(field) for field in argument.fields])
    type_ = str(versions.type_of(argument))
    if kind == "Constant":
        # A kernel holds the number of a scalar. The text of a module prints those of some types only.
        numbers = numbers_of(argument) or ()
        return f"{type_} {numbers}" if len(numbers) == 1 else type_
    return type_ if kind == "Var" else f"{type_} {argument}"


def _fields(value: ValueId, function: Function) -> tuple[ValueType, ...]:
    fields = function.inline_tuples.get(value)
    if fields is not None:
        return tuple(type_ for field in fields for type_ in _fields(field, function))
    type_ = function.type_of(value)
    return type_.fields if isinstance(type_, TupleType) else (type_,)


def _may_be_alike(one: ValueType, other: ValueType) -> bool:
    """Whether two tensors may have as many elements, of one dtype."""
    if not isinstance(one, TensorType) or not isinstance(other, TensorType) or one.dtype != other.dtype:
        return False
    if one.shape is None or other.shape is None:
        return True
    difference = sympy.expand(sympy.Mul(*one.shape) - sympy.Mul(*other.shape))
    return not (difference.is_Integer and difference != 0)
