"""What stands in the index arithmetic of a kernel: one kind of number each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

from relax_lint.model.kernel_access.polynomials import ZERO, Poly
from relax_lint.support.lazy_dataclass import record

INT64 = 2**63
"""The least integer that 64 bits with a sign do not hold."""


class Kind(Enum):
    """What an atom stands for."""

    SYMBOL = "a symbol of the signature, or a bound on what a parameter holds"
    LOOP = "a loop variable"
    QUOTIENT = "a floor division"
    REMAINDER = "what a floor division leaves"
    CHOICE = "one of several values, each under a condition"
    LOADED = "an element of a buffer"
    OPAQUE = "a number of which at most a range is known"


Span: TypeAlias = "tuple[int | None, int | None]"
"""The least and the greatest value, None where they are not known."""


@record(frozen=True)
class Option:
    """One value of a choice and the condition under which it is taken."""

    condition: Any
    value: Poly


@dataclass(eq=False)
class Atom:
    """One atom. Loops and loaded values run from `first` to `last`; of quotients and remainders `first` is
    the dividend, `last` the divisor. `static` ones depend on the call only. `name` is the name of a variable,
    or the sympy symbol that it is.
    """

    kind: Kind
    name: Any
    span: Span
    static: bool
    first: Poly = ZERO
    last: Poly = ZERO
    options: tuple[Option, ...] = ()
    bounded: bool = True
    """Whether `first` and `last` of a loaded value are known."""
    operation: str = ""
    """Of a choice: `min`, `max` or nothing."""
    holder: int | None = None
    """Of a bound on what a parameter holds: its position."""


def smallest(ends: Sequence[int | None]) -> int | None:
    """The least of some ends; None where one is not known."""
    return None if None in ends else min(end for end in ends if end is not None)


def largest(ends: Sequence[int | None]) -> int | None:
    """The greatest of some ends; None where one is not known."""
    return None if None in ends else max(end for end in ends if end is not None)


def span_of(dtype: str) -> Span | None:
    """The least and greatest value of an integer type; None for any other."""
    name = dtype.partition("x")[0]
    signed = name.startswith("int")
    digits = name[3:] if signed else name[4:]
    if name == "bool":
        return 0, 1
    if not digits.isdigit():
        return None
    bits = int(digits)
    if signed:
        return (None, None) if bits >= 64 else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return 0, 2**bits - 1


def is_within(outer: Span, inner: Span) -> bool:
    """Whether the numbers of a type hold others; what grows with sizes is taken to fit 64 bits."""
    below = outer[0] is None or (inner[0] is not None and outer[0] <= inner[0])
    above = outer[1] is None or (outer[1] > INT64 if inner[1] is None else inner[1] <= outer[1])
    return below and above
