"""What a value keeps alive, field by field."""

from __future__ import annotations

import pytest

from relax_lint.totals.frame import Reference
from relax_lint.totals.references import field_of, tuple_of


@pytest.mark.parametrize(
    ("reference", "item", "expected"),
    [
        (None, 0, None),
        (7, 3, 7),
        ((7, None, 8), 0, 7),
        ((7, None, 8), 1, None),
        ((7, None, 8), 2, 8),
        ((7, None, 8), 3, None),
        ((7, None, 8), -1, None),
    ],
)
def test_the_field_of_a_tuple(reference: Reference, item: int, expected: Reference) -> None:
    assert field_of(reference, item) == expected


def test_a_tuple_of_what_keeps_nothing_alive_keeps_nothing_alive() -> None:
    assert tuple_of((None, None)) is None
    assert tuple_of((None, 7)) == (None, 7)
