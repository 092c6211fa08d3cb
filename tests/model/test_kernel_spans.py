"""Which numbers the arithmetic of a kernel comes to: what fits a type does so in every step of the loops."""

from __future__ import annotations

from itertools import product

import pytest
import sympy

from relax_lint.model.kernel_body.loops import Loops
from relax_lint.model.kernel_body.narrow import Widths
from relax_lint.symbolic.evaluation import compile_expr
from relax_lint.symbolic.functions import FloorDiv, FloorMod, Select

ZERO = sympy.Integer(0)


class _Var:
    """A variable of a kernel, of which only the name counts."""

    def __init__(self, name: str) -> None:
        self.name = name


LOOPS = Loops()
N, M, K = (LOOPS.symbol_of(_Var(name)) for name in "nmk")
SHAPES = ((N,), (N, M), (sympy.Integer(40),), None)
LOOPS.close_signature(extent for shape in SHAPES for extent in shape or ())
Q, J, P = (LOOPS.symbol_of(_Var(name)) for name in "ijp")
LOOPS.enter(Q, ZERO, sympy.Integer(16))
LOOPS.enter(J, ZERO, sympy.Integer(8))
LOOPS.enter(P, ZERO, N)
WIDTHS = Widths(LOOPS, SHAPES)

NUMBERS = {
    Q * J: True,
    Q * J + 22: True,
    Q * J + 23: False,
    -Q * J - 23: True,
    -Q * J - 24: False,
    2 * Q * J: False,
    (Q - 8) * J: True,
    (Q - 8) * (J - 4): True,
    (Q - 8) * (J - 20): False,
    Q**2: False,
    (Q - 5) ** 2: True,
    (Q - 8) ** 3: False,
    (J - 4) ** 3: True,
    Q * J + Q**2 - 203: False,
    FloorDiv(Q * J, 3): True,
    FloorDiv(Q * J, 3) + 92: True,
    FloorDiv(Q * J, 3) + 93: False,
    FloorDiv(Q * J - 50, 2): True,
    FloorMod(Q * J * 5, 7): True,
    FloorMod(Q * J * 5, 128): True,
    FloorMod(Q * J * 5, 129): False,
    FloorMod(Q * J, J + 1): True,
    FloorMod(Q * J, J): True,
    FloorDiv(Q * J, J + 1): True,
    FloorDiv(Q * J, J - 3): False,
    sympy.Max(Q * J, 100): True,
    sympy.Max(Q * J, 200): False,
    sympy.Min(Q * J, 50): True,
    sympy.Max(Q * J, -129): False,
    Select(Q > 3, Q * J, 5): True,
    Select(Q > 3, Q * J, 128): False,
    sympy.Integer(127): True,
    sympy.Integer(128): False,
    sympy.Integer(-128): True,
    sympy.Integer(-129): False,
}
"""Whether they are known to fit 8 bits."""


@pytest.mark.parametrize("value", NUMBERS)
def test_numbers_of_eight_bits(value: sympy.Expr) -> None:
    assert WIDTHS.fits(value, 8) is NUMBERS[value]
    if NUMBERS[value]:
        number = compile_expr(value, (Q, J))
        for point in product(range(16), range(8)):
            try:
                assert -128 <= number(*point) <= 127
            except ZeroDivisionError:
                continue


SIZES = {
    P: True,
    P + 1: True,
    N: True,
    N + 2**16: True,
    N + 2**16 + 1: False,
    2 * N: False,
    N * M: True,
    N * M - 1: True,
    N * M + N: False,
    N * N: False,
    N**2: False,
    P * M: True,
    P * M + M: True,
    P * K: False,
    40000 * K: False,
    K: False,
    -N: True,
    -P: True,
    -2 * N: False,
    -sympy.Integer(1): True,
    N - 1: True,
    16 * FloorDiv(P, 16) + 15: True,
    # Rounded up to whole blocks.
    16 * FloorDiv(N + 15, 16): True,
    16 * FloorDiv(N + 15, 16) - 1: True,
    17 * FloorDiv(N + 15, 16): False,
    16 * FloorDiv(K + 15, 16): False,
    # It is -16 or more.
    16 * FloorDiv(N - 15, 16): True,
    FloorDiv(N - M, 16): False,
    FloorDiv(P * M, 3): True,
    FloorDiv(P * P, M + 1): False,
    FloorMod(P * P, M + 1): True,
    sympy.Max(P, 5): True,
    sympy.Max(N, M): False,
    sympy.Max(N, K): False,
}
"""Whether they are known to fit 32 bits, taking for granted that the elements of an argument do."""


@pytest.mark.parametrize("value", SIZES)
def test_sizes_of_arguments(value: sympy.Expr) -> None:
    assert WIDTHS.fits(value, 32) is SIZES[value]
