"""Claims as they were asked, before any arithmetic: what a record of a proof states."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import TypeAlias

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.printing import condition_text, expr_text


@record(frozen=True)
class Compared:
    """Two sums and the relation that is claimed of them: `<=`, `>=`, `==`."""

    left: tuple[sympy.Expr, ...]
    relation: str
    right: tuple[sympy.Expr, ...]

    def __str__(self) -> str:
        return f"{_sum(self.left)} {self.relation} {_sum(self.right)}"


@record(frozen=True)
class Joined:
    """Several claims of which every one, or (not `every`) at least one, holds."""

    parts: tuple[Statement, ...]
    every: bool = True

    def __str__(self) -> str:
        word = " and " if self.every else " or "
        return word.join(f"({part})" if isinstance(part, Joined) else str(part) for part in self.parts)


@record(frozen=True)
class Plain:
    """A condition that is as it was asked."""

    condition: Boolean

    def __str__(self) -> str:
        return condition_text(self.condition)


Statement: TypeAlias = "Compared | Joined | Plain"


@record(frozen=True)
class Asked:
    """A claim, with the quantities in it by what they are (``size of `storage` ``).

    It is `exact` where it says the same as the condition that was put to the provers.
    """

    statement: Statement
    names: Mapping[str, sympy.Expr] = field(default_factory=dict)
    exact: bool = True


Asking: TypeAlias = Callable[[], Asked]
"""Claims are unfolded for records only."""


def at_most_sum(left: Iterable[sympy.Expr], right: sympy.Expr) -> Compared:
    """The sum of some quantities is at most another one."""
    return Compared(tuple(left), "<=", (right,))


def not_negative_each(quantities: Iterable[sympy.Expr]) -> Statement:
    """Each quantity is at least 0."""
    return every(Compared((quantity,), ">=", (sympy.Integer(0),)) for quantity in quantities)


def every(parts: Iterable[Statement]) -> Statement:
    """All of the claims; a claim of nothing is true."""
    return _joined(tuple(dict.fromkeys(parts)), True, sympy.true)


def some(parts: Iterable[Statement]) -> Statement:
    """At least one of the claims."""
    return _joined(tuple(dict.fromkeys(parts)), False, sympy.false)


def symbols_of(statement: Statement) -> frozenset[sympy.Symbol]:
    """The symbols of a claim."""
    if isinstance(statement, Plain):
        return frozenset(statement.condition.free_symbols)
    if isinstance(statement, Joined):
        return frozenset().union(*map(symbols_of, statement.parts))
    return frozenset().union(*(term.free_symbols for term in (*statement.left, *statement.right)))


def is_constant(statement: Statement) -> bool:
    """Whether nothing of the claim is left but true or false."""
    return isinstance(statement, Plain) and statement.condition in (sympy.true, sympy.false)


def _joined(parts: tuple[Statement, ...], all_of_them: bool, nothing: Boolean) -> Statement:
    if len(parts) == 1:
        return parts[0]
    return Joined(parts, all_of_them) if parts else Plain(nothing)


def _sum(terms: tuple[sympy.Expr, ...]) -> str:
    texts = [expr_text(term) for term in terms]
    return " + ".join(
        f"({text})" if text.startswith("-") and number else text for number, text in enumerate(texts)
    )
