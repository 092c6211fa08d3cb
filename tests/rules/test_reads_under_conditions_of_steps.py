"""What a kernel reads in those steps of its loops in which a condition holds: whether there is such a step is looked
at, for all sizes. RLX205 with what the VM does for each of some sizes.
"""

from __future__ import annotations

from textwrap import indent
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import checks, parse

ADD = "y[i] = y[i] + t[i]"
NAMED = "y[i] = y[i] + named"
OWN = "own = T.alloc_buffer((1,), 'float32')\nown[0] = t[i]"
OF_OWN = "y[i] = y[i] + own[0]"
UNSURE = "unsure", "unsure"
SURE = "wrong", "wrong"
BODIES: dict[str, tuple[str, str, str]] = {
    # What is said where the size may be anything, and where it is 2.
    "below a size": (f"if i < n:\n    {ADD}", "unsure", "wrong"),
    "behind a size": (f"if i >= n:\n    {ADD}", "unsure", "wrong"),
    "a choice": ("y[i] = T.if_then_else(i < n, t[i], x[i])", "unsure", "wrong"),
    "select": ("y[i] = T.Select(i < n, t[i], x[i])", "unsure", "wrong"),
    "and": ("y[i] = T.if_then_else(i < n and t[i] > T.float32(0), x[0], x[1])", "unsure", "wrong"),
    "block": (
        "with T.sblock('b'):\n    v = T.axis.spatial(4, i)\n    T.where(i < n)\n    y[v] = y[v] + t[v]",
        "unsure",
        "wrong",
    ),
    "two steps": (f"if n < i and i < n + 2:\n    {ADD}", "unsure", "wrong"),
    "not a step": (f"if i >= 4:\n    {ADD}", "unsure", "unsure"),
    "two that exclude each other": (f"if i > 2:\n    if i < 2:\n        {ADD}", "unsure", "unsure"),
    "not one of all": (f"if not (i < 4):\n    {ADD}", "unsure", "unsure"),
    "or behind what always holds": (
        "y[i] = T.if_then_else(i < 4 or t[i] > T.float32(0), x[0], x[1])",
        "unsure",
        "unsure",
    ),
    "two loops that never meet": (
        f"for j in range(4):\n    if i == j + 4:\n        {ADD}",
        "unsure",
        "unsure",
    ),
    "an odd even number": (f"if i % 2 == 3:\n    {ADD}", "unsure", "unsure"),
    "left at once": (f"break\n{ADD}", "unsure", "unsure"),
    "left in the first step": (f"if i == 0:\n    break\n{ADD}", "unsure", "unsure"),
    "left before its step": (f"if i == 3:\n    {ADD}\nif i == 1:\n    break", "unsure", "unsure"),
    "each step goes on": (f"if i < 4:\n    continue\n{ADD}", "unsure", "unsure"),
    "a start that is left out": (
        "with T.sblock('b'):\n    v = T.axis.reduce(4, i)\n    T.where(i > 0)\n    with T.init():\n"
        "        y[0] = t[0]\n    y[0] = y[0] + x[0]",
        "unsure",
        "unsure",
    ),
    "nothing takes it": ("T.evaluate(t[i])", "fine", "fine"),
    "nothing takes what it adds up to": ("T.evaluate(t[i] + x[i])", "fine", "fine"),
    "nothing takes a choice": ("T.evaluate(T.if_then_else(n >= 0, t[i], x[i]))", "fine", "fine"),
    "nothing takes what a function makes of it": ("T.evaluate(T.exp(t[i]))", "fine", "fine"),
    "and what holds in no step": (
        "y[i] = T.if_then_else(t[i] > T.float32(0) and i >= 4, x[0], x[1])",
        *UNSURE,
    ),
    "and what holds for some size": (
        "y[i] = T.if_then_else(t[i] > T.float32(0) and i < n, x[0], x[1])",
        "unsure",
        "wrong",
    ),
    "or what holds in each step": (
        "y[i] = T.if_then_else(t[i] > T.float32(0) or i < 4, x[0], x[1])",
        *UNSURE,
    ),
    "a name that nobody uses": ("named: T.let = t[i]\ny[i] = x[i]", "unsure", "unsure"),
    "a name that another one uses": (
        "one: T.let = t[i]\nother: T.let = one + x[i]\ny[i] = x[i]",
        "unsure",
        "unsure",
    ),
    "a name that is used for some size": (f"named: T.let = t[i]\nif i < n:\n    {NAMED}", "unsure", "wrong"),
    "a name that no step uses": (
        f"named: T.let = T.if_then_else(i < 2, t[i], x[i])\nif i >= 2:\n    {NAMED}",
        *UNSURE,
    ),
    "an own buffer that nobody reads": (f"{OWN}\ny[i] = x[i]", "unsure", "unsure"),
    "an own buffer that is read for some size": (f"{OWN}\nif i < n:\n    {OF_OWN}", "unsure", "wrong"),
    "an own buffer that is stored to itself": (f"{OWN}\nown[0] = own[0] + x[i]\ny[i] = x[i]", *UNSURE),
    "each step of some goes on": (f"if i < n:\n    continue\n{ADD}", "unsure", "wrong"),
    "the first step is left for some size": (f"if n > 0:\n    break\n{ADD}", "unsure", "unsure"),
    "an own buffer that no step reads": (
        "own = T.alloc_buffer((1,), 'float32')\nown[0] = T.if_then_else(i < 2, t[i], x[i])\n"
        f"if i >= 2:\n    {OF_OWN}",
        "unsure",
        "unsure",
    ),
    # There is such a step whatever the size is.
    "and what data says": (
        "y[i] = T.if_then_else(t[i] > T.float32(0) and x[i] > T.float32(0), x[0], x[1])",
        *SURE,
    ),
    "or what holds in some step": ("y[i] = T.if_then_else(t[i] > T.float32(0) or i < 3, x[0], x[1])", *SURE),
    "a name": (f"named: T.let = t[i]\n{NAMED}", "wrong", "wrong"),
    "a name of a name": (f"one: T.let = t[i]\nnamed: T.let = one + x[i]\n{NAMED}", "wrong", "wrong"),
    "a name that is used in one step": (f"named: T.let = t[i]\nif i == 3:\n    {NAMED}", "wrong", "wrong"),
    "an own buffer": (f"{OWN}\n{OF_OWN}", "wrong", "wrong"),
    "two own buffers": (
        f"{OWN}\nother = T.alloc_buffer((1,), 'float32')\nother[0] = own[0] + x[i]\ny[i] = y[i] + other[0]",
        "wrong",
        "wrong",
    ),
    "an own buffer of sums": (
        f"{OWN}\nfor j in range(4):\n    own[0] = own[0] + x[j]\n{OF_OWN}",
        "wrong",
        "wrong",
    ),
    "one step goes on": (f"if i == 1:\n    continue\n{ADD}", "wrong", "wrong"),
    "all but one go on": (f"if i != 2:\n    continue\nelse:\n    y[i] = x[i]\n{ADD}", "wrong", "wrong"),
    "its second step is left": (f"if i == 1:\n    break\n{ADD}", "wrong", "wrong"),
    "in a block inside": (
        f"for j in range(2):\n    if j == 0:\n        continue\n    {ADD}",
        "wrong",
        "wrong",
    ),
    "one step": (f"if i == 2:\n    {ADD}", "wrong", "wrong"),
    "two of them": (f"if 0 < i and i < 2:\n    {ADD}", "wrong", "wrong"),
    "two loops that meet": (f"for j in range(4):\n    if i == j + 3:\n        {ADD}", "wrong", "wrong"),
    "tiles": (f"for j in range(2):\n    if i * 2 + j == 5:\n        {ADD}", "wrong", "wrong"),
    "below a size or not": (
        f"if i < n:\n    {ADD}\nelse:\n    y[i] = y[i] + t[0]",
        "wrong",
        "wrong",
    ),
    "what each size is": (f"if n >= 0:\n    {ADD}", "wrong", "wrong"),
    "before it is left": (f"{ADD}\nif i == 1:\n    break", "wrong", "wrong"),
    "a start": (
        "with T.sblock('b'):\n    v = T.axis.reduce(4, i)\n    with T.init():\n"
        "        y[0] = t[0]\n    y[0] = y[0] + x[0]",
        "wrong",
        "wrong",
    ),
    "asked before each round": (
        "while y[i] + t[i] < T.float32(0):\n    y[i] = T.float32(6000)",
        "wrong",
        "wrong",
    ),
}
"""In a loop over four steps."""
KERNEL = """
@T.prim_func(private=True, s_tir=True)
def kernel(e_: T.handle, x: T.Buffer((4,), "float32"), t: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    n = T.int64()
    e = T.match_buffer(e_, (n,), "int8")
    for i in range(4):
"""
MAIN = """
@R.function(pure=False)
def main(e: R.Tensor(({given},), "int8"), x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
    s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    t = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
    w = Module.kernel(e, x, t, y)
    return y
"""
WORDS = {"unsure": {"needs-runtime-check"}, "wrong": {"always-wrong"}, "fine": set()}


def _module(body: str, given: str) -> Any:
    return parse(KERNEL + indent(body, " " * 8) + "\n" + MAIN.format(given=given))


@pytest.mark.parametrize("given", ['"m"', "2"])
@pytest.mark.parametrize("form", BODIES)
def test_there_is_a_step_for_all_sizes_or_it_is_not_certain(form: str, given: str) -> None:
    body, *said = BODIES[form]
    found = {check.verdict.value for check in checks(_module(body, given), "RLX205")} - {"always-fine"}
    assert found == WORDS[said[given == "2"]]


@pytest.mark.vm
@pytest.mark.parametrize("form", BODIES)
def test_what_is_read_shows(form: str) -> None:
    """Of what the kernel gets in the place of `t` the result depends, for each size where that is certain and
    for some size only, or none, where it is not.
    """
    body, *said = BODIES[form]
    kernel = _module(body, '"m"')["kernel"].with_attr("global_symbol", "kernel")
    run = tvm.compile(tvm.IRModule({"kernel": kernel}), "llvm")["kernel"]
    for size in (0, 2, 4):
        shown = {tuple(_result(run, size, content)) for content in (7, -5000)}
        if said[0] == "wrong" or (said[1] == "wrong" and size == 2):
            assert len(shown) == 2
    unread = [size for size in (0, 4) if len({tuple(_result(run, size, one)) for one in (7, -5000)}) == 1]
    assert bool(unread) == (said[0] != "wrong")


def _result(run: Any, size: int, content: float) -> list[float]:
    given = np.zeros(size, "int8"), np.arange(1, 5, dtype="float32"), np.full(4, content, "float32")
    result = tvm.runtime.tensor(np.full(4, 1, "float32"))
    run(*map(tvm.runtime.tensor, given), result)
    return list(result.numpy())


OPERATOR = """
@R.function(pure=False)
def main(x: R.Tensor(({given}), "float32")):
    s = R.memory.alloc_storage(R.shape([256]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    t = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([8, 8]), R.dtype("float32"))
    z = {operator}
    return z
"""
OPERATORS = {
    "padding": ("R.nn.pad(t, (1, 1, 1, 1))", "8, 8"),
    "convolution": ("R.nn.conv2d(R.reshape(t, (1, 1, 8, 8)), R.reshape(x, (1, 1, 2, 2)), padding=1)", "2, 2"),
    "below a diagonal": ("R.tril(t)", "8, 8"),
    "the second of two": ("R.concat((x, t), axis=1)", "8, 8"),
    "the first of two": ("R.concat((t, x), axis=0)", "8, 8"),
}


@pytest.mark.parametrize("form", OPERATORS)
def test_operators_that_read_under_conditions(form: str) -> None:
    operator, given = OPERATORS[form]
    with tvm.target.Target("llvm"):
        module = relax.transform.LegalizeOps()(parse(OPERATOR.format(given=given, operator=operator)))
    found = {check.verdict.value for check in checks(module, "RLX205")} - {"always-fine"}
    assert "if_then_else" in module.script() or "Select" in module.script()
    assert found == {"always-wrong"}
