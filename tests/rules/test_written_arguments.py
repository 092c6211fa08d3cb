"""Kernels of `R.call_tir` that write an argument, and results that a packed function is taken to write."""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import checks, findings, parse

T4 = 'R.Tensor((4,), "float32")'

KERNELS = """
@T.prim_func(private=True)
def moved(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[i]
        x[i] = T.float32(0)

@T.prim_func(private=True)
def with_scratch(x: T.Buffer((4,), "float32"), s: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        s[i] = x[i] + x[i]
    for i in range(4):
        y[i] = s[i]
"""

DIRECT = f"""
@R.function
def main(x: {T4}):
    a = R.add(x, x)
    w = R.call_tir(Module.moved, (a,), {T4})
    z = R.add(a, w)
    return z
"""

CALLEE = f"""
@R.function(private=True)
def inner(a: {T4}) -> {T4}:
    w = R.call_tir(Module.moved, (a,), {T4})
    return w

@R.function
def main(x: {T4}):
    a = R.add(x, x)
    w = Module.inner(a)
    z = R.add(a, w)
    return z
"""

SCRATCH = f"""
@R.function
def main(x: {T4}):
    s = R.add(x, x)
    v = R.call_tir(Module.with_scratch, (x, s), {T4})
    w = R.call_tir(Module.with_scratch, (v, s), {T4})
    return w
"""

TENSOR = """\
    s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    o = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
"""

PACKED = """R.call_packed("somebody.writes", x, o, ty_args=R.Object)"""

IN_A_BRANCH = f"""
@R.function(pure=False)
def main(x: {T4}, c: R.Tensor((), "bool")):
    if c:
{TENSOR.replace("    ", "        ")}        w = {PACKED}
        q = o
    else:
        q = x
    return q
"""

ONLY_IN_A_BRANCH = f"""
@R.function(pure=False)
def main(x: {T4}, c: R.Tensor((), "bool")):
{TENSOR}    if c:
        w = {PACKED}
        q = o
    else:
        q = o
    return q
"""

IN_A_CALLEE = f"""
@R.function(private=True, pure=False)
def inner(x: {T4}) -> {T4}:
{TENSOR}    w = {PACKED}
    return o

@R.function(pure=False)
def main(x: {T4}, c: R.Tensor((), "bool")):
    q = Module.inner(x)
    return q
"""


def _run(text: str) -> list[float]:
    vm = relax.VirtualMachine(tvm.compile(parse(KERNELS + text), "llvm"), tvm.cpu())
    return list(vm["main"](tvm.runtime.tensor(np.ones(4, "float32"))).numpy())


@pytest.mark.parametrize("text", [DIRECT, CALLEE])
def test_an_argument_that_a_kernel_writes_is_no_longer_what_it_was(text: str) -> None:
    (check,) = findings(parse(KERNELS + text), "RLX206")
    assert check.verdict.value == "needs-runtime-check"
    assert "overwrites `a`" in check.message
    # Two of what `a` held would be 4.
    assert _run(text) == [2.0] * 4


def test_scratch_memory_that_is_written_first_is_fine() -> None:
    assert findings(parse(KERNELS + SCRATCH), "RLX206") == []
    assert _run(SCRATCH) == [4.0] * 4


@pytest.mark.parametrize("text", [IN_A_BRANCH, IN_A_CALLEE])
def test_who_is_taken_to_write_a_tensor_does_so_in_a_branch_and_in_a_callee(text: str) -> None:
    (check,) = (check for check in checks(parse(text), "RLX205") if check.function == "main")
    assert check.verdict.value == "always-fine"
    assert check.assumes == ("`somebody.writes` may read and write its arguments, but does not keep them",)


def test_what_is_written_in_one_branch_only_is_told() -> None:
    (check,) = findings(parse(ONLY_IN_A_BRANCH), "RLX205")
    assert check.verdict.value == "needs-runtime-check"


# `moved_in_place` declares to overwrite `x`, and clears `s`, too.
UNDECLARED = f"""
@T.prim_func(private=True)
def moved_in_place(x: T.Buffer((4,), "float32"), s: T.Buffer((4,), "float32")):
    for i in range(4):
        x[i] = x[i] + s[i]
        s[i] = T.float32(0)

@R.function(pure=False)
def main(x: {T4}):
    a = R.add(x, x)
    b = R.multiply(a, a)
    w = R.call_tir_inplace(Module.moved_in_place, (a, b), [0], {T4})
    z = R.add(READ, w)
    return z
"""


def test_what_an_in_place_kernel_writes_undeclared_is_no_longer_what_it_was() -> None:
    read, unread = (UNDECLARED.replace("READ", name) for name in ("b", "x"))
    (check,) = findings(parse(KERNELS + read), "RLX206")
    assert (check.verdict.value, check.proof) == (
        "needs-runtime-check",
        "a kernel of `R.call_tir_inplace` writes it",
    )
    assert "overwrites `b`" in check.message
    # What `b` held and `w` are 4 and 6.
    assert _run(read) == [6.0] * 4
    assert findings(parse(KERNELS + unread), "RLX206") == []
    assert _run(unread) == [7.0] * 4
