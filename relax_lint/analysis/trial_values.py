"""What the values of a function that is tried hold: tensors, and tuples of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from relax_lint.analysis.trial_tensors import TrialTensor, Unclear
from relax_lint.model.types import PrimType, ShapeType, ValueType, extents_of

Held: TypeAlias = "TrialTensor | tuple[Held, ...] | None"
"""What a value is: a tensor, a tuple, or something that is not followed, the same with damage and without."""


def fields(held: Held) -> Iterator[Held]:
    """What a value is made of, in order."""
    if isinstance(held, tuple):
        for one in held:
            yield from fields(one)
    else:
        yield held


def exchanged(held: Held, old: TrialTensor, new: TrialTensor) -> Held:
    """The same with another tensor in the place of one, in tuples too."""
    if isinstance(held, tuple):
        return tuple(exchanged(one, old, new) for one in held)
    return new if held is not None and held.both is old.both else held


def joined(one: Held, other: Held) -> Held:
    """What a value is that is one thing without damage and another one with it. Raises `Unclear` where these
    are not two tensors of one type, or two values that are not followed.
    """
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        return tuple(map(joined, one, other))
    if isinstance(one, TrialTensor) and isinstance(other, TrialTensor) and one.is_alike(other):
        return one if one.both is other.both else one.on_sides(other)
    if one is not None or other is not None:
        raise Unclear
    return None


def require_equal(one: ValueType, other: ValueType) -> None:
    """Raises `Unclear` where two values that are not followed may differ, as far as their types tell."""
    is_told = isinstance(one, ShapeType | PrimType) and bool(extents_of(one))
    if not is_told or one != other:
        raise Unclear


def leaves(held: Held) -> Iterator[TrialTensor]:
    """The tensors that a value is made of, as far as they are followed."""
    return (one for one in fields(held) if isinstance(one, TrialTensor))
