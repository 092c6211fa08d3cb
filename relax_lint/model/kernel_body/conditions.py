"""Conditions under which statements of a kernel are reached, and the steps of loops that satisfy them.

A schedule that splits a loop of `n` steps into two writes `i * 128 + j < n` around the body: the loops
together run over more numbers than there are, and those that satisfy the condition are 0 to `n - 1`, each
once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.model.kernel_body.loops import Loops
from relax_lint.model.kernel_body.strides import Linear, covered, linear
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.functions import FloorDiv, FloorMod
from relax_lint.symbolic.translate import Translator, Untranslatable
from relax_lint.vm import nodes


@record(frozen=True)
class Below:
    """`value` < `limit`, where `limit` has no variable of a loop."""

    value: sympy.Expr
    limit: sympy.Expr


_MAX_DIGITS = 8

Steps: TypeAlias = "tuple[tuple[sympy.Symbol, sympy.Expr | None], ...]"
"""Variables of loops, each with the number of its steps as it is written."""


def conditions_of(
    node: Any, translator: Translator, loops: Loops, *, holds: bool = True
) -> tuple[Below, ...] | None:
    """What a condition (`holds` False: its negation) says, as comparisons that all hold; None for others."""
    try:
        condition = translator.condition(nodes.without_hint(node))
    except (Untranslatable, AttributeError):
        return None
    return _comparisons(condition if holds else sympy.Not(condition), loops)


def _comparisons(condition: Boolean, loops: Loops) -> tuple[Below, ...] | None:
    if condition == sympy.true:
        return ()
    if isinstance(condition, sympy.And):
        found: list[Below] = []
        for argument in sorted(condition.args, key=str):
            part = _comparisons(argument, loops)
            if part is None:
                return None
            found += part
        return tuple(found)
    if isinstance(condition, sympy.StrictLessThan | sympy.StrictGreaterThan):
        return (_below(condition.lts - condition.gts, loops),)
    if isinstance(condition, sympy.LessThan | sympy.GreaterThan):
        return (_below(condition.lts - condition.gts - 1, loops),)
    if isinstance(condition, sympy.Eq):
        difference = condition.lhs - condition.rhs
        return (_below(difference - 1, loops), _below(-difference - 1, loops))
    if isinstance(condition, sympy.Ne):
        return _other_than_an_end(condition.lhs - condition.rhs, loops)
    return None


def _other_than_an_end(difference: sympy.Expr, loops: Loops) -> tuple[Below, ...] | None:
    """`difference` is not 0, where that is the first or the last number that it runs over."""
    for value in (-difference, difference):
        reached = loops.range_of(sympy.expand(value))
        if reached is not None and reached.last == 0:
            return (_below(value, loops),)
    return None


def _below(difference: sympy.Expr, loops: Loops) -> Below:
    """`difference` < 0."""
    terms = sympy.Add.make_args(sympy.expand(difference))
    fixed = sympy.Add(*(term for term in terms if loops.in_signature(term)))
    value, limit = sympy.expand(difference - fixed), -fixed
    while isinstance(value, FloorDiv) and value.args[1].is_Integer and value.args[1] > 0:
        value, limit = value.args[0], sympy.expand(limit * value.args[1])
    return Below(value, limit)


@record(frozen=True)
class Selected:
    """The indices of a store and the loops around it, with the conditions worked into the loops."""

    indices: tuple[sympy.Expr, ...]
    steps: Steps


def selected(
    indices: tuple[sympy.Expr, ...], steps: Steps, conditions: Sequence[Below], loops: Loops
) -> Selected | None:
    """What remains of a store when a condition leaves the first of the numbers that some loops run over;
    None where that cannot be said.
    """
    pending = list(conditions)
    while pending:
        condition = pending.pop(0)
        if _always(condition, loops):
            continue
        found = linear(condition.value, [symbol for symbol, _ in steps], loops)
        first = None if found is None else _first_numbers(condition, found, loops)
        if first is None:
            return None
        assert found is not None
        symbol, mapping = first
        replaced = {stride.symbol for stride in found.strides}
        indices = tuple(sympy.expand(index.xreplace(mapping)) for index in indices)
        pending = [Below(sympy.expand(one.value.xreplace(mapping)), one.limit) for one in pending]
        used = {free for value in (*indices, *(one.value for one in pending)) for free in value.free_symbols}
        if not used.isdisjoint(replaced):
            return None
        kept = tuple((other, extent) for other, extent in steps if other not in replaced)
        steps = (*kept, (symbol, sympy.expand(condition.limit - found.start)))
    return Selected(indices, steps)


def in_digits(store: Selected, loops: Loops) -> Selected:
    """The same store with two loops in place of one of which the indices take quotient and remainder."""
    indices, steps = store.indices, dict(store.steps)
    for _ in range(_MAX_DIGITS):
        found = next((one for index in indices if (one := _division(index, steps, loops)) is not None), None)
        if found is None:
            break
        symbol, divisor, quotients = found
        high, low = loops.fresh(f"{symbol}_high"), loops.fresh(f"{symbol}_low")
        loops.enter(high, sympy.Integer(0), quotients)
        loops.enter(low, sympy.Integer(0), divisor)
        parts = {FloorDiv(symbol, divisor): high, FloorMod(symbol, divisor): low}
        whole = {symbol: divisor * high + low}
        indices = tuple(sympy.expand(index.xreplace(parts).xreplace(whole)) for index in indices)
        del steps[symbol]
        steps |= {high: quotients, low: divisor}
    return Selected(indices, tuple(steps.items()))


def _division(
    index: sympy.Expr, steps: Mapping[sympy.Symbol, sympy.Expr | None], loops: Loops
) -> tuple[sympy.Symbol, sympy.Expr, sympy.Expr] | None:
    """The variable of a loop that an index divides, by what, and how many quotients there are."""
    for division in sorted(index.atoms(FloorDiv, FloorMod), key=str):
        symbol, divisor = division.args
        reached = loops.range_of(symbol) if symbol in steps else None
        if reached is None or reached.first != 0 or not loops.in_signature(divisor):
            continue
        quotients = sympy.cancel(reached.extent / divisor)
        if quotients.as_numer_denom()[1] == 1 and loops.is_not_negative(divisor):
            return symbol, divisor, sympy.expand(quotients)
    return None


def _always(condition: Below, loops: Loops) -> bool:
    reached = loops.range_of(condition.value)
    return reached is not None and loops.is_not_negative(condition.limit - 1 - reached.last)


def _first_numbers(
    condition: Below, found: Linear, loops: Loops
) -> tuple[sympy.Symbol, Mapping[sympy.Symbol, sympy.Expr]] | None:
    """A new variable that runs over the numbers below the limit, each of which the loops reach once; and
    what a variable of these loops is in terms of it.
    """
    size = covered(found)
    if size is None or not at_least(size, condition.limit - found.start, loops):
        return None
    unit = next((stride.symbol for stride in found.strides if stride.coefficient == 1), None)
    if unit is None:
        return None
    symbol = loops.fresh("first")
    loops.enter(symbol, found.start, sympy.expand(condition.limit - found.start))
    sign = condition.value.coeff(unit, 1)
    rest = sympy.expand(condition.value - sign * unit)
    return symbol, {unit: sign * (symbol - rest)}


def at_least(value: sympy.Expr, least: sympy.Expr, loops: Loops) -> bool:
    """Whether a value is at least another one; `k * (e // k)` is at least `e - k + 1`."""
    rest = sympy.expand(value - least)
    for term in sympy.Add.make_args(rest):
        for factor in sympy.Mul.make_args(term):
            if not isinstance(factor, FloorDiv) or not factor.args[1].is_Integer:
                continue
            inner, divisor = factor.args
            share = sympy.cancel(term / factor / divisor)
            if share.as_numer_denom()[1] == 1 and loops.is_not_negative(share):
                rest = rest - term + share * (inner - divisor + 1)
    return loops.is_not_negative(rest)
