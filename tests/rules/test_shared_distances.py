"""RLX206 where a kernel gets two tensors of one storage: what is said at each distance, against a run by hand."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.rules.checking import checks, parse

KERNEL = """
@T.prim_func(private=True, s_tir=True)
def kernel(x: T.Buffer(({count},), "{one}", offset_factor=1), y: T.Buffer(({count},), "{two}", offset_factor=1)):
{body}

@R.function(pure=False)
def main(g: R.Tensor(("n",), "bool")):
    n = T.int64()
    s = R.memory.alloc_storage(R.shape([n * 64 + 64]), 0, "global", "uint8")
    a = R.memory.alloc_tensor(s, {first}, R.shape([{count}]), "{one}")
    b = R.memory.alloc_tensor(s, {second}, R.shape([{count}]), "{two}")
    _ = R.call_packed("relax_lint.tests.fill", a, ty_args=R.Tuple())
    _1 = Module.kernel(a, b)
    return b
"""


def _turned(x: Any, y: Any) -> None:
    for i in range(len(x)):
        y[len(x) - 1 - i] = x[i] + x.dtype.type(1)


def _first(x: Any, y: Any) -> None:
    for i in range(len(x)):
        y[i] = x[i] + x[0]


def _next(x: Any, y: Any) -> None:
    for i in range(len(x) - 1):
        y[i] = x[i + 1] + x.dtype.type(1)
    y[len(x) - 1] = x[0]


BODIES: dict[str, tuple[tuple[str, ...], Callable[[Any, Any], None]]] = {
    "turned": (("for i in range(4):", "    y[3 - i] = x[i] + {one}"), _turned),
    "the first": (("for i in range(4):", "    y[i] = x[i] + x[0]"), _first),
    "the next": (("for i in range(3):", "    y[i] = x[i + 1] + {one}", "y[3] = x[0]"), _next),
}
DTYPES = {"float32": "T.float32(1)", "int8": "T.int8(1)", "int64": "T.int64(1)"}
ORDER = "it depends on the iteration order of the kernel"


def module(body: str, one: str, two: str, first: int | str, second: int | str) -> Any:
    """A kernel on two tensors that start at these bytes."""
    lines = [line.replace("{one}", f"T.{two}(1)") for line in BODIES[body][0]]
    if one != two:
        lines = [re.sub(r"x\[[^]]*\]", rf"T.Cast('{two}', \g<0>)", line) for line in lines]
    text = "\n".join(f"    {line}" for line in lines)
    return parse(KERNEL.format(body=text, one=one, two=two, first=first, second=second, count=4))


def verdict(module: Any) -> tuple[str, str]:
    """What RLX206 says of the call, and why."""
    (check,) = [one for one in checks(module, "RLX206") if "kernel" in one.message]
    return check.verdict.value, check.proof


def differs(body: str, dtype: str, first: int, second: int) -> bool:
    """Whether the kernel, step by step, makes something else of numbers on shared memory."""
    memory = np.arange(1, 65, dtype="uint8")
    size = np.dtype(dtype).itemsize
    given = np.array([2, 90, 5, 31], dtype)
    shared = [memory[start : start + 4 * size].view(dtype) for start in (first, second)]
    shared[0][:] = given
    alone = np.zeros(4, dtype)
    run = BODIES[body][1]
    run(given.copy(), alone)
    run(*shared)
    return not np.array_equal(shared[1], alone)


PLACES = [(0, 0), (0, 1), (0, 3), (1, 0), (2, 0), (3, 0), (1, 3), (3, 2), (0, 4), (4, 0)]


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_said_of_two_places(body: str, dtype: str) -> None:
    size = np.dtype(dtype).itemsize
    for first, second in PLACES:
        found, why = verdict(module(body, dtype, dtype, first * size, second * size))
        if abs(first - second) >= 4:
            assert found == "always-fine"
        elif differs(body, dtype, first * size, second * size):
            assert found == "always-wrong", (first, second)
        else:
            assert (found, why) == ("needs-runtime-check", ORDER), (first, second)


def _differs_by_types(body: str, one: str, two: str) -> bool:
    """The same where each tensor has a type of its own, both from the first byte on."""
    memory = np.zeros(64, dtype="uint8")
    shared = [memory[: 4 * np.dtype(dtype).itemsize].view(dtype) for dtype in (one, two)]
    given = np.array([2, 90, 5, 31], one)
    shared[0][:] = given
    alone = np.zeros(4, two)
    run = _CASTING[body]
    run(given.copy(), alone)
    run(*shared)
    return not np.array_equal(shared[1], alone)


def _turned_over(x: Any, y: Any) -> None:
    for i in range(4):
        y[3 - i] = y.dtype.type(x[i]) + y.dtype.type(1)


def _first_of_all(x: Any, y: Any) -> None:
    for i in range(4):
        y[i] = y.dtype.type(x[i]) + y.dtype.type(x[0])


_CASTING = {"turned": _turned_over, "the first": _first_of_all}


@pytest.mark.parametrize(
    ("body", "types", "right"),
    [
        ("turned", ("float32", "int32"), False),
        # Four elements of one byte lie within the first one of eight, which is read or written at one end.
        ("turned", ("int64", "int8"), True),
        ("turned", ("int8", "int64"), True),
        ("the first", ("int64", "int8"), False),
    ],
)
def test_what_other_types_make_of_the_same_bytes_is_not_tried(
    body: str, types: tuple[str, str], right: bool
) -> None:
    assert _differs_by_types(body, *types) is not right
    assert verdict(module(body, *types, 0, 0)) == ("needs-runtime-check", ORDER)


def test_how_far_apart_they_are_is_not_known_where_a_branch_chooses_one() -> None:
    """At one of the places the kernel is right, at the other one it is not."""
    text = """
@T.prim_func(private=True, s_tir=True)
def kernel(x: T.Buffer((4,), "float32", offset_factor=1), y: T.Buffer((4,), "float32", offset_factor=1)):
    for i in range(4):
        y[i] = x[i] + x[0]

@R.function(pure=False)
def main(c: R.Tensor((), "bool")):
    s = R.memory.alloc_storage(R.shape([64]), 0, "global", "uint8")
    a = R.memory.alloc_tensor(s, 0, R.shape([4]), "float32")
    o = R.memory.alloc_tensor(s, 32, R.shape([4]), "float32")
    b = R.memory.alloc_tensor(s, 0, R.shape([4]), "float32")
    _ = R.call_packed("relax_lint.tests.fill", a, o, ty_args=R.Tuple())
    if c:
        d = a
    else:
        d = o
    _1 = Module.kernel(d, b)
    return b
"""
    assert verdict(parse(text))[0] == "needs-runtime-check"


AT_A_SIZE = {
    ("4 * n", "4 * n"): "always-wrong",
    ("4 * n + 4", "4 * n"): "always-wrong",
    ("4 * n", "4 * n + 12"): "needs-runtime-check",
    ("4 * n", "4 * n + 16"): "always-fine",
    # One element apart or more: where `n` is 4, the kernel is right.
    ("4 * n", "0"): "needs-runtime-check",
}


@pytest.mark.parametrize("places", AT_A_SIZE)
def test_what_starts_at_a_size_is_as_far_apart_as_the_sizes_are(places: tuple[str, str]) -> None:
    assert verdict(module("turned", "float32", "float32", *places))[0] == AT_A_SIZE[places]
