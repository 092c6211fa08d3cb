"""The interpreter of kernels with any numbers where nothing was stored or a signed integer is too large, and with
scalars of all types: a verdict that forgets these is contradicted.
"""

from __future__ import annotations

import random
from textwrap import indent
from typing import Any

import pytest
import tvm

from relax_lint.model.kernel_access.contents import Contents
from relax_lint.model.kernel_access.expressions import Expressions
from tests.oracle.tir.compare import GRID, Disagreement, Unusable, compare, compare_function, runs
from tests.oracle.tir.large import every
from tests.oracle.tir.narrow import Narrow
from tests.oracle.tir.numbers import Overflow, Undefined, computed
from tests.oracle.tir.writer import SCALARS

HEAD = """
@T.prim_func(s_tir=True)
def f(p_: T.handle, e_: T.handle, y_: T.handle, ku: T.uint64):
    n = T.int64()
    p = T.match_buffer(p_, (8,), "int32")
    e = T.match_buffer(e_, (n,), "int8")
    y = T.match_buffer(y_, (8,), "float32")
"""
UNWRITTEN = """s = T.alloc_buffer((8,), "int32")
for i in range(n):
    if i == 0:
        s[0] = 3
y[s[0]] = T.float32(1)"""
SQUARE = 'y[T.Cast("int64", T.min(p[0] * p[0], 7))] = T.float32(1)'
ODD = 'y[T.Cast("int64", T.min(T.bitwise_or(p[0] * p[0], 1), 7))] = T.float32(1)'


def _kernel(body: str) -> Any:
    return tvm.script.from_source(HEAD + indent(body, "    ") + "\n")


@pytest.mark.parametrize("body", [UNWRITTEN, SQUARE, ODD])
def test_what_is_said_holds_for_any_number(body: str) -> None:
    assert compare_function(_kernel(body))["runs with any numbers"] > 0


def test_a_kernel_that_is_taken_to_store_before_it_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Contents, "perhaps_unwritten", lambda self: frozenset())
    with pytest.raises(Disagreement, match=r"proved and outside.*y\[s\[0\]\]"):
        compare_function(_kernel(UNWRITTEN))


@pytest.mark.parametrize("body", [SQUARE, ODD])
def test_arithmetic_that_is_taken_not_to_wrap(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Expressions, "narrow", lambda self, value, node, final=False: value)
    with pytest.raises(Disagreement, match="proved and outside"):
        compare_function(_kernel(body))


@pytest.mark.parametrize(
    ("guard", "is_outside"),
    [("ku < T.uint64(8)", False), ('T.Cast("int64", ku) < 8', True)],
)
def test_a_scalar_without_a_sign_may_have_its_highest_bit(guard: str, is_outside: bool) -> None:
    found = runs(_kernel(f'if {guard}:\n    y[T.Cast("int64", ku)] = T.float32(1)')).reports
    outside = {dict(size)["ku"] for size, report in found.items() if report.outside}
    assert outside == ({2**63, 2**64 - 1} if is_outside else set())


@pytest.mark.parametrize(
    ("overflow", "number"),
    [(Overflow.WRAPS, -(2**31)), (Overflow.LEAST, -(2**31)), (Overflow.GREATEST, 2**31 - 1)],
)
def test_an_integer_that_is_too_large_is_a_number_where_that_is_asked_for(
    overflow: Overflow, number: int
) -> None:
    assert computed("int32")(2**31, overflow) == number
    assert computed("int32")(7, overflow) == 7
    assert computed("int8")(200, overflow) == -56
    assert computed("int32x2")((1, 2**31), overflow) == (1, number)
    with pytest.raises(Undefined):
        computed("int32")(2**31, Overflow.UNDEFINED)


def test_each_scalar_has_its_ends_in_the_grid() -> None:
    for name, dtype in SCALARS.items():
        if name != "k":
            bits = int(dtype.removeprefix("u").removeprefix("int"))
            ends = {0, 2**bits - 1} if dtype.startswith("u") else {-(2 ** (bits - 1)), 2 ** (bits - 1) - 1}
            assert ends <= set(GRID[name]), name


def test_what_is_said_of_numbers_of_few_bits_holds() -> None:
    chance, seen = random.Random(3), 0
    for _ in range(6):
        try:
            seen += compare(Narrow(chance).kernel())["kernels"]
        except Unusable:
            continue
    assert seen > 0


def test_kernels_have_scalars_of_other_types() -> None:
    chance = random.Random(1)
    assert {name for _ in range(120) for name in Narrow(chance).kernel().scalars} == SCALARS.keys() - {"k"}
    assert any(set(kernel.scalars) - {"k"} for kernel in every(160, 1))
