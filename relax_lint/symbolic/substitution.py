"""Expressions and conditions with others in the place of their symbols.

sympy's own `xreplace` builds each Max, Min and relation anew, and to see whether it can be simplified asks
for the sign of each difference: milliseconds for each, which no bound on work would see. Here they stay as
they are written, but for what their normal forms tell.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import sympy

from relax_lint.symbolic.polynomial import NotPolynomial, to_polynomial

_EXTREMES = (sympy.Max, sympy.Min)
_RELATIONS = (sympy.Eq, sympy.Ne, sympy.Ge, sympy.Gt, sympy.Le, sympy.Lt)


def replaced(e: Any, replacements: Mapping[Any, Any], refuse: Callable[[Any], bool] | None = None) -> Any:
    """The expression or condition with some of its parts replaced. Raises ValueError or TypeError if that
    puts an infinity, or what is to be refused, into a Max or a Min.
    """
    return _replaced(e, dict(replacements), refuse)


def _replaced(part: Any, known: dict[Any, Any], refuse: Callable[[Any], bool] | None) -> Any:
    found = known.get(part)
    if found is None:
        arguments = [_replaced(argument, known, refuse) for argument in part.args]
        # Expressions are kept by sympy, most of them: what is the same needs no comparison.
        changed = [new for new, old in zip(arguments, part.args, strict=True) if new is not old]
        if refuse is not None and isinstance(part, _EXTREMES) and any(map(refuse, changed)):
            raise ValueError("no value")
        found = known[part] = _made(part, arguments) if changed else part
    return found


def _made(old: Any, arguments: Sequence[Any]) -> Any:
    if isinstance(old, _EXTREMES):
        return _extreme(type(old), arguments)
    if isinstance(old, _RELATIONS) and not all(isinstance(one, sympy.Integer) for one in arguments):
        return type(old)(*arguments, evaluate=False)
    return old.func(*arguments)


def _extreme(kind: Any, arguments: Sequence[Any]) -> Any:
    """The largest or the smallest of some values; of those that differ by a constant one is enough."""
    best: dict[Any, tuple[int, Any]] = {}
    choose = max if kind is sympy.Max else min
    for argument in arguments:
        for value in argument.args if isinstance(argument, kind) else (argument,):
            symbolic, constant = _parts(value)
            known = best.get(symbolic)
            if known is None or choose(known[0], constant) != known[0]:
                best[symbolic] = constant, value
    values = [value for _, value in best.values()]
    return values[0] if len(values) == 1 else kind(*values, evaluate=False)


def _parts(value: Any) -> tuple[Any, int]:
    """What stands for a value but for a constant, and that constant."""
    try:
        form = to_polynomial(value)
    except NotPolynomial as error:
        if value.has(sympy.zoo, sympy.nan):
            raise ValueError(str(error)) from error
        return value, 0
    return form.shift(-form.constant_term), form.constant_term
