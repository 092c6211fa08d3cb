"""Expressions and conditions as Python text, which `relax_lint.symbolic.parsing` reads back."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import sympy
from sympy.logic.boolalg import And, Boolean, Not, Or

from relax_lint.symbolic import functions as f

_SUM, _PRODUCT, _UNARY, _ATOM = range(4)
_OR, _AND, _RELATION = range(3)
_INFIX = {f.FloorDiv: "//", f.FloorMod: "%"}
_RELATIONS = {
    sympy.Equality: "==",
    sympy.Unequality: "!=",
    sympy.StrictLessThan: "<",
    sympy.LessThan: "<=",
    sympy.StrictGreaterThan: ">",
    sympy.GreaterThan: ">=",
}


def expr_text(expr: Any) -> str:
    """An integer expression: sums by falling degree with the constant last, `(n + 3)//4`, `n % 4`."""
    return _expr(expr)[0]


def condition_text(condition: Boolean) -> str:
    """A condition as Python writes it: `k == m and (32*n) % 64 == 0`."""
    return _condition(condition)[0]


@lru_cache(maxsize=1 << 14)
def _expr(expr: Any) -> tuple[str, int]:
    """The text and how tightly its outermost operator binds."""
    if isinstance(expr, sympy.Integer):
        return str(int(expr)), _ATOM if expr >= 0 else _UNARY
    if isinstance(expr, sympy.Symbol):
        return expr.name, _ATOM
    if isinstance(expr, sympy.Add):
        return _sum(expr)
    if isinstance(expr, sympy.Mul):
        return _product(expr)
    if isinstance(expr, sympy.Pow):
        base, exponent = expr.args
        return f"{_inside(base, _ATOM)}**{_inside(exponent, _ATOM)}", _UNARY
    if type(expr) in _INFIX:
        a, b = expr.args
        operator = _INFIX[type(expr)]
        glue = operator if operator == "//" else f" {operator} "
        return f"{_inside(a, _ATOM)}{glue}{_inside(b, _ATOM)}", _PRODUCT
    if isinstance(expr, f.Select):
        return f"Piecewise({', '.join(_cases(expr))})", _ATOM
    if isinstance(expr, Boolean):
        return _condition(expr)[0], _SUM
    arguments = ordered_arguments(expr) if isinstance(expr, (sympy.Max, sympy.Min)) else expr.args
    return f"{expr.func.__name__}({', '.join(_expr(a)[0] for a in arguments)})", _ATOM


def _cases(expr: Any) -> Iterator[str]:
    """What a chain of selections chooses from, in order."""
    while isinstance(expr, f.Select):
        condition, chosen, expr = expr.args
        yield f"({_expr(chosen)[0]}, {_condition(condition)[0]})"
    yield f"({_expr(expr)[0]}, True)"


def _inside(expr: Any, level: int) -> str:
    text, binds = _expr(expr)
    return text if binds >= level else f"({text})"


def _degree(term: Any) -> int:
    powers = (factor.as_base_exp() for factor in sympy.Mul.make_args(term))
    return sum(int(e) if isinstance(e, sympy.Integer) else 1 for b, e in powers if not b.is_number)


def _rank(term: Any) -> tuple[int, int, bool, str]:
    """Falling degree; plain symbols before functions; what is added before what is taken away."""
    plain = all(factor.as_base_exp()[0].is_Atom for factor in sympy.Mul.make_args(term))
    return -_degree(term), not plain, _negative(term), _magnitude(term)


def _negative(term: Any) -> bool:
    return bool(term.as_coeff_Mul()[0] < 0)


def _magnitude(term: Any) -> str:
    """The text of the term without its coefficient: so that like terms sort alike."""
    return _expr(term.as_coeff_Mul()[1])[0]


def ordered_terms(expr: Any) -> list[Any]:
    """The terms of a sum in the order in which people read them."""
    return sorted(sympy.Add.make_args(expr), key=_rank)


def ordered_arguments(expr: Any) -> list[Any]:
    """The arguments of a maximum or minimum in the order of the terms of a sum."""
    return sorted(expr.args, key=_rank)


def ordered_factors(expr: Any) -> list[Any]:
    """The factors of a product without a number in front, plain symbols first."""
    return sorted(sympy.Mul.make_args(expr), key=lambda x: (not x.as_base_exp()[0].is_Atom, _expr(x)[0]))


def ordered_conditions(condition: Any) -> list[Any]:
    """The parts of a conjunction or disjunction in the order in which people read them."""
    return sorted(condition.args, key=lambda part: _condition_order(_part(part)))


def relation_sides(condition: Any) -> tuple[Any, Any]:
    """The sides of an equality: sympy orders them by its own order; people put the number right."""
    a, b = condition.args
    return (b, a) if a.is_number else (a, b)


def _sum(expr: Any) -> tuple[str, int]:
    terms = ordered_terms(expr)
    text = _inside(terms[0], _PRODUCT)
    for term in terms[1:]:
        text += f" - {_inside(-term, _PRODUCT)}" if _negative(term) else f" + {_inside(term, _PRODUCT)}"
    return text, _SUM


def _product(expr: Any) -> tuple[str, int]:
    coefficient, rest = expr.as_coeff_Mul()
    text = "*".join(_inside(factor, _UNARY) for factor in ordered_factors(rest))
    if coefficient == 1:
        return text, _PRODUCT
    return (f"-{text}", _PRODUCT) if coefficient == -1 else (f"{int(coefficient)}*{text}", _PRODUCT)


def _condition(condition: Any) -> tuple[str, int]:
    if condition in (sympy.true, sympy.false):
        return str(condition), _RELATION
    if isinstance(condition, (And, Or)):
        level, glue = (_AND, " and ") if isinstance(condition, And) else (_OR, " or ")
        return glue.join(_part(part) for part in ordered_conditions(condition)), level
    if isinstance(condition, Not):
        return f"not ({_condition(condition.args[0])[0]})", _RELATION
    if type(condition) in _RELATIONS:
        symmetric = isinstance(condition, (sympy.Eq, sympy.Ne))
        a, b = relation_sides(condition) if symmetric else condition.args
        return f"{expr_text(a)} {_RELATIONS[type(condition)]} {expr_text(b)}", _RELATION
    raise TypeError(f"not a condition on integers: {condition}")


def _part(condition: Any) -> str:
    """A part of a conjunction or disjunction; another one inside it gets parentheses."""
    text, binds = _condition(condition)
    return text if binds == _RELATION else f"({text})"


def _condition_order(text: str) -> tuple[str, bool, str]:
    """By the left-hand side, the lower bound before the upper one."""
    left = text.lstrip("(").split(" ", 1)[0]
    return left, "<" in text, text
