"""The atoms of a kernel's index arithmetic: symbols, loop variables, quotients, choices and loaded values.

Everything is numbered, so that sums of atoms are cheap; `expression` gives the sympy form of what people see.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar, cast

import sympy

from relax_lint.model.kernel_access.atoms import Atom, Kind, Option, Span, largest, smallest
from relax_lint.model.kernel_access.ends import Ends
from relax_lint.model.kernel_access.polynomials import (
    ONE,
    ZERO,
    Poly,
    atom_of,
    constant,
    divided,
)
from relax_lint.symbolic import functions as f

T = TypeVar("T")

MAX_EFFORT = 110_000
"""Constraints that are handled in one reading of a kernel: about half a second."""


class Terms(Ends):
    """The atoms of one kernel, by number."""

    def __init__(self) -> None:
        super().__init__()
        self.counted: set[int] = set()
        """Loaded values that the kernel has computed from nothing but sizes and loops."""
        self.from_data: set[int] = set()
        """Unknown numbers: the data decides whether arithmetic wraps around."""
        self.effort = 0
        """How much was done to judge accesses, in constraints that were added to a system."""
        self._divisions: dict[tuple[Kind, Poly, Poly], int] = {}
        self._parts: dict[tuple[int, int, int], Poly] = {}
        self.attempts: dict[Any, Any] = {}  # What was tried for a claim under some facts, for `outside.py`.
        self.plain: dict[Poly, Any] = {}  # The form in which constraints are handled, for `outside.py`.
        self.definitions: dict[int, list[Poly]] = {}
        self.implied: dict[int, list[Poly]] = {}
        self._found: dict[Any, tuple[Any, int]] = {}
        self._powers: dict[Poly, Poly] = {}
        self._names: set[str] = set()
        self._shown: dict[int, Any] = {}

    def rest(self) -> None:
        """Nothing more is read: what only made that quicker is given up."""
        self._spans.clear()
        self._constraints.clear()
        self._shapes.clear()
        self._least.clear()
        self.attempts.clear()
        self.plain.clear()
        self.definitions.clear()
        self.implied.clear()
        self._found.clear()

    @property
    def is_spent(self) -> bool:
        """Whether no more is done to judge accesses."""
        return self.effort > MAX_EFFORT

    def once(self, question: Hashable, answer: Callable[[], T]) -> T:
        """The answer to a question that is often asked again. It counts as if it had been found again, and is
        where the effort that is left is not enough for that: what is told of a kernel depends on no memory.
        """
        known = self._found.get(question)
        if known is not None and self.effort + known[1] <= MAX_EFFORT:
            self.effort += known[1]
            return cast(T, known[0])
        before = self.effort
        found = answer()
        if self.effort <= MAX_EFFORT:
            self._found[question] = found, self.effort - before
        return found

    # -- new atoms -----------------------------------------------------------------------------

    def symbol(self, symbol: sympy.Symbol, span: Span, *, holder: int | None = None) -> Poly:
        """A symbol whose value a call gives."""
        self._names.add(symbol.name)
        return self._new(Atom(Kind.SYMBOL, symbol, span, static=True, holder=holder))

    def loop(self, name: str, first: Poly, extent: Poly) -> Poly:
        """A variable that runs over `extent` integers from `first` on."""
        last = first + extent.shift(-1)
        span = (self.span(first)[0], self.span(last)[1])
        return self._new(Atom(Kind.LOOP, self._fresh(name), span, static=False, first=first, last=last))

    def opaque(self, name: str, span: Span = (None, None)) -> Poly:
        """A number of which at most a range is known."""
        return self._new(Atom(Kind.OPAQUE, self._fresh(name), span, static=False, bounded=False))

    def loaded(self, name: str, span: Span, bounds: tuple[Poly, Poly] | None = None) -> Poly:
        """An element of a buffer, which holds numbers from bounds[0] to bounds[1]."""
        first, last = bounds or (ZERO, ZERO)
        known = bounds is not None
        atom = Atom(Kind.LOADED, self._fresh(name), span, static=False, first=first, last=last, bounded=known)
        return self._new(atom)

    def choice(self, options: Sequence[Option], operation: str = "") -> Poly:
        """One of several values: those of `min` or `max`, or the first one whose condition holds."""
        spans = [self.span(option.value) for option in options]
        lows, highs = [low for low, _ in spans], [high for _, high in spans]
        if operation == "max":
            span = max((low for low in lows if low is not None), default=None), largest(highs)
        elif operation == "min":
            span = smallest(lows), min((high for high in highs if high is not None), default=None)
        else:
            span = smallest(lows), largest(highs)
        static = all(self.is_static(option.value) for option in options) and operation != ""
        name = operation if static else self._fresh("choice")
        atom = Atom(Kind.CHOICE, name, span, static=static, options=tuple(options), operation=operation)
        return self._new(atom)

    def power(self, exponent: Poly, most: int) -> Poly | None:
        """Two to the power of a number that is known to be from 0 to `most`; None for any other."""
        low, high = self.span(exponent)
        if low is None or low < 0 or high is None or high > most:
            return None
        found = self._powers.get(exponent)
        if found is None:
            found = self._powers[exponent] = self.opaque("power", (2**low, 2**high))
        return found

    def part(self, number: int, width: int, rest: int) -> Poly:
        """What an atom is divided by a width, where the division leaves `rest`."""
        found = self._parts.get((number, width, rest))
        if found is None:
            low, high = self.atoms[number].span
            span = (
                None if low is None else -((rest - low) // width),
                None if high is None else (high - rest) // width,
            )
            atom = Atom(Kind.LOOP, self._fresh("part"), span, static=False)
            found = self._parts[number, width, rest] = self._new(atom)
        return found

    def _fresh(self, name: str) -> str:
        unique, count = name, 0
        while unique in self._names:
            count += 1
            unique = f"{name}_{count}"
        self._names.add(unique)
        return unique

    def _new(self, atom: Atom) -> Poly:
        self.atoms.append(atom)
        return atom_of(len(self.atoms) - 1)

    # -- division ------------------------------------------------------------------------------

    def quotient(self, a: Poly, d: Poly) -> Poly | None:
        """a // d rounded down, for a divisor that is known not to be negative; None for any other."""
        if d.is_constant and d.constant < 0:
            a, d = -a, -d
        if d == ONE:
            return a
        if not self._divides(d):
            return None
        whole, rest = divided(a, d)
        return whole + self._rest(Kind.QUOTIENT, rest, d)

    def remainder(self, a: Poly, d: Poly) -> Poly | None:
        """a - d * (a // d), for a divisor that is known not to be negative; None for any other."""
        if d.is_constant and d.constant < 0:
            opposite = self.remainder(-a, -d)
            return None if opposite is None else -opposite
        if d == ONE:
            return ZERO
        if not self._divides(d):
            return None
        _, rest = divided(a, d)
        return self._rest(Kind.REMAINDER, rest, d)

    def quotient_of(self, remainder: Atom) -> Poly:
        """That of the same division."""
        return self._rest(Kind.QUOTIENT, remainder.first, remainder.last)

    def _divides(self, d: Poly) -> bool:
        """Whether a divisor is known not to be negative, and not known to be 0."""
        low, high = self.span(d)
        return low is not None and low >= 0 and high != 0

    def _rest(self, kind: Kind, a: Poly, d: Poly) -> Poly:
        quotient = kind is Kind.QUOTIENT
        if a.is_constant and d.is_constant:
            return constant(a.constant // d.constant if quotient else a.constant % d.constant)
        if self.is_within(a, d):
            return ZERO if quotient else a
        if quotient and self.is_within(a + d, d):
            return constant(-1)
        if quotient and d.is_constant and (nested := self._nested(a, d.constant)) is not None:
            return nested
        key = (kind, a, d)
        number = self._divisions.get(key)
        if number is None:
            number = self._divisions[key] = len(self.atoms)
            static = self.is_static(a) and self.is_static(d)
            span = self._span_of_division(a, d, quotient=quotient)
            self.atoms.append(Atom(kind, "", span, static, first=a, last=d))
        return atom_of(number)

    def _nested(self, a: Poly, divisor: int) -> Poly | None:
        """(x // p + c) // divisor is (x + c * p) // (p * divisor)."""
        inner = a.shift(-a.constant).single()
        if inner is None or self.atoms[inner].kind is not Kind.QUOTIENT:
            return None
        atom = self.atoms[inner]
        if not atom.last.is_constant:
            return None
        width = atom.last.constant
        return self.quotient(atom.first.shift(a.constant * width), constant(width * divisor))

    def _span_of_division(self, a: Poly, d: Poly, *, quotient: bool) -> Span:
        low, high = self.span(d)
        if not quotient:
            return 0, None if high is None else max(high - 1, 0)
        bottom, top = self.span(a)
        least = max(low or 1, 1)
        found: list[int | None] = []
        # A quotient moves towards zero with a larger divisor, and is never further than with the least.
        for end, upper in ((bottom, False), (top, True)):
            if end is None:
                found.append(None)
            elif (end < 0) == upper:
                found.append((-1 if end < 0 else 0) if high is None else end // high)
            else:
                found.append(end // least)
        return found[0], found[1]

    def contents_in(self, polynomials: Iterable[Poly]) -> dict[sympy.Symbol, int]:
        """The bounds on what parameters hold that occur in what the call decides: the position of each."""
        found: dict[sympy.Symbol, int] = {}
        todo = [atom for p in polynomials for atom in p.atoms()]
        seen: set[int] = set()
        while todo:
            number = todo.pop()
            if number in seen:
                continue
            seen.add(number)
            atom = self.atoms[number]
            if atom.holder is not None:
                found[atom.name] = atom.holder
            inner = (atom.first, atom.last, *(option.value for option in atom.options))
            todo += [a for p in inner for a in p.atoms()]
        return found

    # -- sympy ---------------------------------------------------------------------------------

    def expression(self, p: Poly) -> sympy.Expr:
        """The sympy form."""
        return sympy.Add(
            *(
                sympy.Mul(sympy.Integer(c), *(self.shown(atom) for atom in monomial))
                for monomial, c in p.terms.items()
            )
        )

    def shown(self, number: int) -> Any:
        """The sympy form of an atom."""
        known = self._shown.get(number)
        if known is None:
            known = self._shown[number] = self._expression_of(self.atoms[number])
        return known

    def _expression_of(self, atom: Atom) -> Any:
        if atom.kind is Kind.SYMBOL:
            return atom.name
        if atom.kind in (Kind.QUOTIENT, Kind.REMAINDER):
            operation = f.FloorDiv if atom.kind is Kind.QUOTIENT else f.FloorMod
            return operation(self.expression(atom.first), self.expression(atom.last))
        if atom.kind is Kind.CHOICE and atom.static:
            values = [self.expression(option.value) for option in atom.options]
            return (sympy.Max if atom.name == "max" else sympy.Min)(*values)
        return sympy.Symbol(atom.name, integer=True)
