"""Assumptions: conditions on symbols that the user declares to hold, and their form.

What is accepted here is read by `symbolic/parsing.py`, which needs sympy; this module does not, so that a
configuration is checked at no cost.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from relax_lint.support.lazy_dataclass import dataclass

_MAX_LENGTH = 1000
_MAX_EXPONENT = 64
_COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
_EXTREMES = ("min", "max", "Min", "Max")


class AssumptionError(ValueError):
    """A text that is not a condition on symbols; the message says why."""


@dataclass(frozen=True)
class Assumption:
    """A condition that holds in every function that has its symbols, or in `function` only: the name of a
    function, or `Module.function`.
    """

    text: str
    function: str | None = None

    def concerns(self, module: str | None, function: str) -> bool:
        """Whether it is meant for a function of a module."""
        return self.function in (None, function, f"{module}.{function}")

    def __str__(self) -> str:
        return f"`{self.text}`" if self.function is None else f"`{self.text}` in `{self.function}`"


def symbols_in(text: str) -> frozenset[str]:
    """The names of the symbols in a condition such as `n <= 4096` or `n % 8 == 0 and m < n`.

    Raises AssumptionError for any other text, also for a condition without a symbol.
    """
    if len(text) > _MAX_LENGTH:
        raise AssumptionError(f"longer than {_MAX_LENGTH} characters")
    try:
        found = frozenset(_condition(ast.parse(text.strip(), mode="eval").body))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = str(error) if isinstance(error, AssumptionError) else f"`{text}` is not an expression"
        raise AssumptionError(reason) from None
    if not found:
        raise AssumptionError(f"`{text}` names no symbol")
    return found


def _condition(node: ast.expr) -> Iterator[str]:
    match node:
        case ast.BoolOp(values=values):
            for value in values:
                yield from _condition(value)
        case ast.BinOp(left=left, op=ast.BitAnd() | ast.BitOr(), right=right):
            yield from _condition(left)
            yield from _condition(right)
        case ast.UnaryOp(op=ast.Not() | ast.Invert(), operand=operand):
            yield from _condition(operand)
        case ast.Compare(left=left, ops=operators, comparators=others):
            if not all(isinstance(operator, _COMPARISONS) for operator in operators):
                raise AssumptionError(f"`{ast.unparse(node)}` does not compare integers")
            for side in (left, *others):
                yield from _expression(side)
        case _:
            raise AssumptionError(f"`{ast.unparse(node)}` is not a condition")


def _expression(node: ast.expr) -> Iterator[str]:
    match node:
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            pass
        case ast.Name(id=name):
            yield name
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            yield from _expression(operand)
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=int() as exponent)):
            if isinstance(exponent, bool) or not 0 <= exponent <= _MAX_EXPONENT:
                raise AssumptionError(f"a power needs a constant exponent of 0 to {_MAX_EXPONENT}")
            yield from _expression(left)
        case ast.BinOp(left=left, op=operator, right=right) if isinstance(operator, _ARITHMETIC):
            yield from _expression(left)
            yield from _expression(right)
        case ast.Call(func=ast.Name(id=name), args=[_, *_] as arguments, keywords=[]) if name in _EXTREMES:
            for argument in arguments:
                yield from _expression(argument)
        case _:
            raise AssumptionError(f"`{ast.unparse(node)}` is not an integer expression")
