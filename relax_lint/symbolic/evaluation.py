"""Exact evaluation of expressions and conditions at concrete integers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import sympy
from sympy.logic.boolalg import And, Boolean, Not, Or

from relax_lint.symbolic import functions as f

_HELPERS = {"trunc_div": f.trunc_div, "trunc_mod": f.trunc_mod, "__builtins__": {"max": max, "min": min}}
_OPERATORS = {
    f.FloorDiv: "//",
    f.FloorMod: "%",
    f.BitAnd: "&",
    f.BitOr: "|",
    f.BitXor: "^",
    sympy.Eq: "==",
    sympy.Ne: "!=",
    sympy.Lt: "<",
    sympy.Le: "<=",
    sympy.Gt: ">",
    sympy.Ge: ">=",
}
_CALLS = {f.TruncDiv: "trunc_div", f.TruncMod: "trunc_mod", sympy.Max: "max", sympy.Min: "min"}
_JOINED = {sympy.Add: " + ", sympy.Mul: " * ", And: " and ", Or: " or "}


@lru_cache(maxsize=1 << 12)
def compile_expr(expr: Any, symbols: tuple[Any, ...]) -> Callable[..., int]:
    """A function of the symbols' values. It raises ZeroDivisionError where the value is undefined."""
    return _compile(expr, symbols)


@lru_cache(maxsize=1 << 12)
def compile_condition(condition: Boolean, symbols: tuple[Any, ...]) -> Callable[..., bool | None]:
    """A function of the symbols' values: the truth of the condition, None where it is undefined.

    A conjunction with a false part is false and a disjunction with a true part is true, whatever
    the other parts are: the order of the parts must not matter.
    """
    fast = _compile(condition, symbols)

    if not may_be_undefined(condition):
        return fast
    exact = _three_valued(condition, symbols)

    def holds(*values: int) -> bool | None:
        try:
            return bool(fast(*values))
        except ZeroDivisionError:
            return exact(values)

    return holds


@lru_cache(maxsize=1 << 14)
def size_of(expr: Any) -> int:
    """The number of nodes of an expression or condition."""
    return 1 + sum(map(size_of, expr.args))


def may_be_undefined(expr: Any) -> bool:
    """Whether an expression or condition divides by something other than a non-zero constant."""
    return any(not isinstance(e.args[1], sympy.Integer) or e.args[1] == 0 for e in expr.atoms(*f.DIVISIONS))


def _compile(expr: Any, symbols: tuple[Any, ...]) -> Callable[..., Any]:
    names = {s: f"v{i}" for i, s in enumerate(symbols)}
    source = f"lambda {', '.join(names.values())}: {_source(expr, names)}"
    # The text is built here from the expression's structure alone: fixed operators, integers and v0, v1...
    compiled: Callable[..., Any] = eval(source, dict(_HELPERS))
    return compiled


def _source(e: Any, names: dict[Any, str]) -> str:
    if isinstance(e, sympy.Symbol):
        return names[e]
    if isinstance(e, sympy.Integer):
        return f"({int(e)})"
    if e in (sympy.true, sympy.false):
        return str(bool(e))
    parts = [_source(a, names) for a in e.args]
    kind = type(e)
    if kind in _JOINED:
        return f"({_JOINED[kind].join(parts)})"
    if kind in _OPERATORS:
        return f"({parts[0]} {_OPERATORS[kind]} {parts[1]})"
    if kind in _CALLS:
        return f"{_CALLS[kind]}({', '.join(parts)})"
    if kind is f.Select:
        return f"({parts[1]} if {parts[0]} else {parts[2]})"
    if kind is Not:
        return f"(not {parts[0]})"
    if kind is sympy.Pow and isinstance(e.args[1], sympy.Integer) and e.args[1] >= 0:
        return f"({parts[0]} ** {parts[1]})"
    raise TypeError(f"cannot be evaluated: {e}")


_Exact = Callable[[Sequence[int]], bool | None]


def _three_valued(condition: Any, symbols: tuple[Any, ...]) -> _Exact:
    if isinstance(condition, Not):
        return _negated(_three_valued(condition.args[0], symbols))
    if isinstance(condition, (And, Or)):
        parts = [_three_valued(c, symbols) for c in condition.args]
        return _joined(parts, decisive=isinstance(condition, Or))
    fast = _compile(condition, symbols)

    def relation(values: Sequence[int]) -> bool | None:
        try:
            return bool(fast(*values))
        except ZeroDivisionError:
            return None

    return relation


def _negated(inner: _Exact) -> _Exact:
    def negation(values: Sequence[int]) -> bool | None:
        value = inner(values)
        return None if value is None else not value

    return negation


def _joined(parts: Sequence[_Exact], *, decisive: bool) -> _Exact:
    def joined(values: Sequence[int]) -> bool | None:
        found = [part(values) for part in parts]
        if decisive in found:
            return decisive
        return None if None in found else not decisive

    return joined
