"""Indices out of integers that were stored and do not fit: what is said of them, and what runs make of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.facts.kernel_access_verdicts import Status
from relax_lint.judging.module import ModuleJudge
from relax_lint.settings.config import Config
from tests.rules.checking import parse

STORED = """
@T.prim_func(private=True, s_tir=True)
def fill(v: T.handle, w: T.Buffer((8,), "{dtype}")):
    n = T.int32()
    some = T.match_buffer(v, (n,), "int8")
    for i in range(8):
        w[i] = {value}

@T.prim_func(private=True, s_tir=True)
def take(x: T.Buffer((8,), "float32"), w: T.Buffer((8,), "{dtype}"), y: T.Buffer((8,), "{result}")):
    for i in range(8):
        y[i] = {read}

@R.function
def main(x: R.Tensor((8,), "float32"), v: R.Tensor(("n",), "int8")):
    w = R.call_tir(Module.fill, (v,), R.Tensor((8,), "{dtype}"))
    y = R.call_tir(Module.take, (x, w), R.Tensor((8,), "{result}"))
    return y
"""
"""What one kernel stores another one takes for indices."""
KEPT = """
@T.prim_func(private=True, s_tir=True)
def take(x: T.Buffer((8,), "float32"), v: T.handle, y: T.Buffer((8,), "{result}")):
    n = T.int32()
    some = T.match_buffer(v, (n,), "int8")
    w = T.alloc_buffer((8,), "{dtype}")
    for i in range(8):
        w[i] = {value}
    for i in range(8):
        if i < n:
            if some[i] > T.int8(0):
                w[7 - i] = {value}
    for i in range(8):
        y[i] = {read}

@R.function
def main(x: R.Tensor((8,), "float32"), v: R.Tensor(("n",), "int8")):
    y = R.call_tir(Module.take, (x, v), R.Tensor((8,), "{result}"))
    return y
"""
"""A kernel stores to a buffer of its own, twice: what an element holds is known as a range only."""
INT64, MANY = "T.Cast('int64', i) * T.int64(3000000000000000000)", "i * 1000000000"
CASES = {
    "a product": ("int32", MANY, "w[i] // 1000000000"),
    "a cast product": ("int32", "T.Cast('int32', T.Cast('int64', i)) * 1000000000", "w[i] // 1000000000"),
    "a shift": ("int32", "T.shift_left(i, 29)", "w[i] // 536870912"),
    "of 64 bits": ("int64", INT64, "w[i] // T.int64(3000000000000000000)"),
    "of no sign, less than none": (
        "int32",
        "i",
        "T.min(T.Cast('int64', T.Cast('uint32', i) - T.uint32(1)), T.int64(7))",
    ),
    "one end": ("int32", MANY, "T.min(w[i], 7)"),
    "of the size": ("int32", "n * n", "T.min(w[i], 7)"),
    "the greater of it": ("int32", "T.max(i * 1000000000, 0)", "T.min(w[i], 7)"),
    # A compiler may leave out the ends: LLVM did where the kernel was a little smaller.
    "between two ends": ("int32", "T.max(T.min(n * n + i, 7), 0)", "w[i]"),
}
FITS = {
    "that fits": ("int32", "i * 100000000", "w[i] // 100000000"),
    "that fits in the end": ("int32", "i * 1000000000 - i * 999999999", "w[i]"),
    "of 64 bits that fits": (
        "int64",
        "T.Cast('int64', i) * T.int64(1000000000)",
        "w[i] // T.int64(1000000000)",
    ),
    "of no sign that fits": (
        "int32",
        "i",
        "T.min(T.Cast('int64', T.Cast('uint32', i) + T.uint32(1)), T.int64(7))",
    ),
    "up to the last": ("int32", "i * 306783378 + 1", "T.min(w[i], 7)"),
}


def module(form: str, case: tuple[str, str, str], *, shows: bool) -> Any:
    """Takes elements of `x`, or shows which it would take."""
    dtype, value, index = case
    result, read = ("int64", f'T.Cast("int64", {index})') if shows else ("float32", f"x[{index}]")
    return parse(form.format(dtype=dtype, value=value, read=read, result=result))


def said(module: Any) -> set[Status]:
    """What is said of the elements of `x` that are taken; nothing where all is proved."""
    return {
        found.status
        for function in ModuleJudge(module, Config(select=("RLX306",))).functions()
        for use in function.facts.kernels.uses
        if use.kernel.name == "take"
        for found in function.facts.indices.verdict(use).open
        if found.status is not Status.PROVED
    }


def rows(form: str, case: tuple[str, str, str], n: int) -> Any:
    """The indices in a run with a vector of `n` elements."""
    machine = relax.VirtualMachine(tvm.compile(module(form, case, shows=True), "llvm"), tvm.cpu())
    given = np.zeros(8, "float32"), np.ones(n, "int8")
    return machine["main"](*map(tvm.runtime.tensor, given)).numpy()


@pytest.mark.parametrize("form", [STORED, KEPT], ids=["stored", "kept"])
@pytest.mark.parametrize("case", CASES)
def test_what_may_have_wrapped_around_is_no_index(case: str, form: str) -> None:
    assert said(module(form, CASES[case], shows=False)) & {Status.ASSUMED, Status.UNDECIDED, Status.LIMITED}


@pytest.mark.parametrize("form", [STORED, KEPT], ids=["stored", "kept"])
@pytest.mark.parametrize("case", FITS)
def test_what_fits_is_an_index(case: str, form: str) -> None:
    assert said(module(form, FITS[case], shows=False)) == set()


@pytest.mark.vm
@pytest.mark.parametrize("case", [*list(CASES)[:-1], *FITS])
def test_what_runs_take(case: str) -> None:
    # 46341 is the smallest number whose square 32 bits do not hold.
    found = rows(KEPT, {**CASES, **FITS}[case], 46341)
    assert bool(((found >= 0) & (found < 8)).all()) is (case in FITS)
