"""A kernel together with operands of certain types: the conditions that calls of this form share."""

from __future__ import annotations

from functools import cached_property

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.facts.asking import equalities
from relax_lint.facts.claims import all_of
from relax_lint.facts.kernel_entry import Binding, Demand, bind
from relax_lint.model.kernels import (
    BufferParameter,
    Kernel,
    Lookup,
    OpaqueParameter,
    Reduction,
    ScalarParameter,
)
from relax_lint.model.types import PrimType, TensorType, ValueType
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.asked import Asked, Plain
from relax_lint.symbolic.quantity import Unknown
from relax_lint.symbolic.relations import at_most

_UNCHECKED_DTYPES = frozenset({"int1", "int4", "uint4"})
"""Dtypes that a PrimFunc's entry does not compare (TVM's src/tirx/transform/tvm_ffi_binder.cc)."""

_NEVER_BEGUN = "the loops may leave out the step that initialises the result"
_ZERO, _ONE = sympy.Integer(0), sympy.Integer(1)


@record(frozen=True)
class DTypeMismatch:
    """An operand whose dtype the kernel refuses."""

    position: int
    have: str
    want: str


@record(frozen=True)
class KernelMatch:
    """A kernel and the types of its operands. A model has few of these and many calls of each."""

    kernel: Kernel
    types: tuple[ValueType, ...]

    @cached_property
    def binding(self) -> Binding:
        """The values of the kernel's symbols, and what its entry compares."""
        return bind(self.kernel, self.types)

    @cached_property
    def accepted(self) -> Boolean | Unknown:
        """What the kernel's entry compares, all together, for tensors without gaps."""
        return all_of(requirement.condition for requirement in self.binding.requirements)

    @cached_property
    def compared(self) -> Boolean | Unknown:
        """What the kernel's entry compares whatever the strides of the tensors are."""
        requirements = self.binding.requirements
        return all_of(one.condition for one in requirements if one.demand is not Demand.STRIDE)

    def asked_to_accept(self) -> Asked:
        """The comparisons of the kernel's entry as they are asked."""
        requirements = self.binding.requirements
        pairs = [requirement.sides for requirement in requirements if requirement.sides is not None]
        if len(pairs) == len(requirements):
            return equalities(pairs)
        assert not isinstance(self.accepted, Unknown)
        return Asked(Plain(self.accepted))

    @cached_property
    def starts_at_zero(self) -> bool:
        """Whether the kernel takes each tensor where its memory starts, and asks nothing else."""
        return all(
            parameter.offset == 0
            for parameter in self.kernel.parameters
            if isinstance(parameter, BufferParameter)
        )

    @cached_property
    def dtype_mismatches(self) -> tuple[DTypeMismatch, ...]:
        """The operands whose dtype the kernel's entry refuses."""
        return tuple(
            DTypeMismatch(position, type_.dtype.name, parameter.dtype.name)
            for position, parameter, type_ in self._compared_buffers
            if type_.dtype is not None and type_.dtype.name != parameter.dtype.name
        )

    @cached_property
    def scalar_mismatches(self) -> tuple[DTypeMismatch, ...]:
        """The numbers that are of another dtype than the kernel's parameters: TVM builds no `R.call_tir` with
        one.
        """
        return tuple(
            DTypeMismatch(position, type_.dtype, parameter.dtype)
            for position, (parameter, type_) in enumerate(
                zip(self.kernel.parameters, self.types, strict=False)
            )
            if isinstance(parameter, ScalarParameter | OpaqueParameter)
            and isinstance(type_, PrimType)
            and type_.dtype != parameter.dtype != ""
        )

    @cached_property
    def unknown_dtype(self) -> int | None:
        """The first operand whose dtype the entry compares and nobody knows; None where there is none."""
        return next((position for position, _, type_ in self._compared_buffers if type_.dtype is None), None)

    @cached_property
    def _compared_buffers(self) -> tuple[tuple[int, BufferParameter, TensorType], ...]:
        """The tensors whose dtypes the kernel's entry compares, with their positions and parameters."""
        pairs = zip(self.kernel.parameters, self.types, strict=False)
        return tuple(
            (position, parameter, type_)
            for position, (parameter, type_) in enumerate(pairs)
            if isinstance(parameter, BufferParameter)
            and isinstance(type_, TensorType)
            and parameter.dtype.name not in _UNCHECKED_DTYPES
        )

    @cached_property
    def initialises(self) -> Boolean | Unknown:
        """Each reduction has a step that initialises its result, or has no result, or the kernel has none."""
        steps = all_of(self._initialises(reduction) for reduction in self.kernel.reductions)
        if isinstance(steps, Unknown) or steps == sympy.true:
            return steps
        return sympy.Or(steps, self._writes_nothing)

    @cached_property
    def _writes_nothing(self) -> Boolean:
        """Every tensor that the kernel writes is known to be empty."""
        written = [self.types[position] for position in sorted(self.kernel.writes)]
        shapes = [
            type_.shape for type_ in written if isinstance(type_, TensorType) and type_.shape is not None
        ]
        if len(shapes) < len(written):
            return sympy.false
        return sympy.And(*(sympy.Or(*(at_most(extent, _ZERO) for extent in shape)) for shape in shapes))

    def _initialises(self, reduction: Reduction) -> Boolean | Unknown:
        bound = self.binding.exprs((*reduction.reduced, *reduction.kept))
        if isinstance(bound, Unknown):
            return bound
        reduced, kept = bound[: len(reduction.reduced)], bound[len(reduction.reduced) :]
        steps = sympy.And(*(at_most(_ONE, extent) for extent in reduced))
        found = sympy.Or(steps, *(at_most(extent, _ZERO) for extent in kept))
        return found if reduction.begins or found == sympy.false else Unknown(_NEVER_BEGUN)

    def holds(self, lookup: Lookup, first: sympy.Expr, last: sympy.Expr) -> Boolean | None:
        """Indices from `first` to `last` are inside the axis, or none is used; None where its extent, or
        whether any is used, is unknown.
        """
        extent, steps = self._indexed_extent(lookup), self.binding.exprs(lookup.steps)
        if extent is None or isinstance(steps, Unknown):
            return None
        inside = sympy.And(at_most(_ZERO, first), at_most(last + 1, extent))
        return sympy.Or(inside, *(at_most(step, _ZERO) for step in steps))

    def may_hold_in_memory(self, lookup: Lookup, first: sympy.Expr, last: sympy.Expr) -> Boolean:
        """Indices from `first` to `last` may be of elements of the tensor, those of other rows included;
        asked where it is known whether the axis `holds` them.
        """
        target, stays = self.types[lookup.parameter], self.holds(lookup, first, last)
        assert isinstance(target, TensorType)
        assert target.shape is not None
        assert stays is not None
        extent, rows = target.shape[lookup.axis], sympy.prod(target.shape[: lookup.axis])
        ends = at_most(last + 1, rows * extent), at_most(_ZERO, (rows - 1) * extent + first)
        return sympy.Or(stays, sympy.And(*ends))

    def has_element(self, lookup: Lookup) -> Boolean | None:
        """The axis that is indexed is not empty; None where its extent is unknown."""
        extent = self._indexed_extent(lookup)
        return None if extent is None else at_most(_ONE, extent)

    def _indexed_extent(self, lookup: Lookup) -> sympy.Expr | None:
        target = self.types[lookup.parameter]
        if not isinstance(target, TensorType) or target.shape is None or lookup.axis >= len(target.shape):
            return None
        return target.shape[lookup.axis]
