"""Which reads of a kernel the sizes of the tensors in one call make sure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import sympy

from relax_lint.analysis.effects import Effect
from relax_lint.analysis.kernel_operands import operand_types
from relax_lint.model.kernels import BufferParameter, Kernel, ScalarParameter
from relax_lint.model.operations import Assert, KernelCall
from relax_lint.model.program import Function
from relax_lint.model.types import PrimType, TensorType, ValueType
from relax_lint.symbolic.quantity import Unknown
from relax_lint.symbolic.steps import lower_bounds, with_sizes
from relax_lint.vm.facts import FactKind


def with_sure_reads(effect: Effect, kernel: Kernel | None, call: KernelCall, function: Function) -> Effect:
    """The effect of a call, where the loops around what the kernel reads have a step for its operands."""
    if kernel is None or not effect.read_if:
        return effect
    types = operand_types(call, function)
    if len(types) != len(kernel.parameters):
        return effect
    values = dict(reversed(list(_values(kernel, types))))
    given = [function.type_of(parameter) for parameter in function.parameters]
    extents = [extent for type_ in (*given, *types) for extent in _extents(type_)]
    asserted = list(_asserted(call, function))
    sure = {
        position
        for position, condition in effect.read_if.items()
        if condition.free_symbols <= values.keys()
        and with_sizes(condition.xreplace(values), extents, _extents(types[position]), asserted) == sympy.true
    }
    return replace(effect, unsure_reads=effect.unsure_reads - sure) if sure else effect


def _asserted(call: KernelCall, function: Function) -> Iterator[tuple[sympy.Symbol, int]]:
    """What assertions before a call leave of symbols, with the least that each is then."""
    for op in function.body.ops:
        if op.place.index > call.place.index:
            return
        if isinstance(op, Assert) and op.fact is not None and op.fact.kind is FactKind.ENFORCED:
            yield from lower_bounds(op.fact.condition)


def _values(kernel: Kernel, types: Sequence[ValueType]) -> Iterator[tuple[sympy.Symbol, sympy.Expr]]:
    """What the symbols of a kernel stand for. The first to mention one defines it."""
    pairs = list(zip(kernel.parameters, types, strict=True))
    for parameter, type_ in pairs:
        if isinstance(parameter, ScalarParameter) and isinstance(type_, PrimType) and type_.value is not None:
            yield parameter.symbol, type_.value
    for parameter, type_ in pairs:
        if isinstance(parameter, BufferParameter) and not isinstance(parameter.shape, Unknown):
            for want, have in zip(parameter.shape, _extents(type_), strict=False):
                if want.is_Symbol:
                    yield want, have


def _extents(type_: ValueType) -> tuple[sympy.Expr, ...]:
    return (type_.shape or ()) if isinstance(type_, TensorType) else ()
