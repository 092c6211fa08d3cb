"""Plain Python values out of a syntax tree, without evaluating it: literals and bounded arithmetic."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Container, Mapping
from typing import Any

_MAX_BITS = 256
_MAX_ITEMS = 65536

LONG_NUMBER = "a number in it has too many digits to be read"
"""What Python says of a decimal number of thousands of digits, in words for users."""

# The least limit that Python can be given for the digits of a number that it prints is 640.
_PRINTABLE_BITS = 2048
# A number begins where nothing of one stands before it: each character is looked at once.
_DIGITS = re.compile(r"(?<![0-9A-Fa-f_])[0-9A-Fa-f_]{500}")

_BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
_UNARY: Mapping[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
    ast.Invert: operator.invert,
}


# Called with plain values that are already bounded.
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "abs": abs,
    "bool": bool,
    "float": float,
    "int": int,
    "len": len,
    "list": list,
    "max": max,
    "min": min,
    "range": range,
    "sum": sum,
    "tuple": tuple,
}


class NotLiteralError(ValueError):
    """The expression is not a literal: `name` is the first name that prevents it, if it is a name."""

    def __init__(self, node: ast.AST, name: str | None = None) -> None:
        super().__init__(name or type(node).__name__)
        self.node = node
        self.name = name


class TooLargeError(ValueError):
    """The value would be too large to compute."""


def is_large(value: object) -> bool:
    """Whether a number or sequence is beyond what a source text may produce."""
    if isinstance(value, int):
        return value.bit_length() > _MAX_BITS
    if isinstance(value, str | bytes | list | tuple):
        return len(value) > _MAX_ITEMS
    return False


def with_printable_numbers(tree: ast.Module, text: str) -> ast.Module:
    """The tree of `text`, with another number, too large as well, in place of each that Python cannot print.

    Python reads a hexadecimal number of any length and refuses to spell it: a message that quotes one would
    cost the whole file.
    """
    if _DIGITS.search(text):
        for node in ast.walk(tree):
            match node:
                case ast.Constant(value=int(value)) if value.bit_length() > _PRINTABLE_BITS:
                    node.value = 1 << _PRINTABLE_BITS
    return tree


def weight(value: object, limit: int = _MAX_ITEMS) -> int:
    """The number of values inside a value, counted up to just above `limit`: shared parts count each time."""
    total, waiting = 0, [value]
    while waiting and total <= limit:
        total += 1
        item = waiting.pop()
        if isinstance(item, list | tuple):
            waiting.extend(item)
        elif isinstance(item, dict):
            waiting.extend(item.values())
    return total


def binary(op: ast.operator, left: Any, right: Any) -> Any:
    """`left op right` on plain values; TooLargeError before anything large is computed, NotLiteralError where
    the operation is not defined.
    """
    if isinstance(op, ast.Pow) and isinstance(left, int) and isinstance(right, int):
        if abs(left) > 1 and right * max(left.bit_length() - 1, 1) > _MAX_BITS:
            raise TooLargeError
        if right < 0 and abs(right) > _MAX_BITS:
            raise TooLargeError
    if isinstance(op, ast.LShift) and isinstance(right, int) and right > _MAX_BITS:
        raise TooLargeError
    if isinstance(op, ast.Mult):
        for sequence, count in ((left, right), (right, left)):
            is_repetition = isinstance(sequence, str | bytes | list | tuple) and isinstance(count, int)
            if is_repetition and len(sequence) * count > _MAX_ITEMS:
                raise TooLargeError
    if isinstance(op, ast.Mod) and isinstance(left, str | bytes):
        raise NotLiteralError(op)
    try:
        value = _BINARY[type(op)](left, right)
    except (ArithmeticError, TypeError, ValueError, KeyError) as error:
        raise NotLiteralError(op) from error
    if is_large(value):
        raise TooLargeError
    return value


def literal_value(node: ast.expr, names: Mapping[str, Any], bound: Container[str] = ()) -> Any:
    """The value of a literal expression; `names` are the plain values that it may mention, `bound` the names
    that are not Python's own.

    Raises NotLiteralError where it is none, TooLargeError where it would be too large.
    """
    match node:
        case ast.Constant():
            if is_large(node.value):
                raise TooLargeError
            return node.value
        case ast.Name():
            if node.id in names:
                return names[node.id]
            raise NotLiteralError(node, node.id)
        case ast.Attribute(value=ast.Name(id="math"), attr=("inf" | "nan" | "pi" | "e") as constant) if (
            "math" not in bound
        ):
            return getattr(math, constant)
        case ast.Tuple():
            return tuple(literal_value(item, names, bound) for item in node.elts)
        case ast.List():
            return [literal_value(item, names, bound) for item in node.elts]
        case ast.Dict() if all(key is not None for key in node.keys):
            return {
                _hashable(literal_value(key, names, bound), key): literal_value(value, names, bound)
                for key, value in zip(node.keys, node.values, strict=True)
                if key is not None
            }
        case ast.UnaryOp():
            operand = literal_value(node.operand, names, bound)
            try:
                return _UNARY[type(node.op)](operand)
            except TypeError as error:
                raise NotLiteralError(node) from error
        case ast.BinOp():
            return binary(
                node.op, literal_value(node.left, names, bound), literal_value(node.right, names, bound)
            )
        case ast.Subscript():
            container, index = (
                literal_value(node.value, names, bound),
                literal_value(node.slice, names, bound),
            )
            try:
                return container[index]
            except (TypeError, LookupError) as error:
                raise NotLiteralError(node) from error
        case ast.Call(func=ast.Name(id=function), keywords=[]) if (
            function in _FUNCTIONS and function not in bound
        ):
            return _call(node, function, [literal_value(argument, names, bound) for argument in node.args])
    raise NotLiteralError(node)


def _call(node: ast.expr, function: str, arguments: list[Any]) -> Any:
    try:
        value = _FUNCTIONS[function](*arguments)
        if isinstance(value, range):
            if len(value) > _MAX_ITEMS:
                raise TooLargeError
            value = tuple(value)
    except (TypeError, ValueError, ArithmeticError) as error:
        if isinstance(error, TooLargeError):
            raise
        raise NotLiteralError(node) from error
    if is_large(value):
        raise TooLargeError
    return value


def _hashable(value: Any, node: ast.AST) -> Any:
    try:
        hash(value)
    except TypeError as error:
        raise NotLiteralError(node) from error
    return value
