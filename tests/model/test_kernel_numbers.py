"""Between which numbers the arithmetic of a kernel lies: both ends, against every step of the loops."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import pytest
import sympy

from relax_lint.model.kernel_body.loops import Loops
from relax_lint.model.kernel_body.narrow import Widths
from relax_lint.symbolic.functions import FloorDiv, FloorMod, Select

_BITS = 8


@dataclass(frozen=True)
class _Variable:
    name: str


class _Kernel:
    """Loops i from 0 to 4, j from -3 to 2, k from 2 to 4, and a from 0 to n - 1 for an argument of n elements."""

    def __init__(self, *shapes: tuple[str, ...]) -> None:
        self.loops = Loops()
        self.n, self.m = (self._symbol(name) for name in "nm")
        self.loops.close_signature([self.n, self.m])
        self.i, self.j, self.k, self.a = (self._symbol(name) for name in "ijka")
        for symbol, first, extent in ((self.i, 0, 5), (self.j, -3, 6), (self.k, 2, 3), (self.a, 0, self.n)):
            self.loops.enter(symbol, sympy.Integer(first), sympy.sympify(extent))
        self.widths = Widths(self.loops, [tuple(map(self.expr, shape)) for shape in shapes])

    def _symbol(self, name: str) -> sympy.Symbol:
        return self.loops.symbol_of(_Variable(name))

    def expr(self, text: str) -> sympy.Expr:
        names = {"Max": sympy.Max, "Min": sympy.Min, "S": Select, "D": FloorDiv, "M": FloorMod}
        return sympy.sympify(eval(text, {**names, **vars(self)}))

    def ends(self, text: str) -> tuple[int, int] | None:
        """What a value lies between, from the constants that may be added to it in 8 bits."""
        value = self.expr(text)
        fitting = [c for c in range(-300, 300) if self.widths.fits(value + c, _BITS)]
        return (-(2 ** (_BITS - 1)) - fitting[0], 2 ** (_BITS - 1) - 1 - fitting[-1]) if fitting else None

    def reached(self, text: str) -> tuple[int, int]:
        """The same from every step."""
        value = self.expr(text)
        numbers = [
            int(value.subs({self.i: i, self.j: j, self.k: k}).doit())
            for i, j, k in product(range(5), range(-3, 3), range(2, 5))
        ]
        return min(numbers), max(numbers)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("i", (0, 4)),
        ("i - j", (-2, 7)),
        ("i * k", (0, 16)),
        ("j * k", (-12, 8)),
        ("j * i", (-12, 8)),
        ("j**2", (-6, 9)),
        ("k**3", (8, 64)),
        ("D(i, 2)", (0, 2)),
        ("D(i, 1)", (0, 4)),
        ("D(i, k)", (0, 4)),
        ("D(j, 2)", (-2, 1)),
        ("D(j, k)", (-3, 2)),
        ("D(i + 1, 3)", (0, 1)),
        ("D(-i - 1, 3)", (-2, -1)),
        ("D(j * i, 3)", (-12, 8)),
        ("M(i * 7, 3)", (0, 2)),
        ("M(j, k)", (0, 3)),
        ("M(j, 3)", (0, 2)),
        ("Max(i, j)", (-3, 4)),
        ("Min(k, j)", (-3, 4)),
        ("S(n > 2, i, j * 2)", (-6, 4)),
        ("S(n > 2, k, 9)", (2, 9)),
    ],
)
def test_both_ends_of_numbers(text: str, expected: tuple[int, int]) -> None:
    kernel = _Kernel()
    assert kernel.ends(text) == expected
    low, high = kernel.reached(text.replace("n > 2", "i > 2"))
    assert expected[0] <= low <= high <= expected[1]


@pytest.mark.parametrize("text", ["D(i, j)", "M(i, j)", "D(i, -2)", "2**i", "n", "D(a - 1, 2)", "i + m"])
def test_nothing_is_known_where_one_part_tells_nothing(text: str) -> None:
    assert _Kernel().ends(text) is None


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        ("a", True),
        ("a + 65537", True),
        ("a + 65538", False),
        ("2 * a", False),
        ("a * m", True),
        ("a * i", False),
        ("a * m + m", True),
        ("a * n", False),
        ("a + m", False),
        ("D(a, 2)", True),
        ("D(a, 2) + D(a, 2)", True),
        ("2 * D(a, 2)", True),
        ("3 * D(a, 2)", False),
        ("2 * D(a + 1, 2) + 65535", True),
        ("2 * D(a, 2) + 65538", False),
        ("4 * D(a, 2) + D(0 - a, 2)", False),
        ("D(a, k)", True),
        ("D(a * 2, k)", False),
        ("M(a, m)", True),
        ("Max(a, i)", True),
        ("Max(a, a)", True),
        ("Max(a, i + 65531)", True),
        ("Max(a, i + 65532)", False),
        ("Min(a, j)", False),
        ("Max(a, i - 1)", True),
        ("Max(a, i - 2)", False),
        ("S(m > 2, a, 7)", True),
        ("-a", True),
        ("-a - 65537", True),
        ("-a - 65540", False),
        ("-3 * a", False),
    ],
)
def test_what_counts_elements_of_an_argument(text: str, counted: bool) -> None:
    """Besides numbers: where n (or n * m, or m) elements fit in 32 bits, with a tail."""
    kernel = _Kernel(("n", "m"), ("4",))
    assert kernel.widths.fits(kernel.expr(text), 32) == counted


def test_of_an_argument_of_a_known_size_nothing_is_counted() -> None:
    kernel = _Kernel(("4", "8"))
    assert not kernel.widths.fits(kernel.a, 32)
    assert kernel.widths.fits(kernel.i + 2**31 - 5, 32)
    assert not kernel.widths.fits(kernel.i + 2**31 - 4, 32)
    assert kernel.widths.fits(-kernel.i - 2**31 + 4, 32)
    assert not kernel.widths.fits(-kernel.i - 2**31 + 3, 32)


def test_an_unknown_shape_tells_nothing() -> None:
    loops = Loops()
    widths = Widths(loops, [None, ()])
    assert widths.fits(sympy.Integer(127), _BITS) == widths.fits(sympy.Integer(-128), _BITS)
