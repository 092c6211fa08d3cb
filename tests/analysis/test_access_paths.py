"""Trees of what is known of a value and its fields."""

from __future__ import annotations

import pytest

from relax_lint.analysis.access_paths import (
    Tree,
    at,
    everything,
    joined,
    leaves,
    mapped,
    with_each,
    with_fields,
)

A, B, C = frozenset({1}), frozenset({2}), frozenset({3, 4})
PAIR: Tree[int] = (A, B)
NESTED: Tree[int] = (A, (B, C))


def test_all_that_is_in_a_tree() -> None:
    assert everything(A) == {1}
    assert everything(NESTED) == {1, 2, 3, 4}
    assert list(leaves(NESTED)) == [A, B, C]
    assert list(with_fields(NESTED)) == [((0,), A), ((1, 0), B), ((1, 1), C)]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ((), NESTED),
        ((0,), A),
        ((1,), (B, C)),
        ((1, 1), C),
        # Of a field whose fields are not told apart.
        ((0, 5), A),
        # A field that the tree does not have may be any of them.
        ((2,), frozenset({1, 2, 3, 4})),
        ((1, 2), frozenset({2, 3, 4})),
    ],
)
def test_a_field(fields: tuple[int, ...], expected: Tree[int]) -> None:
    assert at(NESTED, fields) == expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (A, B, frozenset({1, 2})),
        (PAIR, (B, B), (frozenset({1, 2}), B)),
        (NESTED, (A, (A, A)), (A, (frozenset({1, 2}), frozenset({1, 3, 4})))),
        # Where the fields are not the same ones, all of both may be in any.
        (PAIR, A, frozenset({1, 2})),
        (A, PAIR, frozenset({1, 2})),
        (PAIR, (A, B, C), frozenset({1, 2, 3, 4})),
    ],
)
def test_either_of_two(one: Tree[int], other: Tree[int], expected: Tree[int]) -> None:
    assert joined(one, other) == expected


def test_more_and_others() -> None:
    assert with_each(NESTED, frozenset({9})) == (A | {9}, (B | {9}, C | {9}))
    assert mapped(NESTED, lambda items, fields: frozenset((len(items), *fields))) == (
        frozenset({1, 0}),
        (frozenset({1, 0}), frozenset({2, 1})),
    )
