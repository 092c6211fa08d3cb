"""Random formulas: how they are written, read, bounded, totalled and solved, and against which budget."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import sympy

from relax_lint.facts.fitting import Span, bracketed, last_that_fits, solution, solved
from relax_lint.results.memory_figures import OverRange
from relax_lint.settings.memory_request import Binding, MemoryRequest
from relax_lint.symbolic import functions as f
from relax_lint.symbolic.evaluation import compile_condition, compile_expr
from relax_lint.symbolic.formula import Unsupported, substitute, to_formula
from relax_lint.symbolic.intervals import Bounds
from relax_lint.symbolic.parsing import ParseError, parse_condition, parse_expr
from relax_lint.symbolic.polynomial import NotPolynomial
from relax_lint.symbolic.printing import condition_text, expr_text
from relax_lint.symbolic.quantity import Unknown
from relax_lint.symbolic.regions import to_condition
from relax_lint.symbolic.standard import standard
from relax_lint.symbolic.substitution import replaced
from relax_lint.symbolic.univariate import complement, direction, intersection, solve, trend, union
from relax_lint.symbolic.wrapping import may_wrap
from relax_lint.totals.bounded import bounded
from relax_lint.totals.formula import greatest, is_never_negative, maximum, reaches, total
from relax_lint.totals.growth import growth_of, step_of, without_coincidences
from relax_lint.totals.pool_limits import PoolLimits
from relax_lint.totals.quantities import Indeterminate
from relax_lint.totals.ranges import grows, over_range
from tests.strength.claims import Said
from tests.symbolic.brute_force import random_condition, random_number, to_sympy

N, M = (sympy.Symbol(name, integer=True) for name in ("n", "m"))
_NAMES = ("n", "m")
_SYMBOLS = {"n": N, "m": M}
_GRID = tuple(product((-7, 0, 1, 8), (-3, 1, 2)))
_DECLINED = (NotPolynomial, Unsupported, Indeterminate, ParseError, ZeroDivisionError)
"""What says that there is no answer."""


@dataclass(frozen=True)
class Formulas:
    """An expression and a condition in sympy's own operations and in those of the provers, a box, and sizes."""

    number: int

    @cached_property
    def _drawn(self) -> tuple[Any, Any, Any, Any]:
        """What sympy cannot hold, such as a division by zero, is drawn again."""
        chance = random.Random(self.number)
        while True:
            try:
                e = to_sympy(random_number(chance, _NAMES, 3))
                c = to_sympy(random_condition(chance, _NAMES, 2))
                return e, c, _foreign(e, chance), _foreign(c, chance)
            except (ValueError, TypeError):
                continue

    @property
    def expr(self) -> Any:
        """In the operations of the provers."""
        return self._drawn[0]

    @property
    def condition(self) -> Any:
        """In the operations of the provers."""
        return self._drawn[1]

    @property
    def foreign(self) -> tuple[Any, Any]:
        """The expression and the condition, some of the operations being sympy's."""
        return self._drawn[2:]

    @cached_property
    def sizes(self) -> tuple[Any, Any, Any]:
        """Numbers of bytes."""
        chance = random.Random(f"sizes {self.number}")
        return _size(chance), _size(chance), _size(chance)

    @cached_property
    def box(self) -> dict[str, tuple[int, int]]:
        """The range of each symbol."""
        chance = random.Random(f"box {self.number}")
        lows = [chance.choice((0, 0, 0, 1, 2, 7, -3)) for _ in _NAMES]
        return {
            name: (low, low + chance.choice((0, 1, 9, 40))) for name, low in zip(_NAMES, lows, strict=True)
        }


def _foreign(e: Any, chance: random.Random) -> Any:
    """The same in operations that a rule may use: sympy's, which the provers do not read."""
    if not e.args:
        return e
    parts = [_foreign(part, chance) for part in e.args]
    if isinstance(e, f.FloorMod) and chance.random() < 0.7:
        return sympy.Mod(*parts)
    if isinstance(e, f.FloorDiv) and chance.random() < 0.7:
        quotient = parts[0] / parts[1]
        return sympy.floor(quotient) if chance.random() < 0.7 else -sympy.ceiling(-quotient)
    if isinstance(e, f.Select):
        return sympy.Piecewise((parts[1], parts[0]), (parts[2], True))
    if isinstance(e, sympy.And) and chance.random() < 0.5:
        return sympy.Not(sympy.Nand(*parts, evaluate=False), evaluate=False)
    if isinstance(e, sympy.Or) and len(parts) == 2:
        return chance.choice((sympy.Or, _implied, sympy.Xor))(*parts)
    if isinstance(e, sympy.Max) and len(parts) == 2 and chance.random() < 0.3:
        return parts[0] + sympy.Abs(parts[1]) - sympy.sign(parts[0])
    return e.func(*parts)


def _implied(one: Any, other: Any) -> Any:
    return sympy.Implies(sympy.Not(one), other)


def _size(chance: random.Random) -> Any:
    """Bytes as totals have them: pages, lanes, alternatives, a buffer that is reused where sizes are equal."""
    symbol, other = chance.sample((N, M), 2)
    number = chance.choice((1, 2, 3, 4, 8, 12, 64))
    plain = chance.choice(
        (
            number * symbol,
            number * symbol * other,
            number * symbol + 16,
            sympy.Integer(64 * number),
            symbol**2,
        )
    )
    page = chance.choice((4, 64, 256))
    return chance.choice(
        (
            plain,
            page * f.FloorDiv(plain + page - 1, page),
            sympy.Max(plain, number * other + 32),
            plain + page * f.FloorDiv(number * other + page - 1, page),
            plain - f.Select(sympy.Eq(symbol, 8), sympy.Integer(8), sympy.Integer(0)),
            sympy.Max(plain - number, 4 * other, 16),
            f.FloorDiv(plain, other),
            plain * f.FloorMod(symbol, 4),
        )
    )


def said_of_formulas(case: Formulas) -> Said:
    """One claim for each answer."""
    groups = (_texts, _read, _bounds, _solutions, _sizes, _ranges, _budgets)
    return Said(tuple(claim for group in groups for claim in group(case)))


def _told(name: str, answer: Callable[[], Any]) -> str:
    """The answer, or why there is none."""
    try:
        return f"{name}: {answer()}"
    except _DECLINED as error:
        return f"{name}: {type(error).__name__} {error}"


def _texts(case: Formulas) -> Iterator[str]:
    e, c = case.foreign
    yield f"written: {expr_text(case.expr)} | {condition_text(case.condition)}"
    yield f"standard: {expr_text(standard(e))} | {condition_text(standard(c))}"
    yield f"replaced: {expr_text(replaced(case.expr, {N: M + 1, M: sympy.Integer(case.number % 5)}))}"


def _read(case: Formulas) -> Iterator[str]:
    """The texts, and what is left of them when a character is another one."""
    chance = random.Random(f"texts {case.number}")
    text, condition = expr_text(case.expr), condition_text(case.condition)
    yield _told("read", lambda: parse_expr(text, _SYMBOLS) == case.expr)
    yield _told("condition read", lambda: parse_condition(condition, _SYMBOLS) == case.condition)
    yield _told("read as a condition", lambda: parse_condition(text, _SYMBOLS))
    for _ in range(3):
        place, other = chance.randrange(len(condition)), chance.choice("nmk01+-*%/<=~&|(),.[]!")
        changed = condition[:place] + other + condition[place + 1 :]
        yield _told(f"{changed!r}", lambda changed=changed: parse_condition(changed, _SYMBOLS))  # type: ignore[misc]


def _bounds(case: Formulas) -> Iterator[str]:
    bounds = _bounds_of(case)
    yield _told("within", lambda: bounds.expr(case.expr))
    for name, symbol in _SYMBOLS.items():
        yield _told(f"moves with {name}", lambda symbol=symbol: direction(case.expr, symbol, bounds))  # type: ignore[misc]
    for extent in (7, 1 << 20, 1 << 40):
        yield f"wraps: {[may_wrap(case.condition, frozenset({N}), extent, simplified=b) for b in (True, False)]}"


def _bounds_of(case: Formulas) -> Bounds:
    return Bounds({_SYMBOLS[name]: ends for name, ends in case.box.items()})


def _solutions(case: Formulas) -> Iterator[str]:
    try:
        formula = to_formula(case.condition)
    except _DECLINED as error:
        yield f"no formula: {error}"
        return
    yield f"formula: {condition_text(to_condition(formula))}"
    bounds, within = _bounds_of(case), case.box["n"]
    there = [substitute(formula, {M: value}) for value in case.box["m"]]
    found = [solve(one, N, within) for one in there]
    yield f"solved: {found}, {[trend(one, N, bounds) for one in (formula, *there)]}"
    known = [one for one in found if one is not None]
    if len(known) == len(there):
        yield f"joined: {union((*known[0], *known[1]))}, {intersection(*known)}, {complement(known[0], within)}"


def _sizes(case: Formulas) -> Iterator[str]:
    one, other, third = case.sizes
    for positive in (frozenset(_SYMBOLS.values()), frozenset({N})):
        yield f"total: {total((one, other, 16))}, most: {greatest((one, other, 64), positive)}"
        yield f"maximum: {maximum((one, other, third), positive)}"
        yield f"reaches: {[reaches(a, b, positive) for a in case.sizes for b in case.sizes]}"
        yield f"never negative: {[is_never_negative(a - 4, positive) for a in case.sizes]}"
    yield f"grows: {[grows(one) for one in (*case.sizes, case.expr)]}"
    yield f"growth: {[growth_of(one, N) for one in (*case.sizes, case.expr)]}"
    yield f"apart: {without_coincidences(one + other)}"
    values = [one.xreplace({N: sympy.Integer(n), M: sympy.Integer(3)}) for n in range(1, 20)]
    yield f"step: {step_of(values)}"


def _ranges(case: Formulas) -> Iterator[str]:
    chance = random.Random(f"ranges {case.number}")
    spans = {name: (max(low, 0), max(high, 0)) for name, (low, high) in case.box.items()}
    some = tuple(Binding(name, *ends) for name, ends in spans.items() if chance.random() < 0.8)
    large = tuple(Binding(name, low, high << chance.choice((8, 20))) for name, (low, high) in spans.items())
    for size in (*case.sizes, case.sizes[0] + case.sizes[1]):
        for name, bindings in (("some", some), ("large", large)):
            request = MemoryRequest(bindings=bindings)
            yield _told(f"{name} {size}", lambda size=size, r=request: _over(over_range(size, r)))  # type: ignore[misc]
            for asked in (MemoryRequest(), request):
                yield _told("bounded", lambda size=size, a=asked, r=request: _over(bounded(size, a, r)))  # type: ignore[misc]


def _over(found: OverRange | None) -> str:
    if found is None:
        return "none"
    grown = [(g.symbol, g.bytes, g.units, g.up_to, g.apart) for g in found.growth]
    pieces = [f"{piece.low}..{piece.high}: {piece.expr}" for piece in found.pieces]
    ends = found.minimum, found.at_end, [f"{one.name} {one.low}..{one.high}" for one in found.within]
    return f"{found.maximum} at {dict(found.at)}, {ends}, {grown}, {pieces}"


def _budgets(case: Formulas) -> Iterator[str]:
    chance = random.Random(f"budgets {case.number}")
    low, high = case.box["n"]
    span = Span(N, max(low, 0), high << chance.choice((0, 3, 20)))
    one, other = (size.xreplace({M: sympy.Integer(5)}) for size in case.sizes[:2])
    budget = int(2 ** (3 + 10 * chance.random()))
    condition = case.condition.xreplace({M: sympy.Integer(5)})
    for asked in (
        condition,
        sympy.Le(one, budget),
        sympy.And(sympy.Le(N, 40), sympy.Ge(N, 3)) | sympy.Eq(N, 50),
    ):
        yield _told("fit", lambda asked=asked: (solution(asked, span), solved(asked, span)))  # type: ignore[misc]
    yield _told("last", lambda: last_that_fits(one, budget, span))
    limits = PoolLimits(one, one + other)
    exact = compile_expr(one + f.FloorDiv(other, 2), (N,))
    for most in (24, 3):
        yield _told("bracketed", lambda most=most: _bracket(bracketed(limits, budget, span, exact, most)))  # type: ignore[misc]


def _bracket(found: Any) -> str:
    return f"unknown: {found.reason}" if isinstance(found, Unknown) else condition_text(found)


def verify_formulas(case: Formulas) -> None:
    """Raises where the standard form has another value than sympy finds at some point of a grid."""
    for one in case.foreign:
        found = standard(one)
        if found == one:
            continue
        compiled = compile_condition if isinstance(one, sympy.logic.boolalg.Boolean) else compile_expr
        value = compiled(found, (N, M))
        for point in _GRID:
            there, expected = _at(value, point), _value(one, point)
            if there is not None and expected is not None and there != expected:
                raise AssertionError(f"{one} as {found} at {point}: {there}, not {expected}")


def _value(e: Any, point: tuple[int, ...]) -> Any:
    """What sympy finds; None where that is not a number."""
    try:
        found = e.subs(dict(zip((N, M), point, strict=True)))
    except (ValueError, TypeError, ZeroDivisionError):
        return None
    return found if found in (sympy.true, sympy.false) or found.is_Integer else None


def _at(compiled: Callable[..., Any], point: tuple[int, ...]) -> Any:
    try:
        return compiled(*point)
    except ZeroDivisionError:
        return None
