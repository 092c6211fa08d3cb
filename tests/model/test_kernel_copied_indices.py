"""Indices that a kernel copies from a parameter into a buffer of its own, before it uses them."""

from __future__ import annotations

import pytest

from tests.model.test_kernel_accesses import accesses, outside

BODY = """
own = T.alloc_buffer(({size},), "int64")
for i in range(n):
    own[i] = {stored}
for i in range(n):
    y[own[i]{more}] = T.float32(0)
"""
SOME_STEP = "n - 1 >= 0"


@pytest.mark.parametrize(
    ("stored", "more", "expected"),
    [
        ("x[i]", "", {"-m + max(x) >= 0", "-min(x) - 1 >= 0"}),
        ("x[i] + T.int64(3)", "", {"-m + max(x) + 3 >= 0", "-min(x) - 4 >= 0"}),
        ("x[i] - T.int64(3)", "", {"-m + max(x) - 3 >= 0", "2 - min(x) >= 0"}),
        ("x[i] + T.int64(3)", " - 3", {"-m + max(x) >= 0", "-min(x) - 1 >= 0"}),
    ],
)
def test_what_is_copied_lies_between_the_ends_of_the_parameter(
    stored: str, more: str, expected: set[str]
) -> None:
    found = accesses(BODY.format(size="n", stored=stored, more=more), dtype="int64")
    (store,) = (access for access in found.accesses if access.buffer.parameter == 1)
    assert outside(store) == {f"{end} & {SOME_STEP}" for end in expected}
    assert [one.holds for one in store.obligations] == [{0}, {0}]


@pytest.mark.parametrize("stored", ["x[n - 1 - i]", "x[i] * T.int64(2)", "x[i] + i"])
def test_what_is_not_the_element_of_the_same_place_is_any_number(stored: str) -> None:
    found = accesses(BODY.format(size="n", stored=stored, more=""), dtype="int64")
    (store,) = (access for access in found.accesses if access.buffer.parameter == 1)
    assert not store.proved
    assert all(not one.exact for one in store.obligations)
