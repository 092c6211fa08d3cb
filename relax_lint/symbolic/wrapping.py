"""Whether a condition on 64-bit integers can mean something else than the same condition on integers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod
from typing import Any, TypeAlias

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.symbolic.domain import INT64_MAX, INT64_MIN
from relax_lint.symbolic.functions import DIVISIONS, OPERATIONS, FloorMod, Select
from relax_lint.symbolic.intervals import of_operation

_Range: TypeAlias = tuple[int, int]
_ANY: _Range = (INT64_MIN, INT64_MAX)
_BEYOND: _Range = (2 * INT64_MIN, 2 * INT64_MAX)
_SMALL = 2**31


def may_wrap(condition: Boolean, free: frozenset[sympy.Symbol], max_extent: int, *, simplified: bool) -> bool:
    """Whether a sum or product in a condition may leave int64. The `free` symbols are any int64, the others
    lie between 0 and `max_extent`; what is only about these is taken not to wrap, as everywhere.

    `simplified` are conditions that TVM's analyzer gets first: it solves a linear one for its symbol, where
    that stands on one side.
    """
    return any(
        not (simplified and _is_solved(atom))
        and any(_leaves_int64(side, free, max_extent) for side in (atom.lhs, atom.rhs))
        for atom in condition.atoms(sympy.core.relational.Relational)
        if not free.isdisjoint(atom.free_symbols)
    )


def compared_within_int64(
    values: Iterable[sympy.Expr], free: frozenset[sympy.Symbol], max_extent: int
) -> tuple[Boolean, ...]:
    """What has to hold so that no quotient, remainder, minimum, maximum or choice in some values is one of a
    number that wrapped around. A sum or product that did is right again as soon as it fits; what these make
    of it is another number. `free` and `max_extent` as for `may_wrap`.
    """
    found: dict[Boolean, None] = {}
    for value in values:
        for part in _looked_at(value):
            if not part.is_Atom and not free.isdisjoint(part.free_symbols):
                low, high = _held(part, free, max_extent)
                if high > INT64_MAX:
                    found[sympy.Le(part, INT64_MAX)] = None
                if low < INT64_MIN:
                    found[sympy.Ge(part, INT64_MIN)] = None
    return tuple(found)


def _looked_at(value: sympy.Expr) -> Iterator[sympy.Expr]:
    """The numbers inside a value of which more counts than their low bits."""
    for node in sympy.preorder_traversal(value):
        if isinstance(node, FloorMod) and _is_power_of_two(node.args[1]):
            continue
        if isinstance(node, Select):
            relations = node.args[0].atoms(sympy.core.relational.Relational)
            # Each side of a comparison; `atoms` is a set.
            yield from (side for one in sorted(relations, key=str) for side in one.args)
        elif isinstance(node, (*DIVISIONS, sympy.Max, sympy.Min)):
            yield from node.args


def _is_power_of_two(divisor: sympy.Expr) -> bool:
    return bool(divisor.is_Integer) and divisor > 0 and int(divisor) & (int(divisor) - 1) == 0


def _held(expr: Any, free: frozenset[sympy.Symbol], max_extent: int) -> _Range:
    """The range of an expression where what is looked at inside it is in int64."""
    if not isinstance(expr, OPERATIONS):
        if expr.is_Atom:
            return _range(expr, free, max_extent)
        parts = [_held(part, free, max_extent) for part in expr.args]
        if isinstance(expr, sympy.Pow) and expr.args[1].is_Integer and expr.args[1] > 0:
            return _product([parts[0]] * int(expr.args[1]))
        known = {sympy.Add: _total, sympy.Mul: _product}.get(type(expr))
        return _BEYOND if known is None else known(parts)
    numbers = [part for part in expr.args if isinstance(part, sympy.Expr)]
    return of_operation(expr, [_clipped(_held(part, free, max_extent)) for part in numbers])


def _clipped(span: _Range) -> _Range:
    return max(span[0], INT64_MIN), min(span[1], INT64_MAX)


def _leaves_int64(side: sympy.Expr, free: frozenset[sympy.Symbol], max_extent: int) -> bool:
    """Whether one side of a comparison, or a term of it, may leave int64."""
    terms = sympy.Add.make_args(sympy.expand(side))
    ranges = [_range(term, free, max_extent) for term in terms]
    return not all(_fits(span) for span in (*ranges, _total(ranges)))


def _total(ranges: Iterable[_Range]) -> _Range:
    found = list(ranges)
    return sum(low for low, _ in found), sum(high for _, high in found)


def _fits(span: _Range) -> bool:
    return span[0] >= INT64_MIN and span[1] <= INT64_MAX


def _is_solved(relation: Any) -> bool:
    """Whether TVM's analyzer solves a comparison: it leaves `a > a + a` as it is."""
    one, other = sympy.expand(relation.lhs), sympy.expand(relation.rhs)
    return (not one.free_symbols or not other.free_symbols) and _is_linear(one - other)


def _is_linear(expr: sympy.Expr) -> bool:
    """Whether an expression is `a * x + b`, with small numbers."""
    symbols = expr.free_symbols
    if len(symbols) != 1 or not expr.is_polynomial(*symbols):
        return False
    coefficients = sympy.Poly(expr, *symbols).all_coeffs()
    return len(coefficients) == 2 and all(abs(int(number)) < _SMALL for number in coefficients)


def _range(expr: Any, free: frozenset[sympy.Symbol], max_extent: int) -> _Range:
    if expr.is_Integer:
        return int(expr), int(expr)
    if expr.is_Symbol:
        return _ANY if expr in free else (0, max_extent)
    parts = [_range(part, free, max_extent) for part in expr.args if isinstance(part, sympy.Expr)]
    if isinstance(expr, sympy.Add):
        return _total(parts)
    if isinstance(expr, sympy.Mul):
        return _product(parts)
    if isinstance(expr, sympy.Pow) and expr.args[1].is_Integer and expr.args[1] > 0:
        return _product([parts[0]] * int(expr.args[1]))
    if not isinstance(expr, OPERATIONS):
        return _BEYOND
    # What it is made of is computed as well, and may leave int64 where the quotient does not.
    found = [*parts, of_operation(expr, parts)]
    return min(0, *(low for low, _ in found)), max(0, *(high for _, high in found))


def _product(ranges: list[_Range]) -> _Range:
    low, high = ranges[0]
    for other in ranges[1:]:
        ends = [prod(pair) for pair in ((low, other[0]), (low, other[1]), (high, other[0]), (high, other[1]))]
        low, high = min(ends), max(ends)
    return low, high
