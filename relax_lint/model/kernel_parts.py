"""Parts of the parameters of a kernel: blocks of elements in a row, at equal distances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.support.lazy_dataclass import record


@record(frozen=True)
class Repeat:
    """`trips` steps, each of which moves what is filled by `distance` > 0 elements."""

    distance: sympy.Expr
    trips: sympy.Expr


@record(frozen=True)
class Fill:
    """`block` elements in a row from `start` on, repeated. It takes `steps`: that other loops have some."""

    start: sympy.Expr
    block: sympy.Expr
    repeats: tuple[Repeat, ...]
    steps: Boolean = sympy.true


@record(frozen=True)
class Parts:
    """By parameter: what is `stored` to at least, and what is `loaded` at most, in the symbols of the
    signature. Of a parameter that is not in `loaded` everything may be.
    """

    stored: Mapping[int, tuple[Fill, ...]] = field(default_factory=dict)
    loaded: Mapping[int, tuple[Fill, ...]] = field(default_factory=dict)
