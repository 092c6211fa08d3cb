"""The safe region of a claim: the condition that people read and that becomes a run-time check."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sympy
from sympy.logic.boolalg import And, Boolean, Or

from relax_lint.symbolic.formula import (
    All,
    Atom,
    Formula,
    Sign,
    Some,
    Unsupported,
    all_of,
    any_of,
    negate,
    symbols_of,
    to_formula,
)
from relax_lint.symbolic.intervals import Interval
from relax_lint.symbolic.knowledge import Knowledge
from relax_lint.symbolic.polynomial import NotPolynomial, Polynomial
from relax_lint.symbolic.univariate import IntSet, complement, intersection, solve
from relax_lint.symbolic.work import spend

MAX_PIECES = 3
MAX_PARTS = 6
MAX_WAYS = 4


def safe_region(claim: Boolean, knowledge: Knowledge) -> Boolean | None:
    """A condition equivalent to the claim on the domain of `knowledge`, in lowest terms.

    None if the claim is not built from integer relations.
    """
    try:
        formula = to_formula(claim)
        reduced = knowledge.formula(claim)
    except Unsupported:
        return None
    for candidate in (formula, reduced):
        pieces = _pieces(candidate, knowledge)
        if pieces is not None:
            return pieces
    return to_condition(_drop_implied(formula, knowledge))


def to_condition(formula: Formula) -> Boolean:
    """The formula as people write it: factors cancelled, constants right, no negative terms."""
    if isinstance(formula, bool):
        return sympy.true if formula else sympy.false
    if isinstance(formula, Atom):
        return _relation(formula)
    join = And if isinstance(formula, All) else Or
    return join(*map(to_condition, formula.parts))


def _relation(relation: Atom) -> Boolean:
    constant = relation.polynomial.constant_term
    added = Polynomial({m: c for m, c in relation.polynomial.terms.items() if m and c > 0})
    taken = Polynomial({m: -c for m, c in relation.polynomial.terms.items() if m and c < 0})
    if relation.sign is Sign.NON_NEGATIVE:
        # added - taken + constant >= 0
        if not taken.terms:
            return sympy.Ge(added.to_expr(), -constant)
        return sympy.Le(taken.to_expr(), added.shift(constant).to_expr())
    make = sympy.Eq if relation.sign is Sign.ZERO else sympy.Ne
    if not added.terms:
        return make(taken.to_expr(), constant)
    return make(added.to_expr(), taken.shift(-constant).to_expr())


def _pieces(formula: Formula, knowledge: Knowledge) -> Boolean | None:
    """The region of a claim on one symbol as a few intervals, or None."""
    symbols = symbols_of(formula)
    if len(symbols) != 1:
        return None
    (symbol,) = symbols
    known = _allowed(symbol, knowledge)
    if known is None:
        return None
    within, allowed = known
    if not allowed:
        # Facts that contradict each other: whatever the claim says, it is so.
        return sympy.true
    solved = solve(formula, symbol, within)
    if solved is None:
        return None
    fine = intersection(solved, allowed)
    hull = allowed[0][0], allowed[-1][1]
    wrong = intersection(complement(fine, hull), allowed)
    if len(wrong) == 1 and wrong[0][0] == wrong[0][1] and hull[0] < wrong[0][0] < hull[1]:
        return sympy.Ne(symbol, wrong[0][0])
    fine = _bridge(fine, wrong)
    if len(fine) > MAX_PIECES:
        return None
    return Or(*(_interval(symbol, piece, hull) for piece in fine))


def _allowed(symbol: Any, knowledge: Knowledge) -> tuple[Interval, IntSet] | None:
    """A range of the symbol and the values in it that the facts about it allow; None without any bounds."""
    if symbol in knowledge.box:
        return knowledge.box[symbol], knowledge.values(symbol)[0]
    try:
        within = knowledge.bounds.expr(knowledge.solved[symbol])
    except NotPolynomial:
        return None
    return within, (within,)


def _bridge(fine: IntSet, wrong: IntSet) -> IntSet:
    """Join neighbouring pieces that no wrong value separates: the values between are not in the domain."""
    joined: list[Interval] = []
    for low, high in fine:
        if joined and not intersection(((joined[-1][1], low),), wrong):
            joined[-1] = joined[-1][0], high
        else:
            joined.append((low, high))
    return tuple(joined)


def _interval(symbol: Any, piece: Interval, hull: Interval) -> Boolean:
    low, high = piece
    if low == high:
        single = sympy.Eq(symbol, low)
        if low not in hull:
            return single
    parts = []
    if low > hull[0]:
        parts.append(sympy.Ge(symbol, low))
    if high < hull[1]:
        parts.append(sympy.Le(symbol, high))
    return And(*parts)


def _drop_implied(formula: Formula, knowledge: Knowledge) -> Formula:
    """Leave out what the facts, or the other parts of a conjunction, already say, and of a disjunction what
    they contradict, or is part of what the other parts say.
    """
    if isinstance(formula, bool):
        return formula
    if _proves(knowledge, formula):
        return True
    if isinstance(formula, Atom):
        return formula
    parts = [_drop_implied(p, knowledge) for p in formula.parts]
    if isinstance(formula, Some):
        possible: list[Formula] = [p for p in dict.fromkeys(parts) if not _proves(knowledge, negate(p))]
        if len(possible) <= MAX_WAYS:
            possible = _needed(possible, knowledge, lambda part, others: ((part,), any_of(others)))
        return any_of(possible)
    kept: list[Formula] = [p for p in dict.fromkeys(parts) if p is not True]
    if len(kept) <= MAX_PARTS:
        kept = _needed(kept, knowledge, lambda part, others: (others, part))
    return all_of(kept)


def _needed(
    parts: Sequence[Formula],
    knowledge: Knowledge,
    asked: Callable[[Formula, Sequence[Formula]], tuple[Sequence[Formula], Formula]],
) -> list[Formula]:
    """The parts without which others say less: `asked` is what follows from what where they do not."""
    kept = list(parts)
    for part in parts:
        others = [p for p in kept if p is not part]
        if not others:
            break
        known, follows = asked(part, others)
        narrower = Knowledge(knowledge.symbols, (*knowledge.conditions, *map(to_condition, known)))
        spend(narrower.work)
        if _proves(narrower, follows):
            kept = others
    return kept


def _proves(knowledge: Knowledge, formula: Formula) -> bool:
    """A proof of the formula as it stands, through the solved equalities where there are any."""
    if not knowledge.solved:
        return knowledge.proves(formula)
    try:
        return knowledge.proves(knowledge.formula(to_condition(formula)))
    except Unsupported:
        return False
