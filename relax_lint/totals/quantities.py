"""Sizes in the terms of the function that was asked about: plain ints, or expressions in its symbols."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import sympy

from relax_lint.model.program import Function
from relax_lint.model.sizes import elements, size_in_bytes
from relax_lint.model.types import DType, TensorType, TupleType, ValueType, extents_of
from relax_lint.symbolic.evaluation import compile_expr
from relax_lint.symbolic.printing import expr_text
from relax_lint.symbolic.quantity import Shape, Size, Unknown

Quantity: TypeAlias = "int | sympy.Expr"
"""A number of bytes: an int where no symbol remains."""
_MOST_BYTES = 1 << 63
"""From so many bytes on a size is not what TVM computes."""


class Indeterminate(Exception):
    """A total cannot be given; the message is the reason in words."""


class CallsItself(Indeterminate):
    """A call of a function that is active, as number `position` of those that are."""

    def __init__(self, name: str, position: int) -> None:
        super().__init__(f"`{name}` calls itself")
        self.position = position


class Scope:
    """The symbols of one call of a function: the meaning of each in the outermost function.

    `substitution` is None for the outermost function itself, whose symbols stand for themselves.
    """

    def __init__(self, substitution: Mapping[sympy.Symbol, Quantity] | None) -> None:
        self._substitution = None if substitution is None else dict(substitution)
        self._known: dict[sympy.Expr, Quantity] = {}
        self.planned: dict[tuple[int, int], tuple[Shape, DType, Quantity]] = {}
        """For `planned_bytes`: by the identities of a shape and a dtype, which are kept."""

    def quantity(self, size: Size) -> Quantity:
        """A size in the terms of the outermost function. Raises Indeterminate."""
        if isinstance(size, Unknown):
            raise Indeterminate(size.reason)
        if size.is_Integer:
            return int(size)
        known = self._known.get(size)
        if known is None:
            known = self._known[size] = self._translate(size)
        return known

    @property
    def values(self) -> frozenset[tuple[sympy.Symbol, Quantity]] | None:
        """The meaning of each symbol."""
        return None if self._substitution is None else frozenset(self._substitution.items())

    def copy(self) -> Scope:
        """The same, to which other symbols may be added."""
        return Scope(self._substitution)

    def define(self, symbol: sympy.Symbol, value: Quantity) -> None:
        """Give a value to a symbol that a match_cast introduces."""
        if self._substitution is not None:
            self._substitution.setdefault(symbol, value)

    def knows(self, symbol: sympy.Symbol) -> bool:
        """Whether the symbol has a value of its own here."""
        return self._substitution is not None and symbol in self._substitution

    def _translate(self, size: sympy.Expr) -> Quantity:
        if self._substitution is None:
            return size
        symbols = tuple(sorted(size.free_symbols, key=str))
        missing = [symbol.name for symbol in symbols if symbol not in self._substitution]
        if missing:
            raise Indeterminate(f"no value is known for the symbol `{missing[0]}`")
        values = [self._substitution[symbol] for symbol in symbols]
        if all(isinstance(value, int) for value in values):
            return evaluate_at(size, symbols, values)
        return size.xreplace(dict(zip(symbols, map(sympy.sympify, values), strict=True)))


def impossible(size: Quantity) -> str | None:
    """Why no call ends well that asks for so many bytes, or it asks for something else: TVM computes modulo
    2**64. None where one may.
    """
    if not isinstance(size, int) or 0 <= size < _MOST_BYTES:
        return None
    return no_such_size(size)


def no_such_size(size: int) -> str:
    """That nothing has so many bytes."""
    return f"nothing has {size:,} bytes"


def planned_bytes(shape: Shape, dtype: DType, scope: Scope) -> Quantity:
    """Bytes that TVM's planner gives a tensor: whole bytes for every element. Raises Indeterminate."""
    if isinstance(shape, Unknown):
        raise Indeterminate(shape.reason)
    # The layers of a model repeat each other, and equal shapes are one object.
    key = id(shape), id(dtype)
    known = scope.planned.get(key)
    if known is None:
        known = scope.planned[key] = shape, dtype, _planned_bytes(shape, dtype, scope)
    return known[2]


def _planned_bytes(shape: tuple[sympy.Expr, ...], dtype: DType, scope: Scope) -> Quantity:
    constant, symbolic = dtype.storage_bytes, []
    for extent in shape:
        if extent.is_Integer:
            constant *= int(extent)
        else:
            symbolic.append(extent)
    return scope.quantity(elements((constant, *symbolic))) if symbolic else constant


def value_bytes(type_: TensorType, scope: Scope) -> Quantity:
    """`planned_bytes` of a tensor type. Raises Indeterminate where the IR gives no shape or dtype."""
    if type_.shape is None or type_.dtype is None:
        raise Indeterminate("the shape or dtype of a tensor is unknown")
    return planned_bytes(type_.shape, type_.dtype, scope)


def held_bytes(type_: TensorType, scope: Scope) -> Quantity:
    """Bytes of a tensor that TVM's runtime makes: elements of less than a byte lie side by side.
    Raises Indeterminate where the IR gives no shape or dtype.
    """
    if type_.shape is None or type_.dtype is None:
        raise Indeterminate("the shape or dtype of a tensor is unknown")
    return scope.quantity(size_in_bytes(type_.shape, type_.dtype))


def evaluate_at(expr: sympy.Expr, symbols: tuple[sympy.Symbol, ...], values: list[Quantity]) -> int:
    """The exact value of an expression. Raises Indeterminate where it has none."""
    compiled: Callable[..., int] = compile_expr(expr, symbols)
    try:
        return compiled(*values)
    except ZeroDivisionError:
        raise Indeterminate(f"`{expr_text(expr)}` divides by zero") from None


def evaluate(expr: sympy.Expr, binding: Mapping[str, int]) -> int:
    """The exact value of a total at a binding of its symbols, by name.

    Raises Indeterminate when a symbol is not bound or the expression divides by zero there.
    """
    symbols = tuple(sorted(expr.free_symbols, key=str))
    missing = [symbol.name for symbol in symbols if symbol.name not in binding]
    if missing:
        raise Indeterminate(f"no value is given for the symbol `{missing[0]}`")
    return evaluate_at(expr, symbols, [binding[symbol.name] for symbol in symbols])


def learn(scope: Scope, left: sympy.Expr, right: sympy.Expr) -> None:
    """Learn a symbol from an equation whose other side is known."""
    for symbol, other in ((left, right), (right, left)):
        if isinstance(symbol, sympy.Symbol) and not scope.knows(symbol):
            try:
                scope.define(symbol, scope.quantity(other))
            except Indeterminate:
                continue


def match_arguments(caller: Function, scope: Scope, callee: Function, arguments: tuple[int, ...]) -> Scope:
    """The symbols of a callee's signature, read from the types of the arguments."""
    found: dict[sympy.Symbol, Quantity] = {}
    for parameter, argument in zip(callee.parameters, arguments, strict=False):
        _match(callee.type_of(parameter), caller.type_of(argument), scope, found)
    return Scope(found)


def _match(declared: ValueType, actual: ValueType, scope: Scope, found: dict[sympy.Symbol, Quantity]) -> None:
    if isinstance(declared, TupleType) and isinstance(actual, TupleType):
        for inner, outer in zip(declared.fields, actual.fields, strict=False):
            _match(inner, outer, scope, found)
        return
    for extent, given in zip(extents_of(declared), extents_of(actual), strict=False):
        if isinstance(extent, sympy.Symbol) and extent not in found:
            try:
                found[extent] = scope.quantity(given)
            except Indeterminate:
                continue
