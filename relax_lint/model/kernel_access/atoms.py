"""What stands in the index arithmetic of a kernel: one kind of number each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

from relax_lint.model.kernel_access.polynomials import ZERO, Poly
from relax_lint.support.lazy_dataclass import record


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
