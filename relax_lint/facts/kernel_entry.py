"""What a kernel's entry compares of its arguments, as conditions over the caller's symbols."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.facts.claims import equal
from relax_lint.model.kernels import (
    BufferParameter,
    Kernel,
    KernelParameter,
    OpaqueParameter,
    ScalarParameter,
)
from relax_lint.model.types import PrimType, ShapeType, TensorType, TupleType, ValueType
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.printing import expr_text
from relax_lint.symbolic.quantity import Unknown


class Demand(Enum):
    """What of an argument the kernel's entry compares."""

    COUNT = "number of arguments"
    KIND = "kind"
    RANK = "rank"
    SHAPE = "shape"
    EXTENT = "extent"
    STRIDE = "stride"


@record(frozen=True)
class Requirement:
    """One comparison at the kernel's entry, of the operand at `position`."""

    demand: Demand
    position: int
    condition: Boolean | Unknown
    have: str
    want: str
    axis: int = 0
    sides: tuple[sympy.Expr, sympy.Expr] | None = None
    """The two extents that are compared, where the comparison is of extents."""


@record(frozen=True)
class Binding:
    """What the kernel's symbols are in one call, and what its entry demands of the operands' types.

    `unknown` are symbols whose value the IR does not tell.
    """

    values: Mapping[sympy.Symbol, sympy.Expr]
    unknown: frozenset[sympy.Symbol]
    requirements: tuple[Requirement, ...]

    def expr(
        self, expr: sympy.Expr, more: Mapping[sympy.Symbol, sympy.Expr] | None = None
    ) -> sympy.Expr | Unknown:
        """A kernel's expression in the caller's symbols; `more` are further values."""
        values = {**self.values, **more} if more else self.values
        missing = expr.free_symbols - values.keys()
        if missing:
            name = min(symbol.name for symbol in missing)
            return Unknown(f"the value of `{name}` in the kernel is unknown")
        return expr.xreplace(values)

    def exprs(self, exprs: Iterable[sympy.Expr]) -> tuple[sympy.Expr, ...] | Unknown:
        """Several expressions, or why one of them is not known."""
        found = []
        for expr in exprs:
            bound = self.expr(expr)
            if isinstance(bound, Unknown):
                return bound
            found.append(bound)
        return tuple(found)


def bind(kernel: Kernel, types: Sequence[ValueType]) -> Binding:
    """What a kernel's entry does with operands of these types.

    As TVM's PrimFuncs do: scalars first, then the extents of the buffers in order; the first to mention a
    symbol defines it, every later one is compared.
    """
    if len(types) != len(kernel.parameters):
        wrong = Requirement(Demand.COUNT, 0, sympy.false, str(len(types)), str(len(kernel.parameters)))
        return Binding({}, frozenset(), (wrong,))
    values: dict[sympy.Symbol, sympy.Expr] = {}
    unknown: set[sympy.Symbol] = set()
    for parameter, type_ in zip(kernel.parameters, types, strict=True):
        if isinstance(parameter, ScalarParameter):
            if isinstance(type_, PrimType) and type_.value is not None:
                values[parameter.symbol] = type_.value
            else:
                unknown.add(parameter.symbol)
    buffers = [
        (position, parameter, type_)
        for position, (parameter, type_) in enumerate(zip(kernel.parameters, types, strict=True))
        if isinstance(parameter, BufferParameter) and not isinstance(parameter.shape, Unknown)
    ]
    defining: set[tuple[int, int]] = set()
    for position, parameter, type_ in buffers:
        have = type_.shape if isinstance(type_, TensorType) else None
        for axis, want in enumerate(_shape(parameter)):
            if want.is_Symbol and want not in values and want not in unknown:
                defining.add((position, axis))
                if have is not None and axis < len(have):
                    values[want] = have[axis]
                else:
                    unknown.add(want)
    binding = Binding(values, frozenset(unknown), ())
    requirements = [
        requirement
        for position, (parameter, type_) in enumerate(zip(kernel.parameters, types, strict=True))
        for requirement in _requirements(binding, position, parameter, type_, defining)
    ]
    steps: dict[sympy.Symbol, sympy.Expr] = {}
    for position, parameter, type_ in buffers:
        shape = type_.shape if isinstance(type_, TensorType) else None
        if shape is not None and len(shape) == len(_shape(parameter)):
            requirements += _strides(binding, position, parameter, shape, steps)
    return Binding(values, frozenset(unknown), tuple(requirements))


def _shape(parameter: BufferParameter) -> tuple[sympy.Expr, ...]:
    return () if isinstance(parameter.shape, Unknown) else parameter.shape


def _requirements(
    binding: Binding,
    position: int,
    parameter: KernelParameter,
    type_: ValueType,
    defining: set[tuple[int, int]],
) -> Iterable[Requirement]:
    if isinstance(parameter, OpaqueParameter):
        return
    if isinstance(parameter, ScalarParameter):
        if isinstance(type_, TensorType | ShapeType | TupleType):
            yield Requirement(Demand.KIND, position, sympy.false, kind_of(type_), "a number")
        return
    if not isinstance(type_, TensorType):
        if isinstance(type_, ShapeType | PrimType | TupleType):
            yield Requirement(Demand.KIND, position, sympy.false, kind_of(type_), "a tensor")
        return
    shape = _shape(parameter)
    if isinstance(parameter.shape, Unknown):
        yield Requirement(Demand.SHAPE, position, parameter.shape, "", "")
    elif type_.ndim >= 0 and type_.ndim != len(shape):
        yield Requirement(Demand.RANK, position, sympy.false, str(type_.ndim), str(len(shape)))
    elif type_.shape is None:
        if not all((position, axis) in defining for axis in range(len(shape))):
            reason = Unknown("the shape of an argument is unknown in the IR")
            yield Requirement(Demand.SHAPE, position, reason, "", "")
    else:
        for axis, (have, want) in enumerate(zip(type_.shape, shape, strict=True)):
            if (position, axis) not in defining:
                yield _extent(binding, position, axis, have, want)


def _extent(binding: Binding, position: int, axis: int, have: sympy.Expr, want: sympy.Expr) -> Requirement:
    bound = binding.expr(want)
    if isinstance(bound, Unknown):
        return Requirement(Demand.EXTENT, position, bound, expr_text(have), expr_text(want), axis)
    # Most extents are the same expression; their text is not needed.
    if bound == have:
        return Requirement(Demand.EXTENT, position, sympy.true, "", "", axis, (have, bound))
    texts = expr_text(have), expr_text(bound)
    return Requirement(Demand.EXTENT, position, equal(have, bound), *texts, axis, (have, bound))


def _strides(
    binding: Binding,
    position: int,
    parameter: BufferParameter,
    shape: Sequence[sympy.Expr],
    steps: dict[sympy.Symbol, sympy.Expr],
) -> Iterable[Requirement]:
    """The strides that a buffer declares, compared with those of a tensor without gaps. The first stride that
    is a symbol of its own defines it in `steps`.
    """
    if parameter.strides is None:
        reason = Unknown("the kernel's buffer has a stride that is not an integer expression")
        yield Requirement(Demand.STRIDE, position, reason, "", "")
        return
    have = sympy.Integer(1)
    for axis, want in reversed(list(enumerate(parameter.strides))):
        if want.is_Symbol and want not in binding.values and want not in binding.unknown:
            bound: sympy.Expr | Unknown = steps.setdefault(want, have)
        else:
            bound = binding.expr(want, steps)
        if bound != have:
            condition = bound if isinstance(bound, Unknown) else equal(have, bound)
            texts = expr_text(have), expr_text(want if isinstance(bound, Unknown) else bound)
            yield Requirement(Demand.STRIDE, position, condition, *texts, axis)
        have *= shape[axis]


def kind_of(type_: ValueType) -> str:
    """What a value is, for a message."""
    return {TensorType: "a tensor", ShapeType: "a shape", PrimType: "a number", TupleType: "a tuple"}.get(
        type(type_), "an object"
    )
