"""Calls of a function that a value is: in a tuple, of a branch, passed on. What the callee writes is known then."""

from __future__ import annotations

import pytest

from relax_lint.judging.report import check_module
from relax_lint.settings.config import Config
from tests.rules.checking import parse
from tests.rules.four_elements import KERNELS, STORAGE, T4, TENSOR

FINE, UNSURE, WRONG = "always-fine", "needs-runtime-check", "always-wrong"
FUNCTIONS = f"""{KERNELS}
@R.function(pure=False, private=True)
def fills(t: {T4}, x: {T4}):
    k = Module.double(x, t)
    return x

@R.function(pure=False, private=True)
def also(t: {T4}, x: {T4}):
    k = Module.add(x, x, t)
    return x

@R.function(pure=False, private=True)
def leaves(t: {T4}, x: {T4}):
    return x
"""
PASSED = f"""
@R.function(pure=False, private=True)
def through(f: R.Callable(({T4}, {T4}), {T4}, purity=False), t: {T4}, x: {T4}):
    r = f(t, x)
    return r
"""
MAIN = f"""
@R.function(pure=False)
def main(x: {T4}, c: R.Tensor((), "bool")):
    s = {STORAGE}
    a = {TENSOR.format("s")}
WAY
    return a
"""


def verdict(way: str, more: str = "") -> str:
    """The worst that is said of the tensor that is returned; nothing is where it is written in any case."""
    text = FUNCTIONS + more + MAIN.replace("WAY", way)
    checks = check_module(parse(text), Config(select=("RLX205",))).checks
    found = [check for check in checks if check.function == "main" and check.binding == "a"]
    assert not any(check.assumes for check in found)
    return max((FINE, *(check.verdict.value for check in found)), key=(FINE, UNSURE, WRONG).index)


WAYS = {
    "a name": "    f = Module.NAME\n    r = f(a, x)",
    "two names": "    g = Module.NAME\n    f = g\n    r = f(a, x)",
    "a field": "    p = (x, Module.NAME)\n    f = p[1]\n    r = f(a, x)",
    "a field that is a tuple": "    p = (x, (x, Module.NAME))\n    q = p[1]\n    f = q[1]\n    r = f(a, x)",
    "a field of a name": "    p = (Module.NAME, x)\n    q = p\n    f = q[0]\n    r = f(a, x)",
    "both branches": "    if c:\n        f = Module.NAME\n    else:\n        f = Module.NAME\n    r = f(a, x)",
    "one of two fields": "    p = (Module.leaves, Module.NAME, Module.leaves)\n    f = p[1]\n    r = f(a, x)",
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("name", "expected"), [("fills", FINE), ("leaves", WRONG)])
def test_the_function_is_followed(way: str, name: str, expected: str) -> None:
    assert verdict(WAYS[way].replace("NAME", name)) == expected


EITHER = "    if c:\n        f = Module.{}\n    else:\n        f = Module.{}\n    r = f(a, x)"


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("fills", "also", FINE),
        ("fills", "leaves", UNSURE),
        ("leaves", "also", UNSURE),
        ("leaves", "leaves", WRONG),
    ],
)
def test_one_of_two_functions(one: str, other: str, expected: str) -> None:
    assert verdict(EITHER.format(one, other)) == expected


@pytest.mark.parametrize(("name", "expected"), [("fills", FINE), ("leaves", WRONG)])
def test_a_function_that_is_passed(name: str, expected: str) -> None:
    assert verdict(f"    f = Module.{name}\n    r = Module.through(f, a, x)", PASSED) == expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [("fills", "also", FINE), ("fills", "leaves", UNSURE), ("leaves", "fills", UNSURE)],
)
def test_a_function_that_is_passed_by_two_callers(one: str, other: str, expected: str) -> None:
    way = f"""
    t = {TENSOR.format("s")}
    g = Module.{other}
    f = Module.{one}
    q = Module.through(g, t, x)
    r = Module.through(f, a, x)
""".strip("\n")
    assert verdict(way, PASSED) == expected


CALLABLE = f"R.Callable(({T4}, {T4}), {T4}, purity=False)"
GIVES = f"""
@R.function(pure=False, private=True)
def gives() -> {CALLABLE}:
    f = Module.NAME
    return f

@R.function(pure=False, private=True)
def gives_a_field(x: {T4}) -> R.Tuple({T4}, {CALLABLE}):
    p = (x, Module.NAME)
    return p

@R.function(pure=False, private=True)
def calls_held(t: {T4}, x: {T4}, y: {T4}, f: {CALLABLE}) -> {T4}:
    r = f(t, x)
    return r
"""
INSIDE = f"""
    @R.function(pure=False)
    def inner(t: {T4}, y: {T4}) -> {T4}:
        q = f(t, y)
        return q
    r = inner(a, x)"""
FURTHER = {
    "a result": "    f = Module.gives()\n    r = f(a, x)",
    "a field of a result": "    p = Module.gives_a_field(x)\n    f = p[1]\n    r = f(a, x)",
    "in a function inside": f"    f = Module.NAME{INSIDE}",
    "of both branches, in a function inside": (
        f"    if c:\n        f = Module.NAME\n    else:\n        f = Module.NAME{INSIDE}"
    ),
    "the second that a closure holds": (
        "    g = Module.NAME\n    k = R.make_closure(Module.calls_held, (x, g))\n"
        f"    r = R.invoke_closure(k, (a, x), ty_args={T4})"
    ),
}


@pytest.mark.parametrize("way", FURTHER)
@pytest.mark.parametrize(("name", "expected"), [("fills", FINE), ("leaves", WRONG)])
def test_it_is_followed_out_of_functions_and_into_them(way: str, name: str, expected: str) -> None:
    assert verdict(FURTHER[way].replace("NAME", name), GIVES.replace("NAME", name)) == expected
