"""The integers between which the elements of a tensor lie."""

from __future__ import annotations

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.analysis.presumption import Presumption
from relax_lint.model.types import TensorType, ValueType
from relax_lint.support.lazy_dataclass import record

_WIDE = 64


@record(frozen=True)
class Held:
    """The integers between which all elements of a tensor lie, in calls in which all of `given` holds: what
    the `presumptions` mean, one for each. If they are `reached`, then a tensor that has an element has
    the smallest and the greatest of them.
    """

    low: sympy.Expr
    high: sympy.Expr
    presumptions: tuple[Presumption, ...] = ()
    given: tuple[Boolean, ...] = ()
    reached: bool = False


def positions_below(extent: sympy.Expr, bits: int, operator: str) -> Held | None:
    """Positions on an axis, as integers of so many bits; None where those are too narrow."""
    fits = sympy.Le(extent, 2 ** (bits - 1))
    if bits < _WIDE and fits == sympy.false:
        return None
    first, last = sympy.Integer(0), extent - 1
    if bits >= _WIDE or fits == sympy.true:
        return Held(first, last)
    return Held(first, last, (Presumption(f"no position that `{operator}` finds wraps around"),), (fits,))


def any_integers(type_: ValueType) -> Held | None:
    """What an unknown tensor of integers may hold: all numbers of its dtype."""
    name = dtype_of(type_)
    digits = name.removeprefix("u").removeprefix("int")
    if not digits.isdigit() or name not in (f"int{digits}", f"uint{digits}"):
        return None
    bits = int(digits)
    low, high = (0, 2**bits - 1) if name.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return Held(sympy.Integer(low), sympy.Integer(high))


def bits_of(type_: ValueType | None) -> int | None:
    """The bits of a tensor of integers with a sign."""
    name = "" if type_ is None else dtype_of(type_)
    digits = name.removeprefix("int")
    return int(digits) if name.startswith("int") and digits.isdigit() else None


def dtype_of(type_: ValueType) -> str:
    """The name of the type of the elements."""
    return type_.dtype.name if isinstance(type_, TensorType) and type_.dtype is not None else ""
