"""What loads and stores tell by themselves: what is still there in the end, and when anything is stored."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import sympy

from relax_lint.model.kernel_body.touches import (
    Loop,
    Touch,
    common_loops,
    has_steps_for,
    has_steps_inside,
    stays,
)

ROW, COLUMN, N, M = sympy.symbols("i j n m", integer=True)
ROWS, COLUMNS, UNKNOWN = Loop(ROW, N, serial=True), Loop(COLUMN, M, serial=True), Loop(None, None)
READ, OTHER = 0, 1
LOAD = Touch(READ, (ROW,), (N,), (ROWS,), order=1, guards=0, writes=False)
STORE = Touch(OTHER, (ROW,), (N,), (ROWS,), order=4, guards=0, writes=True)
AGAIN = replace(STORE, order=8)
OWN = replace(STORE, order=7, writes=False)
"""A load of the element that is stored then."""


def _both(**more: Any) -> tuple[Touch, Touch]:
    return replace(STORE, **more), replace(AGAIN, **more)


@pytest.mark.parametrize(
    ("touches", "is_there"),
    [
        ([], True),
        ([LOAD, STORE], True),
        ([LOAD, STORE, AGAIN], False),
        # The second one adds to the first, which is not so where it loads something else.
        ([LOAD, STORE, OWN, AGAIN], True),
        ([LOAD, STORE, OWN, AGAIN, replace(OWN, order=9), replace(AGAIN, order=10)], True),
        ([LOAD, STORE, replace(OWN, parameter=2), AGAIN], False),
        ([LOAD, STORE, replace(OWN, indices=(ROW + 1,)), AGAIN], False),
        ([LOAD, STORE, replace(OWN, loops=(Loop(ROW, N, serial=True),)), AGAIN], False),
        ([LOAD, STORE, replace(OWN, guards=1), AGAIN], False),
        ([LOAD, STORE, replace(OWN, order=9), AGAIN], False),
        ([LOAD, STORE, replace(OWN, writes=True), AGAIN], False),
        # The first store does not add to anything of the kernel.
        ([replace(OWN, order=2), STORE], True),
        # The parameter itself is stored to once.
        ([replace(STORE, parameter=READ)], True),
        ([LOAD, *(replace(one, parameter=READ) for one in (STORE, OWN, AGAIN))], False),
        # Each step has the same element: the last one stays, if that loads too.
        ([replace(LOAD, guards=0), replace(STORE, indices=(N,))], True),
        ([replace(LOAD, guards=1), replace(STORE, indices=(N,))], False),
        ([replace(LOAD, guards=1), replace(STORE, indices=(N,), guards=1)], True),
        ([replace(LOAD, guards=1, order=5), replace(STORE, indices=(N,))], True),
        ([replace(LOAD, guards=1, parameter=2), replace(STORE, indices=(N,))], True),
        ([replace(LOAD, guards=1, loops=()), replace(STORE, indices=(N,))], True),
        ([replace(LOAD, guards=1), replace(STORE, loops=(ROWS, COLUMNS))], True),
        ([replace(LOAD, guards=1), replace(STORE, loops=(UNKNOWN,))], True),
        ([replace(LOAD, guards=1, loops=(UNKNOWN,)), replace(STORE, loops=(UNKNOWN,))], False),
        ([replace(LOAD, guards=1), replace(STORE, indices=(None,))], False),
        # Both branches of one condition, as one store where each step has an element of its own.
        ([LOAD, STORE, AGAIN, replace(AGAIN, joined=True)], True),
        ([LOAD, *_both(indices=(N,)), replace(AGAIN, indices=(N,), joined=True)], False),
        ([LOAD, STORE, AGAIN, replace(AGAIN, parameter=2, joined=True)], False),
    ],
)
def test_what_is_still_there_in_the_end(touches: list[Touch], is_there: bool) -> None:
    assert stays(READ, touches) is is_there


@pytest.mark.parametrize(
    ("one", "other", "common"),
    [
        ((), (ROWS,), ()),
        ((ROWS,), (ROWS,), (ROWS,)),
        ((ROWS, COLUMNS), (ROWS,), (ROWS,)),
        ((ROWS, COLUMNS), (ROWS, UNKNOWN), (ROWS,)),
        ((ROWS, COLUMNS), (UNKNOWN, COLUMNS), ()),
        # Two loops of one variable are two.
        ((ROWS,), (replace(ROWS),), ()),
    ],
)
def test_the_loops_around_both(
    one: tuple[Loop, ...], other: tuple[Loop, ...], common: tuple[Loop, ...]
) -> None:
    assert common_loops(replace(STORE, loops=one), replace(STORE, loops=other)) == common
    assert common_loops(replace(STORE, loops=other), replace(STORE, loops=one)) == common


@pytest.mark.parametrize(
    ("touches", "depth", "when"),
    [
        ([], 0, sympy.true),
        ([LOAD], 0, sympy.true),
        ([replace(STORE, parameter=READ)], 0, sympy.true),
        ([STORE], 0, N >= 1),
        ([STORE], 1, sympy.true),
        ([replace(STORE, loops=(ROWS, COLUMNS))], 0, sympy.And(N >= 1, M >= 1)),
        ([replace(STORE, loops=(ROWS, COLUMNS))], 1, M >= 1),
        ([replace(STORE, loops=(ROWS, UNKNOWN))], 0, sympy.false),
        ([replace(STORE, loops=(UNKNOWN, ROWS))], 1, N >= 1),
        ([STORE, replace(STORE, loops=(COLUMNS,))], 0, sympy.Or(N >= 1, M >= 1)),
        ([STORE, replace(STORE, loops=(COLUMNS,), parameter=2)], 0, N >= 1),
        ([replace(STORE, loops=(Loop(ROW, sympy.Integer(0)),))], 0, sympy.false),
    ],
)
def test_when_something_is_stored(touches: list[Touch], depth: int, when: Any) -> None:
    found = has_steps_inside(OTHER, touches, depth)
    for n in range(3):
        for m in range(3):
            at = {N: n, M: m}
            assert bool(found.subs(at)) is bool(sympy.sympify(when).subs(at))


@pytest.mark.parametrize(
    ("nest", "shape", "has_steps"),
    [
        ((), (N,), True),
        ((ROWS,), (N,), True),
        ((ROWS,), (M, N), True),
        ((ROWS,), (M,), False),
        ((ROWS, COLUMNS), (N,), False),
        ((ROWS, COLUMNS), (N, M), True),
        ((Loop(ROW, sympy.Integer(1)),), (N,), True),
        ((Loop(ROW, sympy.Integer(0)),), (N,), False),
        ((Loop(ROW, sympy.Integer(0)),), (sympy.Integer(0),), True),
        ((UNKNOWN,), (N,), False),
        ((), None, False),
    ],
)
def test_whether_each_loop_has_a_step_where_there_are_elements(
    nest: tuple[Loop, ...], shape: tuple[Any, ...] | None, has_steps: bool
) -> None:
    assert has_steps_for(nest, shape) is has_steps


def test_what_is_known_of_one() -> None:
    assert STORE.certain
    assert not replace(STORE, guards=1).certain
    assert STORE.symbols == (ROW,)
    assert replace(STORE, loops=(ROWS, UNKNOWN)).symbols is None
    assert replace(STORE, loops=()).symbols == ()
    assert STORE.known_indices == (ROW,)
    for indices, shape in (
        ((ROW,), None),
        ((None,), (N,)),
        ((ROW, COLUMN), (N,)),
        ((ROW,), (N, M)),
        ((ROW, None), (N,)),
    ):
        assert replace(STORE, indices=indices, shape=shape).known_indices is None
