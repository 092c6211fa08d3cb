"""Quantities of which the IR may not say enough: a size, a shape."""

from __future__ import annotations

from typing import TypeAlias

import sympy

from relax_lint.support.lazy_dataclass import record


@record(frozen=True)
class Unknown:
    """A quantity that the IR does not determine, with the reason in words."""

    reason: str


Size: TypeAlias = sympy.Expr | Unknown
Shape: TypeAlias = tuple[sympy.Expr, ...] | Unknown
