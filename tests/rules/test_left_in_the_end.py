"""What a kernel stores and stores over later, by any way through elements and buffers of its own, is not certain to do
harm: RLX205 with what the kernel does, compiled, and a twin of which something is there in the end.
"""

from __future__ import annotations

from textwrap import indent
from typing import Any

import numpy as np
import pytest
import tvm

from tests.rules.checking import checks, parse

OWN = "own = T.alloc_buffer((4,), 'float32')\n"
FORMS: dict[str, tuple[str, str, str]] = {
    # What the kernel does, and what to put in the place of what.
    "looked at for nothing": (
        "for i in range(4):\n    y[0] = t[i]\nfor i in range(4):\n    named: T.let = y[i]\n    y[i] = x[i]",
        "y[i] = x[i]",
        "y[i] = x[i] + named",
    ),
    "not in the last step": (
        "for i in range(4):\n    y[0] = T.if_then_else(i < 3, t[i], x[i])",
        "y[0]",
        "y[i]",
    ),
    "not in the last round of two loops": (
        "for i in range(4):\n    for j in range(2):\n        y[i] = T.Select(j < 1, t[i], x[j])",
        "j < 1",
        "j < 2",
    ),
    "the other half": (
        f"{OWN}for i in range(2):\n    own[i] = t[i]\n    own[i + 2] = x[i]\nfor i in range(4):\n"
        "    y[i] = own[2 + i % 2]",
        "2 + i % 2",
        "i % 2",
    ),
    "the other half of two axes": (
        "own = T.alloc_buffer((2, 2), 'float32')\nfor i, j in T.grid(2, 2):\n"
        "    own[i, j] = T.if_then_else(i < 1, t[j], x[j])\nfor i in range(4):\n    y[i] = own[1, i // 2]",
        "own[1, i // 2]",
        "own[i // 2, 0]",
    ),
    "overwritten in own memory": (
        f"{OWN}for i in range(4):\n    own[i] = t[i]\n    own[3 - i] = x[i]\nfor i in range(2):\n"
        "    own[i] = own[i + 2] * x[i]\n    own[i + 2] = x[i]\nfor i in range(4):\n    y[i] = own[2 + i % 2]",
        "y[i] = own[2 + i % 2]",
        "y[i] = own[i]",
    ),
    "through two own buffers": (
        f"{OWN}next = T.alloc_buffer((4,), 'float32')\nfor i in range(4):\n    own[i] = t[i]\n"
        "for i in range(4):\n    next[i] = own[i]\n    own[i] = x[i]\nfor i in range(4):\n    y[i] = own[i] + x[i]",
        "y[i] = own[i] + x[i]",
        "y[i] = own[i] + next[i]",
    ),
    "in each branch": (
        "for i in range(4):\n    y[i] = t[i]\nfor i in range(4):\n    if i < 2:\n        y[i] = x[i]\n    else:\n"
        "        y[i] = x[0]",
        "i < 2:\n        y[i] = x[i]\n    else:\n        y[i]",
        "i < 2:\n        y[i] = x[i]\n    else:\n        y[2]",
    ),
    "whatever the data is": (
        "for i in range(4):\n    y[i] = t[i]\nfor i in range(4):\n    if x[i] > T.float32(0):\n        y[i] = x[i]\n"
        "    else:\n        y[i] = x[0]",
        "range(4):\n    if",
        "range(3):\n    if",
    ),
    "the start that is stored over": (
        "for k in range(4):\n    with T.sblock('b'):\n        v = T.axis.reduce(4, k)\n        with T.init():\n"
        "            y[0] = t[0]\n        y[0] = x[v]",
        "y[0] = x[v]",
        "y[0] = y[0] + x[v]",
    ),
    "one from itself": (
        "for i in range(4):\n    y[i] = x[i] + (t[i] - t[i])",
        "t[i] - t[i]",
        "t[i] - x[i]",
    ),
    "one from a sum with it": (
        "for i in range(4):\n    y[i] = t[i] - (t[i] + x[i])",
        "(t[i] + x[i])",
        "(x[i] + x[i])",
    ),
    "equal to itself": (
        "for i in range(4):\n    y[i] = T.if_then_else(t[i] < t[i], x[i], x[0])",
        "< t[i]",
        "< x[i]",
    ),
    "every other step": (
        "for i in T.serial(0, 4, step=2):\n    y[i] = t[i]\n    y[i + 1] = t[i]\n    y[i] = x[i]\n"
        "    y[i + 1] = x[i]",
        "y[i + 1] = x[i]",
        "y[i] = x[i] + y[i + 1]",
    ),
}
KERNEL = """
@T.prim_func(private=True, s_tir=True)
def kernel(x: T.Buffer((4,), "float32"), t: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
"""
MAIN = """
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
    s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    t = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
    w = Module.kernel(x, t, y)
    return y
"""
CONTENTS = (7, -5000, float("nan"))


def _module(body: str) -> Any:
    return parse(KERNEL + indent(body, " " * 4) + "\n" + MAIN)


def _said(module: Any) -> set[str]:
    return {check.verdict.value for check in checks(module, "RLX205")} - {"always-fine"}


def _results(module: Any) -> set[bytes]:
    """What the kernel stores, for some contents of what it should not need."""
    kernel = module["kernel"].with_attr("global_symbol", "kernel")
    run = tvm.compile(tvm.IRModule({"kernel": kernel}), "llvm")["kernel"]
    found = set()
    for content in CONTENTS:
        result = tvm.runtime.tensor(np.full(4, 1, "float32"))
        given = np.arange(-1, 3, dtype="float32"), np.full(4, content, "float32")
        run(*map(tvm.runtime.tensor, given), result)
        found.add(result.numpy().tobytes())
    return found


@pytest.mark.vm
@pytest.mark.parametrize("form", FORMS)
def test_what_is_stored_over_is_not_certain(form: str) -> None:
    body, part, other = FORMS[form]
    assert part in body
    module, twin = _module(body), _module(body.replace(part, other))
    assert _said(module) == {"needs-runtime-check"}
    assert len(_results(module)) == 1
    assert _said(twin) == {"always-wrong"}
    assert len(_results(twin)) > 1


STAY = {
    "softmax": "m = T.alloc_buffer((1,), 'float32')\ns = T.alloc_buffer((1,), 'float32')\n"
    "e = T.alloc_buffer((4,), 'float32')\nm[0] = T.float32(-1000)\ns[0] = T.float32(0)\n"
    "for k in range(4):\n    m[0] = T.max(m[0], t[k])\nfor k in range(4):\n    e[k] = T.exp(t[k] - m[0])\n"
    "for k in range(4):\n    s[0] = s[0] + e[k]\nfor k in range(4):\n    y[k] = e[k] / s[0]",
    "scan": "y[0] = t[0]\nfor k in range(3):\n    y[k + 1] = y[k] + x[k]",
    "the largest": "y[0] = x[0]\nfor k in range(4):\n    if t[k] > y[0]:\n        y[0] = t[k]",
    "tiles": "own = T.alloc_buffer((2, 2), 'float32')\nfor i, j in T.grid(2, 2):\n    own[i, j] = t[i * 2 + j]\n"
    "for f in range(4):\n    y[f] = own[f // 2, f % 2]",
    "looked up": "for k in range(4):\n    y[k] = t[T.Cast('int64', x[k])]",
    "put somewhere": "for k in range(4):\n    y[T.Cast('int64', x[k])] = t[k]",
    "a thousand rounds": "own = T.alloc_buffer((1000,), 'float32')\nfor k in range(1000):\n    own[k] = t[k % 4]\n"
    "for k in range(1000):\n    y[k % 4] = own[k]",
    "the middle of many": "own = T.alloc_buffer((1000,), 'float32')\nfor k in range(1000):\n"
    "    own[k] = T.if_then_else(300 <= k and k < 304, t[k - 300], x[0])\nfor k in range(4):\n    y[k] = own[300 + k]",
}


@pytest.mark.parametrize("form", STAY)
def test_what_real_kernels_do_stays_certain(form: str) -> None:
    assert _said(_module(STAY[form])) == {"always-wrong"}
