"""Conditions and expressions from text, through the syntax tree; nothing is ever evaluated."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

import sympy
from sympy.logic.boolalg import And, Boolean, Not, Or

from relax_lint.symbolic import functions as f

MAX_LENGTH = 10_000
MAX_EXPONENT = 64

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: f.FloorDiv,
    ast.Mod: f.FloorMod,
}
_COMPARE: dict[type[ast.cmpop], Any] = {
    ast.Lt: sympy.Lt,
    ast.LtE: sympy.Le,
    ast.Gt: sympy.Gt,
    ast.GtE: sympy.Ge,
    ast.Eq: sympy.Eq,
    ast.NotEq: sympy.Ne,
}
_FUNCTIONS: dict[str, tuple[Any, int | None]] = {
    "Min": (sympy.Min, None),
    "Max": (sympy.Max, None),
    "min": (sympy.Min, None),
    "max": (sympy.Max, None),
    "FloorDiv": (f.FloorDiv, 2),
    "FloorMod": (f.FloorMod, 2),
    "TruncDiv": (f.TruncDiv, 2),
    "TruncMod": (f.TruncMod, 2),
    "BitAnd": (f.BitAnd, 2),
    "BitOr": (f.BitOr, 2),
    "BitXor": (f.BitXor, 2),
}


class ParseError(ValueError):
    """The text is not a condition (or expression) over the known symbols; the message says why."""


def parse_expr(text: str, symbols: Mapping[str, Any]) -> Any:
    """The integer expression written in `text`. Raises `ParseError`."""
    return _bounded(_expr, text, symbols)


def parse_condition(text: str, symbols: Mapping[str, Any]) -> Boolean:
    """The condition written in `text`: `m <= 4`, `0 < n < 10`, `n % 4 == 0`, joined with `and`, `or`, `not`;
    also in sympy's form: `Eq(n % 4, 0)`, joined with `&`, `|`, `~`. Raises `ParseError`.
    """
    return _bounded(_condition, text, symbols)


def _bounded(
    read: Callable[[ast.expr, Mapping[str, Any]], Any], text: str, symbols: Mapping[str, Any]
) -> Any:
    try:
        return read(_tree(text), symbols)
    except RecursionError as error:
        raise ParseError("nested too deeply") from error


def _tree(text: str) -> ast.expr:
    if len(text) > MAX_LENGTH:
        raise ParseError(f"longer than {MAX_LENGTH} characters")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ParseError(f"not an expression: {text!r}") from error


def _expr(node: ast.expr, symbols: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            return sympy.Integer(value)
        case ast.Name(id=name):
            if name not in symbols:
                raise ParseError(f"unknown symbol {name!r}")
            return symbols[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_expr(operand, symbols)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _expr(operand, symbols)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            exponent = _expr(right, symbols)
            if not isinstance(exponent, sympy.Integer) or not 0 <= exponent <= MAX_EXPONENT:
                raise ParseError(f"a power needs a constant exponent of 0 to {MAX_EXPONENT}")
            return _expr(left, symbols) ** exponent
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _BINARY:
            return _BINARY[type(operator)](_expr(left, symbols), _expr(right, symbols))
        case ast.Call(func=ast.Name(id="Piecewise"), args=arguments, keywords=[]):
            return _piecewise(arguments, symbols)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in _FUNCTIONS:
            function, count = _FUNCTIONS[name]
            if count not in (None, len(arguments)) or not arguments:
                raise ParseError(f"{name} takes {count or 'at least one'} arguments")
            return function(*(_expr(a, symbols) for a in arguments))
    raise ParseError(f"not an integer expression: {ast.unparse(node)}")


def _piecewise(arguments: list[ast.expr], symbols: Mapping[str, Any]) -> Any:
    match arguments:
        case [ast.Tuple(elts=[a, condition]), ast.Tuple(elts=[b, ast.Constant(value=True)])]:
            return f.Select(_condition(condition, symbols), _expr(a, symbols), _expr(b, symbols))
        case [ast.Tuple(elts=[a, condition]), _, _, *_]:
            otherwise = _piecewise(arguments[1:], symbols)
            return f.Select(_condition(condition, symbols), _expr(a, symbols), otherwise)
    raise ParseError("Piecewise must read Piecewise((a, condition), ..., (b, True))")


def _condition(node: ast.expr, symbols: Mapping[str, Any]) -> Boolean:
    match node:
        case ast.Constant(value=bool() as value):
            return sympy.true if value else sympy.false
        case ast.Name(id="true" | "false" as name) if name not in symbols:
            return sympy.true if name == "true" else sympy.false
        case ast.BoolOp(op=ast.And(), values=values):
            return And(*(_condition(v, symbols) for v in values))
        case ast.BoolOp(op=ast.Or(), values=values):
            return Or(*(_condition(v, symbols) for v in values))
        case ast.BinOp(left=left, op=ast.BitAnd(), right=right):
            return And(_condition(left, symbols), _condition(right, symbols))
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return Or(_condition(left, symbols), _condition(right, symbols))
        case ast.UnaryOp(op=ast.Invert() | ast.Not(), operand=operand):
            return Not(_condition(operand, symbols))
        case ast.Call(func=ast.Name(id="Eq" | "Ne" as name), args=[a, b], keywords=[]):
            return (sympy.Eq if name == "Eq" else sympy.Ne)(_expr(a, symbols), _expr(b, symbols))
        case ast.Compare(left=left, ops=operators, comparators=others):
            sides = [_expr(side, symbols) for side in (left, *others)]
            relations = []
            for a, operator, b in zip(sides[:-1], operators, sides[1:], strict=True):
                if type(operator) not in _COMPARE:
                    raise ParseError(f"not a comparison of integers: {ast.unparse(node)}")
                relations.append(_COMPARE[type(operator)](a, b))
            return And(*relations)
    raise ParseError(f"not a condition: {ast.unparse(node)}")
