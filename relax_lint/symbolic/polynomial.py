"""Integer polynomials in sympy atoms: the normal form of every size expression.

An atom is a symbol or any integer-valued term that is not a sum, product or power
(`n//4`, `Max(n, 1)`): it stands for an unknown integer. Coefficients are Python ints, so the
arithmetic is exact at any size.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from math import gcd
from typing import Any

import sympy

Monomial = tuple[tuple[Any, int], ...]
"""Atoms with their exponents, in the order of `atom_key`; empty for the constant."""

ONE: Monomial = ()
MAX_TERMS = 4000
MAX_PRODUCTS = 5 * MAX_TERMS


class NotPolynomial(ValueError):
    """The expression is not integer-valued, or expands to more than `MAX_TERMS` terms, or through more than
    `MAX_PRODUCTS` products of two.
    """


@lru_cache(maxsize=1 << 16)
def atom_key(atom: Any) -> tuple[int, str]:
    """A total order on atoms that does not depend on hashes: symbols by name, then the rest."""
    return (0, atom.name) if isinstance(atom, sympy.Symbol) else (1, sympy.srepr(atom))


def times(a: Monomial, b: Monomial) -> Monomial:
    """The product of two monomials."""
    if not a or not b:
        return a or b
    powers = dict(a)
    for atom, exponent in b:
        powers[atom] = powers.get(atom, 0) + exponent
    return tuple(sorted(powers.items(), key=lambda item: atom_key(item[0])))


def divide(a: Monomial, b: Monomial) -> Monomial | None:
    """`a / b` where that is a monomial, else None."""
    powers = dict(a)
    for atom, exponent in b:
        rest = powers.get(atom, 0) - exponent
        if rest < 0:
            return None
        powers[atom] = rest
    return tuple((atom, exponent) for atom, exponent in powers.items() if exponent)


class Polynomial:
    """An immutable polynomial: monomial -> non-zero coefficient."""

    __slots__ = ("terms",)

    def __init__(self, terms: Mapping[Monomial, int]) -> None:
        self.terms = {m: c for m, c in terms.items() if c}

    @staticmethod
    def constant(value: int) -> Polynomial:
        """The polynomial that is `value` everywhere."""
        return Polynomial({ONE: value})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Polynomial) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))

    def __add__(self, other: Polynomial) -> Polynomial:
        total = dict(self.terms)
        for monomial, coefficient in other.terms.items():
            total[monomial] = total.get(monomial, 0) + coefficient
        return Polynomial(total)

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + other.scale(-1)

    def __mul__(self, other: Polynomial) -> Polynomial:
        if len(self.terms) * len(other.terms) > MAX_PRODUCTS:
            raise NotPolynomial("the expression is too large to expand")
        total: dict[Monomial, int] = {}
        for m1, c1 in self.terms.items():
            for m2, c2 in other.terms.items():
                product = times(m1, m2)
                total[product] = total.get(product, 0) + c1 * c2
        if len(total) > MAX_TERMS:
            raise NotPolynomial("the expression is too large to expand")
        return Polynomial(total)

    def scale(self, factor: int) -> Polynomial:
        """This polynomial times an integer."""
        return Polynomial({m: c * factor for m, c in self.terms.items()})

    def shift(self, amount: int) -> Polynomial:
        """This polynomial plus an integer."""
        return self + Polynomial.constant(amount)

    @property
    def constant_term(self) -> int:
        """The coefficient of 1."""
        return self.terms.get(ONE, 0)

    @property
    def is_constant(self) -> bool:
        """Whether no atom occurs."""
        return not self.terms or (len(self.terms) == 1 and ONE in self.terms)

    @property
    def degree(self) -> int:
        """The highest total exponent of a monomial; 0 for constants."""
        return max((sum(e for _, e in m) for m in self.terms), default=0)

    @property
    def content(self) -> int:
        """The greatest common divisor of all coefficients but the constant one; 0 if there are none."""
        return gcd(*(c for m, c in self.terms.items() if m))

    def atoms(self) -> tuple[Any, ...]:
        """The atoms that occur, in the order of `atom_key`."""
        return tuple(sorted({a for m in self.terms for a, _ in m}, key=atom_key))

    def univariate(self, atom: Any) -> list[int] | None:
        """Coefficients by rising degree if no other atom occurs, else None."""
        coefficients: dict[int, int] = {0: 0}
        for monomial, coefficient in self.terms.items():
            if monomial and (len(monomial) > 1 or monomial[0][0] != atom):
                return None
            coefficients[monomial[0][1] if monomial else 0] = coefficient
        return [coefficients.get(d, 0) for d in range(max(coefficients) + 1)]

    def to_expr(self) -> Any:
        """The same as an expanded sympy expression."""
        return sympy.Add(*(sympy.Integer(c) * _product(m) for m, c in self.terms.items()))


@lru_cache(maxsize=1 << 16)
def _product(monomial: Monomial) -> Any:
    return sympy.Mul(*(sympy.Pow(atom, sympy.Integer(exponent)) for atom, exponent in monomial))


def total(parts: Iterable[Polynomial]) -> Polynomial:
    """The sum of polynomials."""
    terms: dict[Monomial, int] = {}
    for part in parts:
        for monomial, coefficient in part.terms.items():
            terms[monomial] = terms.get(monomial, 0) + coefficient
    return Polynomial(terms)


@lru_cache(maxsize=1 << 16)
def to_polynomial(expr: Any) -> Polynomial:
    """Expand an integer-valued sympy expression. Raises `NotPolynomial`."""
    if isinstance(expr, sympy.Integer):
        return Polynomial.constant(int(expr))
    if isinstance(expr, sympy.Add):
        return total(to_polynomial(arg) for arg in expr.args)
    if isinstance(expr, sympy.Mul):
        product = Polynomial.constant(1)
        for arg in expr.args:
            product = product * to_polynomial(arg)
        return product
    if isinstance(expr, sympy.Pow):
        base, exponent = expr.args
        if isinstance(exponent, sympy.Integer) and 0 <= int(exponent) <= 64:
            power = Polynomial.constant(1)
            factor = to_polynomial(base)
            for _ in range(int(exponent)):
                power = power * factor
            return power
        raise NotPolynomial(f"{expr} is not a whole power")
    if isinstance(expr, (sympy.Max, sympy.Min)):
        # To sympy this is a question about the sign of each, of which it looks at all parts.
        for arg in expr.args:
            to_polynomial(arg)
        return Polynomial({((expr, 1),): 1})
    if expr.is_integer:
        return Polynomial({((expr, 1),): 1})
    raise NotPolynomial(f"{expr} is not known to be an integer")
