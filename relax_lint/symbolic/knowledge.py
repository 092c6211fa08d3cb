"""What a set of facts says about integer symbols, ready for cheap proofs.

Everything here is sound and incomplete: `True` is a proof, `False` only means "not shown".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from itertools import islice
from typing import Any

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.symbolic import functions as f
from relax_lint.symbolic.domain import INT64_MAX, INT64_MIN
from relax_lint.symbolic.evaluation import size_of
from relax_lint.symbolic.formula import (
    All,
    Atom,
    Formula,
    Sign,
    Unsupported,
    atoms_of,
    put,
    put_into,
    symbols_of,
    to_formula,
)
from relax_lint.symbolic.intervals import Bounds, Interval
from relax_lint.symbolic.polynomial import Monomial, NotPolynomial, Polynomial, divide, to_polynomial
from relax_lint.symbolic.univariate import IntSet, intersection, solve
from relax_lint.symbolic.work import FACTS, TooMuchWork, allowed, spend

BOUND_ROUNDS = 4
COMBINATION_STEPS = 60
COMBINATION_DEPTH = 3
PER_NODE = 4
PER_PROOF = 20
"""Steps of work for a node of a condition that is put into normal form, and for an attempt of a proof."""


class Knowledge:
    """The consequences of `conditions` for `symbols`, each of which is an int64.

    Equalities with a symbol of coefficient 1 are solved: `solved` maps such symbols to expressions
    in the remaining, `independent` ones, and every question is asked in terms of those.
    """

    def __init__(self, symbols: Sequence[Any], conditions: Sequence[Boolean]) -> None:
        self.symbols = tuple(symbols)
        self.conditions = tuple(conditions)
        self.solved: dict[Any, Any] = {}
        self.formulas: list[Formula] = []
        # What is left out for the work that it takes leaves the domain larger: proofs stay proofs.
        self.work = 0
        """How many steps it took to work this out."""
        with self._apart():
            self.formulas = self._solve_equalities(conditions)
        self.independent = tuple(s for s in self.symbols if s not in self.solved)
        self.relations = [a for formula in self.formulas for a in _conjuncts(formula)]
        self.box: dict[Any, Interval] = {}
        self.empty = False
        self.box = dict.fromkeys(self.independent, (INT64_MIN, INT64_MAX))
        with self._apart():
            self._find_bounds()
        self.bounds = Bounds(self.box)
        # A linear relation on one symbol is wholly in the box.
        joint = (p for r in self.relations for p in _as_inequalities(r) if len(p.atoms()) > 1 or p.degree > 1)
        self.inequalities = list(dict.fromkeys(joint))
        self._sets: dict[Any, tuple[IntSet, bool]] = {}
        with self._apart():
            self.empty = self._contradicts()

    @contextmanager
    def _apart(self) -> Iterator[None]:
        with allowed(FACTS - self.work) as allowance:
            with suppress(TooMuchWork):
                yield
            self.work = FACTS - max(allowance.left, 0)

    def formula(self, condition: Boolean) -> Formula:
        """The condition in terms of the independent symbols. Raises `Unsupported`."""
        spend(PER_NODE * size_of(condition))
        return put_into(to_formula(condition), self.solved) if self.solved else to_formula(condition)

    def proves(self, formula: Formula) -> bool:
        """Whether the formula was shown to hold for all admissible values."""
        if self.empty or isinstance(formula, bool):
            return self.empty or formula is True
        if isinstance(formula, All):
            return all(self.proves(part) for part in formula.parts)
        if self._proves_univariate(formula):
            return True
        if isinstance(formula, Atom):
            return self._proves_atom(formula)
        return any(self.proves(part) for part in formula.parts)

    def values(self, symbol: Any) -> tuple[IntSet, bool]:
        """A set that holds every admissible value of the symbol, and whether every value in it
        satisfies all facts about this symbol alone.
        """
        known = self._sets.get(symbol)
        if known is None:
            within = self.box[symbol]
            values: IntSet = (within,) if within[0] <= within[1] else ()
            exact = True
            for formula in self._about.get(symbol, ()):
                part = solve(formula, symbol, within)
                if part is None:
                    exact = False
                else:
                    values = intersection(values, part)
            known = self._sets[symbol] = (values, exact)
        return known

    @cached_property
    def _about(self) -> dict[Any, list[Formula]]:
        """The formulas about one symbol alone, by that symbol."""
        found: dict[Any, list[Formula]] = defaultdict(list)
        for formula in self.formulas:
            if len(symbols := symbols_of(formula)) == 1:
                found[next(iter(symbols))].append(formula)
        return found

    def _solve_equalities(self, conditions: Sequence[Boolean]) -> list[Formula]:
        ranges = [c for s in self.symbols for c in (sympy.Ge(s, INT64_MIN), sympy.Le(s, INT64_MAX))]
        while True:
            formulas: list[Formula] = []
            for condition in (*conditions, *ranges):
                try:
                    formulas.append(self.formula(condition))
                except Unsupported:
                    # Leaving a fact out only makes the domain larger: proofs stay proofs.
                    continue
            solution = next(self._solutions(formulas), None)
            if solution is None:
                return [x for x in dict.fromkeys(formulas) if x is not True]
            symbol, value = solution
            self.solved = {s: put(e, {symbol: value}) for s, e in self.solved.items()} | {symbol: value}

    def _solutions(self, formulas: Sequence[Formula]) -> Iterator[tuple[Any, Any]]:
        """Equalities that give a symbol as an expression of others; later symbols go first."""
        equalities = [a for x in formulas for a in _conjuncts(x) if a.sign is Sign.ZERO]
        for symbol in reversed(self.symbols):
            monomial: Monomial = ((symbol, 1),)
            for relation in equalities:
                p = relation.polynomial
                coefficient = p.terms.get(monomial, 0)
                rest = Polynomial({m: -c * coefficient for m, c in p.terms.items() if m != monomial})
                if abs(coefficient) == 1 and not any(symbol in a.free_symbols for a in rest.atoms()):
                    yield symbol, rest.to_expr()

    def _find_bounds(self) -> None:
        for _ in range(BOUND_ROUNDS):
            before = dict(self.box)
            bounds = Bounds(self.box)
            for relation in self.relations:
                for p in _as_inequalities(relation):
                    self._tighten(p, bounds)
            if self.box == before:
                return

    def _tighten(self, p: Polynomial, bounds: Bounds) -> None:
        """From c*s + rest >= 0, with the largest value of the rest, bound s."""
        price = bounds.price(p)
        # The most that all terms are together, less a term's own part, is the most of the rest.
        total = bounds.polynomial(p)[1] if _names_each_once(p) else None
        for monomial, coefficient in p.terms.items():
            if len(monomial) != 1 or monomial[0][1] != 1 or monomial[0][0] not in self.box:
                continue
            symbol = monomial[0][0]
            spend(price)
            low, high = self.box[symbol]
            own = coefficient * (high if coefficient > 0 else low)
            most = _most_of_rest(p, monomial, bounds) if total is None else total - own
            if most is None:
                continue
            if coefficient > 0:
                low = max(low, -(most // coefficient))
            else:
                high = min(high, most // -coefficient)
            # The end that was moved is not the one that `total` counts.
            self.box[symbol] = low, high

    def _contradicts(self) -> bool:
        if any(low > high for low, high in self.box.values()):
            return True
        if any(not self.values(s)[0] for s in self.independent):
            return True
        return any(self._refutes(formula) for formula in self.formulas)

    def _refutes(self, formula: Formula) -> bool:
        """Whether the formula is impossible within the bounds of the symbols alone."""
        if isinstance(formula, bool):
            return not formula
        if isinstance(formula, Atom):
            spend(self.bounds.price(formula.polynomial))
            try:
                low, high = self.bounds.polynomial(formula.polynomial)
            except NotPolynomial:
                return False
            if formula.sign is Sign.NON_NEGATIVE:
                return high < 0
            return low > 0 or high < 0 if formula.sign is Sign.ZERO else low == high == 0
        check = any if isinstance(formula, All) else all
        return check(self._refutes(part) for part in formula.parts)

    def _proves_univariate(self, formula: Formula) -> bool:
        symbols = symbols_of(formula)
        if len(symbols) != 1:
            return False
        (symbol,) = symbols
        if symbol not in self.box:
            return False
        spend(PER_NODE * sum(len(a.polynomial.terms) for a in atoms_of(formula)))
        true_for = solve(formula, symbol, self.box[symbol])
        if true_for is None:
            return False
        values, _ = self.values(symbol)
        return intersection(values, true_for) == values

    def _proves_atom(self, relation: Atom) -> bool:
        p = relation.polynomial
        if relation.sign is Sign.NON_NEGATIVE:
            return self.non_negative(p)
        if relation.sign is Sign.ZERO:
            return self.non_negative(p) and self.non_negative(p.scale(-1))
        return self.non_negative(p.shift(-1)) or self.non_negative(p.scale(-1).shift(-1))

    def non_negative(self, p: Polynomial) -> bool:
        """Whether the polynomial was shown to be >= 0 for all admissible values."""
        spend(PER_PROOF + 4 * self.bounds.price(p))
        try:
            if self.bounds.polynomial(p)[0] >= 0 or self._combines(p):
                return True
            expanded = _expand_remainders(p, self.bounds)
            if expanded != p and (self.bounds.polynomial(expanded)[0] >= 0 or self._combines(expanded)):
                return True
            cases = _first_choice(p)
            return bool(cases) and all(self.non_negative(case) for case in cases)
        except NotPolynomial:
            return False

    def _combines(self, p: Polynomial) -> bool:
        """Whether p is a sum of something non-negative and of facts times non-negative monomials."""
        facts = list(self.inequalities)
        seen: set[Any] = set()
        pending = [a for q in (p, *facts) for a in q.atoms()]
        while pending:
            atom = pending.pop()
            if atom in seen:
                continue
            seen.add(atom)
            definitions = list(_definitions(atom, self.bounds))
            facts += definitions
            pending += [a for q in definitions for a in q.atoms()]
        steps = islice(self._descend(p, facts, COMBINATION_DEPTH), COMBINATION_STEPS)
        return any(steps)

    def _descend(self, p: Polynomial, facts: list[Polynomial], depth: int) -> Iterator[bool]:
        """Cancel one term of p after the other against a fact; True once the rest is >= 0."""
        for monomial, coefficient in p.terms.items():
            if not monomial:
                continue
            spend(len(facts))
            for fact in facts:
                spend(len(fact.terms))
                for factor, own in self._matches(monomial, coefficient, fact):
                    rest = p.scale(abs(own)) - fact * Polynomial({factor: abs(coefficient)})
                    spend(PER_NODE * len(fact.terms) + self.bounds.price(rest))
                    proved = self.bounds.polynomial(rest)[0] >= 0
                    yield proved
                    if depth > 1:
                        yield from self._descend(rest, facts, depth - 1)

    def _matches(
        self, monomial: Monomial, coefficient: int, fact: Polynomial
    ) -> Iterator[tuple[Monomial, int]]:
        """Non-negative monomials by which a fact can be multiplied to meet the term, with its coefficient."""
        for own_monomial, own in fact.terms.items():
            if not own_monomial or (own > 0) != (coefficient > 0):
                continue
            factor = divide(monomial, own_monomial)
            if factor is not None and all(self.bounds.atom(a)[0] >= 0 for a, _ in factor):
                yield factor, own


def _conjuncts(formula: Formula) -> tuple[Atom, ...]:
    if isinstance(formula, Atom):
        return (formula,)
    return tuple(p for p in formula.parts if isinstance(p, Atom)) if isinstance(formula, All) else ()


def _names_each_once(p: Polynomial) -> bool:
    """Whether each atom is a symbol that occurs once: bounds of the terms are bounds of the sum."""
    atoms = [atom for monomial in p.terms for atom, _ in monomial]
    return len(atoms) == len(set(atoms)) and all(atom.is_Symbol for atom in atoms)


def _most_of_rest(p: Polynomial, monomial: Monomial, bounds: Bounds) -> int | None:
    """The largest value of the other terms; None where they depend on its symbol, or have no bounds."""
    ((symbol, _),) = monomial
    rest = Polynomial({m: c for m, c in p.terms.items() if m != monomial})
    if any(symbol in a.free_symbols for a in rest.atoms()):
        return None
    try:
        return bounds.polynomial(rest)[1]
    except NotPolynomial:
        return None


def _as_inequalities(relation: Atom) -> tuple[Polynomial, ...]:
    if relation.sign is Sign.NON_NEGATIVE:
        return (relation.polynomial,)
    if relation.sign is Sign.ZERO:
        return relation.polynomial, relation.polynomial.scale(-1)
    return ()


def _definitions(atom: Any, bounds: Bounds) -> Iterator[Polynomial]:
    """Inequalities that an operation's result satisfies by its definition."""
    if isinstance(atom, f.FloorDiv):
        a, b = map(to_polynomial, atom.args)
        if bounds.expr(atom.args[1])[0] <= 0:
            return
        # b*q <= a <= b*q + b - 1
        multiple = b * to_polynomial(atom)
        yield a - multiple
        yield multiple + b.shift(-1) - a
    elif isinstance(atom, (sympy.Max, sympy.Min)):
        sign = 1 if isinstance(atom, sympy.Max) else -1
        for argument in atom.args:
            yield (to_polynomial(atom) - to_polynomial(argument)).scale(sign)


def _expand_remainders(p: Polynomial, bounds: Bounds) -> Polynomial:
    """Remainders by positive divisors written as a - b*(a // b), truncation as flooring where a >= 0."""
    replaced = {}
    for atom in p.atoms():
        if not isinstance(atom, f.DIVISIONS) or bounds.expr(atom.args[1])[0] <= 0:
            continue
        a, b = atom.args
        if isinstance(atom, f.FloorMod) or (isinstance(atom, f.TruncMod) and bounds.expr(a)[0] >= 0):
            replaced[atom] = a - b * f.FloorDiv(a, b)
        elif isinstance(atom, f.TruncDiv) and bounds.expr(a)[0] >= 0:
            replaced[atom] = f.FloorDiv(a, b)
    return to_polynomial(put(p.to_expr(), replaced)) if replaced else p


def _first_choice(p: Polynomial) -> list[Polynomial]:
    """p with its first Max, Min or Select replaced by each of the values that it can take."""
    for atom in p.atoms():
        if isinstance(atom, (sympy.Max, sympy.Min, f.Select)):
            options = atom.args[1:] if isinstance(atom, f.Select) else atom.args
            expr = p.to_expr()
            return [to_polynomial(put(expr, {atom: option})) for option in options]
    return []
