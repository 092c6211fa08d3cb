"""What is left of what parts of a kernel store where later ones store again: against the elements themselves."""

from __future__ import annotations

import random
from typing import TypeAlias

import pytest
import sympy

from relax_lint.model.kernel_body.in_order import Reach
from relax_lint.model.kernel_body.what_is_left import Left

Box: TypeAlias = "tuple[tuple[int, int] | None, ...] | None"
"""The first and the last element along each axis; None for those that are not known."""


def _reach(box: Box) -> Reach:
    if box is None:
        return None
    return tuple(None if ends is None else (sympy.Integer(ends[0]), sympy.Integer(ends[1])) for ends in box)


def _is_left(box: Box, later: list[Box]) -> bool:
    """Whether the box ends further out than all later ones in one direction along an axis that is known."""
    for axis, ends in enumerate(box or ()):
        others = [None if one is None else one[axis] for one in later]
        if ends is not None and None not in others:
            known = [one for one in others if one is not None]
            if all(ends[0] < first for first, _ in known) or all(ends[1] > last for _, last in known):
                return True
    return False


def _drawn(chance: random.Random, axes: int) -> Box:
    if chance.random() < 0.08:
        return None
    box: list[tuple[int, int] | None] = []
    for _ in range(axes):
        first = chance.randrange(7)
        known = chance.random() < 0.9
        box.append((first, min(7, first + chance.choice((0, 0, 1, 3)))) if known else None)
    return tuple(box)


@pytest.mark.parametrize("seed", range(12))
def test_a_part_is_left_where_each_store_of_it_has_an_end_beyond_all_later_ones(seed: int) -> None:
    chance, counts = random.Random(seed), [0, 0]
    for _ in range(20):
        axes, left = chance.choice((1, 2)), Left()
        stored: dict[int, list[Box]] = {}
        later: dict[int, list[Box]] = {}
        for part in range(1, chance.randint(3, 9)):
            boxes = [_drawn(chance, axes) for _ in range(chance.choice((1, 1, 2)))]
            hides = chance.random() < 0.8
            left.come(part, {"x": [*map(_reach, boxes)]}, {"x"} if hides else {"y"})
            for before in stored if hides else ():
                later.setdefault(before, []).extend(boxes)
            stored[part] = boxes
            expected = {
                one
                for one, own in stored.items()
                if one not in later or all(_is_left(box, later[one]) for box in own)
            }
            assert left.of("x") == expected
            counts = [counts[0] + len(expected), counts[1] + len(stored)]
        assert left.of("y") == set()
    assert counts[1] / 5 < counts[0] < counts[1]


def test_of_many_parts_the_last_ones_are_known() -> None:
    left = Left()
    for part in range(1, 40):
        left.come(part, {"x": [_reach(((part, part),))]}, {"x"})
        assert left.of("x") == set(range(max(1, part - 15), part + 1))
