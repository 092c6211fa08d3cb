"""Elimination of atoms from conjunctions of `p >= 0`: does one step of some loops satisfy all of them?

Pairs of an upper and a lower bound are added up (Fourier and Motzkin). Over integers that is exact where one
of the two has the coefficient 1; else what is left may be satisfiable although the whole is not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import gcd

from relax_lint.model.kernel_access.polynomials import ONE, Poly, TooLarge
from relax_lint.model.kernel_access.terms import Terms

MAX_CONSTRAINTS = 90
MAX_PAIRS = 1500


@dataclass(frozen=True)
class Left:
    """What is left of a conjunction; None where it was shown to be impossible."""

    constraints: tuple[Poly, ...] | None
    exact: bool


class Conjunction:
    """Polynomials that are all >= 0; the tightest of those that differ by a constant is kept."""

    def __init__(self, terms: Terms, constraints: Iterable[Poly]) -> None:
        self._terms = terms
        self._kept: dict[frozenset[tuple[tuple[int, ...], int]], Poly] = {}
        self.impossible = False
        for p in constraints:
            self.add(p)

    @property
    def polynomials(self) -> list[Poly]:
        """All of them."""
        return list(self._kept.values())

    def add(self, p: Poly) -> None:
        """One more; what always holds is left out."""
        p = reduced(p)
        low, high = self._terms.span(p)
        if high is not None and high < 0:
            self.impossible = True
        if p.is_constant or (low is not None and low >= 0 and self._terms.is_static(p)):
            return
        key = frozenset((m, c) for m, c in p.terms.items() if m)
        known = self._kept.get(key)
        if known is None or p.constant < known.constant:
            self._kept[key] = p
        opposite = self._kept.get(frozenset((m, -c) for m, c in key))
        if opposite is not None and opposite.constant + self._kept[key].constant < 0:
            self.impossible = True


def reduced(p: Poly) -> Poly:
    """p divided by the common divisor of its coefficients, rounded down as integers allow."""
    common = p.content
    if common <= 1:
        return p
    return Poly({m: c // common for m, c in p.terms.items() if m or c // common})


def eliminate(
    terms: Terms,
    constraints: Iterable[Poly],
    atoms: Iterable[int],
    harmless: frozenset[tuple[Poly, Poly]] = frozenset(),
) -> Left:
    """What a conjunction says of the other atoms. The pairs (lower, upper) in `harmless` always agree."""
    conjunction = Conjunction(terms, constraints)
    pending, exact, pairs = set(atoms), True, 0
    while pending and not conjunction.impossible:
        best = min(
            (_Step(terms, conjunction.polynomials, atom, harmless) for atom in pending),
            key=lambda step: step.cost,
        )
        pending.discard(best.atom)
        exact = exact and best.exact
        pairs += len(best.lower) * len(best.upper)
        if pairs > MAX_PAIRS or len(best.other) > MAX_CONSTRAINTS:
            rest = [p for p in conjunction.polynomials if terms.is_static(p)]
            return Left(tuple(rest), exact=False)
        conjunction = Conjunction(terms, best.other)
        try:
            for p in best.combined():
                conjunction.add(p)
        except TooLarge:
            exact = False
    return Left(None if conjunction.impossible else tuple(conjunction.polynomials), exact)


class _Step:
    """The elimination of one atom."""

    def __init__(
        self, terms: Terms, constraints: list[Poly], atom: int, harmless: frozenset[tuple[Poly, Poly]]
    ) -> None:
        self.atom = atom
        self.lower: list[tuple[Poly, Poly, Poly]] = []
        self.upper: list[tuple[Poly, Poly, Poly]] = []
        self.other: list[Poly] = []
        dropped = 0
        for p in constraints:
            if not any(atom in monomial for monomial in p.terms):
                self.other.append(p)
                continue
            split = p.coefficient(atom)
            if split is None:
                dropped += 1
                continue
            factor, rest = split
            low, high = terms.span(factor)
            if low is not None and low >= 0:
                self.lower.append((factor, rest, p))
            elif high is not None and high <= 0:
                self.upper.append((-factor, rest, p))
            else:
                dropped += 1
        self.pairs = [
            (one, other)
            for one in self.lower
            for other in self.upper
            if (reduced(one[2]), reduced(other[2])) not in harmless
        ]
        self.exact = not dropped and all(self._is_exact(terms, one, other) for one, other in self.pairs)

    def _is_exact(self, terms: Terms, lower: tuple[Poly, Poly, Poly], upper: tuple[Poly, Poly, Poly]) -> bool:
        """Whether there is an integer between two bounds wherever they allow a fraction: one of the two has
        the coefficient 1, or the room between them is large enough for any multiple.
        """
        (a, low, _), (b, high, _) = lower, upper
        if ONE in (a, b):
            return True
        if not a.is_constant or not b.is_constant:
            return False
        if a == b:
            room = (low + high).shift(1 - a.constant)
        else:
            room = low.scale(b.constant) + high.scale(a.constant)
            room = room.shift(-(a.constant - 1) * (b.constant - 1))
        known = [*self.other, *(one[1] + other[1] for one, other in self.pairs if one[0] == other[0] == ONE)]
        return any((least := terms.span(room - p)[0]) is not None and least >= 0 for p in (Poly({}), *known))

    @property
    def cost(self) -> tuple[bool, int, int]:
        """What is exact comes first, then what leaves least, then the innermost."""
        more = len(self.pairs) - len(self.lower) - len(self.upper)
        return not self.exact, more, -self.atom

    def combined(self) -> Iterable[Poly]:
        """What each pair of bounds says without the atom."""
        for (a, low, _), (b, high, _) in self.pairs:
            if a == b:
                yield low + high
            elif a.is_constant and b.is_constant:
                common = gcd(a.constant, b.constant)
                yield low.scale(b.constant // common) + high.scale(a.constant // common)
            else:
                yield b * low + a * high
