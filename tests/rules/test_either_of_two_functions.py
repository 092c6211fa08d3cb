"""A call of one of two functions, which a condition chooses: what is said of it does not depend on their order, what is told
of either alone is told of both, and only what both do is certain.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import combinations

import pytest

from tests.rules.checking import checks, parse
from tests.rules.four_elements import KERNELS, STORAGE, T4, TENSOR

CONDITION = 'R.Tensor((), "bool")'
HALF = """
@T.prim_func(private=True, s_tir=True)
def half(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(2):
        y[i] = x[i] * T.float32(2)
"""
TEXT = f"""
@R.function(private=True, pure=False)
def first(p: {T4}, q: {T4}, s: R.Any) -> {T4}:
    FIRST
    return r

@R.function(private=True, pure=False)
def second(p: {T4}, q: {T4}, s: R.Any) -> {T4}:
    SECOND
    return r

@R.function(pure=False)
def main(x: {T4}, c: {CONDITION}) -> R.Tuple({T4}, {T4}, {T4}):
    s = {STORAGE}
    GIVEN
    if c:
        f = Module.first
    else:
        f = Module.second
    o = f(a, b, s)
    u = R.call_tir_inplace(Module.twice, (o,), inplace_indices=[0], out_ty={T4})
    v = R.call_tir(Module.add, (a, b), out_ty={T4})
    w = R.call_tir(Module.double, (u,), out_ty={T4})
    return (u, v, w)
"""
PUT = f"t = {TENSOR.format('s')}\n    k = Module.double(q, t)\n    "
NEW = f"r = R.call_tir(Module.double, (q,), out_ty={T4})"
BODIES = {
    "reads": NEW,
    "reads nothing": "s1 = {}\n    r = {}".format(STORAGE, TENSOR.format("s1")),
    "fills": f"k = Module.double(q, p)\n    {NEW}",
    "fills in part": f"k = Module.half(q, p)\n    {NEW}",
    "overwrites": f"k = R.call_tir_inplace(Module.twice, (p,), inplace_indices=[0], out_ty={T4})\n    r = k",
    "overwrites, gives the other": (
        f"k = R.call_tir_inplace(Module.twice, (p,), inplace_indices=[0], out_ty={T4})\n    r = q"
    ),
    "hands the other back": "r = q",
    "gives away": f'k = R.call_packed("tests.f", p, ty_args=R.Tuple)\n    {NEW}',
    "gives something unknown back": f'r = R.call_packed("tests.g", p, ty_args={T4})',
    "believed": f'r = R.call_pure_packed("tests.h", p, ty_args={T4})',
    "puts something there": PUT + NEW,
}
GIVEN = {
    "two": f"a = R.call_tir(Module.double, (x,), out_ty={T4})\n    b = R.call_tir(Module.add, (x, x), out_ty={T4})",
    "one twice": f"a = R.call_tir(Module.double, (x,), out_ty={T4})\n    b = a",
    "on the storage": f"a = {TENSOR.format('s')}\n    k0 = Module.double(x, a)\n    b = R.call_tir(Module.add, (x, x), out_ty={T4})",
    "unwritten": "s0 = {}\n    a = {}\n    b = R.call_tir(Module.add, (x, x), out_ty={})".format(
        STORAGE, TENSOR.format("s0"), T4
    ),
}
Said = frozenset[tuple[str, str | None, str, str, tuple[str, ...]]]


@cache
def _said(given: str, first: str, second: str) -> Said:
    """Of the caller: rule, binding, verdict, severity and what is assumed."""
    text = (
        TEXT.replace("FIRST", BODIES[first]).replace("SECOND", BODIES[second]).replace("GIVEN", GIVEN[given])
    )
    found = checks(parse(KERNELS + HALF + text), "RLX20")
    return frozenset(
        (one.rule, one.binding, one.verdict.value, one.severity.value, tuple(sorted(one.assumes)))
        for one in found
        if one.function == "main"
    )


def _told(said: Iterable[tuple[str, str | None, str, str, tuple[str, ...]]]) -> set[tuple[str, str | None]]:
    return {(rule, binding) for rule, binding, _, severity, _ in said if severity != "none"}


def _certain(said: Said) -> set[tuple[str, str | None]]:
    return {(rule, binding) for rule, binding, verdict, _, _ in said if verdict == "always-wrong"}


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize(("first", "second"), [*combinations(BODIES, 2)])
def test_either_may_be_called(given: str, first: str, second: str) -> None:
    found = _said(given, first, second)
    turned = _said(given, second, first)
    if given == "unwritten":
        # Where nobody needs what one of them reads it is told of the other one.
        assert {(rule, *rest) for rule, _, *rest in found} == {(rule, *rest) for rule, _, *rest in turned}
    else:
        assert found == turned
    one, other = _said(given, first, first), _said(given, second, second)
    # What nobody has written is told where it is read first.
    assert given == "unwritten" or _told(one) | _told(other) <= _told(found)
    assert _certain(found) <= _certain(one) & _certain(other)
