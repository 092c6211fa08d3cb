"""Claims as they are asked of single operations, for the records of proofs: with the quantities by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.analysis.overlaps import ByteRange
from relax_lint.model.operations import AllocStorage, AllocTensor, Op
from relax_lint.model.sizes import BITS_PER_BYTE
from relax_lint.symbolic.asked import (
    Asked,
    Compared,
    Plain,
    Statement,
    at_most_sum,
    every,
    not_negative_each,
    some,
)
from relax_lint.symbolic.domain import INT64_MAX
from relax_lint.symbolic.quantity import Unknown

_UINT64_MAX = 2**64 - 1


def fitting(tensor: AllocTensor, needed: sympy.Expr, storage: AllocStorage, capacity: sympy.Expr) -> Asked:
    """A tensor that needs a number of bytes lies inside its storage: offset + bytes <= capacity."""
    name, own = storage.place.binding, tensor.place.binding
    offset = tensor.offset
    assert not isinstance(offset, Unknown)
    names = {
        f"offset of `{own}`": offset,
        f"bytes of `{own}`": needed,
        f"size of `{name}`": storage.size,
        f"capacity of `{name}`": capacity,
    }
    if capacity == storage.size:
        del names[f"capacity of `{name}`"]
    return Asked(at_most_sum((offset, needed), capacity), names)


def signs(what: str, op: Op, quantities: Sequence[sympy.Expr]) -> Asked:
    """None of some quantities of an operation is negative."""
    label = f"{what} of `{op.place.binding}`"
    if len(quantities) == 1:
        names = {label: quantities[0]}
    else:
        names = {f"{label} ({axis})": quantity for axis, quantity in enumerate(quantities)}
    return Asked(not_negative_each(quantities), names)


def arithmetic(
    extents: Sequence[sympy.Expr], bits: int, offset: sympy.Expr, inside: Iterable[Boolean], *, exact: bool
) -> Asked:
    """The runtime's arithmetic for a size does not wrap around, and what holds `inside` the extents; where it
    is not `exact`, the product of the extents is bounded by `max-extent` as well.
    """
    count = sympy.Mul(*extents, evaluate=False) if extents else sympy.Integer(1)
    parts: list[Statement] = [
        Compared((count,), "<=", (sympy.Integer(INT64_MAX),)),
        Compared((count * bits, sympy.Integer(BITS_PER_BYTE - 1)), "<=", (sympy.Integer(_UINT64_MAX),)),
    ]
    if offset != 0:
        end = (offset * BITS_PER_BYTE, count * bits)
        parts.append(Compared(end, "<=", (sympy.Integer(BITS_PER_BYTE * INT64_MAX),)))
    parts += map(Plain, inside)
    return Asked(every(parts), {"number of elements": sympy.Mul(*extents)}, exact)


def equalities(pairs: Iterable[tuple[sympy.Expr, sympy.Expr]]) -> Asked:
    """Each of some quantities is the other one."""
    return Asked(every(Compared((have,), "==", (want,)) for have, want in pairs))


def taken_offset(
    name: str, offset: sympy.Expr, condition: sympy.Basic, unit: int | None, wanted: sympy.Expr
) -> Asked:
    """A kernel takes a tensor at an offset: a multiple of `unit`, or without one what is `wanted`."""
    names = {f"offset of {name}": offset}
    if unit is None:
        return Asked(Compared((offset,), "==", (wanted,)), names)
    return Asked(Plain(condition), {**names, "unit": sympy.Integer(unit)})


def apart(one: ByteRange, other: ByteRange, names: Sequence[str], again: Boolean = sympy.false) -> Asked:
    """Two ranges of bytes share none, or one of them is empty; `again` is what makes that harmless."""
    starts, lengths = (one.start, other.start), (one.length, other.length)
    zero = sympy.Integer(0)
    parts: list[Statement] = [
        Compared((starts[0], lengths[0]), "<=", (starts[1],)),
        Compared((starts[1], lengths[1]), "<=", (starts[0],)),
        *(Compared((length,), "<=", (zero,)) for length in lengths),
        *(() if again == sympy.false else (Plain(again),)),
    ]
    named: dict[str, sympy.Expr] = {}
    for name, start, length in zip(names, starts, lengths, strict=True):
        named |= {f"start of {name}": start, f"bytes of {name}": length}
    return Asked(some(parts), named)


def sized(left: dict[str, sympy.Expr], relation: str, right: dict[str, sympy.Expr]) -> Asked:
    """Two sums of quantities, compared."""
    return Asked(Compared(tuple(left.values()), relation, tuple(right.values())), {**left, **right})
