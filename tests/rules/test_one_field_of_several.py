"""What is said of one field of a tuple that a function returns or is given, where the others are another matter; with
what the VM returns.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.check import Check
from tests.rules.checking import checks, parse
from tests.rules.four_elements import KERNELS, STORAGE, T4, TENSOR

KEEP, GET = "relax_lint.tests.one_field.keep", "relax_lint.tests.one_field.get"
PAIR = f"R.Tuple({T4}, {T4})"
TWO_STORAGES = f"""
    s = {STORAGE}
    a = {TENSOR.format("s")}
    s2 = {STORAGE}
    b = {TENSOR.format("s2")}
"""
OVERWRITTEN = f"""
@R.function(private=True, pure=False)
def inner(p: {T4}):
    s = {STORAGE}
    a = {TENSOR.format("s")}
    b = {TENSOR.format("s")}
    k = Module.double(p, a)
    k1 = Module.add(p, p, b)
    k2 = Module.twice(b)
    r = (b, a, a)
    return r

@R.function(pure=False)
def main(x: {T4}) -> {T4}:
    t = Module.inner(x)
    o = t[FIELD]
    return o
"""
KILLED = f"""
@R.function(private=True, pure=False)
def inner(p: {T4}):
    a = R.call_tir(Module.double, (p,), out_ty={T4})
    k = R.memory.kill_tensor(a)
    t = (a, p)
    return t

@R.function(pure=False)
def main(x: {T4}) -> {T4}:
    t = Module.inner(x)
    f = t[FIELD]
    o = R.call_tir(Module.double, (f,), out_ty={T4})
    return o
"""
FILLED = f"""
@R.function(private=True, pure=False)
def fill(x: {T4}, t: {PAIR}) -> {T4}:
    g = t[0]
    k = Module.double(x, g)
    return x

@R.function(pure=False)
def main(x: {T4}) -> {T4}:
    {TWO_STORAGES.strip()}
    t = (TUPLE)
    u = Module.fill(x, t)
    o = R.call_tir(Module.double, (a,), out_ty={T4})
    return o
"""
KEPT = f"""
@R.function(private=True, pure=False)
def inner(x: {T4}) -> {PAIR}:
    a = R.call_tir(Module.double, (x,), out_ty={T4})
    KEEPING
    b = R.call_tir(Module.add, (x, x), out_ty={T4})
    r = (a, b)
    return r

@R.function(pure=False)
def main(x: {T4}) -> {PAIR}:
    t = Module.inner(x)
    a = t[0]
    g = R.call_packed("{GET}", ty_args={T4})
    w = R.call_tir_inplace(Module.twice, (a,), inplace_indices=[0], out_ty={T4})
    o = R.call_tir(Module.double, (g,), out_ty={T4})
    return (w, o)
"""
X = np.arange(1, 5, dtype="float32")
_kept: list[Any] = []
tvm.register_global_func(KEEP, _kept.append, override=True)
tvm.register_global_func(GET, lambda: _kept[-1], override=True)


def _returned(text: str) -> Any:
    built = tvm.compile(parse(KERNELS + text), target="llvm", relax_pipeline="default")
    return relax.VirtualMachine(built, tvm.cpu())["main"](tvm.runtime.tensor(X))


def _said(text: str, code: str, binding: str) -> list[Check]:
    return [one for one in checks(parse(KERNELS + text), code) if one.binding == binding]


@pytest.mark.parametrize(("field", "verdict"), [(0, "always-fine"), (1, "always-wrong"), (2, "always-wrong")])
def test_each_field_that_is_the_overwritten_tensor_counts(field: int, verdict: str) -> None:
    """Field 0 is what overwrites it: four times what came. The others were meant to be twice that."""
    text = OVERWRITTEN.replace("FIELD", str(field))
    (check,) = _said(text, "RLX203", "k2")
    assert check.verdict.value == verdict
    assert list(_returned(text).numpy()) == list(4 * X)


@pytest.mark.parametrize("field", [0, 1])
def test_a_killed_tensor_may_be_in_a_tuple_as_long_as_nobody_looks_at_it(field: int) -> None:
    text = KILLED.replace("FIELD", str(field))
    (check,) = _said(text, "RLX201", "k")
    assert check.verdict.value == "needs-runtime-check"
    if field == 0:
        with pytest.raises(Exception, match="Tensor"):
            _returned(text)
    else:
        assert list(_returned(text).numpy()) == list(2 * X)


@pytest.mark.parametrize(("fields", "found"), [("a, b", []), ("b, a", ["always-wrong"]), ("a, a", [])])
def test_a_field_of_a_tuple_that_is_given_is_all_of_the_tensor(fields: str, found: list[str]) -> None:
    """The function fills the first field, whose whole memory that is."""
    text = FILLED.replace("TUPLE", fields)
    assert [one.verdict.value for one in _said(text, "RLX205", "o")] == found
    if not found:
        assert list(_returned(text).numpy()) == list(4 * X)


@pytest.mark.parametrize(
    ("keeping", "assumed"),
    [(f'k = R.call_packed("{KEEP}", a, ty_args=R.Any)', True), ("k = Module.double(x, x)", False)],
)
def test_what_a_function_gave_away_of_its_own_may_come_back(keeping: str, assumed: bool) -> None:
    """The tensor is made by the function that gives it away, and is known to the caller as its result."""
    text = KEPT.replace("KEEPING", keeping)
    found = _said(text, "RLX206", "w")
    assert [one.verdict.value for one in found] == ["always-fine"] * assumed
    assert [bool(one.assumes) for one in found] == [True] * assumed
    if assumed:
        w, o = _returned(text)
        assert list(w.numpy()) == list(4 * X)
        # It did come back, and is read after it was overwritten.
        assert list(o.numpy()) == list(8 * X)
