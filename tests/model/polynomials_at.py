"""What polynomials and conditions of kernels are at a point: the plain definition, which tests compare with."""

from __future__ import annotations

from collections.abc import Mapping

from relax_lint.model.kernel_access.atoms import Kind
from relax_lint.model.kernel_access.conditions import AnyOf, AtLeastZero, Condition, Unread
from relax_lint.model.kernel_access.polynomials import Poly
from relax_lint.model.kernel_access.terms import Terms

Point = Mapping[int, int]
"""The values of symbols, loops and elements, by the numbers of their atoms."""


class NotKnown(Exception):
    """It depends on data."""


def value_of(terms: Terms, p: Poly, at: Point, *, alike: bool = True) -> int:
    """What a polynomial is; a choice is the first option that is taken, and each other one if they are `alike`.
    Raises NotKnown and ZeroDivisionError.
    """
    result = 0
    for monomial, factor in p.terms.items():
        for number in monomial:
            factor *= _atom(terms, number, at, alike)
        result += factor
    return result


def _atom(terms: Terms, number: int, at: Point, alike: bool) -> int:
    if number in at:
        return at[number]
    atom = terms[number]
    if atom.kind in (Kind.QUOTIENT, Kind.REMAINDER):
        first, last = (value_of(terms, part, at, alike=alike) for part in (atom.first, atom.last))
        return divmod(first, last)[atom.kind is Kind.REMAINDER]
    found = []
    for option in atom.options:
        taken = holds(terms, option.condition, at, alike=alike)
        if taken is None:
            break
        if taken:
            found.append(value_of(terms, option.value, at, alike=alike))
            if not alike:
                break
    if not found:
        raise NotKnown
    assert len(set(found)) == 1
    return found[0]


def holds(terms: Terms, condition: Condition, at: Point, *, alike: bool = True) -> bool | None:
    """The truth in three-valued logic. Raises ZeroDivisionError."""
    if isinstance(condition, bool):
        return condition
    if isinstance(condition, AtLeastZero):
        try:
            return value_of(terms, condition.value, at, alike=alike) >= 0
        except NotKnown:
            return None
    decisive = isinstance(condition, AnyOf)
    found: set[bool | None] = {None} if isinstance(condition, Unread) else set()
    for part in getattr(condition, "parts", ()):
        found.add(holds(terms, part, at, alike=alike))
        if False in found and not decisive:
            return False
    return decisive if decisive in found else None if None in found else not decisive
