"""The exact range of an index over all loops, or none: every step of two loops is tried."""

from __future__ import annotations

import itertools

import pytest
import sympy

from relax_lint.model.kernel_body.loops import Loops, Range
from relax_lint.symbolic.functions import FloorDiv

STEP, J, K = sympy.symbols("i j k", integer=True)
KNOWN = {STEP: range(8), J: range(2, 7)}


def _loops() -> Loops:
    loops = Loops()
    loops.close_signature()
    for symbol, steps in KNOWN.items():
        loops.enter(symbol, sympy.Integer(steps.start), sympy.Integer(len(steps)))
    return loops


@pytest.mark.parametrize(
    "index",
    [
        STEP,
        5 - STEP,
        STEP + J,
        STEP - J,
        2 * STEP - 3 * J + 1,
        FloorDiv(STEP, 2) - FloorDiv(J, 2),
        FloorDiv(STEP + 3 * J, 2),
        3 - FloorDiv(STEP + 3 * J, 2),
        FloorDiv(FloorDiv(STEP, 2) + J, 3),
        sympy.Integer(4),
    ],
)
def test_of_different_loops_both_ends_are_reached(index: sympy.Expr) -> None:
    taken = [int(index.subs({STEP: i, J: j})) for i, j in itertools.product(*KNOWN.values())]
    assert _loops().range_of(index) == Range(sympy.Integer(min(taken)), sympy.Integer(max(taken)))


@pytest.mark.parametrize(
    "index",
    [
        # The terms move together: their ends are not those of the sum.
        STEP + FloorDiv(STEP, 2),
        STEP - FloorDiv(STEP, 2),
        FloorDiv(STEP, 2) - FloorDiv(STEP, 4),
        J + FloorDiv(STEP + 3 * J, 2),
        STEP + J + FloorDiv(STEP, 3),
        FloorDiv(STEP, 3) + J + STEP,
        STEP * J,
        FloorDiv(J, STEP),
        FloorDiv(STEP, -2),
        # Nobody knows what it runs over.
        STEP + K * J,
    ],
)
def test_of_one_loop_in_two_terms_nothing_is_said(index: sympy.Expr) -> None:
    assert _loops().range_of(index) is None


def test_the_ends_are_those_of_the_signature_only() -> None:
    loops = _loops()
    loops.enter(K, sympy.Integer(0), sympy.Symbol("n", integer=True))
    assert loops.range_of(STEP + K) is None
    assert loops.range_of(STEP) is not None
