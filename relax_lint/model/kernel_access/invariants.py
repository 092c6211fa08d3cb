"""Bounds on what the own buffers of a kernel hold that each store keeps: guessed, and kept if all stores do.

A counter is below its limit because it is only raised below it, and both ends of a search by halves stay
between the first ones. That is shown by induction: if each load is between the guessed bounds, then so is
each value that is stored. What a store does not keep is guessed again, wider, until all are kept or none
are left.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from relax_lint.model.kernel_access.atoms import Atom, Kind, Span
from relax_lint.model.kernel_access.conditions import Condition, branches
from relax_lint.model.kernel_access.outside import reach
from relax_lint.model.kernel_access.polynomials import Poly, TooLarge, constant, total
from relax_lint.model.kernel_access.terms import Terms
from relax_lint.support.lazy_dataclass import record

MAX_READINGS = 8
MAX_GUESSES = 4
"""For one end of what one buffer holds."""
MAX_POOL = 12
MAX_STORES = 400
_INT32 = 2**31
_WIDEST = 2**63

End: TypeAlias = "tuple[int, bool]"
"""A buffer, and whether it is the lower end of what it holds."""


@record(frozen=True)
class Put:
    """A value that is stored to an own buffer, and what holds there; None is any number."""

    root: int
    value: Poly | None
    facts: tuple[Condition, ...]


class Guesses:
    """For each end of what each buffer holds some bounds, the best one first; the first one is the guess."""

    def __init__(self, ladders: Mapping[End, Sequence[Poly | None]]) -> None:
        self._ladders = {end: list(ladder) for end, ladder in ladders.items()}
        self.given_up: set[int] = set()
        """The buffers of which a bound was given up."""

    def __bool__(self) -> bool:
        return any(ladder and ladder[0] is not None for ladder in self._ladders.values())

    def end(self, root: int, *, low: bool) -> Poly | None:
        """The guess for an end."""
        return next(iter(self._ladders.get((root, low), ())), None)

    def give_up(self, root: int, *, low: bool) -> None:
        """A store does not keep the guess: the next one is."""
        del self._ladders[root, low][0]
        self.given_up.add(root)

    def tightened(
        self, terms: Terms, root: int, known: tuple[Poly, Poly] | None, span: Span
    ) -> tuple[Poly, Poly] | None:
        """What is known of both ends, or the guesses where those are closer; None if there is neither."""
        low, high = self.end(root, low=True), self.end(root, low=False)
        if low is None and high is None:
            return known
        least, greatest = known or (
            constant(-_WIDEST if span[0] is None else span[0]),
            constant(_WIDEST - 1 if span[1] is None else span[1]),
        )
        is_wide = known is None or (least.is_constant and least.constant <= -_INT32)
        has_wide = known is None or (greatest.is_constant and greatest.constant >= _INT32 - 1)
        if low is not None and (is_wide or not terms.is_not_negative(least - low)):
            least = low
        if high is not None and (has_wide or not terms.is_not_negative(high - greatest)):
            greatest = high
        return least, greatest

    def moved(self, source: Terms, target: Terms) -> Guesses:
        """The same guesses in the terms of another reading of the kernel."""
        transfer = Transfer(source, target)
        return Guesses({end: [transfer.poly(p) for p in ladder] for end, ladder in self._ladders.items()})


def guesses(terms: Terms, puts: Sequence[Put]) -> Guesses:
    """Bounds that the stores of a kernel may keep."""
    found: dict[End, list[Poly | None]] = {}
    if len(puts) > MAX_STORES:
        return Guesses(found)
    roots = {put.root for put in puts} - {put.root for put in puts if put.value is None}
    for low in (True, False):
        certain: dict[int, dict[Poly, None]] = {root: {} for root in roots}
        likely: dict[int, dict[Poly, None]] = {root: {} for root in roots}
        for put in puts:
            if put.root not in roots or put.value is None:
                continue
            own = _end_of(terms, put.value, low=low)
            if own is not None:
                certain[put.root][own] = None
            else:
                likely[put.root].update(dict.fromkeys(_guarded(terms, put, low=low)))
        pool = dict.fromkeys(p for ends in (*certain.values(), *likely.values()) for p in ends)
        for root in roots:
            near = dict.fromkeys((*certain[root], *likely[root], *pool))
            wide = [p for p in list(near)[:MAX_POOL] if _is_beyond(terms, p, certain[root], low=low)]
            found[root, low] = list(wide[:MAX_GUESSES])
    return Guesses(found)


def _is_beyond(terms: Terms, p: Poly, others: Iterable[Poly], *, low: bool) -> bool:
    return all(terms.is_not_negative(one - p if low else p - one) for one in others)


def _end_of(terms: Terms, value: Poly, *, low: bool) -> Poly | None:
    """An end of a value that is not loaded, as the call decides."""
    if any(terms[atom].kind in (Kind.LOADED, Kind.OPAQUE) for atom in reach(terms, value.atoms())):
        return None
    end = terms.least(value if low else -value)
    return end if end is None or low else -end


def _guarded(terms: Terms, put: Put, *, low: bool) -> Iterator[Poly]:
    """What conditions around a store say of an end of the value."""
    assert put.value is not None
    for facts, _ in branches(put.facts):
        for fact in facts:
            end = put.value - fact if low else put.value + fact
            if terms.is_static(end):
                yield end


class Transfer:
    """Polynomials of the call in the terms of another reading of the same kernel."""

    def __init__(self, source: Terms, target: Terms) -> None:
        self._source = source
        self._target = target

    def poly(self, p: Poly | None) -> Poly | None:
        """A polynomial; None if it has none there."""
        try:
            return None if p is None else self._poly(p)
        except TooLarge:
            return None

    def _poly(self, p: Poly) -> Poly | None:
        parts = []
        for monomial, coefficient in p.terms.items():
            product = constant(coefficient)
            for number in monomial:
                factor = self._atom(number, self._source[number])
                if factor is None:
                    return None
                product = product * factor
            parts.append(product)
        return total(parts)

    def _atom(self, number: int, atom: Atom) -> Poly | None:
        if atom.kind is Kind.SYMBOL:
            # Those of the signature come first in each reading; others are bounds on contents.
            return Poly({(number,): 1}) if atom.holder is None else None
        if atom.kind not in (Kind.QUOTIENT, Kind.REMAINDER):
            return None
        first, last = self._poly(atom.first), self._poly(atom.last)
        if first is None or last is None:
            return None
        divide = self._target.quotient if atom.kind is Kind.QUOTIENT else self._target.remainder
        return divide(first, last)
