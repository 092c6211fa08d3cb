"""What a kernel reads only in loops that may have no step, without its own size being zero then, may not be read:
RLX205 with what the VM does for such a size.
"""

from __future__ import annotations

from textwrap import indent

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import checks, parse

COPY = "for i in range(4):\n    y[i] = x[i]\n"
ADDED = {
    "a loop": "for j in range(n):\n    y[j] = y[j] + t[j]",
    "tiles": "for j in range((n + 3) // 4):\n    y[j] = y[j] + t[j]",
    "a product": "for j in range(n * 2):\n    y[j] = y[j] + t[j]",
    "inside of another one": "for i in range(n):\n    for j in range(4):\n        y[j] = y[j] + t[j]",
    "around another one": "for i in range(4):\n    for j in range(n):\n        y[j] = y[j] + t[j]",
    "steps before": "for i in range(n):\n    for j in range(i + 1):\n        y[j] = y[j] + t[j]",
    "block": "for j in range(n):\n    with T.sblock('b'):\n        v = T.axis.spatial(n, j)\n"
    "        y[v] = y[v] + t[v]",
    "parallel": "for j in T.parallel(n):\n    y[j] = y[j] + t[j]",
}
KERNEL = """
@T.prim_func(private=True, s_tir=True)
def kernel(e_: T.handle, x: T.Buffer((4,), "float32"), t_: T.handle, y: T.Buffer((4,), "float32")):
    n = T.int64()
    e = T.match_buffer(e_, (n,), "int8")
    t = T.match_buffer(t_, ({size},), "float32")
{body}
"""
MAIN = """
@R.function(pure=False)
def main(e: R.Tensor(({given},), "int8"), x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
    s = R.memory.alloc_storage(R.shape([{bytes}]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    t = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([{size}]), R.dtype("float32"))
    w = Module.kernel(e, x, t, y)
    return y
"""


def _module(body: str, given: str = '"m"', own: tuple[str, str] = ("4", "4")) -> object:
    main = MAIN.format(given=given, size=own[1], bytes=f"4 * {own[1]}")
    return parse(KERNEL.format(size=own[0], body=indent(COPY + body, " " * 4)) + main)


def _said(module: object) -> set[str]:
    return {check.verdict.value for check in checks(module, "RLX205")} - {"always-fine"}


@pytest.mark.parametrize("form", ADDED)
def test_a_loop_that_may_have_no_step(form: str) -> None:
    assert _said(_module(ADDED[form])) == {"needs-runtime-check"}


@pytest.mark.vm
@pytest.mark.parametrize("form", ADDED)
def test_the_run_is_right_without_a_step(form: str) -> None:
    # What lies on the storage is not a number: it would show.
    machine = relax.VirtualMachine(tvm.compile(_module(ADDED[form]), "llvm"), tvm.cpu())
    given = np.zeros(0, "int8"), np.arange(4, dtype="float32"), np.zeros(4, "float32")
    assert machine["main"](*map(tvm.runtime.tensor, given)).numpy().tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("form", ADDED)
def test_the_same_with_a_constant_size(form: str) -> None:
    assert _said(_module(ADDED[form], given="2")) == {"always-wrong"}


@pytest.mark.parametrize("form", ADDED)
def test_the_same_with_a_size_of_one_at_least(form: str) -> None:
    given = '"m + 1",), "int8"), other: R.Tensor(("m"'
    assert _said(_module(ADDED[form], given=given)) == {"always-wrong"}


ASSERTED = {
    "m >= 1": "always-wrong",
    "m > 0": "always-wrong",
    "1 <= m": "always-wrong",
    "T.And(m >= 2, m <= 8)": "always-wrong",
    "m == 3": "always-wrong",
    "m >= 0": "needs-runtime-check",
    "m != 1": "needs-runtime-check",
    "m <= 4": "needs-runtime-check",
    "T.Or(m >= 1, m <= 0)": "needs-runtime-check",
}


@pytest.mark.parametrize("condition", ASSERTED)
def test_the_same_behind_an_assertion(condition: str) -> None:
    """Where it lets no empty tensor through, each loop has a step."""
    text = f'm = T.int64()\n    R.assert_op({condition}, [m], format="empty")\n    s = '
    for form in ADDED.values() if condition == "m >= 1" else (ADDED["a loop"],):
        whole = KERNEL.format(size="4", body=indent(COPY + form, " " * 4))
        whole += MAIN.format(given='"m"', size="4", bytes="16").replace("s = ", text, 1)
        assert _said(parse(whole)) == {ASSERTED[condition]}
    after = MAIN.replace("    return y", "    " + text.removesuffix("\n    s = ") + "\n    return y")
    whole = KERNEL.format(size="4", body=indent(COPY + ADDED["a loop"], " " * 4))
    assert _said(parse(whole + after.format(given='"m"', size="4", bytes="16"))) == {"needs-runtime-check"}


@pytest.mark.parametrize("form", ADDED)
def test_without_a_step_the_tensor_is_empty(form: str) -> None:
    """Where it has an element each of the loops has a step, and where it has none nothing is to be written."""
    (found,) = [
        check
        for check in checks(_module(ADDED[form], own=("n", "m")), "RLX205")
        if check.verdict.value != "always-fine"
    ]
    assert (found.verdict.value, found.safe_when) == ("needs-runtime-check", "m <= 0")


LEGALISED = {
    "matmul": ("4, 8", '(8, 2), "float32"', "R.matmul(t, x)", "always-wrong"),
    "matmul over no columns": ("4, 8", '(8, "n"), "float32"', "R.matmul(t, x)", "needs-runtime-check"),
    "sum": ("4, 8", '(4,), "float32"', "R.add(R.sum(t, axis=[1]), x)", "always-wrong"),
    "softmax": ("4, 8", '(4, 8), "float32"', "R.add(R.nn.softmax(t), x)", "always-wrong"),
    "layer norm": ("4, 8", '(8,), "float32"', "R.nn.layer_norm(t, x, x, axes=[1])", "always-wrong"),
    "take": ("4, 8", '(2,), "int64"', "R.take(t, x, axis=0)", "always-wrong"),
    "concat": ("4, 8", '(4, 8), "float32"', "R.concat((t, x), axis=0)", "always-wrong"),
}
"""The extents of `t`, the type of `x`, and an operator that reads `t`."""


@pytest.mark.parametrize("form", LEGALISED)
def test_kernels_of_operators(form: str) -> None:
    size, given, operator, expected = LEGALISED[form]
    text = f"""
@R.function(pure=False)
def main(x: R.Tensor({given})):
    s = R.memory.alloc_storage(R.shape([128]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    t = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([{size}]), R.dtype("float32"))
    z = {operator}
    return z
"""
    with tvm.target.Target("llvm"):
        module = relax.transform.LegalizeOps()(parse(text))
    assert "call_tir" in module.script()
    assert _said(module) == {expected}


WHILE = """first = T.alloc_buffer((1,), "int64")
last = T.alloc_buffer((1,), "int64")
first[0] = T.int64({first})
last[0] = {last}
while first[0] < last[0]:
    y[0] = y[0] + t[0]
    first[0] = first[0] + T.int64(1)"""
ROUNDS = {
    "always": (WHILE.format(first=0, last="T.int64(4)"), "always-wrong", "always-wrong"),
    "for some sizes": (WHILE.format(first=0, last="n"), "needs-runtime-check", "always-wrong"),
    "never": (WHILE.format(first=4, last="T.int64(4)"), "needs-runtime-check", "needs-runtime-check"),
    "not in the end": (
        WHILE.format(first=0, last="T.int64(4)").replace("while", "first[0] = T.int64(5)\nwhile"),
        "needs-runtime-check",
        "needs-runtime-check",
    ),
    "not in other steps": (
        WHILE.format(first=0, last="T.int64(4)").replace("while", "first[0] = first[0] + n + 9\nwhile"),
        "needs-runtime-check",
        "needs-runtime-check",
    ),
}
"""Where a loop has a round: what is said where the size may be anything, and where it is 2."""


@pytest.mark.vm
@pytest.mark.parametrize("form", ROUNDS)
def test_a_loop_with_a_condition_has_a_round(form: str) -> None:
    body, any_size, two = ROUNDS[form]
    assert _said(_module(body)) == {any_size}
    assert _said(_module(body, given="2")) == {two}
    machine = relax.VirtualMachine(tvm.compile(_module(body), "llvm"), tvm.cpu())
    for size in (0, 2):
        given = np.zeros(size, "int8"), np.arange(4, dtype="float32"), np.zeros(4, "float32")
        found = machine["main"](*map(tvm.runtime.tensor, given)).numpy().tolist()
        if any_size == "needs-runtime-check" and (size == 0 or two == any_size):
            assert found == [0, 1, 2, 3]


@pytest.mark.parametrize("form", ["R.bucketize(t, x)", "R.bucketize(x, t)"])
def test_a_search_by_halves(form: str) -> None:
    text = MAIN.format(given="2", size="4", bytes="16").replace("Module.kernel(e, x, t, y)", form)
    with tvm.target.Target("llvm"):
        module = relax.transform.LegalizeOps()(parse(text.replace("return y", "return w")))
    assert _said(module) == {"always-wrong"}
