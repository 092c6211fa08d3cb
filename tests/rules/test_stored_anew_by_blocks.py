"""What a kernel reads and stores where another block, loop or step stores anew before anybody reads it, or to its own buffer
after the last use of that, or where both ways of a choice come to one value: of what was overwritten, superseded or never
written RLX203, RLX206 and RLX205 are not certain. Each with the VM, and a twin that takes what it reads.
"""

from __future__ import annotations

from textwrap import indent
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import checks, parse
from tests.rules.four_elements import KERNELS, T4
from tests.rules.test_read_for_nothing import USES

OWN = 'own = T.alloc_buffer((4,), "float32")\n'
OWN1 = 'own = T.alloc_buffer((1,), "float32")\n'


def blocks(*bodies: str) -> str:
    """A loop over four steps for each."""
    block = 'for i in range(4):\n    with T.sblock("b{}"):\n        v = T.axis.spatial(4, i)\n        {}\n'
    return "".join(block.format(number, body) for number, body in enumerate(bodies))


READS = {
    "the result, by another block": (
        blocks("y[v] = t[v]", "y[v] = x[v] + T.float32(1)"),
        "y[v] = x",
        "y[v] = y[v] + x",
    ),
    "the result, by a split loop": (
        blocks("y[v] = t[v]") + "for j, k in T.grid(2, 2):\n    y[j * 2 + k] = x[j * 2 + k] + T.float32(1)",
        "= x[j * 2 + k]",
        "= y[j * 2 + k] + x[j * 2 + k]",
    ),
    "the result, by two loops": (
        blocks("y[v] = t[v]")
        + "for j in range(2):\n    y[j] = x[j] + T.float32(1)\n"
        + "for k in range(2):\n    y[k + 2] = x[k + 2] + T.float32(1)",
        "y[j] = x[j]",
        "y[j] = y[j] + x[j]",
    ),
    "an element, by that of another": (
        "y[3] = t[0]\ny[3] = y[1]\n" + blocks("y[v] = x[v] + T.float32(1)"),
        "y[3] = y[1]\n" + blocks("y[v] = x[v] + T.float32(1)"),
        "y[2] = y[1]\n" + "for i in range(3):\n    y[i] = x[i] + T.float32(1)\n",
    ),
    "the result, by another block of the step": (
        'for i in range(4):\n    with T.sblock("b"):\n        v = T.axis.spatial(4, i)\n        y[v] = t[v]\n'
        '    with T.sblock("c"):\n        w = T.axis.spatial(4, i)\n        y[w] = x[w] + T.float32(1)',
        "= x[w]",
        "= y[w] + x[w]",
    ),
    "an element, by a loop over some": (
        blocks("y[v] = x[v] + T.float32(1)")
        + "y[3] = t[0]\nfor j in range(2):\n    y[j + 2] = x[j + 2] + T.float32(1)",
        "y[j + 2] = x[j + 2]",
        "y[j + 1] = x[j + 1]",
    ),
    "the result, where data says": (
        blocks("y[v] = t[v]") + 'for j in range(4):\n    y[T.Cast("int32", x[j])] = x[j] + T.float32(1)',
        "= x[j]",
        "= y[j] + x[j]",
    ),
    "the result, in steps that data chooses": (
        blocks("y[v] = t[v]")
        + "for j in range(4):\n    if x[j] >= T.float32(0):\n        y[j] = x[j] + T.float32(1)",
        "range(4):\n    if x[j] >= T.float32(0):\n        y[j]",
        "range(3):\n    if x[j] >= T.float32(0):\n        y[j]",
    ),
    "an own buffer, by two loops that meet": (
        OWN
        + blocks("own[v] = t[v]")
        + "for j in range(3):\n    own[j] = x[j] + T.float32(1)\n"
        + "for k in range(3):\n    own[k + 1] = x[k + 1] + T.float32(1)\nfor i in range(4):\n    y[i] = own[i]",
        "own[k + 1] = x[k + 1]",
        "own[k] = x[k]",
    ),
    "an own buffer, by another block": (
        OWN + blocks("own[v] = t[v]", "own[v] = x[v]", "y[v] = own[v] + T.float32(1)"),
        "own[v] = x[v]",
        "own[v] = own[v] + x[v]",
    ),
    "an own buffer after its last use": (
        OWN1 + blocks("own[0] = x[v]\n        y[v] = own[0] + T.float32(1)\n        own[0] = t[v]"),
        "y[v] = own[0] + T.float32(1)\n        own[0] = t[v]",
        "own[0] = t[v]\n        y[v] = own[0] + T.float32(1)",
    ),
    "another element of an own buffer": (
        'own = T.alloc_buffer((2,), "float32")\n'
        + blocks("own[0] = t[v]\n        own[1] = x[v]\n        y[v] = own[1] + T.float32(1)"),
        "= own[1]",
        "= own[0] + own[1]",
    ),
    "a name of what was there before": (
        OWN1
        + blocks(
            "own[0] = x[v]\n        named: T.let = own[0]\n        own[0] = t[v]\n        y[v] = named + T.float32(1)"
        ),
        "named +",
        "named + own[0] +",
    ),
    "a choice of two alike": (
        blocks("y[v] = T.if_then_else(t[v] > T.float32(5), x[v], x[v]) + T.float32(1)"),
        "x[v], x[v]",
        "x[v], x[0]",
    ),
    "a selection of two alike": (
        blocks("y[v] = T.Select(t[v] > T.float32(5), x[v], x[v]) + T.float32(1)"),
        "x[v], x[v]",
        "x[v], x[0]",
    ),
    "two branches alike": (
        blocks(
            "if t[v] > T.float32(5):\n            y[v] = x[v] + T.float32(1)\n        else:\n"
            "            y[v] = x[v] + T.float32(1)"
        ),
        "else:\n            y[v] = x[v]",
        "else:\n            y[v] = x[0]",
    ),
    "a branch that stores what is stored anew": (
        blocks(
            "if t[v] > T.float32(5):\n            y[v] = T.float32(9)\n        y[v] = x[v] + T.float32(1)"
        ),
        "= x[v]",
        "= y[v] + x[v]",
    ),
    "a branch that stores what nobody reads": (
        OWN1
        + blocks("if t[v] > T.float32(5):\n            own[0] = x[v]\n        y[v] = x[v] + T.float32(1)"),
        "own[0] = x[v]",
        "y[0] = x[v]",
    ),
}
"""What a kernel does, and what to put in the place of what so that it takes what it reads."""
KERNEL = """
@T.prim_func(private=True, s_tir=True)
def kernel(x: T.Buffer((4,), "float32"), t: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
"""


def _module(code: str, body: str) -> Any:
    kernel = KERNEL + indent(body, "    ")
    main = f"\n@R.function(pure=False)\ndef main(x: T4, u0: T4, y: T4):\n    {USES[code]}\n"
    return parse((KERNELS + kernel + main).replace("T4", T4))


def _said(module: Any, code: str) -> set[str]:
    return {check.verdict.value for check in checks(module, code)} - {"always-fine"}


@pytest.mark.vm
@pytest.mark.parametrize("code", USES)
@pytest.mark.parametrize("form", READS)
def test_what_is_stored_anew_does_no_certain_harm(form: str, code: str) -> None:
    body, part, _ = READS[form]
    assert part in body
    unused = _module(code, body)
    assert _said(unused, code) == {"needs-runtime-check"}
    machine = relax.VirtualMachine(tvm.compile(unused, "llvm"), tvm.cpu())
    given = np.arange(4, dtype="float32"), np.full(4, 70, "float32"), np.zeros(4, "float32")
    assert machine["main"](*map(tvm.runtime.tensor, given)).numpy().tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("code", USES)
@pytest.mark.parametrize(
    "form", [form for form in READS if form not in ("a branch that stores what nobody reads",)]
)
def test_what_is_taken_does(form: str, code: str) -> None:
    body, part, taken = READS[form]
    assert _said(_module(code, body.replace(part, taken)), code) == {"always-wrong"}


STEPS = {"more": (4, "always-wrong"), "one": (1, "needs-runtime-check")}


@pytest.mark.parametrize("steps", STEPS)
def test_what_a_step_stores_the_next_one_reads(steps: str) -> None:
    count, said = STEPS[steps]
    body = OWN1 + (
        f"own[0] = T.float32(0)\nfor i in range({count}):\n    y[i] = x[i] + own[0]\n    own[0] = t[i]\n"
    )
    assert _said(_module("RLX205", body), "RLX205") == {said}


@pytest.mark.vm
@pytest.mark.parametrize("body", ["T.evaluate(t[v])", "T.evaluate(T.exp(t[v]))"])
def test_what_is_computed_for_nobody_is_not_read(body: str) -> None:
    module = _module("RLX205", blocks(f"{body}\n        y[v] = x[v] + T.float32(1)"))
    assert _said(module, "RLX205") == set()
    machine = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    given = np.arange(4, dtype="float32"), np.full(4, 70, "float32"), np.zeros(4, "float32")
    assert machine["main"](*map(tvm.runtime.tensor, given)).numpy().tolist() == [1, 2, 3, 4]
    used = _module("RLX205", blocks(f"{body}\n        y[v] = x[v] + t[v]"))
    assert _said(used, "RLX205") == {"always-wrong"}


EQUAL = {
    "e[v] - e[v]": True,
    "T.Cast('int32', e[v] < e[v])": True,
    "e[v] - e[0]": False,
    "e[v] + e[v]": False,
}


@pytest.mark.parametrize("form", EQUAL)
def test_equal_integers_leave_one_number(form: str) -> None:
    kernel = KERNEL.replace('t: T.Buffer((4,), "float32")', 'e: T.Buffer((4,), "int32")')
    body = blocks(f"y[v] = x[v] + T.Cast('float32', {form})")
    main = f"""
@R.function(pure=False)
def main(x: {T4}, y: {T4}):
    s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    e = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("int32"))
    k = Module.kernel(x, e, y)
    return y
"""
    said = "needs-runtime-check" if EQUAL[form] else "always-wrong"
    assert _said(parse(kernel + indent(body, "    ") + main), "RLX205") == {said}
