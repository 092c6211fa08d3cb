"""Formulas of memory totals that can be written down at sight."""

from __future__ import annotations

import pytest

from relax_lint.model.builder import build_program
from relax_lint.totals.compute import measure, size_of
from tests.rules.checking import parse
from tests.totals.corpus_calls import TRUTH, choice, storage

MATRIX = f'x: R.Tensor(("n", "m"), "float32"), c: {TRUTH}'
COUNT = f'shape: R.Shape(["n"]), x: R.Tensor(("m",), "float32"), c: {TRUTH}'
INNER = f"""
@R.function(private=True, pure=False)
def inner(y: R.Tensor(("k", "l"), "float32")):
    k = T.int64()
    l = T.int64()
    s = {storage("k * l * 8 + k")}
    return s
"""


def either(one: str, other: str) -> str:
    """A storage of one size or of another."""
    return choice("a", "c", storage(one), storage(other))


def formula(parameters: str, body: str, result: str = "a", attributes: str = "", more: str = "") -> str:
    """Of the bytes that are alive at one time."""
    text = f"""
@R.function(pure=False)
def main({parameters}):
    n = T.int64()
    m = T.int64()
    {attributes}
    cls = Module
    {body}
    return {result}
"""
    program = build_program(parse(INNER + more + text))
    found = measure(program, next(function for function in program.functions if function.name == "main"))
    return str(size_of(found.peak_live))


def test_one_size_that_is_written_in_two_ways_is_one() -> None:
    body = f"a = {storage('n * (n + 1)')}\n    b = {storage('n * n + n')}"
    assert formula(MATRIX, body, "(a, b)") == "2*n**2 + 2*n"


@pytest.mark.parametrize(
    ("one", "other", "most"),
    [
        # An extent is an integer that is not negative: its square is no smaller.
        ("4 * n * m", "4 * n * n * m", "4*m*n**2"),
        ("4 * n * n * m", "4 * n * m", "4*m*n**2"),
        ("4 * n * m", "4 * n * n", "Max(4*n**2, 4*m*n)"),
        ("4 * n * n * m", "5 * n * m", "Max(5*m*n, 4*m*n**2)"),
        ("4 * n + 100", "4 * n", "4*n + 100"),
    ],
)
def test_what_is_never_more_is_left_out(one: str, other: str, most: str) -> None:
    assert formula(MATRIX, either(one, other)) == most


@pytest.mark.parametrize(("bound", "most"), [(0, "4*n + 100"), (3, "4*n + 100"), (-5, "Max(100, 4*n + 100)")])
def test_a_symbol_that_may_be_negative_may_make_a_size_smaller(bound: int, most: str) -> None:
    attributes = f'R.func_attr({{"tir_var_lower_bound": {{"n": {bound}}}}})'
    assert formula(COUNT, either("4 * n + 100", "100"), attributes=attributes) == most


def test_a_callee_gets_a_number_and_a_symbol() -> None:
    assert formula('x: R.Tensor((4, "m"), "float32")', "a = cls.inner(x)") == "32*m + 4"


def test_a_symbol_that_two_arguments_have_is_that_of_the_first() -> None:
    """The machine compares the others with it."""
    pair = """
@R.function(private=True, pure=False)
def pair(y: R.Tensor(("k",), "float32"), z: R.Tensor(("k",), "float32")):
    k = T.int64()
    s = STORAGE
    return s
""".replace("STORAGE", storage("k * 8"))
    parameters = 'x: R.Tensor(("n",), "float32"), y: R.Tensor(("m",), "float32")'
    assert formula(parameters, "a = cls.pair(x, y)", more=pair) == "8*n"
    assert formula(parameters, "a = cls.pair(y, x)", more=pair) == "8*m"
