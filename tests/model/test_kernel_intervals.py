"""Between which numbers integer expressions of kernels lie: no value that they take is left out."""

from __future__ import annotations

from itertools import product

import pytest
import tvm

from relax_lint.model.kernel_body.growing import growing
from relax_lint.model.kernel_body.intervals import Interval, Number, Numbers
from relax_lint.vm import nodes

EXPRESSIONS = [
    "a + b",
    "a - b * 3",
    "a * b",
    "a // 3",
    "a % 4",
    "T.truncdiv(a, 3)",
    "T.truncmod(a, 3)",
    "T.min(a, b) - T.max(a, 2)",
    "T.Cast('int64', a < b)",
    "T.Cast('int64', a <= b)",
    "T.Cast('int64', a > b)",
    "T.Cast('int64', a >= b)",
    "T.Cast('int64', a == b)",
    "T.Cast('int64', a != b)",
    "T.Cast('int64', a < 3 and b < 3)",
    "T.Cast('int64', a < 3 or b < 3)",
    "T.Cast('int64', T.Not(a < b))",
    "T.if_then_else(a < b, a, b + 5)",
    "T.Select(a < b, a - 1, b)",
    "(a * 4 + b) // 3 % 5",
    "T.shift_left(a, b) + T.bitwise_and(a, 3)",
    "a // b",
    "a % b",
    "T.truncdiv(a, b)",
    "T.truncmod(a, b)",
]
TIGHT = {
    "a + b": 25,
    "a - b": 25,
    "a * b": 25,
    "a // 3": 25,
    "a // -3": 0,
    "T.truncdiv(a, 3)": 15,
    "T.min(a, b)": 25,
    "T.max(a, b)": 25,
    "T.Cast('int64', a < b)": 25,
    "T.Cast('int64', a <= b)": 25,
    "T.Cast('int64', a > b)": 25,
    "T.Cast('int64', a >= b)": 25,
    "T.Cast('int64', a == b)": 25,
    "T.Cast('int64', a != b)": 25,
    "T.Cast('int64', a < 3 and b < 3)": 25,
    "T.Cast('int64', a < 3 or b < 3)": 25,
    "T.Cast('int64', T.Not(a < b))": 25,
}
"""Expressions of which each variable occurs once, so that nothing is lost, and of how many pairs of ends they are known."""
KERNEL = """
@T.prim_func(s_tir=True)
def kernel(y: T.Buffer((9,), "int64")):
    for a in T.serial(T.int64(9)):
        for b in T.serial(T.int64(9)):
            y[0] = {}
"""
ENDS = [(-3, -1), (-2, 2), (0, 0), (1, 4), (3, 7)]


class _Plainly:
    """What the operations of TIR give, in Python."""

    min, max, Cast, Not = min, max, staticmethod(lambda _, value: int(value)), staticmethod(lambda a: not a)
    truncdiv = staticmethod(lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1))
    truncmod = staticmethod(lambda a, b: abs(a) % abs(b) * (-1 if a < 0 else 1))
    if_then_else = Select = staticmethod(lambda condition, one, other: one if condition else other)
    shift_left = staticmethod(lambda a, b: a << b)
    bitwise_and = staticmethod(lambda a, b: a & b)


def _plainly(text: str, a: int, b: int) -> int | None:
    """The value; None where something is divided by zero or shifted by less than nothing."""
    try:
        return int(eval(text, {"T": _Plainly, "a": a, "b": b}))
    except (ZeroDivisionError, ValueError):
        return None


def _read(text: str) -> tuple[Number, list[int]]:
    outer = tvm.script.from_source(KERNEL.format(text), check_well_formed=False).body
    numbers = Numbers()
    names = [numbers.variable(one.loop_var) for one in (outer, outer.body)]
    return numbers.number(outer.body.body.value), names


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_each_value_is_the_right_one_and_none_is_left_out(text: str) -> None:
    found, names = _read(text)
    assert found({}) is None
    known = 0
    for ends in product(ENDS, repeat=2):
        reached = found(dict(zip(names, ends, strict=True)))
        for point in product(*(range(first, last + 1) for first, last in ends)):
            value, there = (
                _plainly(text, *point),
                found(dict(zip(names, ((n, n) for n in point), strict=True))),
            )
            assert there is None or there == (value, value)
            known += there is not None
            if reached is not None:
                assert value is not None
                assert there is not None
                assert reached[0] <= value <= reached[1]
    assert known


@pytest.mark.parametrize("text", TIGHT)
def test_both_ends_are_reached(text: str) -> None:
    found, names = _read(text)
    known = 0
    for ends in product(ENDS, repeat=2):
        reached = found(dict(zip(names, ends, strict=True)))
        values = [_plainly(text, *point) for point in product(*(range(one, end + 1) for one, end in ends))]
        numbers = [value for value in values if value is not None]
        if reached is not None:
            assert reached == (min(numbers), max(numbers))
            known += 1
    assert known == TIGHT[text]


@pytest.mark.parametrize(
    ("text", "count"),
    [("a // b", 6), ("a % b", 10), ("a % 4", 25), ("T.truncdiv(a, b)", 6), ("T.truncmod(a, b)", 6)],
)
def test_a_quotient_is_not_above_what_is_divided_and_a_rest_below_the_divisor(text: str, count: int) -> None:
    found, names = _read(text)
    is_rest, known = "%" in text or "mod" in text, 0
    for one, other in product(ENDS, repeat=2):
        reached = found(dict(zip(names, (one, other), strict=True)))
        if reached is None:
            continue
        known += 1
        assert reached[0] >= 0 or not is_rest
        if is_rest:
            assert reached[1] < (4 if "4" in text else other[1])
        if one[0] >= 0:
            assert reached[1] <= one[1]
    assert known == count


N, M = growing(0, 1), growing(1, 1)
"""Sizes, each at least 1."""
TYPES = {
    "bool": (0, 1),
    "int8": (-(2**7), 2**7 - 1),
    "uint8": (0, 2**8 - 1),
    "int16": (-(2**15), 2**15 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1),
}


@pytest.mark.parametrize("dtype", TYPES)
def test_what_a_type_does_not_hold_is_not_known(dtype: str) -> None:
    (low, high), (found, names) = TYPES[dtype], _read(f"T.Cast('int64', T.Cast('{dtype}', a))")
    for ends in ((low, high), (low, low), (high, high), (0, 1)):
        assert found({names[0]: ends}) == ends
    for ends in ((low - 1, high), (low, high + 1), (low - 1, low - 1), (high + 1, high + 1)):
        assert found({names[0]: ends}) is None
    # No size is so large that 32 bits do not hold it.
    is_open, is_signed = dtype.endswith("32"), dtype.startswith("int")
    for grows, is_held in (((1, N), is_open), ((N, N), is_open), ((-N, 1), is_open and is_signed)):
        assert found({names[0]: grows}) == (grows if is_held else None)


def test_numbers_of_64_bits_are_held() -> None:
    found, names = _read("T.Cast('int64', a) * 2")
    assert found({names[0]: (-(2**62), 2**62)}) == (-(2**63), 2**63)


@pytest.mark.parametrize("operation", ["+", "-", "*"])
def test_arithmetic_in_a_narrow_type_may_leave_it(operation: str) -> None:
    found, names = _read(f"T.Cast('int64', T.Cast('int8', a) {operation} T.Cast('int8', b))")
    assert found({}) is None
    for a, b in product((-128, -100, -2, 0, 3, 64, 127), repeat=2):
        value = eval(f"a {operation} b", {"a": a, "b": b})
        is_held = -128 <= value <= 127
        assert found(dict(zip(names, ((a, a), (b, b)), strict=True))) == ((value, value) if is_held else None)


@pytest.mark.parametrize(
    "text",
    [
        "T.Cast('int64', T.Cast('float32', a))",
        "T.Cast('int64', y[0])",
        "y[0]",
        "T.Cast('int64', T.Cast('float32', a) / T.Cast('float32', b) < T.Cast('float32', b))",
    ],
)
def test_what_is_computed_in_fractions_or_loaded_is_not_known(text: str) -> None:
    found, names = _read(text)
    assert found(dict(zip(names, ((1, 1), (3, 3)), strict=True))) is None


def test_what_elements_hold_is_known_while_somebody_says_so() -> None:
    outer = tvm.script.from_source(KERNEL.format("y[2]"), check_well_formed=False).body
    load, numbers = outer.body.body.value, Numbers()
    for index, known in (((2,), (7, 8)), ((3,), None), ((2, 2), None)):
        with numbers.holding({(nodes.loaded_buffer(load), index): lambda _: (7, 8)}):
            assert numbers.number(load)({}) == known
            assert numbers.number(outer.body.loop_var)({}) is None
    assert numbers.number(load)({}) is None


def test_products_of_what_grows() -> None:
    found, names = _read("a * b")
    ends: list[tuple[Interval, Interval]] = [((1, N), (1, M)), ((0, N), (2, M)), ((2, N), (0, M))]
    for one, other in ends:
        assert found(dict(zip(names, (one, other), strict=True))) == (one[0] * other[0], N * M)
    # Which product is the least depends on the sizes.
    assert found(dict(zip(names, ((-1, N), (2, M)), strict=True))) is None


BOTH, LEFT, RIGHT = (
    "T.Cast('int64', a < 3 and b < 3)",
    "T.if_then_else(b < 3, a, b)",
    "T.if_then_else(b < 3, b, a)",
)
EITHER = "T.Cast('int64', a < 3 or b < 3)"
DECIDES = "T.if_then_else(a < 3, b, b + 1)"


@pytest.mark.parametrize(
    ("text", "b", "known"),
    [
        ("a + b", (1, 1), None),
        ("b - a", (1, 1), None),
        (BOTH, (5, 5), (0, 0)),
        (BOTH, (1, 1), None),
        (EITHER, (1, 1), (1, 1)),
        (EITHER, (5, 5), None),
        (LEFT, (5, 6), (5, 6)),
        (LEFT, (1, 2), None),
        (LEFT, (2, 3), None),
        (RIGHT, (1, 2), (1, 2)),
        (RIGHT, (5, 6), None),
        (RIGHT, (2, 3), None),
        (DECIDES, (1, 2), (1, 3)),
    ],
)
def test_what_is_known_where_a_is_not(text: str, b: Interval, known: Interval | None) -> None:
    found, names = _read(text)
    assert found({names[1]: b}) == known


def test_quotients_and_shifts_of_what_grows() -> None:
    half, names = _read("a // 4")
    assert half({names[0]: (N * 4, N * 8 + 3)}) == (N, N * 2)
    rest, names = _read("a % 4")
    assert rest({names[0]: (N * 4 + 1, N * 4 + 2)}) == (1, 2)
    assert rest({names[0]: (N * 4 + 1, N * 4 + 5)}) == (0, 3)
    shifted, names = _read("T.shift_left(a, b)")
    table: list[tuple[Interval, Interval, Interval | None]] = [
        ((3, 3), (61, 61), (3 << 61, 3 << 61)),
        ((0, 0), (0, 0), (0, 0)),
        ((1, 1), (65, 65), None),
        ((N, N), (1, 1), None),
        ((1, 1), (N, N), None),
        ((-1, -1), (1, 1), None),
        ((1, 1), (-1, -1), None),
    ]
    for one, other, known in table:
        assert shifted(dict(zip(names, (one, other), strict=True))) == known


def test_the_constants_that_are_met() -> None:
    numbers = Numbers()
    outer = tvm.script.from_source(KERNEL.format("a * 3 + 5"), check_well_formed=False).body
    numbers.number(outer.body.body.value)
    assert numbers.constants == {3, 5}
