"""What the lower and upper bounds of an integer say without it, and whether that is all that they say.

`a*x + low >= 0` and `high - b*x >= 0` have an integer x in common if and only if
`a * (high // b) + low >= 0`, which is the same as `high + b * (low // a) >= 0`. An integer meets all bounds
if and only if it meets each pair.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from enum import IntEnum
from itertools import repeat
from math import gcd

from relax_lint.model.kernel_access.constraints import Bound, Constraint
from relax_lint.model.kernel_access.polynomials import ONE, ZERO, Monomial, Poly, constant, reduced
from relax_lint.model.kernel_access.terms import Terms
from relax_lint.support.lazy_dataclass import record

MAX_WIDTH = 4
"""Into so many cases one atom is split."""

TERMS_OF_EFFORT = 64
"""Comparing so many terms is as much work as one more constraint."""


class Exactness(IntEnum):
    """Whether what the bounds of an atom say without it is all that they say."""

    PLAIN = 0
    WITH_QUOTIENTS = 1
    AFTER_SPLIT = 2
    IMPLIED = 3


@record(frozen=True)
class Split:
    """Cases to be told apart: what an atom leaves when it is divided by a width, or the sign of a factor."""

    atom: int = -1
    width: int = 0
    factor: Poly | None = None
    may_be_negative: bool = False


class Step:
    """The elimination of one atom from reduced constraints, of which it occurs in `own`. Atoms in `free` may
    be split. Where it is None only what is implied counts. Pairs of bounds in `harmless` say nothing.
    """

    def __init__(
        self,
        terms: Terms,
        constraints: Sequence[Constraint],
        own: Sequence[Constraint],
        atom: int,
        harmless: Collection[tuple[Poly, Poly]],
        free: frozenset[int] | None,
    ) -> None:
        self._terms = terms
        self.own = own
        self._harmless = harmless
        self._free = free
        self.atom = atom
        self.lower: list[Bound] = []
        self.upper: list[Bound] = []
        self._constraints = constraints
        self._other: list[Poly] | None = None
        self._known: list[Poly] | None = None
        self._pairs: list[tuple[Bound, Bound]] | None = None
        self._said: list[Poly | None] | None = None
        self.more: list[Poly] = []
        """What is left of constraints in which its factor is 0."""
        self.split: Split | None = None
        self._exactness = Exactness.PLAIN
        self.is_alone = True
        """Whether its bounds depend on no other constraints."""
        for one in own:
            self._sort(one)
        count = len(self.pairs) if harmless else len(self.lower) * len(self.upper)
        self.growth = count - len(self.lower) - len(self.upper)
        """How many more constraints there are without the atom."""

    def among(self, constraints: Sequence[Constraint]) -> Step:
        """The same step where the other constraints are these."""
        self._constraints = constraints
        self._other = self._known = self._said = self.split = None
        self._exactness = Exactness.PLAIN
        return self

    @property
    def pairs(self) -> list[tuple[Bound, Bound]]:
        """The lower bounds with the upper ones."""
        if self._pairs is None:
            self._pairs = [
                (one, other)
                for one in self.lower
                for other in self.upper
                if not self._harmless or (one.whole, other.whole) not in self._harmless
            ]
        return self._pairs

    @property
    def other(self) -> list[Poly]:
        """The constraints in which the atom does not occur."""
        if self._other is None:
            self._other = [one.polynomial for one in self._constraints if self.atom not in one.atoms]
        return [*self._other, *self.more] if self.more else self._other

    def exactness(self) -> Exactness:
        """How exact it is; only implied, where nobody asks for more."""
        if self._free is None:
            return Exactness.IMPLIED
        if self._said is None:
            if self._terms.is_spent:
                return Exactness.IMPLIED
            self._said = [self._pair(one, other) for one, other in self.pairs]
        return self._exactness

    def _all_known(self) -> list[Poly]:
        if self._known is None:
            units = [one.rest + other.rest for one, other in self.pairs if one.factor == other.factor == ONE]
            self._known = [*self.other, *units]
        return self._known

    def combined(self) -> Iterable[Poly]:
        """What each pair of bounds says without the atom."""
        said = self._said or repeat(None)
        for (one, other), found in zip(self.pairs, said, strict=False):
            yield _sum_of(one, other) if found is None else found

    def _worse(self, exactness: Exactness, split: Split | None = None) -> None:
        self._exactness = max(self._exactness, exactness)
        self.split = self.split or split

    def _sort(self, one: Constraint) -> None:
        """A constraint is a lower bound, an upper bound, or nothing that is known."""
        found = one.bound(self.atom)
        if found is not None and found[0]:
            (self.lower if found[0] > 0 else self.upper).append(found[1])
            return
        # What it says may depend on the other constraints.
        self.is_alone = False
        if found is None:
            self._worse(Exactness.IMPLIED)
            return
        bound = found[1]
        factor = bound.factor
        low, high = self._terms.span(factor)
        is_not_negative = low is not None and low >= 0
        is_not_positive = high is not None and high <= 0
        if self._free is not None and self._terms.is_static(factor):
            is_not_negative = self._follows(factor, self.other)
            is_not_positive = self._follows(-factor, self.other)
        if is_not_negative and is_not_positive:
            self.more.append(bound.rest)
        elif is_not_negative:
            self.lower.append(bound)
        elif is_not_positive:
            self.upper.append(Bound(-factor, bound.rest, bound.whole))
        elif self._terms.is_static(factor) and self._free:
            self._worse(Exactness.AFTER_SPLIT, Split(factor=factor, may_be_negative=True))
        else:
            self._worse(Exactness.IMPLIED)

    def _follows(self, p: Poly, known: Iterable[Poly]) -> bool:
        """Whether p >= 0 follows from one of the constraints."""
        span, p = self._terms.span, reduced(p)
        for asked, one in enumerate((ZERO, *known), start=1):
            low = span(p - one)[0]
            if low is not None and low >= 0:
                break
        # Only long sums take time that counts.
        self._terms.effort += asked * len(p.terms) // TERMS_OF_EFFORT
        return low is not None and low >= 0

    def _pair(self, lower: Bound, upper: Bound) -> Poly | None:
        """What a pair says, if that is not its plain sum."""
        a, b = lower.factor, upper.factor
        if ONE in (a, b) or self._has_room(lower, upper):
            return None
        found = self._with_quotient(a, b, lower.rest, upper.rest)
        if found is not None:
            self._worse(Exactness.WITH_QUOTIENTS)
            return found
        split = self._split_of(lower, upper) if self._free else None
        self._worse(Exactness.IMPLIED if split is None else Exactness.AFTER_SPLIT, split)
        return None

    def _has_room(self, lower: Bound, upper: Bound) -> bool:
        """Whether there are integers between two bounds wherever fractions are."""
        a, b, low, high = lower.factor, upper.factor, lower.rest, upper.rest
        if a == b:
            room = low + high + ONE - a
        elif a.is_constant and b.is_constant:
            room = low.scale(b.constant) + high.scale(a.constant)
            room = room.shift(-(a.constant - 1) * (b.constant - 1))
        else:
            return False
        return self._follows(room, self._all_known()) and self._is_positive(a)

    def _is_positive(self, factor: Poly) -> bool:
        return self._follows(factor.shift(-1), self._all_known())

    def _with_quotient(self, a: Poly, b: Poly, low: Poly, high: Poly) -> Poly | None:
        """The pair's statement with a quotient of what the call decides."""
        for factor, dividend, other, rest in ((b, high, a, low), (a, low, b, high)):
            quotient = self._quotient(dividend, factor)
            if quotient is not None:
                return other * quotient + rest
        return None

    def _quotient(self, dividend: Poly, factor: Poly) -> Poly | None:
        """dividend // factor, if that is a multiple of atoms and a quotient that the call decides."""
        if not factor.is_constant:
            decided = self._terms.is_static(factor) and self._terms.is_static(dividend)
            return self._terms.quotient(dividend, factor) if decided and self._is_positive(factor) else None
        width = factor.constant
        static, moving = _parted(self._terms, dividend)
        if any(c % width for c in moving.values()):
            return None
        quotient = self._terms.quotient(static, constant(width))
        return None if quotient is None else Poly({m: c // width for m, c in moving.items()}) + quotient

    def _split_of(self, lower: Bound, upper: Bound) -> Split | None:
        """What has to be told apart for a pair to become exact."""
        choices = []
        for bound in (lower, upper):
            if not bound.factor.is_constant:
                if self._terms.is_static(bound.factor) and not self._is_positive(bound.factor):
                    choices.append((2, Split(factor=bound.factor)))
                continue
            width = bound.factor.constant
            for monomial, c in _parted(self._terms, bound.rest)[1].items():
                if c % width and len(monomial) == 1 and monomial[0] in (self._free or ()):
                    parts = width // gcd(width, c)
                    choices.append((parts, Split(monomial[0], parts)))
        choices = [one for one in choices if one[0] <= MAX_WIDTH]
        return min(choices, key=lambda one: one[0])[1] if choices else None


def _parted(terms: Terms, p: Poly) -> tuple[Poly, dict[Monomial, int]]:
    """The terms that the call decides, and the others."""
    moving = {m: c for m, c in p.terms.items() if any(not terms[atom].static for atom in m)}
    return Poly({m: c for m, c in p.terms.items() if m not in moving}), moving


def _sum_of(lower: Bound, upper: Bound) -> Poly:
    """What two bounds say, if there were fractions."""
    a, b, low, high = lower.factor, upper.factor, lower.rest, upper.rest
    if a == b:
        return low + high
    if a.is_constant and b.is_constant:
        common = gcd(a.constant, b.constant)
        return low.scale(b.constant // common) + high.scale(a.constant // common)
    return b * low + a * high
