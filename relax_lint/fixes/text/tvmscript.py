"""Expressions and conditions as TVMScript writes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy
from sympy.logic.boolalg import And, Boolean, Or

from relax_lint.fixes.changes import InsertAssert
from relax_lint.fixes.comparing import Comparison
from relax_lint.fixes.wording import assert_format, comparison_text
from relax_lint.symbolic import functions as f
from relax_lint.vm.builtins import MATCH_SHAPE, Level, Operation, operators

MAX_LENGTH = 200
"""Characters: a longer condition is unreadable in a program."""

ALLOC_STORAGE: Mapping[Level | None, str] = {
    row.level: name.removeprefix("relax.") for name, row in operators(Operation.STORAGE).items()
}
"""The calls with a size that can be written down, below `R`."""

_SUM, _PRODUCT, _ATOM = range(3)
_RELATIONS = {
    sympy.Lt: "<",
    sympy.Le: "<=",
    sympy.Gt: ">",
    sympy.Ge: ">=",
    sympy.Eq: "==",
    sympy.Ne: "!=",
}


class NotWritableError(ValueError):
    """TVMScript has no such operation."""


def script_expr(expr: sympy.Expr, tir: str = "T") -> str:
    """An integer expression; `tir` is what the file calls TVMScript's TIR namespace.

    Raises NotWritableError.
    """
    return _expr(expr, tir)[0]


def script_condition(condition: Boolean, tir: str = "T") -> str:
    """A condition. Raises NotWritableError."""
    if isinstance(condition, And | Or):
        first, *rest = sorted(script_condition(part, tir) for part in condition.args)
        word = "And" if isinstance(condition, And) else "Or"
        for part in rest:
            first = f"{tir}.{word}({first}, {part})"
        return first
    relation = _RELATIONS.get(type(condition))
    if relation is None:
        raise NotWritableError(str(condition))
    a, b = condition.args
    if relation in ("==", "!=") and a.is_number:
        a, b = b, a
    return f"{script_expr(a, tir)} {relation} {script_expr(b, tir)}"


def check_call(check: InsertAssert, relax: str = "R", tir: str = "T", *, is_old: bool = False) -> str:
    """The call that makes a check. Its message names the symbols, their values and what is needed.

    Raises NotWritableError.
    """
    if check.comparison is not None:
        return _comparison(check.condition, check.comparison, relax, tir, is_old=is_old)
    names = ", ".join(symbol.name for symbol in check.symbols)
    text = script_condition(check.condition, tir)
    return f'{relax}.assert_op({text}, [{names}], format="{assert_format(check.condition, check.symbols)}")'


def _comparison(condition: Boolean, made: Comparison, relax: str, tir: str, *, is_old: bool) -> str:
    numbers = ", ".join(f"{relax}.prim_value({number})" for number in (0, 1, 0, made.allowed))
    types = "sinfo_args" if is_old else "ty_args"
    return (
        f'{relax}.call_packed("{MATCH_SHAPE}", {relax}.shape([{_compared(made.value, tir)}]), {numbers}, '
        f'{relax}.str("{comparison_text(condition, made)}"), {types}=({relax}.Tuple,))'
    )


def _compared(value: sympy.Expr, tir: str) -> str:
    if isinstance(value, sympy.Max | sympy.Min) and len(value.args) == 2:
        limited, limit = sorted(value.args, key=lambda argument: bool(argument.is_number))
        name = "max" if isinstance(value, sympy.Max) else "min"
        return f"{tir}.{name}({script_expr(limited, tir)}, {script_expr(limit, tir)})"
    if not isinstance(value, f.Select):
        return script_expr(value, tir)
    condition, *values = value.args
    # A bare number would be of 32 bits.
    first, second = (f"{tir}.int64({v})" if v.is_Integer else script_expr(v, tir) for v in values)
    # Passes that copy a function (LambdaLift) do not know `if_then_else` in a shape.
    return f"{tir}.Select({script_condition(condition, tir)}, {first}, {second})"


def _expr(expr: Any, tir: str) -> tuple[str, int]:
    """The text and how tightly its outermost operator binds."""
    if isinstance(expr, sympy.Integer):
        return str(int(expr)), _ATOM if expr >= 0 else _SUM
    if isinstance(expr, sympy.Symbol):
        return expr.name, _ATOM
    if isinstance(expr, sympy.Add):
        return _sum(expr, tir)
    if isinstance(expr, sympy.Mul):
        return _product(expr, tir)
    if isinstance(expr, sympy.Pow):
        base, exponent = expr.args
        if not isinstance(exponent, sympy.Integer) or not 2 <= exponent <= 8:
            raise NotWritableError(str(expr))
        return " * ".join([_inside(base, _ATOM, tir)] * int(exponent)), _PRODUCT
    if isinstance(expr, f.FloorDiv | f.FloorMod):
        a, b = expr.args
        operator = "//" if isinstance(expr, f.FloorDiv) else "%"
        return f"{_inside(a, _ATOM, tir)} {operator} {_inside(b, _ATOM, tir)}", _PRODUCT
    if isinstance(expr, sympy.Max | sympy.Min):
        word = "max" if isinstance(expr, sympy.Max) else "min"
        first, *rest = sorted((script_expr(a, tir) for a in expr.args), key=lambda text: (len(text), text))
        for text in rest:
            first = f"{tir}.{word}({first}, {text})"
        return first, _ATOM
    raise NotWritableError(str(expr))


def _inside(expr: Any, level: int, tir: str) -> str:
    text, binds = _expr(expr, tir)
    return text if binds >= level else f"({text})"


def _sum(expr: Any, tir: str) -> tuple[str, int]:
    terms = sorted(expr.args, key=lambda term: (term.is_number, _is_negative(term), str(term)))
    text = _inside(terms[0], _PRODUCT, tir)
    for term in terms[1:]:
        sign, size = ("-", -term) if _is_negative(term) else ("+", term)
        text += f" {sign} {_inside(size, _PRODUCT, tir)}"
    return text, _SUM


def _is_negative(term: Any) -> bool:
    return bool(term.as_coeff_Mul()[0] < 0)


def _product(expr: Any, tir: str) -> tuple[str, int]:
    coefficient, rest = expr.as_coeff_Mul()
    if not isinstance(coefficient, sympy.Integer):
        raise NotWritableError(str(expr))
    factors = sorted(sympy.Mul.make_args(rest), key=str)
    # A quotient or a remainder in the middle of a product would be computed from the wrong operands.
    parts = [_inside(factor, _PRODUCT if isinstance(factor, sympy.Pow) else _ATOM, tir) for factor in factors]
    if coefficient != 1:
        parts.append(_inside(coefficient, _ATOM, tir))
    return " * ".join(parts), _PRODUCT
