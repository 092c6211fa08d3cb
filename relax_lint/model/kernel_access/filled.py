"""Buffers of a kernel's own whose elements are a function of their indices, such as `s[i] = i // 2`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from relax_lint.model.kernel_access.atoms import Atom, Kind, Option
from relax_lint.model.kernel_access.conditions import Condition, at_least_zero, atoms_of, is_unread
from relax_lint.model.kernel_access.outside import reach
from relax_lint.model.kernel_access.polynomials import Poly, TooLarge, constant, total
from relax_lint.model.kernel_access.terms import Terms
from relax_lint.support.lazy_dataclass import record

MAX_ATOMS = 8
"""Of so many loops, quotients and choices a function is made at most."""
_KINDS = (Kind.LOOP, Kind.QUOTIENT, Kind.REMAINDER, Kind.CHOICE)


@record(frozen=True)
class Filled:
    """What a store leaves in each element: `value`, where `loops` are the indices of the element; None is an
    index that is a constant.
    """

    loops: tuple[int | None, ...]
    value: Poly


def filled_by(
    terms: Terms, where: Sequence[Poly | None], value: Poly, facts: Iterable[Condition]
) -> Filled | None:
    """What a store with these indices leaves, if the element alone decides it."""
    loops: list[int | None] = []
    for index in where:
        number = None if index is None else index.single()
        is_loop = number is not None and terms[number].kind is Kind.LOOP and number not in loops
        if index is None or not (is_loop or index.is_constant):
            return None
        loops.append(number)
    used = reach(terms, [*value.atoms(), *atoms_of(facts)])
    if len(used) > MAX_ATOMS or any(map(is_unread, facts)):
        return None
    return Filled(tuple(loops), value) if all(_is_of(terms[n], n, loops) for n in used) else None


def _is_of(atom: Atom, number: int, loops: Sequence[int | None]) -> bool:
    """Whether an atom is made of some loops."""
    if atom.kind is Kind.LOOP:
        return number in loops
    return atom.kind in _KINDS and (atom.kind is not Kind.CHOICE or atom.operation != "")


def element(terms: Terms, filled: Filled, indices: Sequence[Poly]) -> Poly | None:
    """What the element with some indices holds; None where that cannot be expressed."""
    given = {loop: index for loop, index in zip(filled.loops, indices, strict=True) if loop is not None}
    try:
        return _put(terms, filled.value, given)
    except TooLarge:
        return None


def _put(terms: Terms, p: Poly, given: Mapping[int, Poly]) -> Poly | None:
    """A polynomial with numbers in the place of loops."""
    parts = []
    for monomial, coefficient in p.terms.items():
        product = constant(coefficient)
        for number in monomial:
            factor = _atom(terms, number, given)
            if factor is None:
                return None
            product = product * factor
        parts.append(product)
    return total(parts)


def _atom(terms: Terms, number: int, given: Mapping[int, Poly]) -> Poly | None:
    atom = terms[number]
    if atom.static or atom.kind is Kind.LOOP:
        return given.get(number, Poly({(number,): 1}))
    if atom.kind is Kind.CHOICE:
        one, other = (_put(terms, option.value, given) for option in atom.options)
        return None if one is None or other is None else _extreme(terms, one, other, atom.operation)
    first, last = _put(terms, atom.first, given), _put(terms, atom.last, given)
    if first is None or last is None:
        return None
    return (terms.quotient if atom.kind is Kind.QUOTIENT else terms.remainder)(first, last)


def _extreme(terms: Terms, one: Poly, other: Poly, operation: str) -> Poly:
    """The least or the greatest of two numbers."""
    room = one - other if operation == "max" else other - one
    if terms.is_not_negative(room):
        return one
    if terms.is_not_negative(-room):
        return other
    options = (Option(at_least_zero(room), one), Option(at_least_zero(-room), other))
    return terms.choice(options, operation)
