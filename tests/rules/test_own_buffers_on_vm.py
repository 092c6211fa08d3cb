"""RLX311 unwritten-internal-read on the VM: what a kernel's own buffers held before is in the result, or is not.

A buffer whose extent is a symbol is a workspace, which an earlier kernel with as large ones has used: what it left
there is what the next kernel finds. (A small buffer of a fixed size is on the stack, where LLVM may put any number
for an element that nothing has stored.)
"""

from __future__ import annotations

from functools import lru_cache
from textwrap import indent
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import checks, parse, verdicts

_TEXT = """
@T.prim_func(private=True, s_tir=True)
def dirty(a: T.handle, b: T.handle):
    n = T.int64()
    d = T.match_buffer(a, (n,), "float32")
    y = T.match_buffer(b, (n,), "float32")
    z = T.alloc_buffer((n,), "float32")
    w = T.alloc_buffer((n,), "float32")
    for i in range(n):
        z[i] = d[i]
        w[i] = d[i]
    for i in range(n):
        y[i] = z[i] + w[i]
@T.prim_func(private=True, s_tir=True)
def kernel(a: T.handle, b: T.handle):
    n = T.int64()
    x = T.match_buffer(a, (n,), "float32")
    y = T.match_buffer(b, (n,), "float32")
    z = T.alloc_buffer((n,), "float32")
    w = T.alloc_buffer((n,), "float32")
{body}
@R.function
def main(d: R.Tensor(("n",), "float32"), x: R.Tensor(("n",), "float32")):
    n = T.int64()
    before = R.call_tir(Module.dirty, (d,), R.Tensor((n,), "float32"))
    y = R.call_tir(Module.kernel, (x,), R.Tensor((n,), "float32"))
    return (before, y)
"""
_HALF = "for i in range(n // 2):\n    z[i] = x[i]\n"
_OTHER_HALF = "for i in range(n - n // 2):\n    z[i + n // 2] = x[i + n // 2]\n"
_POSITIVE = "for i in range(n):\n    if x[i] > T.float32(0):\n        z[i] = x[i]\n"
_READ = "for i in range(n):\n    y[i] = z[i]"
_TELLS = {
    "half": _HALF + _READ,
    "two parts with a gap": _HALF + "for i in range(n - n // 2 - 1):\n    z[i + n // 2 + 1] = x[i]\n" + _READ,
    "every second one": "for i in range((n + 1) // 2):\n    z[i * 2] = x[i]\n" + _READ,
    "through another buffer": _HALF
    + "for i in range(n):\n    w[i] = z[i]\nfor i in range(n):\n    y[i] = w[i]",
    "the first step": "for i in range(n):\n    y[i] = z[i % 2]\n    z[(i + 1) % 2] = x[i]",
    "added to": "for i in range(n - 2):\n    z[i] = z[i] + x[i]\n" + _READ,
    "left by a way out": "for i in range(n):\n    if i == 3:\n        break\n    z[i] = x[i]\n" + _READ,
    "where it is positive": _POSITIVE + _READ,
}
_DOES_NOT_TELL = {
    "whole": "for i in range(n):\n    z[i] = x[i]\n" + _READ,
    "two parts": _HALF + _OTHER_HALF + _READ,
    "as far as it is written": _HALF
    + "for i in range(n):\n    y[i] = T.if_then_else(i < n // 2, z[i], T.float32(0))",
    "a step later": "z[0] = x[0]\nfor i in range(n):\n    z[(i + 1) % 2] = x[i]\n    y[i] = z[i % 2]",
    "in a buffer that is not read": _HALF + "for i in range(n):\n    w[i] = z[i]\n    y[i] = x[i]",
    "where it is positive, both times": _POSITIVE
    + "for i in range(n):\n    y[i] = T.float32(0)\n    if x[i] > T.float32(0):\n        y[i] = z[i]",
}


@lru_cache
def _module(body: str) -> Any:
    return parse(_TEXT.format(body=indent(body, "    ")))


def _results(body: str, x: list[float]) -> list[list[float]]:
    """What the kernel gives where its buffers held 3, and where they held 5."""
    machine = relax.VirtualMachine(tvm.compile(_module(body), target="llvm"), tvm.cpu())
    given = tvm.runtime.tensor(np.array(x, "float32"))
    held = [tvm.runtime.tensor(np.full(len(x), number, "float32")) for number in (3, 5)]
    return [machine["main"](one, given)[1].numpy().tolist() for one in held]


def _said(body: str) -> list[str]:
    return [verdict for _, verdict, _ in verdicts(checks(_module(body), "RLX311"))]


@pytest.mark.vm
@pytest.mark.parametrize("form", _TELLS)
def test_what_was_there_is_in_the_result(form: str) -> None:
    one, other = _results(_TELLS[form], [-1.0, 2.0, -3.0, 4.0, -5.0, 6.0, -7.0, 8.0])
    assert one != other
    assert _said(_TELLS[form])


@pytest.mark.vm
@pytest.mark.parametrize("form", _DOES_NOT_TELL)
def test_what_was_there_is_not_in_the_result(form: str) -> None:
    one, other = _results(_DOES_NOT_TELL[form], [-1.0, 2.0, -3.0, 4.0, -5.0, 6.0, -7.0, 8.0])
    assert one == other
    assert _said(_DOES_NOT_TELL[form]) == []


@pytest.mark.vm
def test_contents_may_hide_it() -> None:
    one, other = _results(_TELLS["where it is positive"], [1.0, 2.0, 3.0, 4.0])
    assert one == other
    assert _said(_TELLS["where it is positive"]) == ["needs-runtime-check"]


@pytest.mark.vm
@pytest.mark.parametrize("size", [1, 2, 5])
def test_where_an_early_load_is_not_made_a_later_one_is(size: int) -> None:
    one, other = _results(_TELLS["added to"], [1.0] * size)
    assert one != other
    assert _said(_TELLS["added to"]) == ["needs-runtime-check"] * 2
