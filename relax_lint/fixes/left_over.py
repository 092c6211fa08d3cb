"""What several checks, each of which is right, admit together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import sympy
from sympy.logic.boolalg import And, Boolean, false, true

from relax_lint.analysis.definitions import Definitions, Point
from relax_lint.fixes.changes import InsertAssert
from relax_lint.model.operations import OperationId
from relax_lint.symbolic.domain import Domain, FactKind
from relax_lint.symbolic.printing import condition_text

MAX_CHECKS = 64
"""Distinct checks of one function that are looked at."""

Implies = Callable[[Domain, Boolean, Boolean], bool]


class LeftOver:
    """Finds checks that leave no input, or of some symbol one or two values only."""

    def __init__(
        self,
        definitions: Definitions,
        domain_at: Callable[[OperationId], Domain],
        entry: Domain,
        implies: Implies,
    ) -> None:
        self._definitions = definitions
        self._domain_at = domain_at
        self._entry = entry
        self._implies = implies

    def of(self, checks: Sequence[InsertAssert]) -> str | None:
        """What is left behind the checks that one run passes, where that is next to nothing. A single check
        says itself what it admits.
        """
        known = list(dict.fromkeys(checks))[:MAX_CHECKS]
        for last in dict.fromkeys(check.before for check in known):
            passed = [c for c in known if self._definitions.dominates(Point(c.before), Point(last))]
            conditions = dict.fromkeys(check.condition for check in passed)
            if len(conditions) > 1 and (said := self._said(list(conditions), last)):
                return said
        return None

    def _said(self, conditions: Sequence[Boolean], last: OperationId | None) -> str | None:
        at = self._entry if last is None else self._domain_at(last)
        domain, passed = at.without(FactKind.ASSUMED), And(*conditions)
        if self._implies(domain, passed, false):
            return "no input passes all checks"
        for symbol in sorted(passed.free_symbols, key=str):
            for few in _few_values(symbol, conditions):
                if self._implies(domain, passed, few) and not self._implies(domain, true, few):
                    return f"all checks together admit only `{condition_text(few)}`"
        return None


def _few_values(symbol: sympy.Symbol, conditions: Iterable[Boolean]) -> Iterator[Boolean]:
    """Conditions that one or two values of a symbol meet: 0 and 1, and those next to a limit."""
    yield sympy.Le(symbol, 1)
    limits = sorted({limit for condition in conditions for limit in _limits(symbol, condition)})
    yield from (sympy.Eq(symbol, limit) for limit in limits)
    yield from (And(symbol >= limit - 1, symbol <= limit) for limit in limits)


def _limits(symbol: sympy.Symbol, condition: Boolean) -> Iterator[int]:
    """The last values that a linear condition on nothing but the symbol admits or refuses."""
    for relation in condition.atoms(sympy.core.relational.Relational):
        difference = relation.lhs - relation.rhs
        polynomial = difference.as_poly(symbol) if difference.free_symbols == {symbol} else None
        if polynomial is not None and polynomial.degree() == 1:
            root = -polynomial.nth(0) / polynomial.nth(1)
            yield from {int(sympy.floor(root)), int(sympy.ceiling(root))}
