"""When loops have a step, for tensors that have elements, and in which of them a condition holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

import sympy
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from relax_lint.symbolic.functions import FloorDiv

_TRIED = 16
"""How many steps of a loop are tried one by one."""
_MOST_COMPARISONS = 40
"""In a condition; of a longer one only the first step is asked."""


@lru_cache(maxsize=1 << 12)
def has_step(extent: sympy.Expr) -> Boolean:
    """When an extent is at least one, without the division of a loop over tiles."""
    least = sympy.Integer(1)
    while isinstance(extent, FloorDiv) and extent.args[1].is_positive:
        extent, least = extent.args[0], least * extent.args[1]
    return sympy.Ge(extent, least)


def in_some_step(
    when: Boolean, step: sympy.Symbol, first: sympy.Expr, last: sympy.Expr, *, whole: bool
) -> Boolean:
    """Where a condition holds in one of the steps of a loop that has any, as far as looking at some of them
    tells: at its ends, and where one of its comparisons begins to hold; one end tells all where each step
    makes it easier than the one before, or none does. Unless `whole` only the first step counts.
    """
    if step not in when.free_symbols:
        return when
    if not whole or len(when.atoms(Relational)) > _MOST_COMPARISONS:
        return when.xreplace({step: first})
    grows = _direction(when, step)
    if grows:
        return when.xreplace({step: last if grows > 0 else first})
    found = []
    for number in dict.fromkeys(_tried(when, step, first, last)):
        is_step = number in (first, last) or sympy.And(sympy.Ge(number, first), sympy.Ge(last, number))
        holds = sympy.And(is_step, when.xreplace({step: number}))
        if holds == sympy.true:
            return holds
        found.append(holds)
    return sympy.Or(*found)


def _direction(when: Boolean, step: sympy.Symbol) -> int:
    """1 where a condition that holds for one value of `step` holds for all that are larger, -1 where it
    holds for all that are smaller; 0 where neither is known.
    """
    if isinstance(when, sympy.And | sympy.Or):
        found = {_direction(part, step) for part in when.args if step in part.free_symbols}
        return found.pop() if len(found) == 1 else 0
    if not isinstance(when, sympy.Ge | sympy.Gt | sympy.Le | sympy.Lt):
        return 0
    room = sympy.expand(when.gts - when.lts)
    factor = room.coeff(step, 1)
    if not factor.is_Integer or step in (room - factor * step).free_symbols:
        return 0
    return 1 if factor > 0 else -1


def _tried(when: Boolean, step: sympy.Symbol, first: sympy.Expr, last: sympy.Expr) -> Iterator[sympy.Expr]:
    yield from (first, last)
    room = last - first
    if room.is_Integer and room < _TRIED:
        yield from (first + number for number in range(1, int(room)))
        return
    for one in sorted(when.atoms(Relational), key=str):
        difference = sympy.expand(one.lhs - one.rhs)
        factor = difference.coeff(step, 1)
        rest = difference - factor * step
        if abs(factor) == 1 and step not in rest.free_symbols:
            end = -rest / factor
            yield from (end, end + 1, end - 1)


def lower_bounds(condition: Boolean) -> Iterator[tuple[sympy.Symbol, int]]:
    """The symbols that a condition compares with a number, each with the least that it can be then."""
    for one in sympy.And.make_args(condition):
        strict = isinstance(one, sympy.Gt | sympy.Lt)
        if isinstance(one, sympy.Ge | sympy.Gt | sympy.Eq) and one.lhs.is_Symbol and one.rhs.is_Integer:
            yield one.lhs, int(one.rhs) + strict
        elif isinstance(one, sympy.Le | sympy.Lt) and one.rhs.is_Symbol and one.lhs.is_Integer:
            yield one.rhs, int(one.lhs) + strict


def with_sizes(
    condition: Boolean,
    extents: Iterable[sympy.Expr],
    positive: Iterable[sympy.Expr] = (),
    bounds: Iterable[tuple[sympy.Symbol, int]] = (),
) -> Boolean:
    """What is left of a condition where the `extents` are no negative numbers, and those that are `positive`
    at least one; `bounds` are symbols with the least that each is. Only extents that are symbols tell
    something.
    """
    used = condition.free_symbols
    least: dict[sympy.Symbol, int] = {}
    given = ((one, number) for number, each in ((0, extents), (1, positive)) for one in each)
    for symbol, number in (*given, *bounds):
        if symbol in used:
            least[symbol] = max(number, least.get(symbol, number))
    return _simpler(condition, frozenset(least.items()))


# Of the loops in a kernel, many have the same condition.
@lru_cache(maxsize=1 << 12)
def _simpler(condition: Boolean, least: frozenset[tuple[sympy.Symbol, int]]) -> Boolean:
    known = {
        symbol: number + sympy.Dummy(symbol.name, integer=True, nonnegative=True) for symbol, number in least
    }
    return condition.xreplace({one: _decided(one, known) for one in condition.atoms(Relational)})


def _decided(one: Relational, known: Mapping[sympy.Symbol, sympy.Expr]) -> Boolean:
    """A comparison of integers, or whether it holds for what is known of its symbols."""
    if isinstance(one, sympy.Eq | sympy.Ne):
        difference = sympy.expand((one.lhs - one.rhs).xreplace(known))
        differs = True if difference.is_positive or difference.is_negative else difference.is_nonzero
        holds = differs if isinstance(one, sympy.Ne) else None if differs is None else not differs
    else:
        strict = isinstance(one, sympy.StrictGreaterThan | sympy.StrictLessThan)
        room = sympy.expand((one.gts - one.lts).xreplace(known)) - int(strict)
        holds = True if room.is_nonnegative else False if room.is_negative else None
    return one if holds is None else sympy.true if holds else sympy.false
