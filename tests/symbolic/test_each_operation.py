"""Every operation by its name: what it comes to at small numbers, and in how many bits it is done."""

from __future__ import annotations

import operator
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
import sympy
from tvm import tirx

from relax_lint.symbolic.parsing import parse_condition, parse_expr
from relax_lint.symbolic.translate import Translator, Untranslatable, range_of_type

X, Y = sympy.symbols("x y", integer=True)
NAMES = {"x": X, "y": Y}
SMALL = range(-5, 6)


def _trunc_div(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if a * b >= 0 else -1)


def _trunc_mod(a: int, b: int) -> int:
    return a - b * _trunc_div(a, b)


OF_TWO: dict[str, Callable[[int, int], int]] = {
    "Min": min,
    "Max": max,
    "min": min,
    "max": max,
    "FloorDiv": operator.floordiv,
    "FloorMod": operator.mod,
    "TruncDiv": _trunc_div,
    "TruncMod": _trunc_mod,
    "BitAnd": operator.and_,
    "BitOr": operator.or_,
    "BitXor": operator.xor,
}
BETWEEN: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
}
COMPARED: dict[str, Callable[[int, int], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        *((f"{name}(x, y)", meant) for name, meant in OF_TWO.items()),
        *((f"x {sign} y", meant) for sign, meant in BETWEEN.items()),
    ],
)
def test_what_is_written_in_a_configuration(text: str, meant: Callable[[int, int], int]) -> None:
    found = parse_expr(text, NAMES)
    for a, b in product(SMALL, SMALL):
        if b != 0:
            assert found.xreplace({X: sympy.Integer(a), Y: sympy.Integer(b)}) == meant(a, b), (a, b)


@pytest.mark.parametrize("sign", COMPARED)
def test_what_is_compared_in_a_configuration(sign: str) -> None:
    found = parse_condition(f"x {sign} y", NAMES)
    for a, b in product(SMALL, SMALL):
        assert bool(found.subs({X: a, Y: b})) == COMPARED[sign](a, b), (a, b)


TYPES = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]


@pytest.mark.parametrize("dtype", TYPES)
def test_the_ends_of_an_integer_type(dtype: str) -> None:
    ends = np.iinfo(dtype)
    assert range_of_type(dtype) == (ends.min, ends.max)


@pytest.mark.parametrize("dtype", ["float32", "bool", "handle", "int", "uint", "float8_e4m3fn"])
def test_what_is_no_integer_type_has_no_ends(dtype: str) -> None:
    with pytest.raises(Untranslatable):
        range_of_type(dtype)


@pytest.mark.parametrize(("source", "target"), [*product(TYPES, TYPES)])
def test_a_cast_keeps_the_low_bits(source: str, target: str) -> None:
    """At the ends of both types, and beside them."""
    variable = tirx.Var("x", source)
    found = Translator(lambda _: X).expr(tirx.Cast(target, variable))
    own = np.iinfo(source)
    ends = {int(end) for dtype in (source, target) for end in (np.iinfo(dtype).min, np.iinfo(dtype).max)}
    near = {end + step for end in (*ends, 0) for step in range(-2, 3)}
    for value in sorted(one for one in near if own.min <= one <= own.max):
        cast = int(np.array([value], dtype=source).astype(target)[0])
        assert found.xreplace({X: sympy.Integer(value)}) == cast, value


ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "Add": tirx.Add,
    "Sub": tirx.Sub,
    "Mul": tirx.Mul,
    "FloorDiv": tirx.FloorDiv,
    "FloorMod": tirx.FloorMod,
    "Div": tirx.Div,
    "Mod": tirx.Mod,
    "Min": tirx.Min,
    "Max": tirx.Max,
    "LShift": lambda a, b: a << 3,
    "RShift": lambda a, b: a >> 3,
    "BitwiseAnd": lambda a, b: a & b,
    "BitwiseOr": lambda a, b: a | b,
    "BitwiseXor": lambda a, b: a ^ b,
}
MAY_WRAP = {"Add", "Sub", "Mul", "LShift"}
WIDER = {"Add", "Sub", "Mul", "FloorDiv", "FloorMod", "Min", "Max"}
"""What the machine computes in the 64 bits of a slot of the shape heap, whatever type is written."""


def _variables(dtype: str) -> tuple[Any, Any]:
    return tirx.Var("x", dtype), tirx.Var("y", dtype)


def _translated(e: Any, *, wide: bool = False) -> tuple[Any, list[int]]:
    """The value of an expression, None where there is none, and in how many bits what had to fit."""
    asked: list[int] = []

    def fits(_: sympy.Expr, bits: int) -> bool:
        asked.append(bits)
        return True

    translator = Translator(lambda var: NAMES[var.name], fits=fits, wide_variables=wide)
    try:
        return translator.expr(e), asked
    except Untranslatable:
        return None, asked


@pytest.mark.parametrize("kind", ARITHMETIC)
@pytest.mark.parametrize("dtype", TYPES)
def test_in_how_many_bits_arithmetic_is_done(kind: str, dtype: str) -> None:
    found, asked = _translated(ARITHMETIC[kind](*_variables(dtype)))
    if dtype.startswith("u"):
        assert (found is None) == (kind in MAY_WRAP)
        assert asked == []
    else:
        assert found is not None
        assert asked == ([int(dtype[3:])] if kind in MAY_WRAP and dtype != "int64" else [])


@pytest.mark.parametrize("kind", ARITHMETIC)
def test_what_is_made_of_slots_has_64_bits(kind: str) -> None:
    inner = ARITHMETIC[kind](*_variables("int32"))
    found, asked = _translated(inner * 5, wide=True)
    assert found is not None
    # The shift itself and the product of what is not wide have to fit.
    own = [32] if kind == "LShift" else []
    assert asked == ([] if kind in WIDER else [*own, 32])


@pytest.mark.parametrize("kind", ["Add", "BitwiseAnd"])
def test_one_operand_of_64_bits_is_enough(kind: str) -> None:
    x, _ = _variables("int32")
    for e in (ARITHMETIC[kind](x, tirx.IntImm("int32", 6)), ARITHMETIC[kind](tirx.IntImm("int32", 6), x)):
        found, asked = _translated(e + 1, wide=True)
        assert found is not None
        assert asked == ([] if kind in WIDER else [32])
