"""Operations and choices that come to one value whatever they read."""

from __future__ import annotations

from typing import Any

from relax_lint.vm import nodes, versions

_OF_EQUALS = frozenset(("Sub", "EQ", "NE", "LT", "LE", "GT", "GE", "BitwiseXor"))
"""What has the same value for any two operands that are equal."""
_INTEGERS = "int", "uint", "bool"


def is_one_number(node: Any) -> bool:
    """Whether an operation on two operands gives one number whatever they are. A float may be none."""
    if type(node).__name__ not in _OF_EQUALS or not str(node.a.ty.dtype).startswith(_INTEGERS):
        return False
    return are_same(node.a, node.b)


def are_same(one: Any, other: Any) -> bool:
    """Whether two expressions are written alike, and do nothing but to have a value."""
    return bool(versions.structural_equal(one, other)) and nodes.only_computes(one)
