"""Polynomials with integer coefficients over numbered atoms: quick, exact, and nothing else.

A kernel has thousands of small sums; what `symbolic.polynomial` does for people is too slow for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from math import gcd
from typing import TypeAlias

Monomial: TypeAlias = tuple[int, ...]
"""The numbers of atoms in rising order, each as often as its power says; empty for the constant."""

Shape: TypeAlias = "frozenset[tuple[Monomial, int]]"

MAX_TERMS = 200


class TooLarge(ValueError):
    """A product has too many terms."""


class Poly:
    """An immutable polynomial: monomial -> coefficient that is not zero."""

    __slots__ = ("_atoms", "_hash", "_is_reduced", "_reduced", "_shapes", "_split", "terms")

    def __init__(self, terms: Mapping[Monomial, int]) -> None:
        self.terms = terms
        self._hash: int | None = None
        self._atoms: frozenset[int] | None = None
        # Constraints are looked at again and again while atoms are eliminated.
        self._reduced: Poly | None = None
        # With a reference to itself it would stay until the collector comes.
        self._is_reduced = False
        self._split: dict[int, tuple[Poly, Poly] | None] = {}
        self._shapes: tuple[Shape, Shape] | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Poly) and self.terms == other.terms

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self.terms.items()))
        return self._hash

    def __repr__(self) -> str:
        return " + ".join(f"{c}*{list(m)}" for m, c in self.terms.items()) or "0"

    def __add__(self, other: Poly) -> Poly:
        if not other.terms:
            return self
        return _sum(self.terms, other.terms, 1)

    def __sub__(self, other: Poly) -> Poly:
        return _sum(self.terms, other.terms, -1) if other.terms else self

    def __neg__(self) -> Poly:
        return self.scale(-1)

    def __mul__(self, other: Poly) -> Poly:
        if other.is_constant:
            return self.scale(other.constant)
        if self.is_constant:
            return other.scale(self.constant)
        found: dict[Monomial, int] = {}
        for a, x in self.terms.items():
            for b, y in other.terms.items():
                product = tuple(sorted(a + b))
                found[product] = found.get(product, 0) + x * y
        if len(found) > MAX_TERMS:
            raise TooLarge("an index is too large to expand")
        return Poly({m: c for m, c in found.items() if c})

    def scale(self, factor: int) -> Poly:
        """This times an integer."""
        if factor == 1:
            return self
        return Poly({m: c * factor for m, c in self.terms.items()}) if factor else ZERO

    def shift(self, amount: int) -> Poly:
        """This plus an integer."""
        return _sum(self.terms, {(): amount}, 1) if amount else self

    @property
    def is_constant(self) -> bool:
        """Whether no atom occurs."""
        return not self.terms or (len(self.terms) == 1 and () in self.terms)

    @property
    def constant(self) -> int:
        """The term without atoms."""
        return self.terms.get((), 0)

    @property
    def content(self) -> int:
        """The greatest common divisor of the coefficients of all atoms; 0 without atoms."""
        return gcd(*[c for m, c in self.terms.items() if m])

    def atoms(self) -> frozenset[int]:
        """The atoms that occur."""
        if self._atoms is None:
            self._atoms = frozenset(chain.from_iterable(self.terms))
        return self._atoms

    def single(self) -> int | None:
        """The atom that this is; None if it is anything else."""
        if len(self.terms) == 1:
            ((monomial, coefficient),) = self.terms.items()
            if coefficient == 1 and len(monomial) == 1:
                return monomial[0]
        return None

    def coefficient(self, atom: int) -> tuple[Poly, Poly] | None:
        """(a, b) with this = a * atom + b, where neither has the atom; None if a power of it occurs."""
        if atom not in self._split:
            self._split[atom] = self._split_at(atom)
        return self._split[atom]

    @property
    def shapes(self) -> tuple[Shape, Shape]:
        """The terms with atoms, and those of the opposite."""
        if self._shapes is None:
            kept = [(m, c) for m, c in self.terms.items() if m]
            self._shapes = frozenset(kept), frozenset((m, -c) for m, c in kept)
        return self._shapes

    def reduced(self) -> Poly:
        """What this >= 0 says, with the common divisor of the coefficients taken out as integers allow."""
        if self._is_reduced:
            return self
        if self._reduced is None:
            common = self.content
            if common <= 1:
                self._is_reduced = True
                return self
            self._reduced = self._divided(common)
        return self._reduced

    def _divided(self, common: int) -> Poly:
        return Poly({m: c // common for m, c in self.terms.items() if m or c // common})

    def _split_at(self, atom: int) -> tuple[Poly, Poly] | None:
        with_atom: dict[Monomial, int] = {}
        without: dict[Monomial, int] = {}
        for monomial, c in self.terms.items():
            count = monomial.count(atom)
            if count > 1:
                return None
            if count:
                place = monomial.index(atom)
                with_atom[monomial[:place] + monomial[place + 1 :]] = c
            else:
                without[monomial] = c
        return Poly(with_atom), Poly(without)

    def put(self, atom: int, value: Poly) -> Poly:
        """This with a value in the place of an atom."""
        if atom not in self.atoms():
            return self
        found = {m: c for m, c in self.terms.items() if atom not in m}
        for monomial, c in self.terms.items():
            if atom in monomial:
                part = Poly({tuple(a for a in monomial if a != atom): c})
                for _ in range(monomial.count(atom)):
                    part = part * value
                _add(found, part.terms, 1)
        return Poly(found)


def _sum(a: Mapping[Monomial, int], b: Mapping[Monomial, int], sign: int) -> Poly:
    found = dict(a)
    _add(found, b, sign)
    return Poly(found)


def _add(found: dict[Monomial, int], more: Mapping[Monomial, int], sign: int) -> None:
    for monomial, c in more.items():
        value = found.get(monomial, 0) + sign * c
        if value:
            found[monomial] = value
        else:
            found.pop(monomial, None)


def reduced(p: Poly) -> Poly:
    """`Poly.reduced` as a function."""
    return p.reduced()


def constant(value: int) -> Poly:
    """The polynomial that is a number."""
    return Poly({(): value} if value else {})


def atom_of(number: int) -> Poly:
    """The polynomial that is one atom."""
    return Poly({(number,): 1})


def total(parts: Iterable[Poly]) -> Poly:
    """The sum."""
    found = ZERO
    for part in parts:
        found = found + part
    return found


ZERO = Poly({})
ONE = constant(1)


def divided(a: Poly, d: Poly) -> tuple[Poly, Poly]:
    """(q, r) with a = q * d + r, where r has no term that d divides."""
    if len(d.terms) != 1:
        # Of (n + 1) * k + r by n + 1 nothing is taken out; equal ones are.
        return (ONE, ZERO) if a == d else (ZERO, a)
    ((divisor, width),) = d.terms.items()
    whole: dict[Monomial, int] = {}
    rest: dict[Monomial, int] = {}
    for monomial, c in a.terms.items():
        left = _without_factors(monomial, divisor)
        if left is None:
            rest[monomial] = c
            continue
        quotient, remainder = divmod(c, width)
        if left and remainder:
            # 5 * i // 4 stays as it is, so that i is in one place only.
            rest[monomial] = c
            continue
        if quotient:
            whole[left] = quotient
        if remainder:
            rest[monomial] = remainder
    return Poly(whole), Poly(rest)


def _without_factors(monomial: Monomial, factors: Monomial) -> Monomial | None:
    left = list(monomial)
    for atom in factors:
        if atom not in left:
            return None
        left.remove(atom)
    return tuple(left)
