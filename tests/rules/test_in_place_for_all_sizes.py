"""RLX206 where a kernel gets one tensor twice, of symbolic shape: what is said holds at every size on the VM."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import checks, parse

_KERNEL = """
@T.prim_func(private=True, s_tir=True)
def kernel(a: T.handle, b: T.handle{parameters}):
    n = T.int64(){symbols}
    x = T.match_buffer(a, {shape}, "float32")
    y = T.match_buffer(b, {shape}, "float32"){buffers}
{body}

@R.function(pure=False)
def main(x: R.Tensor({typed}, "float32"), w: R.Tensor((3, 3), "float32")) -> R.Tensor(dtype="float32", ndim={rank}):
    n = T.int64()
    R.assert_op(n >= {least}, [n], format="n")
    s = R.memory.alloc_storage(R.shape([{bytes}]), 0, "global", "uint8")
    t = R.memory.alloc_tensor(s, 0, R.shape(list({shape})), "float32")
    R.call_packed("vm.builtin.copy_into_for_test", x, t, ty_args=(R.Tuple,))
    Module.kernel(t, t{arguments})
    return t
"""

_MATMUL = """
    for i, j, k in T.grid(n, 3, 3):
        with T.sblock("matmul"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                y[vi, vj] = T.float32(0)
            y[vi, vj] = y[vi, vj] + x[vi, vk] * w[vk, vj]
"""
_TRANSPOSED = """
    for i, j in T.grid(n, n):
        y[i, j] = x[j, i] * T.float32(2)
"""
_TWICE = """
    for i in range(n):
        y[i] = x[i] + T.float32(1)
    for i in range(n):
        y[i] = y[i] + x[i] * T.float32(3)
"""
_ONCE = """
    for i in range(n):
        y[i] = x[i] + T.float32(1)
"""
_ROWS_REVERSED = """
    for i in range(n):
        y[n - 1 - i] = x[i] * T.float32(2)
"""
_SUM_OF_ALL = """
    for i in range(n):
        y[i] = T.float32(0)
        for k in range(n):
            y[i] = y[i] + x[k]
"""
_FIRST_ROW_CLEARED = """
    for i in range(n):
        with T.sblock("sum"):
            vi = T.axis.reduce(n, i)
            with T.init():
                y[0] = T.float32(0)
            y[0] = y[0] + x[vi]
"""


def _module(body: str, shape: str, least: int) -> Any:
    weights = "w[" in body
    size = {"(n,)": "n * 4", "(n, 3)": "n * 12", "(n, n)": "n * n * 4"}[shape]
    text = _KERNEL.format(
        body=body,
        shape=shape,
        typed=shape.replace("n", '"n"'),
        rank=shape.count(",") + (shape != "(n,)"),
        least=least,
        bytes=size,
        parameters=", c: T.handle" if weights else "",
        symbols="",
        buffers='\n    w = T.match_buffer(c, (3, 3), "float32")' if weights else "",
        arguments=", w" if weights else "",
    )
    return parse(text.replace("vm.builtin.copy_into_for_test", "relax_lint.test.copy_into"))


@functools.cache
def _registered() -> None:
    def copy_into(source: Any, target: Any) -> None:
        target.copyfrom(source.numpy())

    tvm.register_global_func("relax_lint.test.copy_into", copy_into)


def _on_the_vm(module: Any, x: Any) -> Any:
    _registered()
    built = tvm.compile(module, target="llvm", relax_pipeline="default")
    machine = relax.VirtualMachine(built, tvm.cpu())
    w = np.arange(9, dtype="float32").reshape(3, 3) - 3
    return machine["main"](tvm.runtime.tensor(x), tvm.runtime.tensor(w)).numpy()


def _matmul(x: Any) -> Any:
    return x @ (np.arange(9, dtype="float32").reshape(3, 3) - 3)


@pytest.mark.parametrize(
    ("body", "shape", "verdict", "right"),
    [
        (_MATMUL, "(n, 3)", "always-wrong", _matmul),
        (_TWICE, "(n,)", "always-wrong", lambda x: 4 * x + 1),
        (_ONCE, "(n,)", "always-fine", lambda x: x + 1),
        # Right for one element, as for n == 1.
        (_TRANSPOSED, "(n, n)", "needs-runtime-check", lambda x: 2 * x.T),
        (_ROWS_REVERSED, "(n,)", "needs-runtime-check", lambda x: 2 * x[::-1]),
        (_SUM_OF_ALL, "(n,)", "needs-runtime-check", None),
        (_FIRST_ROW_CLEARED, "(n,)", "needs-runtime-check", None),
    ],
)
def test_what_is_always_wrong_is_wrong_at_every_size(body: str, shape: str, verdict: str, right: Any) -> None:
    module = _module(body, shape, 1)
    (found,) = [c for c in checks(module, "RLX206") if "kernel" in c.message]
    assert found.verdict.value == verdict, found.proof
    if right is None:
        return
    wrong = []
    for n in (1, 2, 5, 17):
        extents = {"(n,)": (n,), "(n, 3)": (n, 3), "(n, n)": (n, n)}[shape]
        x = np.arange(2, 2 + np.prod(extents), dtype="float32").reshape(extents)
        wrong.append(not np.array_equal(_on_the_vm(module, x), right(x)))
    assert {"always-wrong": all(wrong), "always-fine": not any(wrong)}.get(verdict, True), wrong


def test_only_empty_tensors_are_safe() -> None:
    (found,) = [c for c in checks(_module(_MATMUL, "(n, 3)", 0), "RLX206") if "kernel" in c.message]
    assert (found.verdict.value, found.safe_when, found.severity.value) == (
        "needs-runtime-check",
        "n <= 0",
        "error",
    )
