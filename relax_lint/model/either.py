"""The type of what an `If` gives, by what each branch gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from relax_lint.model.types import TensorType, TupleType, ValueType
from relax_lint.support.lazy_dataclass import record


@record(frozen=True)
class Branch:
    """What a branch gives: the type that it has, and the one that the IR gives it. A `vm.builtin.copy` makes
    them differ, which gives a tensor back under any type.
    """

    known: ValueType
    declared: ValueType


def type_of_either(declared: ValueType, branches: Sequence[Branch]) -> ValueType:
    """What is true of both branches, where the IR says `declared` of what they give."""
    one, other = branches
    if one.known == other.known:
        return one.known
    types = (declared, one.known, one.declared, other.known, other.declared)
    if all(isinstance(type_, TupleType) for type_ in types):
        return _tuple(types)
    if all(isinstance(type_, TensorType) for type_ in types):
        return _tensor(types)
    return declared


def _tuple(types: Sequence[ValueType]) -> ValueType:
    fields = [type_.fields for type_ in types if isinstance(type_, TupleType)]
    if len({len(each) for each in fields}) > 1:
        return types[0]
    found = []
    for declared, one, one_declared, other, other_declared in zip(*fields, strict=True):
        branches = (Branch(one, one_declared), Branch(other, other_declared))
        found.append(type_of_either(declared, branches))
    return TupleType(tuple(found))


def _tensor(types: Sequence[ValueType]) -> ValueType:
    """What the IR says of a tensor, without what it has from a type that is not true of a branch."""
    declared, one, one_declared, other, other_declared = (t for t in types if isinstance(t, TensorType))
    found = declared
    if (one.dtype, other.dtype) != (one_declared.dtype, other_declared.dtype):
        found = replace(found, dtype=one.dtype if one.dtype == other.dtype else None)
    if (one.shape, other.shape) != (one_declared.shape, other_declared.shape):
        same_rank = one.ndim == other.ndim
        shape = one.shape if one.shape == other.shape else None
        found = replace(found, shape=shape, ndim=one.ndim if same_rank else -1)
    return found
