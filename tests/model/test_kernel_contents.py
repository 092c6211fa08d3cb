"""Indices that a kernel has stored itself: bounds on them are known, and they are not the caller's data."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest
import tvm

from relax_lint.model.kernel_access.accesses import KernelAccess
from relax_lint.model.prim_funcs import read_kernel

HEAD = """\
@T.prim_func(private=True)
def f(x_: T.handle, p_: T.handle):
    n = T.int64()
    m = T.int64()
    x = T.match_buffer(x_, (n,), "float32")
    p = T.match_buffer(p_, (m,), "int64")
    s = T.alloc_buffer((m,), "int64")
"""
FILL = "for j in range(m):\n    s[j] = {value}\nfor j in range(m):\n    x[s[j]] = T.float32(0)"
COUNTER = "s[0] = T.int64(0)\nwhile s[0] < n:\n    s[0] = s[0] + T.int64(1)\n    x[s[0]] = T.float32(0)"
PICKED = "s[0] = T.int64(0)\nfor j in range(m):\n    if p[j] > 0:\n        x[s[0]] = T.float32(0)\n        s[0] = {}"


def stores_to_x(body: str) -> list[KernelAccess]:
    """The stores of a kernel to its first buffer."""
    function = tvm.script.from_source(HEAD + indent(dedent(body), "    "), check_well_formed=False)
    return [one for one in read_kernel("f", function).accesses.accesses if one.buffer.name == "x"]


@pytest.mark.parametrize(
    ("value", "proved"),
    [
        ("T.max(T.min(p[j], n - 1), 0)", False),
        ("T.min(j, n - 1)", True),
        ("T.max(T.min(j - 3, n - 1), 0)", False),
        ("j % n", True),
        ("j", False),
    ],
)
def test_what_every_store_keeps_within_the_call_is_known_of_an_index(value: str, proved: bool) -> None:
    (store,) = stores_to_x(FILL.format(value=value))
    upper = [one for one in store.obligations if not one.below]
    assert (not upper) is proved


def test_the_greater_of_two_is_not_less_than_either() -> None:
    (store,) = stores_to_x(FILL.format(value="T.max(p[j], 0)"))
    assert not any(one.below for one in store.obligations)


@pytest.mark.parametrize(
    ("body", "data"),
    [(COUNTER, False), (PICKED.format("s[0] + 1"), True), (FILL.format(value="p[j]"), True)],
)
def test_an_index_that_a_kernel_counts_is_not_data(body: str, data: bool) -> None:
    (store,) = stores_to_x(body)
    assert store.obligations
    assert all(one.data is data for one in store.obligations)


ALL_OF_S = "for j in range(m):\n    s[j] = {}\n"


@pytest.mark.parametrize(
    ("value", "use", "outside"),
    [
        ("j - 1", "for j in range(m):\n    if j < n and s[j] >= 0:\n        x[s[j]] = 1.0", []),
        ("j * 2", "for j in range(m):\n    if j < n:\n        x[s[j] // 2] = 1.0", []),
        ("j + 1", "for j in range(m):\n    if j < n:\n        x[s[j]] = 1.0", ["exact"]),
        ("T.max(T.min(j, n - 2), 0)", "for j in range(m):\n    if n > 1:\n        x[s[j] + 1] = 1.0", []),
        ("p[j]", "for j in range(m):\n    if j < n:\n        x[s[j]] = 1.0", ["", ""]),
    ],
)
def test_what_one_store_leaves_in_each_element_is_known_as_it_is(
    value: str, use: str, outside: list[str]
) -> None:
    (store,) = stores_to_x(ALL_OF_S.format(value) + use)
    assert ["exact" if one.exact else "" for one in store.obligations] == outside


@pytest.mark.parametrize(
    "body",
    [
        # Not all of it is stored, or another value later on, or what one element has is stored in another.
        "for j in range(m):\n    if j > 1:\n        s[j] = j\nfor j in range(m):\n    if j < n:\n        x[s[j]] = 1.0",
        ALL_OF_S.format("j") + "s[0] = n\nfor j in range(m):\n    if j < n:\n        x[s[j]] = 1.0",
        "for i in range(m):\n    for j in range(m):\n        s[j] = i\nfor j in range(m):\n    if j < n:\n        x[s[j]] = 1.0",
    ],
)
def test_what_another_store_may_have_left_is_not_taken_for_it(body: str) -> None:
    assert all(store.obligations for store in stores_to_x(body))


COUNTED_AND = """\
u = T.alloc_buffer((4,), "int64")
s[0] = T.int64(0)
while s[0] < n:
    s[0] = s[0] + T.int64(1)
    for j in range(4):
        u[j] = {}
    for j in range(4):
        x[u[j]] = T.float32(0)
"""


@pytest.mark.parametrize(
    ("value", "data"),
    [("s[0] + j", False), ("s[0] + p[j]", True), ("p[j] - s[0]", True), ("p[j]", True), ("s[0] * 2", False)],
)
def test_what_is_made_of_a_count_and_of_data_is_data(value: str, data: bool) -> None:
    (store,) = stores_to_x(COUNTED_AND.format(value))
    assert store.obligations
    assert {one.data for one in store.obligations} == {data}


TWO = """\
a = T.alloc_buffer((4,), "int64")
b = T.alloc_buffer((4,), "int64")
for j in range(4):
    a[j] = T.int64(2)
b[0] = T.int64(2)
if n > 2:
    {}
"""


@pytest.mark.parametrize(
    ("use", "proved"),
    [
        ("x[a[3]] = T.float32(0)", True),
        ("x[b[0]] = T.float32(0)", True),
        ("x[b[1]] = T.float32(0)", False),
        ("x[T.min(a[3], b[1])] = T.float32(0)", False),
    ],
)
@pytest.mark.parametrize("swapped", [False, True])
def test_of_each_buffer_it_is_asked_whether_all_that_is_loaded_was_stored(
    use: str, proved: bool, swapped: bool
) -> None:
    """In `b[1]` may be anything: only `b[0]` is 2."""
    first, second, *rest = TWO.format(use).splitlines(keepends=True)
    (store,) = stores_to_x("".join((second, first, *rest) if swapped else (first, second, *rest)))
    assert (not store.obligations) is proved


@pytest.mark.parametrize(
    ("lines", "proved"),
    [
        ("s[j] = T.min(p[j], n - 1)\nif s[j] >= 0:\n    x[s[j]] = T.float32(0)", True),
        ("s[j] = p[j]\nif s[j] >= 0 and s[j] < n:\n    x[s[j]] = T.float32(0)", True),
        ("s[j] = j\ns[0] = p[0]\nif j < n:\n    x[s[j]] = T.float32(0)", False),
        ("s[0] = p[0]\ns[j] = j\nif j < n:\n    x[s[j]] = T.float32(0)", True),
        ("s[j] = j\nif j < n:\n    x[s[m - 1 - j]] = T.float32(0)", False),
        ("if j > 0:\n    s[j] = j\nif j < n:\n    x[s[j]] = T.float32(0)", False),
        ("s[j] = p[j]\nif p[j] > 3:\n    s[j] = j\nif j < n:\n    x[s[j]] = T.float32(0)", False),
    ],
)
def test_what_a_step_has_stored_in_its_own_element_it_loads(lines: str, proved: bool) -> None:
    """Until something else is stored, wherever that may be."""
    stores = stores_to_x("for j in range(m):\n" + indent(lines, "    "))
    assert all(not store.obligations for store in stores) is proved


OWN = 't = T.alloc_buffer((m,), "int64")\n    '


@pytest.mark.parametrize(
    ("body", "proved"),
    [
        ("for j in T.parallel(n):\n    s[j // 2] = j\n    x[s[j // 2] - j] = T.float32(0)", False),
        ("for j in T.parallel(n):\n    s[0] = j\n    x[s[0] - j] = T.float32(0)", False),
        ("for j in T.parallel(n):\n    s[j] = j\n    x[s[j] - j] = T.float32(0)", True),
        ("for j in T.parallel(n):\n    s[j] = 0\n    s[j] = j\n    x[s[j] - j] = T.float32(0)", True),
        ("for j in T.parallel(n):\n    s[0] = 0\n    s[0] = j\n    x[s[0] - j] = T.float32(0)", False),
        ("for j in range(n):\n    s[j // 2] = j\n    x[s[j // 2] - j] = T.float32(0)", True),
        (f"for j in T.parallel(n):\n    {OWN}t[j // 2] = j\n    x[t[j // 2] - j] = T.float32(0)", True),
    ],
)
def test_what_a_step_has_stored_another_may_replace(body: str, proved: bool) -> None:
    """Steps `2 * k` and `2 * k + 1` have one element: the index is -1, 0 or 1. Else it is 0, below `n`."""
    (store,) = stores_to_x(body)
    assert store.proved is proved
