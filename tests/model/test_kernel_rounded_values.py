"""Steps of a parallel loop that store numbers in one element: floats that are rounded may be the same one. What is said
is compared with NumPy, which rounds as the machine does.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from relax_lint.model.kernel_inside.findings import Race
from relax_lint.model.kernel_inside.same_values import _rounded
from relax_lint.model.prim_funcs import read_kernel
from relax_lint.results.verdict import Verdict
from tests.model.test_kernel_parameters import written
from tests.rules.checking import checks, parse

BITS = {"float16": 11, "float32": 24, "float64": 53}


def _race(value: str, dtype: str) -> Race | None:
    """What is said of two steps that store a value of `i`."""
    body = f"for i in T.parallel(2):\n    y[0] = {value}"
    races = read_kernel("f", written(f"y 4 as {dtype}; x 4", body)).inside.races
    return races[0] if races else None


def _differs(value: str, dtype: str) -> bool:
    """Whether it is said that the two steps store different values."""
    race = _race(value, dtype)
    return race is not None and race.same == False and race.surely_same  # noqa: E712


@pytest.mark.parametrize("dtype", BITS)
@pytest.mark.parametrize("around", [-2, -1, 0, 1])
def test_integers_that_a_float_does_not_hold_may_be_one_float(dtype: str, around: int) -> None:
    first = 2 ** BITS[dtype] + around
    stored = [np.dtype(dtype).type(first + i) for i in range(2)]
    assert (stored[0] != stored[1]) == (around < 0 or around == 1)
    plain = f"T.Cast('{dtype}', T.Cast('int64', i) + T.int64({first}))"
    # Of integers above the limit nothing is said, even where rounding keeps them apart.
    assert _differs(plain, dtype) == (around < 0)
    assert _differs(plain.replace("i)", "i) * n"), dtype) is False


@pytest.mark.parametrize(
    ("value", "differs"),
    [
        ("T.float32(2) * {i}", True),
        ("T.float32(1) + T.float32(2) * {i}", True),
        ("{i} / T.float32(3)", True),
        ("T.float32(3) / ({i} + T.float32(1))", True),
        ("T.max({i}, T.float32(-3)) - T.min({i}, T.float32(-1))", True),
        ("T.Select(i > 0, T.float32(1), T.float32(2))", True),
        ("T.Select(i > 0, T.float32(1), T.float32(1))", False),
        ("T.max({i}, T.float32(2))", False),
        ("T.float32(1e-9) * {i} + T.float32(1)", False),
        ("{i} + T.float32(16777216)", False),
        # What was rounded away does not come back.
        ("(({i} + T.float32(16777216)) - T.float32(16777215)) * T.float32(1000000)", False),
        ("(T.float32(1e-9) * {i} + T.float32(1)) / T.float32(1e-9)", False),
        ("({i} + T.float32(4)) - T.float32(4)", True),
        # Too small, and too large.
        ("T.float32(1e-30) * {i} * T.float32(1e-30)", False),
        ("({i} + T.float32(1)) * T.float32(1e30) * T.float32(1e30)", False),
        ("T.float32(1e-30) * {i}", True),
        ("({i} + T.float32(1)) * T.float32(1e30)", True),
        # What a float decides may be the same.
        ("T.Cast('float32', T.Cast('int32', {i} + T.float32(16777216)))", False),
        ("T.Select({i} + T.float32(16777216) > T.float32(16777216), T.float32(1), T.float32(2))", False),
        ("T.Cast('float32', T.Cast('int32', i * 3) + 1)", True),
        # Nobody computes it here.
        ("T.exp({i})", False),
        ("T.float32(3) / {i}", False),
    ],
)
def test_what_rounding_may_make_equal_is_not_said_to_differ(value: str, differs: bool) -> None:
    assert _differs(value.format(i="T.Cast('float32', i)"), "float32") is differs


def _as_numpy(value: str) -> list[np.float32]:
    with np.errstate(all="ignore"):
        names = {"f": np.float32}
        return [eval(value, names | {"i": np.float32(i)}) for i in range(2)]


NUMBERS = (0.0, 1.0, 0.1, 3.0, 2.0**24, 1e-9, 1e20)
FORMS = ("{i} * {a} + {b}", "({i} + {a}) - {b}", "({i} + {a}) * {b}", "{a} - {i} * {b}")


@pytest.mark.parametrize("form", FORMS)
def test_what_differs_does_so_in_single_precision(form: str) -> None:
    said = 0
    # TVM computes `(i + a) - a` as `i`.
    for a, b in itertools.permutations(NUMBERS, 2):
        stored = _as_numpy(form.format(i="i", a=f"f({a!r})", b=f"f({b!r})"))
        value = form.format(i="T.Cast('float32', i)", a=f"T.float32({a!r})", b=f"T.float32({b!r})")
        if _differs(value, "float32"):
            said += 1
            assert stored[0] != stored[1], (a, b)
    # Of the 42 pairs.
    assert said >= 12


@pytest.mark.parametrize(
    ("first", "verdict"),
    [(2**24 - 1, Verdict.ALWAYS_WRONG), (2**24, Verdict.NEEDS_RUNTIME_CHECK)],
)
def test_two_steps_that_store_one_float_are_not_always_in_each_others_way(
    first: int, verdict: Verdict
) -> None:
    module = parse(f"""
@T.prim_func(private=True, s_tir=True)
def kernel(y: T.Buffer((1,), "float32")):
    for i in T.parallel(2):
        y[0] = T.Cast("float32", T.Cast("int64", i) + T.int64({first}))

@R.function
def main():
    y = R.call_tir(Module.kernel, (), R.Tensor((1,), "float32"))
    return y
""")
    (check,) = checks(module, "RLX312")
    assert check.verdict is verdict


@pytest.mark.parametrize("dtype", BITS)
def test_what_is_rounded_is_no_nearer_than_it_was(dtype: str) -> None:
    """58 is at most 58 away from 0, and is itself a number of each type: it stays as far away."""
    found = _rounded(0.0, 58.0, dtype)
    assert found is not None
    value, off = found
    assert abs(float(np.dtype(dtype).type(58)) - value) == 58
    assert off >= 58
