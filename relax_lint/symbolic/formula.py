"""Conditions in negation normal form over polynomial atoms `p >= 0`, `p == 0`, `p != 0`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from functools import lru_cache
from typing import Any, TypeAlias

import sympy
from sympy.logic.boolalg import And, Boolean, Implies, Not, Or

from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic import functions as f
from relax_lint.symbolic.polynomial import NotPolynomial, Polynomial, to_polynomial, total
from relax_lint.symbolic.substitution import replaced


class Sign(Enum):
    """What an atom says of its polynomial."""

    NON_NEGATIVE = ">= 0"
    ZERO = "== 0"
    NON_ZERO = "!= 0"


@record(frozen=True)
class Atom:
    """One relation, divided by the common factor of its coefficients and rounded to integers."""

    polynomial: Polynomial
    sign: Sign


@record(frozen=True)
class All:
    """Every part holds."""

    parts: tuple[Formula, ...]


@record(frozen=True)
class Some:
    """At least one part holds."""

    parts: tuple[Formula, ...]


Formula: TypeAlias = Atom | All | Some | bool


class Unsupported(ValueError):
    """The condition is not built from relations between integer expressions."""


def atom(p: Polynomial, sign: Sign) -> Formula:
    """The relation in lowest terms; a bool if it does not depend on any atom of `p`."""
    constant = p.constant_term
    if p.is_constant:
        return {
            Sign.NON_NEGATIVE: constant >= 0,
            Sign.ZERO: constant == 0,
            Sign.NON_ZERO: constant != 0,
        }[sign]
    common = p.content
    if sign is not Sign.NON_NEGATIVE and constant % common:
        return sign is Sign.NON_ZERO
    # Integers c*q + d >= 0 are q + floor(d / c) >= 0; with d a multiple of c this is plain division.
    rounded = p.shift(-constant)
    reduced = Polynomial({m: c // common for m, c in rounded.terms.items()}).shift(constant // common)
    return Atom(reduced, sign)


def all_of(parts: Iterable[Formula]) -> Formula:
    """The conjunction, flattened."""
    return _join(parts, All, neutral=True)


def any_of(parts: Iterable[Formula]) -> Formula:
    """The disjunction, flattened."""
    return _join(parts, Some, neutral=False)


def _join(parts: Iterable[Formula], kind: type[All] | type[Some], *, neutral: bool) -> Formula:
    flat: dict[Formula, None] = {}
    for part in parts:
        if isinstance(part, bool):
            if part is not neutral:
                return not neutral
            continue
        flat.update(dict.fromkeys(part.parts if isinstance(part, kind) else (part,)))
    if not flat:
        return neutral
    return next(iter(flat)) if len(flat) == 1 else kind(tuple(flat))


def negate(formula: Formula) -> Formula:
    """The formula that holds exactly where this one does not."""
    if isinstance(formula, bool):
        return not formula
    if isinstance(formula, All):
        return any_of(negate(p) for p in formula.parts)
    if isinstance(formula, Some):
        return all_of(negate(p) for p in formula.parts)
    p = formula.polynomial
    if formula.sign is Sign.NON_NEGATIVE:
        return atom(p.scale(-1).shift(-1), Sign.NON_NEGATIVE)
    return Atom(p, Sign.NON_ZERO if formula.sign is Sign.ZERO else Sign.ZERO)


@lru_cache(maxsize=1 << 14)
def to_formula(condition: Boolean) -> Formula:
    """Normalise a sympy condition on integers. Raises `Unsupported`."""
    if condition == sympy.true or condition == sympy.false:
        return bool(condition)
    if isinstance(condition, And):
        return all_of(to_formula(c) for c in condition.args)
    if isinstance(condition, Or):
        return any_of(to_formula(c) for c in condition.args)
    if isinstance(condition, Not):
        return negate(to_formula(condition.args[0]))
    if isinstance(condition, Implies):
        a, b = condition.args
        return any_of((negate(to_formula(a)), to_formula(b)))
    if isinstance(condition, sympy.core.relational.Relational):
        return _relation(condition)
    raise Unsupported(f"not a relation between integers: {condition}")


def _relation(relation: Any) -> Formula:
    try:
        difference = to_polynomial(relation.args[0]) - to_polynomial(relation.args[1])
        for term in difference.atoms():
            _check_term(term)
    except NotPolynomial as error:
        raise Unsupported(str(error)) from error
    if isinstance(relation, sympy.Eq):
        return atom(difference, Sign.ZERO)
    if isinstance(relation, sympy.Ne):
        return atom(difference, Sign.NON_ZERO)
    if isinstance(relation, sympy.Ge):
        return atom(difference, Sign.NON_NEGATIVE)
    if isinstance(relation, sympy.Gt):
        return atom(difference.shift(-1), Sign.NON_NEGATIVE)
    if isinstance(relation, sympy.Le):
        return atom(difference.scale(-1), Sign.NON_NEGATIVE)
    return atom(difference.scale(-1).shift(-1), Sign.NON_NEGATIVE)


@lru_cache(maxsize=1 << 14)
def _check_term(term: Any) -> None:
    """Raises `NotPolynomial` or `Unsupported` for an opaque term that is not an integer operation that the
    provers know, down to its innermost arguments.
    """
    if isinstance(term, sympy.Symbol):
        return
    if not isinstance(term, f.OPERATIONS):
        raise NotPolynomial(f"{term} is not a known operation")
    numbers = term.args
    if isinstance(term, f.Select):
        condition, *numbers = term.args
        to_formula(condition)
    for number in numbers:
        for inner in to_polynomial(number).atoms():
            _check_term(inner)


def atoms_of(formula: Formula) -> tuple[Atom, ...]:
    """All relations in the formula, each once."""
    if isinstance(formula, bool):
        return ()
    if isinstance(formula, Atom):
        return (formula,)
    return tuple(dict.fromkeys(a for part in formula.parts for a in atoms_of(part)))


def symbols_of(formula: Formula) -> frozenset[Any]:
    """The symbols that occur, inside opaque terms too."""
    return frozenset(s for a in atoms_of(formula) for t in a.polynomial.atoms() for s in t.free_symbols)


def is_polynomial(formula: Formula) -> bool:
    """Whether every atom is a polynomial in symbols alone."""
    return all(isinstance(t, sympy.Symbol) for a in atoms_of(formula) for t in a.polynomial.atoms())


def put(e: Any, replacements: Mapping[Any, Any]) -> Any:
    """The expression with some of its parts replaced. Raises `Unsupported` if that divides by zero inside a
    Max or Min.
    """
    try:
        return replaced(e, replacements, refuse=_has_no_value)
    except (ValueError, TypeError) as error:
        raise Unsupported(f"{e} has no value") from error


def _has_no_value(e: Any) -> bool:
    """Whether an expression is a number that comes of a division by zero."""
    if e.is_Atom or e.free_symbols:
        return False
    return any(division.args[1] == 0 for division in e.atoms(*f.DIVISIONS))


def substitute(formula: Formula, values: Mapping[Any, int]) -> Formula:
    """The formula with integers put in for some symbols. Raises `Unsupported` where it has no value."""
    return put_into(formula, {symbol: sympy.Integer(value) for symbol, value in values.items()})


def put_into(formula: Formula, expressions: Mapping[Any, Any]) -> Formula:
    """The formula with expressions for some symbols. Raises `Unsupported` where it has no value, or where it
    is too large.
    """
    if isinstance(formula, bool):
        return formula
    if isinstance(formula, Atom):
        try:
            return atom(_put_into_polynomial(formula.polynomial, expressions), formula.sign)
        except NotPolynomial as error:
            raise Unsupported(str(error)) from error
    join = all_of if isinstance(formula, All) else any_of
    return join(put_into(part, expressions) for part in formula.parts)


def _put_into_polynomial(p: Polynomial, expressions: Mapping[Any, Any]) -> Polynomial:
    parts = []
    for monomial, coefficient in p.terms.items():
        kept = []
        others = Polynomial.constant(1)
        for base, exponent in monomial:
            if isinstance(base, sympy.Symbol):
                new = expressions.get(base)
            else:
                new = put(base, expressions) if not expressions.keys().isdisjoint(base.free_symbols) else None
            if new is None:
                kept.append((base, exponent))
            elif isinstance(new, sympy.Integer):
                coefficient *= int(new) ** exponent
            else:
                others = others * to_polynomial(new**exponent)
        parts.append(Polynomial({tuple(kept): coefficient}) * others)
    return total(parts)
