"""Kernels carried out on small numbers: is what a call computes on shared memory certain to be wrong?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

import sympy

from relax_lint.analysis.flow import FunctionFlow
from relax_lint.analysis.kernel_operands import operand_types
from relax_lint.facts.kernel_entry import bind
from relax_lint.model.kernels import BufferParameter, Kernel
from relax_lint.model.operations import KernelCall
from relax_lint.symbolic.quantity import Unknown
from relax_lint.vm.calls import CallKind

_INSTANCES = ((1, 1), (2, 2), (3, 4), (7, 5))
"""Values for the symbols of the caller: first and second of each pair in turn."""


class Outcome(Enum):
    """What running a kernel on shared memory showed."""

    NOT_KNOWN = "it depends on the iteration order of the kernel"
    NOT_SEEN = "it depends on the order in which the function that is called reads and writes"
    TRIED = "it computes something else at each size that was tried, which is no proof for all of them"
    BELIEVED_APART = (
        "the promise of another kernel that its arguments lie apart (`tirx.noalias`) may be taken for its own"
    )
    WRONG = "it computes something else than on memory of its own"
    UNREAD = "nothing reads afterwards what it computes there"
    UNSHOWN = "nothing needs what it computes there, or only on some paths, or who gets it may not read it"
    UNUSED = "what it overwrites of its own results is not used afterwards"


def outcome_on_shared_memory(call: KernelCall, written: int, other: int, flow: FunctionFlow) -> Outcome:
    """Whether the call computes something else than it would on memory apart: that is certain where its
    shapes are fixed or only say how often the kernel does the same, and evidence where they are not.
    """
    kernel = flow.effects.kernel_of(call)
    if kernel is None:
        return Outcome.NOT_SEEN
    distance = _distance(call, written, other, kernel, flow)
    if kernel.differs is None or distance is None:
        return Outcome.NOT_KNOWN
    types = operand_types(call, flow.function)
    # Where the kernel uses a symbol without a value, it is not carried out.
    binding = bind(kernel, types)
    free = {s for s, value in binding.values.items() if value.free_symbols}
    if distance == 0 and free and free <= kernel.repeated(written, other):
        one = {symbol: 1 if symbol in free else int(value) for symbol, value in binding.values.items()}
        return _wrong(flow) if kernel.differs(one, written, other, 0) is True else Outcome.NOT_KNOWN
    instances = list(_instances(binding.values, distance))
    if not all(kernel.differs(values, written, other, apart) is True for values, apart in instances):
        return Outcome.NOT_KNOWN
    return _wrong(flow) if len(instances) == 1 else Outcome.TRIED


def _wrong(flow: FunctionFlow) -> Outcome:
    return Outcome.BELIEVED_APART if _is_believed_apart(flow) else Outcome.WRONG


def _is_believed_apart(flow: FunctionFlow) -> bool:
    """Whether the compiler may take the arguments of every kernel to lie apart. The kernels that operators
    become promise that of their own.
    """
    kept: dict[object, Any] = flow.program.kept
    if _is_believed_apart not in kept:
        program = flow.program
        kept[_is_believed_apart] = program.promised_apart or any(
            isinstance(op, KernelCall) and op.kind is CallKind.OPERATOR
            for function in program.functions
            for op in function.body.walk()
        )
    return bool(kept[_is_believed_apart])


def _distance(
    call: KernelCall, written: int, other: int, kernel: Kernel, flow: FunctionFlow
) -> sympy.Expr | None:
    """How many elements the one starts behind the other."""
    one, two = kernel.parameters[written], kernel.parameters[other]
    if not isinstance(one, BufferParameter) or not isinstance(two, BufferParameter):
        return None
    start = flow.memory.range(call.arguments[written]).start
    start_2 = flow.memory.range(call.arguments[other]).start
    bits = one.dtype.bits * one.dtype.lanes
    same = one.dtype.name == two.dtype.name and bits % 8 == 0
    if isinstance(start, Unknown) or isinstance(start_2, Unknown) or not same:
        return None
    return sympy.expand((start - start_2) / (bits // 8))


def _instances(
    values: Mapping[sympy.Symbol, sympy.Expr], distance: sympy.Expr
) -> Iterator[tuple[dict[sympy.Symbol, int], int]]:
    """Values of the kernel's symbols and the distance, for some values of those of the caller."""
    free = sorted(
        {symbol for value in (*values.values(), distance) for symbol in value.free_symbols}, key=str
    )
    for instance in _INSTANCES if free else _INSTANCES[:1]:
        chosen = {symbol: instance[place % 2] for place, symbol in enumerate(free)}
        yield (
            {symbol: int(value.xreplace(chosen)) for symbol, value in values.items()},
            int(distance.xreplace(chosen)),
        )
