"""What the result model says of workspaces."""

from __future__ import annotations

import sympy

from relax_lint.results.memory_figures import Amount
from relax_lint.symbolic.quantity import Unknown
from relax_lint.totals.kernel_memory import OnChip
from relax_lint.totals.workspace_result import workspaces
from relax_lint.totals.workspaces import WorkspaceTotals
from relax_lint.vm.allocators import Allocator

N = sympy.Symbol("n", integer=True)


def test_of_a_buffer_on_the_chip_whose_extent_only_data_tells_no_bytes_are_given() -> None:
    buffers = (
        OnChip("k", "shared", Unknown("it is read from a tensor"), 48),
        OnChip("k", "stack", 8 * N, None),
    )
    found = WorkspaceTotals(0, 0, 0, dict.fromkeys(Allocator, 0), (), buffers)
    shared, stack = workspaces(found, found).on_chip
    assert (shared.kernel, shared.scope, shared.bytes, shared.limit) == ("k", "shared", None, 48)
    assert stack.bytes == Amount("8*n", None)
