"""What a kernel reads only where a choice says so, what it fills in halves, and what it hands to others by a pointer."""

from __future__ import annotations

import pytest
import sympy

from relax_lint.model.kernels import Kernel
from tests.model.test_kernel_bodies import kernel


@pytest.mark.parametrize("form", ["T.Select({})", "T.if_then_else({})"])
def test_what_only_one_side_of_a_choice_reads_is_not_read_for_certain(form: str) -> None:
    """The data may never ask for what was in `y`."""
    chosen = form.format("x[i] > T.float32(1), y[i], T.float32(2)")
    asked = form.format("y[i] > T.float32(1), x[i], T.float32(2)")
    found = kernel(f"for i in range(n):\n    y[i] = {chosen}")
    assert (1 in found.reads, 1 in found.first_reads) == (True, False)
    found = kernel(f"for i in range(n):\n    y[i] = {asked}")
    assert (1 in found.reads, found.first_reads[1]) == (True, True)


@pytest.mark.parametrize(
    ("even", "odd", "whole"),
    [("(n + 1) // 2", "n // 2", True), ("n // 2", "(n + 1) // 2", False), ("n // 2", "n // 2", False)],
)
def test_the_even_and_the_odd_elements_are_all(even: str, odd: str, whole: bool) -> None:
    """Of an odd number of elements there is one more at an even place."""
    body = f"for i in range({even}):\n    y[2 * i] = x[0]\nfor i in range({odd}):\n    y[2 * i + 1] = x[0]"
    assert (kernel(body).whole_writes[1] == sympy.true) is whole


def _given(mask: int) -> Kernel:
    pointer = f"T.tvm_access_ptr(T.type_annotation('float32'), x.data, 0, n, {mask})"
    return kernel(f"T.evaluate(T.call_extern('int32', 'g', {pointer}))")


@pytest.mark.parametrize(("mask", "reads", "writes"), [(1, True, False), (2, False, True), (3, True, True)])
def test_a_pointer_says_what_is_done_to_what_it_points_to(mask: int, reads: bool, writes: bool) -> None:
    found = _given(mask)
    assert (0 in found.reads, 0 in found.writes) == (reads, writes)
    assert 1 not in found.reads | found.writes
