"""The shapes of what a function of the module returns, in the caller's terms.

VMShapeLower takes the extents out of the types of results. What a callee returns is still known where its
extents are those of its arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from typing import Protocol

import sympy

from relax_lint.model.program import Function
from relax_lint.model.types import PrimType, ShapeType, TensorType, TupleType, ValueType

Extents = Mapping[sympy.Expr, sympy.Expr]


class Lookup(Protocol):
    """Gives a function by its name, where it can be told. `heaps`: it is given shape heaps to follow."""

    def __call__(self, name: str, *, heaps: bool = False) -> Function | None:
        """The function, or None."""


MAX_DEPTH = 16
"""Functions that call each other, of which the results are looked at."""


class Callees:
    """The functions of a module, by their names, each built when it is first asked for."""

    def __init__(
        self, names: Container[str], build: Callable[[str, Lookup, bool], tuple[Function, ...]]
    ) -> None:
        self._names = names
        self._build = build
        self._built: dict[str, tuple[Function, ...]] = {}
        self._pending: set[str] = set()

    def all_of(self, name: str, *, heaps: bool = False) -> tuple[Function, ...]:
        """A function, and those that are defined in it. It is built anew where it is given `heaps`."""
        if name not in self._built or (heaps and not self._built[name][0].heaps.following.outside):
            self._pending.add(name)
            self._built[name] = self._build(name, self.of, heaps)
            self._pending.discard(name)
        return self._built[name]

    def of(self, name: str, *, heaps: bool = False) -> Function | None:
        """A function of which the result is asked for; None where that leads back to it, or too deep, and for
        one that is defined in another one.
        """
        if name not in self._names or name in self._pending:
            return None
        if name not in self._built and len(self._pending) > MAX_DEPTH:
            return None
        return self.all_of(name, heaps=heaps)[0]


def returned_type(
    callee: Function, given: Sequence[ValueType], declared: ValueType
) -> tuple[ValueType, bool]:
    """The type of a result for arguments of these types, and whether it follows from what the callee does; as
    declared where it does not, with the extents that it has.
    """
    if callee.result in callee.claimed or len(given) != len(callee.parameters):
        return declared, False
    known: dict[sympy.Expr, sympy.Expr] = {}
    for parameter, argument in zip(callee.parameters, given, strict=True):
        for symbol, value in _pairs(callee.type_of(parameter), argument):
            known.setdefault(symbol, value)
    returned = callee.type_of(callee.result)
    type_ = _in_terms(returned, declared, known)
    return (_completed(declared, returned, known), False) if type_ is None else (type_, True)


def _pairs(own: ValueType, given: ValueType) -> list[tuple[sympy.Expr, sympy.Expr]]:
    """The symbols of a parameter and what stands for them in the caller."""
    one, other = _extents(own), _extents(given)
    if one is None or other is None or len(one) != len(other):
        return []
    return [(a, b) for a, b in zip(one, other, strict=True) if a.is_Symbol]


def _extents(type_: ValueType) -> tuple[sympy.Expr, ...] | None:
    if isinstance(type_, TensorType):
        return type_.shape
    if isinstance(type_, ShapeType):
        return type_.extents
    if isinstance(type_, PrimType) and isinstance(type_.value, sympy.Expr):
        return (type_.value,)
    return None


def _in_terms(returned: ValueType, declared: ValueType, known: Extents) -> ValueType | None:
    """What is returned, in the terms of the caller; None where they do not suffice, and where another kind of
    value is declared.
    """
    if isinstance(returned, TupleType) and isinstance(declared, TupleType):
        if len(declared.fields) != len(returned.fields):
            return None
        found = [_in_terms(a, b, known) for a, b in zip(returned.fields, declared.fields, strict=True)]
        fields = tuple(field for field in found if field is not None)
        return TupleType(fields) if len(fields) == len(found) else None
    if type(returned) is not type(declared) or isinstance(returned, TupleType):
        return None
    if not isinstance(returned, (TensorType, ShapeType)):
        return declared
    extents = returned.shape if isinstance(returned, TensorType) else returned.extents
    if (
        extents is None
        or not {symbol for extent in extents for symbol in extent.free_symbols} <= known.keys()
    ):
        return None
    extents = tuple(extent.xreplace(dict(known)) for extent in extents)
    if isinstance(returned, ShapeType):
        return ShapeType(extents)
    device = declared.device if isinstance(declared, TensorType) else None
    return TensorType(extents, returned.dtype, len(extents), device) if returned.dtype is not None else None


def _completed(declared: ValueType, returned: ValueType, known: Extents) -> ValueType:
    if isinstance(declared, TupleType):
        own = returned.fields if isinstance(returned, TupleType) else ()
        if len(own) != len(declared.fields):
            return declared
        return TupleType(tuple(_completed(a, b, known) for a, b in zip(declared.fields, own, strict=True)))
    if not isinstance(declared, TensorType) or not isinstance(returned, TensorType):
        return declared
    shape = returned.shape
    if declared.shape is not None or shape is None or declared.dtype != returned.dtype:
        return declared
    if not {symbol for extent in shape for symbol in extent.free_symbols} <= known.keys():
        return declared
    extents = tuple(extent.xreplace(dict(known)) for extent in shape)
    return TensorType(extents, declared.dtype, len(extents), declared.device)
