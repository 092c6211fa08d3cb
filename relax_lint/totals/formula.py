"""Sums and maxima of symbolic sizes that stay short enough to read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from operator import ge
from typing import TypeAlias

import sympy

from relax_lint.model.program import Function, Provenance
from relax_lint.symbolic.functions import FloorDiv
from relax_lint.symbolic.polynomial import Monomial, NotPolynomial, Polynomial, to_polynomial
from relax_lint.symbolic.polynomial import total as polynomial_sum
from relax_lint.totals.quantities import Quantity

Sum: TypeAlias = "tuple[int, ...]"
"""A sum of sizes: the constant part, then how often each symbolic size of the `Sizes` occurs."""


class Sizes:
    """The distinct symbolic sizes of some allocations. Sizes are never negative: the VM refuses those."""

    def __init__(self, sizes: Iterable[Quantity]) -> None:
        self.symbolic: tuple[sympy.Expr, ...]
        self._index: dict[sympy.Expr, int] = {}
        self._expanded: dict[tuple[int, ...], sympy.Expr] = {}
        self._sums: dict[Sum, sympy.Expr] = {}
        symbolic: list[sympy.Expr] = []
        positions: dict[Polynomial | sympy.Expr, int] = {}
        for size in dict.fromkeys(size for size in sizes if not isinstance(size, int)):
            self._index[size] = positions.setdefault(_normal(size), len(positions))
            if len(positions) > len(symbolic):
                symbolic.append(size)
        self.symbolic = tuple(symbolic)

    def index(self, size: Quantity) -> int:
        """The position of a symbolic size in a `Sum`; 0 for a constant one."""
        return 0 if isinstance(size, int) else self._index[size] + 1

    def quantity(self, parts: Sum) -> Quantity:
        """A sum as an int or an expanded expression."""
        constant = parts[0]
        if len(parts) == 1 or not any(parts[1:]):
            return constant
        # Most sums of one function differ in their constant part only.
        key = parts[1:]
        known = self._expanded.get(key)
        if known is None:
            known = self._expanded[key] = self._expand(key)
        # The layers of a model repeat each other.
        found = self._sums.get(parts)
        if found is None:
            found = self._sums[parts] = sympy.Integer(constant) + known
        return found

    def _expand(self, counts: tuple[int, ...]) -> sympy.Expr:
        counted = [(size, n) for size, n in zip(self.symbolic, counts, strict=True) if n]
        try:
            return polynomial_sum(to_polynomial(size).scale(n) for size, n in counted).to_expr()
        except NotPolynomial:
            return sympy.Add(*(n * size for size, n in counted))


def undominated(sums: Iterable[Sum]) -> list[Sum]:
    """The sums that no other one exceeds in every part."""
    kept: list[tuple[Sum, int]] = []
    for candidate in sorted(set(sums), key=sum, reverse=True):
        parts = sum(1 << position for position, part in enumerate(candidate) if part)
        if not any(parts | others == others and all(map(ge, other, candidate)) for other, others in kept):
            kept.append((candidate, parts))
    return [parts for parts, _ in kept]


def maximum(exprs: Sequence[sympy.Expr], positive: frozenset[sympy.Symbol]) -> sympy.Expr:
    """The greatest of the expressions, without those that another one provably reaches.

    `positive` are the symbols that are known not to be negative.
    """
    kept = _Kept()
    for candidate in dict.fromkeys(exprs):
        if any(reaches(other, candidate, positive) for other in kept.perhaps_above(candidate)):
            continue
        for other in kept.perhaps_below(candidate):
            if reaches(candidate, other, positive):
                kept.remove(other)
        kept.add(candidate)
    return kept.exprs[0] if len(kept.exprs) == 1 else sympy.Max(*kept.exprs, evaluate=False)


class _Kept:
    """Expressions by the atoms in them: of many, few have any in common."""

    def __init__(self) -> None:
        self._exprs: dict[sympy.Expr, None] = {}
        self._with: dict[frozenset[sympy.Expr] | None, dict[sympy.Expr, None]] = {}
        """By each of their sets of atoms."""
        self._adding: dict[frozenset[sympy.Expr] | None, dict[sympy.Expr, None]] = {}
        """By one of the sets that they add, or None."""

    @property
    def exprs(self) -> list[sympy.Expr]:
        """All, in the order in which they were added."""
        return list(self._exprs)

    def add(self, expr: sympy.Expr) -> None:
        self._exprs[expr] = None
        for atoms in _atoms(expr):
            self._with.setdefault(atoms, {})[expr] = None
        self._adding.setdefault(_one_added(expr), {})[expr] = None

    def remove(self, expr: sympy.Expr) -> None:
        del self._exprs[expr]
        for atoms in _atoms(expr):
            del self._with[atoms][expr]
        del self._adding[_one_added(expr)][expr]

    def perhaps_above(self, expr: sympy.Expr) -> list[sympy.Expr]:
        """Those that may reach an expression: what is added there they have, too."""
        one = _one_added(expr)
        return self.exprs if one is None else list(self._with.get(one, ()))

    def perhaps_below(self, expr: sympy.Expr) -> list[sympy.Expr]:
        """Those that an expression may reach."""
        return [other for atoms in (None, *_atoms(expr)) for other in self._adding.get(atoms, ())]


def _one_added(expr: sympy.Expr) -> frozenset[sympy.Expr] | None:
    """One of the sets of atoms that are added, always the same; None where none is."""
    return next(iter(_atoms_added(expr)), None)


def reaches(upper: sympy.Expr, lower: sympy.Expr, positive: frozenset[sympy.Symbol]) -> bool:
    """Whether `upper >= lower` follows from the signs of their terms."""
    if not _atoms_added(lower) <= _atoms(upper):
        # Nothing in the upper one makes up for them.
        return False
    try:
        difference = to_polynomial(upper) - to_polynomial(lower)
    except NotPolynomial:
        return False
    gain = {m: c for m, c in difference.terms.items() if c > 0}
    loss = {m: -c for m, c in difference.terms.items() if c < 0}
    if not all(is_never_negative(atom, positive) for m in difference.terms for atom, _ in m):
        return False
    return all(_covered(monomial, count, gain) for monomial, count in loss.items())


@lru_cache(maxsize=1 << 16)
def _atoms(expr: sympy.Expr) -> frozenset[frozenset[sympy.Expr]]:
    """The sets of atoms that are multiplied with each other in an expression."""
    return frozenset(frozenset(atom for atom, _ in monomial) for monomial, _ in _terms(expr))


@lru_cache(maxsize=1 << 16)
def _atoms_added(expr: sympy.Expr) -> frozenset[frozenset[sympy.Expr]]:
    """Those that are added, without the constant."""
    return frozenset(
        frozenset(atom for atom, _ in monomial) for monomial, count in _terms(expr) if monomial and count > 0
    )


def _terms(expr: sympy.Expr) -> list[tuple[Monomial, int]]:
    try:
        return list(to_polynomial(expr).terms.items())
    except NotPolynomial:
        return []


def _covered(monomial: Monomial, count: int, gain: dict[Monomial, int]) -> bool:
    """Whether higher powers of the same atoms make up for `count` of a monomial: n**2 >= n for integers."""
    for other in gain:
        powers = dict(other)
        same_atoms = powers.keys() == {atom for atom, _ in monomial}
        if same_atoms and all(powers[atom] >= exponent for atom, exponent in monomial):
            used = min(count, gain[other])
            gain[other] -= used
            count -= used
    return count == 0


def is_never_negative(expr: sympy.Expr, positive: frozenset[sympy.Symbol]) -> bool:
    """Whether an expression is not negative, by the signs of its parts."""
    if isinstance(expr, sympy.Integer):
        return bool(expr >= 0)
    if isinstance(expr, sympy.Symbol):
        return expr in positive
    if isinstance(expr, (sympy.Add, sympy.Mul, sympy.Min, FloorDiv)):
        return all(is_never_negative(part, positive) for part in expr.args)
    if isinstance(expr, sympy.Max):
        return any(is_never_negative(part, positive) for part in expr.args)
    return isinstance(expr, sympy.Pow) and is_never_negative(expr.args[0], positive)


def never_negative_symbols(function: Function) -> frozenset[sympy.Symbol]:
    """The symbols that are extents of real tensors or bounded below by zero."""
    found = {info.symbol for info in function.symbols if info.provenance is Provenance.EXTENT}
    for fact in function.facts:
        condition = fact.condition
        is_lower_bound = isinstance(condition, sympy.Ge) and isinstance(condition.lhs, sympy.Symbol)
        if is_lower_bound and condition.rhs.is_Integer and condition.rhs >= 0:
            found.add(condition.lhs)
    return frozenset(found)


def _normal(size: sympy.Expr) -> Polynomial | sympy.Expr:
    try:
        return to_polynomial(size)
    except NotPolynomial:
        return size


def total(sizes: Iterable[Quantity]) -> Quantity:
    """The sum of sizes, as an int or in expanded form."""
    constant = 0
    symbolic: list[sympy.Expr] = []
    for size in sizes:
        if isinstance(size, int):
            constant += size
        else:
            symbolic.append(size)
    counted = Sizes(symbolic)
    parts = [constant] + [0] * len(counted.symbolic)
    for size in symbolic:
        parts[counted.index(size)] += 1
    return counted.quantity(tuple(parts))


def greatest(sizes: Iterable[Quantity], positive: frozenset[sympy.Symbol]) -> Quantity:
    """The maximum of sizes; 0 of none."""
    distinct = list(dict.fromkeys(sizes))
    if len(distinct) == 1:
        return distinct[0]
    ints = [size for size in distinct if isinstance(size, int)]
    if len(ints) == len(distinct):
        return max(ints, default=0)
    return maximum([sympy.sympify(size) for size in distinct], positive)
