"""Branches that the symbols choose: a total has one formula for each case.

A branch that only a run decides is an alternative, of which the most counts. Where it is a matter of the
symbols, it is known which branch counts for which values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol, TypeAlias, TypeVar

import sympy
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from relax_lint.model.operations import If
from relax_lint.symbolic.functions import Select
from relax_lint.totals.quantities import Indeterminate, Quantity, Scope

MAX_CASES = 16
"""Cases that a formula may distinguish."""

Chosen: TypeAlias = "tuple[tuple[Boolean, bool], ...]"
"""The conditions on symbols that a path met, and whether each held."""


class _Path(Protocol):
    @property
    def chosen(self) -> Chosen: ...


P = TypeVar("P", bound=_Path)


def condition_of(op: If, scope: Scope) -> tuple[Boolean, bool] | None:
    """The condition of a branch in the symbols of the outermost function, and whether the then-branch is the
    one where it holds: of a condition and its negation one stands for both. None where it is not on symbols.
    """
    if not op.facts:
        return None
    condition = sympy.And(*(fact.condition for fact in op.facts))
    if scope.values is not None:
        if not all(scope.knows(symbol) for symbol in condition.free_symbols):
            return None
        condition = condition.xreplace(
            {symbol: sympy.sympify(scope.quantity(symbol)) for symbol in condition.free_symbols}
        )
    if isinstance(condition, Relational) and condition.lhs.is_Integer:
        condition = condition.reversed
    if isinstance(condition, sympy.Lt | sympy.Le | sympy.Ne | sympy.Not):
        return _strict(sympy.Not(condition)), False
    return _strict(condition), True


def _strict(condition: Boolean) -> Boolean:
    """Of integers `n >= 5` is `n > 4`."""
    if isinstance(condition, sympy.Ge) and condition.rhs.is_Integer:
        return sympy.Gt(condition.lhs, condition.rhs - 1)
    return condition


def implied(condition: Boolean, chosen: Mapping[Boolean, bool]) -> bool | None:
    """What the conditions that were decided say of another one; None where they leave it open."""
    if condition in (sympy.true, sympy.false):
        return bool(condition)
    if condition in chosen:
        return chosen[condition]
    for other, holds in chosen.items():
        if _is_limit(condition) and _is_limit(other) and condition.lhs == other.lhs:
            if holds and other.rhs >= condition.rhs:
                return True
            if not holds and other.rhs <= condition.rhs:
                return False
    return None


def _is_limit(condition: Boolean) -> bool:
    return isinstance(condition, sympy.Gt) and bool(condition.rhs.is_Integer)


def by_cases(paths: Sequence[P], compute: Callable[[list[P]], Quantity]) -> Quantity:
    """What is computed of the paths, for each case of those that are possible there. Raises Indeterminate
    where there are too many.
    """
    left = [MAX_CASES]
    return _of_cases(list(paths), (), compute, left)


def _of_cases(
    paths: list[P], decided: tuple[Boolean, ...], compute: Callable[[list[P]], Quantity], left: list[int]
) -> Quantity:
    condition = next((c for path in paths for c, _ in path.chosen if c not in decided), None)
    if condition is None:
        left[0] -= 1
        if left[0] < 0:
            raise Indeterminate("which branches the symbols choose makes too many cases")
        return compute(paths)
    sides = [[path for path in paths if (condition, not holds) not in path.chosen] for holds in (True, False)]
    known = (*decided, condition)
    first, second = (_of_cases(side, known, compute, left) if side else None for side in sides)
    if first is None or second is None:
        found = second if first is None else first
        assert found is not None
        return found
    # What ends with 0 is taken for a coincidence of sizes.
    if second == 0:
        condition, first, second = sympy.Not(condition), second, first
    chosen = Select(condition, sympy.sympify(first), sympy.sympify(second))
    return int(chosen) if chosen.is_Integer else chosen


def most_of_cases(total: sympy.Expr) -> sympy.Expr:
    """What no case of a total exceeds: the most of them all, wherever each is possible."""
    found = list(_cases(total))
    return total if len(found) == 1 else sympy.Max(*found, evaluate=False)


def _cases(total: sympy.Expr) -> Iterator[sympy.Expr]:
    if isinstance(total, Select):
        for case in total.args[1:]:
            yield from _cases(case)
    else:
        yield total
