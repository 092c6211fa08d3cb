"""Byte ranges: where two are apart, and what is not known."""

from __future__ import annotations

from itertools import product

import pytest
import sympy

from relax_lint.analysis.overlaps import ByteRange, either_empty
from relax_lint.symbolic.quantity import Unknown

M = sympy.Symbol("m", integer=True)
UNKNOWN = Unknown("not told")


def _meet(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether some byte is in both."""
    return bool(set(range(one[0], one[0] + one[1])) & set(range(other[0], other[0] + other[1])))


def test_ranges_are_apart_where_no_byte_is_in_both() -> None:
    starts, lengths = (0, 1, 4, 8), (0, 1, 4)
    for start, length, start_2, length_2 in product(starts, lengths, starts, lengths):
        one = ByteRange(sympy.Integer(start), sympy.Integer(length))
        other = ByteRange(sympy.Integer(start_2), sympy.Integer(length_2))
        assert (one.disjoint(other) == sympy.true) is not _meet((start, length), (start_2, length_2))


def test_symbolic_ranges_are_apart_for_the_same_values() -> None:
    one, other = ByteRange(4 * M, 2 * M), ByteRange(sympy.Integer(8), M)
    condition = one.disjoint(other)
    assert not isinstance(condition, Unknown)
    for m in range(12):
        assert bool(condition.subs(M, m)) is not _meet((4 * m, 2 * m), (8, m))


@pytest.mark.parametrize("place", range(4))
def test_what_is_not_known_is_said(place: int) -> None:
    sizes = [sympy.Integer(0), sympy.Integer(4), sympy.Integer(8), sympy.Integer(4)]
    changed = [UNKNOWN if place == number else size for number, size in enumerate(sizes)]
    assert ByteRange(*changed[:2]).disjoint(ByteRange(*changed[2:])) == UNKNOWN


def test_one_of_two_is_empty() -> None:
    some, none = ByteRange(M, sympy.Integer(4)), ByteRange(M, sympy.Integer(0))
    assert either_empty(some, some) == sympy.false
    assert either_empty(some, none) == sympy.true
    assert either_empty(none, some) == sympy.true
    assert either_empty(ByteRange(M, M), some) == (M <= 0)
    assert either_empty(ByteRange(M, UNKNOWN), none) is None
    assert either_empty(none, ByteRange(M, UNKNOWN)) is None
