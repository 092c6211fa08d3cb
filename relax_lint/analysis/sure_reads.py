"""Which reads of a kernel the sizes of the tensors in one call make sure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.analysis.effects import Effect, EffectTable
from relax_lint.analysis.kernel_operands import operand_types
from relax_lint.model.kernels import BufferParameter, Kernel, ScalarParameter
from relax_lint.model.operations import Assert, KernelCall
from relax_lint.model.program import Function
from relax_lint.model.types import PrimType, TensorType, ValueType
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.quantity import Unknown
from relax_lint.symbolic.steps import lower_bounds, with_sizes
from relax_lint.vm.facts import FactKind


@record(frozen=True)
class Sizes:
    """What a function makes sure of its symbols: the extents of its parameters are `never_negative`, and what
    it asserts leaves each symbol at least so much behind the operation with that index.
    """

    never_negative: frozenset[sympy.Expr]
    asserted: tuple[tuple[int, sympy.Symbol, int], ...]

    @classmethod
    def of(cls, function: Function) -> Sizes:
        """Those of a function."""
        extents = symbolic_extents(function.type_of(parameter) for parameter in function.parameters)
        return cls(extents, tuple(_asserted(function)))

    def asserted_before(self, index: int) -> tuple[tuple[sympy.Symbol, int], ...]:
        """The symbols with the least that each is, where an operation is reached."""
        return tuple((symbol, least) for behind, symbol, least in self.asserted if behind < index)


def _asserted(function: Function) -> Iterator[tuple[int, sympy.Symbol, int]]:
    for op in function.body.ops:
        if isinstance(op, Assert) and op.fact is not None and op.fact.kind is FactKind.ENFORCED:
            yield from ((op.place.index, *bound) for bound in lower_bounds(op.fact.condition))


class CallEffects:
    """What the calls of a function do to the contents of their arguments, each found once."""

    def __init__(self, table: EffectTable, function: Function) -> None:
        self._table = table
        self._unsure = _UnsureReads(function)
        self._known: dict[int, Effect] = {}
        """By the indices of the places of calls."""

    def of(self, call: KernelCall) -> Effect:
        """That of one call."""
        known = self._known.get(call.place.index)
        if known is None:
            effect, kernel = self._table.effect_of(call), self._table.kernel_of(call)
            if kernel is not None and kernel.reads:
                effect = effect.with_unsure(partial(self._unsure.of, call, kernel))
            known = self._known[call.place.index] = effect
        return known


class _UnsureReads:
    """Which arguments of calls of one function may not be read, found when it is asked for."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._sizes: Sizes | None = None
        self._alike: dict[tuple[object, ...], tuple[Kernel, list[ValueType], frozenset[int]]] = {}
        """By the identities of the kernel and of the types, which are kept, and by what is asserted: the
        layers of a model ask the same again and again.
        """

    def of(self, call: KernelCall, kernel: Kernel) -> frozenset[int]:
        """Those of one call."""
        if not kernel.read_if:
            return kernel.unsure_reads
        if self._sizes is None:
            self._sizes = Sizes.of(self._function)
        types = operand_types(call, self._function)
        asserted = self._sizes.asserted_before(call.place.index)
        key = (id(kernel), *map(id, types), asserted)
        known = self._alike.get(key)
        if known is None:
            sure = _sure_reads(kernel, types, self._sizes.never_negative, asserted)
            known = self._alike[key] = kernel, types, kernel.unsure_reads - sure
        return known[2]


def _sure_reads(
    kernel: Kernel,
    types: list[ValueType],
    never_negative: frozenset[sympy.Expr],
    asserted: tuple[tuple[sympy.Symbol, int], ...],
) -> frozenset[int]:
    """What a call reads for sure because the loops around it have a step for operands of these types."""
    if len(types) != len(kernel.parameters):
        return frozenset()
    values = tuple(reversed(list(_values(kernel, types))))
    never_negative |= symbolic_extents(types)
    return frozenset(
        position
        for position, condition in kernel.read_if.items()
        if _is_sure(condition, values, never_negative, symbolic_extents([types[position]]), asserted)
    )


def symbolic_extents(types: Iterable[ValueType]) -> frozenset[sympy.Expr]:
    """The extents of tensors that are symbols."""
    return frozenset(extent for type_ in types for extent in _extents(type_) if extent.is_Symbol)


# The layers of a model ask the same again and again.
@lru_cache(maxsize=1 << 12)
def _is_sure(
    condition: Boolean,
    values: tuple[tuple[sympy.Symbol, sympy.Expr], ...],
    never_negative: frozenset[sympy.Expr],
    positive: frozenset[sympy.Expr],
    asserted: tuple[tuple[sympy.Symbol, int], ...],
) -> bool:
    """Whether a condition on the symbols of a kernel holds for these values of theirs."""
    known = dict(values)
    if not condition.free_symbols <= known.keys():
        return False
    return bool(with_sizes(condition.xreplace(known), never_negative, positive, asserted) == sympy.true)


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
