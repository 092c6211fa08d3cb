"""What a guess that the machine compares as mathematics does asks of an example: an input at which a number
in the comparison wraps around may be refused, and never get to the operation.
"""

from __future__ import annotations

from collections.abc import Iterator

import sympy

from relax_lint.symbolic.domain import Domain, Fact
from relax_lint.symbolic.printing import condition_text
from relax_lint.vm.facts import FactSource

_LEAST, _MOST = -(2**63), 2**63 - 1


def unwrapped(domain: Domain) -> tuple[Fact, ...]:
    """That each sum and product in what a domain guesses is a 64-bit number. Nothing is proved with it."""
    conditions = dict.fromkeys(
        condition
        for fact in domain.facts
        if fact.guessed
        for number in sorted(fact.condition.atoms(sympy.Add, sympy.Mul, sympy.Pow), key=str)
        for condition in _is_held(number)
    )
    return tuple(Fact.of(FactSource.WRAPPING, one, condition_text(one)) for one in conditions)


def _is_held(number: sympy.Expr) -> Iterator[sympy.logic.boolalg.Boolean]:
    for condition in (sympy.Ge(number, _LEAST), sympy.Le(number, _MOST)):
        if condition not in (sympy.true, sympy.false):
            yield condition
