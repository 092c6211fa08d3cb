"""The VM's allocators: what they really hand out for a storage of a declared size."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from operator import floordiv
from typing import Any

DEFAULT_PAGE_SIZE = 4096
"""Bytes: `kDefaultPageSize` of TVM's PooledAllocator."""


class Allocator(str, Enum):
    """`memory_cfg` of the Relax VM; pooled is its default."""

    NAIVE = "naive"
    POOLED = "pooled"

    def obtains(self, size: Any, page_size: int, divide: Callable[[Any, int], Any] = floordiv) -> Any:
        """Bytes that a storage of `size` bytes really takes and offers: exactly those (naive), or whole pages
        (pooled). A size that is not a number comes with the floor division of its own kind.
        """
        if self is Allocator.NAIVE:
            return size
        return page_size * divide(size + (page_size - 1), page_size)
