"""The only page rounding, of numbers and of formulas."""

from __future__ import annotations

import pytest
import sympy

from relax_lint.model.sizes import effective_capacity
from relax_lint.totals.pool_profile import rounded
from relax_lint.vm.allocators import DEFAULT_PAGE_SIZE, Allocator

n = sympy.Symbol("n", integer=True)


@pytest.mark.parametrize(
    ("size", "pages"), [(0, 0), (1, 1), (4095, 1), (4096, 1), (4097, 2), (2**62 + 1, 2**50 + 1)]
)
def test_pooled_takes_whole_pages_and_naive_what_is_declared(size: int, pages: int) -> None:
    assert Allocator.POOLED.obtains(size, DEFAULT_PAGE_SIZE) == pages * 4096
    assert Allocator.NAIVE.obtains(size, DEFAULT_PAGE_SIZE) == size
    formula = effective_capacity(Allocator.POOLED, 4 * n, DEFAULT_PAGE_SIZE)
    assert formula == rounded(4 * n, DEFAULT_PAGE_SIZE)
    assert formula.subs(n, size) == Allocator.POOLED.obtains(4 * size, DEFAULT_PAGE_SIZE)
    assert effective_capacity(Allocator.NAIVE, 4 * n, DEFAULT_PAGE_SIZE) == 4 * n
