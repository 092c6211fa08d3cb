"""Operations and choices that come to one value whatever they read."""

from __future__ import annotations

from typing import Any

from relax_lint.vm import comparing, nodes

_OF_EQUALS = frozenset(("Sub", "EQ", "NE", "LT", "LE", "GT", "GE", "BitwiseXor"))
"""What has the same value for any two operands that are equal."""
_NOT_OF_FLOATS = frozenset(("LE", "GE"))
"""A NaN is not equal to itself. TVM makes `x - x` 0 all the same, and `x == x` true, but leaves these."""
_INTEGERS = "int", "uint", "bool"


def is_of_equals(node: Any) -> bool:
    """Whether an operation gives one number for any two operands that are equal."""
    kind = type(node).__name__
    if kind in _NOT_OF_FLOATS and not str(node.a.ty.dtype).startswith(_INTEGERS):
        return False
    return kind in _OF_EQUALS


def is_one_number(node: Any) -> bool:
    """Whether an operation on two operands gives one number whatever they are."""
    return is_of_equals(node) and are_same(node.a, node.b)


def are_same(one: Any, other: Any) -> bool:
    """Whether two expressions are written alike, and do nothing but to have a value."""
    return bool(comparing.are_equal(one, other)) and nodes.only_computes(one)


def terms_of(node: Any, sign: int = 1) -> list[tuple[int, Any]]:
    """The terms of a sum, each with its sign."""
    kind = type(node).__name__
    if kind not in ("Add", "Sub"):
        return [(sign, node)]
    return [*terms_of(node.a, sign), *terms_of(node.b, sign if kind == "Add" else -sign)]
