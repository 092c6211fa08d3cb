"""The VM's allocators: what they really hand out for a storage of a declared size."""

from __future__ import annotations

from enum import Enum

import sympy

from relax_lint.symbolic.functions import FloorDiv

DEFAULT_PAGE_SIZE = 4096
"""Bytes: `kDefaultPageSize` of TVM's PooledAllocator."""


class Allocator(str, Enum):
    """`memory_cfg` of the Relax VM; pooled is its default."""

    NAIVE = "naive"
    POOLED = "pooled"


def effective_capacity(allocator: Allocator, declared: sympy.Expr, page_size: int) -> sympy.Expr:
    """Bytes that a storage of `declared` bytes really offers.

    naive hands out exactly what was asked for; pooled rounds up to whole pages.
    """
    if allocator is Allocator.NAIVE:
        return declared
    return page_size * FloorDiv(declared + (page_size - 1), sympy.Integer(page_size))
