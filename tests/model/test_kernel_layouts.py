"""Buffers that strides and offsets lay out: what TVM allocates for them, and what their views reach."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest
import tvm

from relax_lint.model.kernel_access.accesses import KernelAccess
from relax_lint.model.prim_funcs import read_kernel

HEAD = """\
@T.prim_func(private=True)
def f(a: T.handle, b: T.handle):
    n = T.int64()
    x = T.match_buffer(a, (n, n), "float32")
    y = T.match_buffer(b, (n, n), "float32")
"""
GRID = "for i, j in T.grid(n, n):\n    "
ALLOCATED = GRID + "w[i, j] = x[i, j]\n" + GRID + "y[i, j] = w[i, j]\n"
SHOWN = GRID + "y[i, j] = w[i, j]\n"


def accesses_of(name: str, body: str) -> list[KernelAccess]:
    """The accesses of one buffer."""
    text = HEAD + indent(dedent(body), "    ")
    found = read_kernel("f", tvm.script.from_source(text, check_well_formed=False)).accesses
    return [access for access in found.accesses if access.buffer.name == name]


@pytest.mark.parametrize(
    ("allocated", "is_inside"),
    [
        ("", True),
        (", strides=[n, 1]", True),
        (", strides=[n + 4, 1]", True),
        (", strides=[1, n]", False),
        (", strides=[1, T.int64(100000000)]", False),
        (", elem_offset=T.int64(0)", True),
        (", elem_offset=T.int64(100000000)", False),
        (", elem_offset=n", False),
    ],
)
def test_memory_of_its_own_is_as_large_as_its_first_axis_says(allocated: str, is_inside: bool) -> None:
    # The compiled kernel of the offset of 100,000,000 crashes; strides of allocations are dropped by some passes.
    found = accesses_of("w", f'w = T.alloc_buffer((n, n), "float32"{allocated})\n{ALLOCATED}')
    assert len(found) == 2
    for access in found:
        assert not access.unread
        assert (access.obligations == ()) == is_inside
        assert not any(one.exact for one in access.obligations)


@pytest.mark.parametrize(
    ("view", "is_inside"),
    [
        ("data=x.data", True),
        ("data=x.data, strides=[n, 1]", True),
        ("data=x.data, strides=[1, n]", True),
        ("data=x.data, strides=[1, T.int64(100000000)]", False),
        ("data=x.data, elem_offset=T.int64(1)", False),
        ("data=x.data, elem_offset=n * n", False),
    ],
)
def test_a_view_stays_in_the_memory_that_it_shows(view: str, is_inside: bool) -> None:
    (access,) = accesses_of("w", f'w = T.decl_buffer((n, n), "float32", {view})\n{SHOWN}')
    assert not access.unread
    assert (access.obligations == ()) == is_inside


def test_a_view_of_memory_that_strides_lay_out_is_in_doubt() -> None:
    body = """\
    v = T.alloc_buffer((n, n), "float32", strides=[1, n])
    w = T.decl_buffer((n, n), "float32", data=v.data)
    """
    found = accesses_of("w", dedent(body) + ALLOCATED)
    assert all(access.obligations for access in found)
    assert not any(one.exact for access in found for one in access.obligations)
