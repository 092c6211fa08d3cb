"""What becomes of TVM's expressions at the ends of their types: shifts, casts and sums that do not fit."""

from __future__ import annotations

from typing import Any

import pytest
import sympy
from tvm import tirx

from relax_lint.symbolic.functions import FloorDiv, FloorMod, Select
from relax_lint.symbolic.translate import MAX_SHIFT, Translator, Untranslatable, range_of_type
from relax_lint.symbolic.wrapping import may_wrap

N, M, K = sympy.symbols("n m k", integer=True)


# -- what TVM's expressions mean ----------------------------------------------------------------

X, Y = tirx.Var("n", "int64"), tirx.Var("m", "int64")
TRUTH = tirx.Var("truth", "bool")


def translator(**options: Any) -> Translator:
    return Translator(lambda var: sympy.Symbol(var.name, integer=True), **options)


@pytest.mark.parametrize(
    ("bits", "known"), [(-1, False), (0, True), (MAX_SHIFT, True), (MAX_SHIFT + 1, False)]
)
@pytest.mark.parametrize("left", [True, False])
def test_a_shift_by_a_number_of_bits(bits: int, known: bool, left: bool) -> None:
    one, e = translator(), X << Y if left else X >> Y
    one.know(Y, sympy.Integer(bits))
    if not known:
        with pytest.raises(Untranslatable):
            one.expr(e)
        return
    assert one.expr(e).subs(N, 2**62 + 5) == ((2**62 + 5) << bits if left else (2**62 + 5) >> bits)


def test_a_shift_by_a_symbol_is_not_known() -> None:
    with pytest.raises(Untranslatable):
        translator().expr(X << Y)


@pytest.mark.parametrize("value", [-129, -128, -1, 127, 128, 300])
def test_a_cast_of_a_number_keeps_its_low_bits(value: int) -> None:
    e = tirx.Cast("int8", tirx.IntImm("int32", value))
    assert translator().expr(e) == (value + 128) % 256 - 128


@pytest.mark.parametrize(
    ("source", "target", "same"),
    [
        ("uint8", "uint16", True),
        ("uint8", "int16", True),
        ("int8", "int16", True),
        ("int8", "uint8", False),
        ("uint8", "int8", False),
        ("int16", "int8", False),
        ("int64", "uint64", False),
        ("uint32", "int64", True),
    ],
)
def test_a_cast_to_a_type_that_holds_all_values_changes_none(source: str, target: str, same: bool) -> None:
    e = tirx.Cast(target, tirx.Var("n", source))
    assert (translator().expr(e) == N) is same


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        ((-128, 127), True),
        ((0, 5), True),
        ((5, 5), True),
        ((-129, 127), False),
        ((-128, 128), False),
        ((-129, 0), None),
        ((0, 128), None),
        ((-200, 200), False),
        (None, None),
    ],
)
def test_what_is_cast_to_fewer_bits_has_to_fit_or_to_be_any_number(
    span: tuple[int, int] | None, expected: bool | None
) -> None:
    e = tirx.Cast("int8", X)
    if expected is None:
        with pytest.raises(Untranslatable):
            translator(range_of=lambda value: span).expr(e)
        return
    assert (translator(range_of=lambda value: span).expr(e) == N) is expected


@pytest.mark.parametrize("dtype", ["float32", "bool", "int8x4", "handle", "bfloat16"])
def test_a_type_that_is_no_integer_has_no_range(dtype: str) -> None:
    with pytest.raises(Untranslatable):
        range_of_type(dtype)


@pytest.mark.parametrize(("wide", "known"), [(True, True), (False, False)])
def test_unsigned_sums_do_not_wrap_where_they_are_computed_in_64_bits(wide: bool, known: bool) -> None:
    unsigned = tirx.Var("n", "uint32")
    e = tirx.Add(unsigned, tirx.IntImm("uint32", 1))
    if known:
        assert translator(wide_variables=wide).expr(e) == N + 1
        assert translator(wide_variables=wide).expr(tirx.Min(e, e)) == N + 1
    else:
        with pytest.raises(Untranslatable):
            translator(wide_variables=wide).expr(e)


def test_sums_of_few_bits_have_to_fit_where_that_is_asked() -> None:
    small = tirx.Var("n", "int32")
    e = tirx.Add(small, tirx.IntImm("int32", 1))
    assert translator().expr(e) == N + 1
    asked: list[Any] = []

    def fits(value: sympy.Expr, bits: int) -> bool:
        asked.append((value, bits))
        return False

    with pytest.raises(Untranslatable):
        translator(fits=fits).expr(e)
    assert asked == [(N + 1, 32)]
    assert translator(fits=fits, wide_variables=True).expr(e) == N + 1
    # A shift is computed in the bits of its type, and what is made of constants is no wider than it says.
    with pytest.raises(Untranslatable):
        translator(fits=fits, wide_variables=True).expr(small << 1)
    with pytest.raises(Untranslatable):
        translator(fits=fits, wide_variables=True).expr(
            tirx.Add(tirx.IntImm("int32", 1), tirx.IntImm("int32", 2))
        )


@pytest.mark.parametrize(
    ("e", "expected"),
    [
        (True, sympy.true),
        (False, sympy.false),
        (X, sympy.Ne(N, 0)),
        (tirx.IntImm("bool", 1), sympy.true),
        (tirx.IntImm("bool", 0), sympy.false),
        (tirx.IntImm("int32", 0), sympy.false),
        (tirx.IntImm("int32", 2), sympy.true),
    ],
    ids=str,
)
def test_what_counts_as_true(e: Any, expected: Any) -> None:
    assert translator().condition(e) == expected


# -- wrapping ----------------------------------------------------------------------------------

FREE, EXTENT = frozenset({K}), 2**40


@pytest.mark.parametrize(
    ("side", "wraps"),
    [
        # The condition of a choice is not part of what is chosen from.
        (Select(N * N > 2**61 * N, N, M), False),
        (Select(N > 0, 2**21 * N + 2**21 * M, M), False),
        (Select(N > 0, 2**22 * N + 2**22 * M + 2**22 * N * M, M), True),
        # A sum inside a quotient is computed first.
        (FloorDiv(2**22 * N + 2**22 * M + 1, 5), True),
        (FloorDiv(2**21 * N + 2**21 * M + 1, 5), False),
        (FloorMod(N * M, 5), True),
        (FloorMod(N * M * K, 5), True),
        (N**2, True),
        (sympy.Max(N, -M), False),
    ],
    ids=str,
)
def test_what_may_leave_64_bits(side: Any, wraps: bool) -> None:
    assert may_wrap(sympy.Le(K, side), FREE, EXTENT, simplified=False) is wraps
