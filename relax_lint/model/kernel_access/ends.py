"""Between which values a sum of atoms of a kernel's index arithmetic is, in every step of the loops."""

from __future__ import annotations

from collections.abc import Sequence

from relax_lint.model.kernel_access.atoms import Atom, Kind, Option, Span
from relax_lint.model.kernel_access.conditions import at_least_zero
from relax_lint.model.kernel_access.constraints import Constraint
from relax_lint.model.kernel_access.polynomials import ZERO, Monomial, Poly, Shape, TooLarge, constant

MAX_SPANS = 20_000  # So many ranges of sums are kept for a kernel.


class Ends:
    """What is known of the values of the atoms of one kernel."""

    def __init__(self) -> None:
        self.atoms: list[Atom] = []
        self._extremes: dict[tuple[str, Poly, Poly], Poly] = {}
        self._least: dict[Poly, Poly | None] = {}
        self._spans: dict[Poly, Span] = {}
        self._constraints: dict[Poly, Constraint] = {}
        self._shapes: dict[Shape, int] = {}

    def __getitem__(self, number: int) -> Atom:
        return self.atoms[number]

    def lower(self, number: int, most: int) -> None:
        """From now on a symbol is taken to be no more than a number."""
        atom = self.atoms[number]
        atom.span = atom.span[0], most if atom.span[1] is None else min(atom.span[1], most)
        self._spans.clear()
        self._constraints.clear()

    def choice(self, options: Sequence[Option], operation: str = "") -> Poly:
        """One of several values. `Terms` makes it."""
        raise NotImplementedError

    def quotient(self, a: Poly, d: Poly) -> Poly | None:
        """a // d rounded down. `Terms` makes it."""
        raise NotImplementedError

    def is_static(self, p: Poly) -> bool:
        """Whether a value depends on the call only."""
        return all(self.atoms[atom].static for atom in p.atoms())

    def constraint(self, p: Poly) -> Constraint:
        """What p >= 0 says, as one object for all polynomials that say it."""
        found = self._constraints.get(p)
        if found is None:
            if len(self._constraints) > MAX_SPANS:
                self._constraints.clear()
            plain = p.reduced()
            found = self._found_constraint(plain) if plain is p else self.constraint(plain)
            self._constraints[p] = found
        return found

    def _found_constraint(self, p: Poly) -> Constraint:
        low, high = self.span(p)
        shape, opposite = (self._shapes.setdefault(one, len(self._shapes)) for one in p.shapes)
        return Constraint(
            p,
            p.atoms(),
            p.constant,
            shape,
            opposite,
            never_holds=high is not None and high < 0,
            always_holds=p.is_constant or (low is not None and low >= 0 and self.is_static(p)),
        )

    def span(self, p: Poly) -> Span:
        """The least and the greatest value, as far as each atom alone tells."""
        found = self._spans.get(p)
        if found is None:
            if len(self._spans) > MAX_SPANS:
                self._spans.clear()
            found = self._spans[p] = self._found_span(p)
        return found

    def _found_span(self, p: Poly) -> Span:
        low: int | None = 0
        high: int | None = 0
        for monomial, c in p.terms.items():
            a, b = self._span_of_product(monomial)
            if c < 0:
                a, b = b, a
            low = None if low is None or a is None else low + c * a
            high = None if high is None or b is None else high + c * b
        return low, high

    def _span_of_product(self, monomial: Monomial) -> Span:
        if len(monomial) == 1:
            return self.atoms[monomial[0]].span
        low = 1
        high: int | None = 1
        for atom in monomial:
            a, b = self.atoms[atom].span
            if a is not None and a >= 0 and low >= 0:
                low = low * a
                high = None if high is None or b is None else high * b
            elif a is None or b is None or high is None:
                return None, None
            else:
                ends = (low * a, low * b, high * a, high * b)
                low, high = min(ends), max(ends)
        if low < 0 and all(monomial.count(atom) % 2 == 0 for atom in monomial):
            low = 0
        return low, high

    def is_within(self, p: Poly, d: Poly) -> bool:
        """Whether 0 <= p < d was shown, in every step of the loops."""
        return self.is_not_negative(p) and self.is_not_negative(d - p.shift(1))

    def is_not_negative(self, p: Poly) -> bool:
        """Whether p >= 0 was shown from the ranges of the loops."""
        low = self.span(p)[0]
        if low is not None and low >= 0:
            return True
        least = self.least(p)
        if least is None:
            return False
        low = self.span(least)[0]
        return low is not None and low >= 0

    def least(self, p: Poly) -> Poly | None:
        """A bound from below in terms of the call, each loop at the end that makes it least; None where a
        sign is not known. Divisors are taken to be positive, as a division by zero ends the run.
        """
        if p not in self._least:
            self._least[p] = self._found_least(p)
        return self._least[p]

    def _found_least(self, p: Poly) -> Poly | None:
        while True:
            inner = [atom for atom in p.atoms() if not self.atoms[atom].static]
            if not inner:
                return p
            found = self.least_over(p, max(inner))
            if found is None:
                return None
            p = found

    def least_over(self, p: Poly, number: int) -> Poly | None:
        """p with an atom at the end of its range that makes p least."""
        split = p.coefficient(number)
        if split is None:
            return None
        factor, rest = split
        low, high = self.span(factor)
        if low is not None and low >= 0:
            end = self._end(number, lower=True)
        elif high is not None and high <= 0:
            end = self._end(number, lower=False)
        else:
            return None
        try:
            return None if end is None else factor * end + rest
        except TooLarge:
            # What cannot be written down is not known.
            return None

    def _end(self, number: int, *, lower: bool) -> Poly | None:
        """The least or the greatest value of an atom."""
        atom = self.atoms[number]
        if atom.kind is Kind.LOOP or (atom.kind is Kind.LOADED and atom.bounded):
            return atom.first if lower else atom.last
        if atom.kind is Kind.REMAINDER:
            return ZERO if lower else atom.last.shift(-1)
        if atom.kind is Kind.CHOICE:
            found = self._end_of_choice(atom, lower=lower)
            if found is not None:
                return found
        if atom.kind is Kind.QUOTIENT and self.is_static(atom.last):
            least = self.least(atom.first if lower else -atom.first)
            return None if least is None else self.quotient(least if lower else -least, atom.last)
        end = atom.span[0] if lower else atom.span[1]
        return None if end is None else constant(end)

    def _end_of_choice(self, atom: Atom, *, lower: bool) -> Poly | None:
        """The least or the greatest of the values of two options at most."""
        ends = [self._of(option.value, lower=lower) for option in atom.options]
        known = [end for end in ends if end is not None]
        if atom.operation and (atom.operation == "max") == lower:
            # One of the operands alone is such a bound.
            return self._extreme(known, atom.operation)
        return self._extreme(known, "min" if lower else "max") if len(known) == len(ends) else None

    def _extreme(self, ends: Sequence[Poly], operation: str) -> Poly | None:
        """The greatest or the least of two at most."""
        if len(ends) != 2 or ends[0] == ends[1]:
            return ends[0] if ends else None
        key = (operation, ends[0], ends[1])
        known = self._extremes.get(key)
        if known is not None:
            return known
        room = ends[0] - ends[1] if operation == "max" else ends[1] - ends[0]
        if self.is_not_negative(room):
            return ends[0]
        if self.is_not_negative(-room):
            return ends[1]
        options = (Option(at_least_zero(room), ends[0]), Option(at_least_zero(-room), ends[1]))
        found = self._extremes[key] = self.choice(options, operation)
        return found

    def _of(self, p: Poly, *, lower: bool) -> Poly | None:
        """The least or the greatest value in terms of the call."""
        found = self.least(p if lower else -p)
        return found if lower or found is None else -found
