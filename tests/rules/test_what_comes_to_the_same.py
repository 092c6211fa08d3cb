"""RLX203 of a tensor that is read in every run, where all that is computed of it comes to the same whatever it holds:
it runs right. Beside each of these stands one like it in which it does not.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from textwrap import indent
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.analysis.composed import _MOST_STEPS
from relax_lint.model.kernels import Kernel
from relax_lint.results.verdict import Verdict
from tests.rules.any_size import of_any_size, of_size
from tests.rules.checking import checks, parse
from tests.rules.four_elements import KERNELS, STORAGE, T4, TENSOR

UNSURE, WRONG = Verdict.NEEDS_RUNTIME_CHECK, Verdict.ALWAYS_WRONG
ZERO, ONE = 'R.const(0.0, "float32")', 'R.const(1.0, "float32")'
BYTES = "b = R.memory.view(t, R.shape([16]), R.dtype('uint8'), R.prim_value(0))"
CASES = {
    f"a = R.multiply(t, {ZERO})": UNSURE,
    f"a = R.multiply(t, {ONE})": WRONG,
    "a = R.multiply(t, R.const([0.0], 'float32'))": UNSURE,
    "a = R.multiply(t, R.const([1.0], 'float32'))": WRONG,
    "b = R.add(t, x); d = R.add(t, x); a = R.subtract(b, d)": UNSURE,
    "b = R.add(t, x); d = R.add(t, x); a = R.add(b, d)": WRONG,
    "b = R.negative(t); a = R.add(b, t)": UNSURE,
    "b = R.nn.relu(t); a = R.add(b, t)": WRONG,
    "b = R.nn.relu(t); d = R.add(b, x); a = R.add(d, t)": WRONG,
    "z = R.zeros(R.shape([4]), 'float32'); b = R.add(t, x); a = R.multiply(b, z)": UNSURE,
    "z = R.ones(R.shape([4]), 'float32'); b = R.add(t, x); a = R.multiply(b, z)": WRONG,
    "k = Module.add(t, x, u); w = R.add(t, x); a = R.subtract(u, w)": UNSURE,
    "k = Module.add(t, x, u); w = R.add(x, x); a = R.subtract(u, w)": WRONG,
    f"b = R.greater(t, {ZERO}); d = R.logical_not(b); e = R.logical_or(b, d); a = R.astype(e, 'float32')": UNSURE,
    f"b = R.greater(t, {ZERO}); a = R.astype(b, 'float32')": WRONG,
    f"b = R.nn.relu(t); a = R.minimum(b, {ZERO})": UNSURE,
    f"b = R.nn.relu(t); a = R.maximum(b, {ZERO})": WRONG,
    "b = R.nn.softmax(t); a = R.sum(b)": UNSURE,
    f"a = R.call_tir(Module.scaled, (t, {ZERO}), out_ty={T4})": UNSURE,
    f"a = R.call_tir(Module.scaled, (t, {ONE}), out_ty={T4})": WRONG,
    f"z = {ZERO}; a = R.call_tir(Module.scaled, (t, z), out_ty={T4})": UNSURE,
    f"z = {ONE}; a = R.call_tir(Module.scaled, (t, z), out_ty={T4})": WRONG,
    # Numbers are rounded to their type, and may be too large for it.
    "b = R.multiply(t, t); d = R.add(b, R.const(100.0, 'float32')); a = R.exp(d)": UNSURE,
    f"b = R.multiply(t, t); d = R.add(b, {ONE}); a = R.exp(d)": WRONG,
    **{
        f"b = R.clip(t, 0, 1); e = R.astype(b, '{dtype}'); f = R.const({number}, '{dtype}'); "
        "g = R.add(e, f); h = R.subtract(g, f); a = R.astype(h, 'float32')": verdict
        for dtype, large in (("float16", 4096.0), ("bfloat16", 1024.0), ("float32", 1e9))
        for number, verdict in ((large, UNSURE), (0.5, WRONG))
    },
    f"k = Module.scaled(t, {ZERO}, u); a = R.negative(u)": UNSURE,
    f"k = Module.scaled(t, {ONE}, u); a = R.negative(u)": WRONG,
}
SCALED = """
@T.prim_func(private=True, s_tir=True)
def scaled(x: T.Buffer((4,), "float32"), by: T.Buffer((), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[i] * by[()]
"""
HEAD = f"""
@R.function(pure=False)
def main_NUMBER(x: {T4}, y: {T4}):
    s = {STORAGE}
    t = {TENSOR.format("s")}
    q = {STORAGE}
    u = {TENSOR.format("q")}
    k0 = Module.double(y, t)
"""
DAMAGE = f"v = {TENSOR.format('s')}; k1 = Module.double(x, v); k2 = Module.double(v, y); "


def _text(*, damaged: bool) -> str:
    texts = []
    for number, lines in enumerate(CASES):
        done = DAMAGE if damaged else DAMAGE.replace(TENSOR.format("s"), TENSOR.format(STORAGE))
        body = f"{done}{lines}; return a".replace("; ", "\n")
        texts.append(HEAD.replace("NUMBER", str(number)) + indent(body, "    "))
    return KERNELS + SCALED + "\n".join(texts)


def _module(*, damaged: bool) -> Any:
    return parse(_text(damaged=damaged))


def test_what_comes_to_the_same_is_not_always_wrong() -> None:
    found = checks(_module(damaged=True), "RLX203")
    for number, (lines, verdict) in enumerate(CASES.items()):
        said = [one for one in found if one.function == f"main_{number}" and one.binding == "k1"]
        assert [one.verdict for one in said] == [verdict], lines


@pytest.mark.parametrize("resized", [of_size(1_000), of_any_size], ids=("1000", "n"))
def test_that_is_known_of_other_sizes(resized: Callable[[str], str]) -> None:
    found = checks(parse(resized(_text(damaged=True))), "RLX203")
    for number, (lines, verdict) in enumerate(CASES.items()):
        said = [one for one in found if one.function == f"main_{number}" and one.binding == "k1"]
        # Without elements all is right.
        told = [WRONG if one.safe_when == "n <= 0" else one.verdict for one in said]
        assert told == [verdict], lines


def test_that_is_so_of_what_nobody_wrote() -> None:
    """It is damaged from the beginning, whoever reads it first."""
    texts = [KERNELS, SCALED]
    for number, lines in enumerate(CASES):
        head = HEAD.replace("NUMBER", str(number)).replace("k0 = Module.double(y, t)", "")
        texts.append(head + indent(f"{lines}; return a".replace("; ", "\n"), "    "))
    found = checks(parse("\n".join(texts)), "RLX205")
    for number, (lines, verdict) in enumerate(CASES.items()):
        said = [one for one in found if one.function == f"main_{number}" and "`t`" in one.message]
        assert (WRONG in {one.verdict for one in said}) == (verdict is WRONG), lines
        assert said


SLOW = """
@T.prim_func(private=True, s_tir=True)
def slow(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for k in range(100):
        for i in range(4):
            y[i] = x[i] + T.float32(1)
"""


def test_the_work_for_it_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []
    carry_out = Kernel.carry_out

    def counted(*given: Any, is_sparse: bool) -> int | None:
        steps = carry_out(*given, is_sparse=is_sparse)
        taken.append(steps or 0)
        return steps

    monkeypatch.setattr(Kernel, "carry_out", counted)
    lines = [
        "k0 = Module.double(y, t)",
        *DAMAGE.split("; ")[:-1],
        "e = R.add(t, x)",
        "f = R.add(t, x)",
        "g0 = R.subtract(e, f)",
    ]
    lines += [f"g{at + 1} = R.call_tir(Module.slow, (g{at},), out_ty={T4})" for at in range(12)]
    head = HEAD.replace("NUMBER", "0").partition("    k0 = ")[0]
    text = KERNELS + SLOW + head + indent("\n".join((*lines, "return g12")), "    ")
    (said,) = [one for one in checks(parse(text), "RLX203") if one.binding == "k1"]
    assert said.verdict is UNSURE
    # Of the last kernel there may be some more, without damage and with it.
    assert 10_000 < sum(taken) < _MOST_STEPS + 2 * 1_000


@pytest.mark.vm
def test_the_machine_returns_what_is_right_for_these_only() -> None:
    text = _module(damaged=False)
    machines = [
        relax.VirtualMachine(tvm.compile(one, "llvm"), tvm.cpu()) for one in (_module(damaged=True), text)
    ]
    for number, (lines, verdict) in enumerate(CASES.items()):
        given = [np.array(one, "float32") for one in ([1, 2, -3, 4], [-3, 1, 5, 2])]
        answers = [one[f"main_{number}"](*map(tvm.runtime.tensor, given)).numpy() for one in machines]
        assert np.allclose(*answers) == (verdict is UNSURE), lines


ASSERTED = (
    "b = R.max(R.abs(x)); d = R.{}(b, R.const({}, 'float32')); e = R.assert_op(d, format=R.str('no')); "
)


@pytest.mark.vm
def test_assertions_and_other_views_of_the_same_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    # Those runs come to an end that are given nothing but zeros, or nothing large.
    cases = {
        f"{BYTES}; a = R.multiply(b, R.const(0, 'uint8'))": (UNSURE, [1, 2, -3, 4]),
        f"{BYTES}; a = R.multiply(b, R.const(3, 'uint8'))": (WRONG, [1, 2, -3, 4]),
        ASSERTED.format("equal", 0.0) + "a = R.multiply(t, x)": (UNSURE, [0, 0, 0, 0]),
        ASSERTED.format("less", 1000.0) + "a = R.multiply(t, x)": (WRONG, [1, 2, -3, 4]),
    }
    monkeypatch.setattr(sys.modules[__name__], "CASES", cases)
    found = checks(_module(damaged=True), "RLX203")
    machines = [
        relax.VirtualMachine(tvm.compile(_module(damaged=damaged), "llvm"), tvm.cpu())
        for damaged in (True, False)
    ]
    for number, (lines, (verdict, first)) in enumerate(cases.items()):
        said = [one for one in found if one.function == f"main_{number}" and one.binding == "k1"]
        assert [one.verdict for one in said] == [verdict], lines
        given = [np.array(one, "float32") for one in (first, [-3, 1, 5, 2])]
        answers = [one[f"main_{number}"](*map(tvm.runtime.tensor, given)).numpy() for one in machines]
        assert np.allclose(*answers) == (verdict is UNSURE), lines


def test_an_operator_is_the_same_whatever_else_was_lowered(monkeypatch: pytest.MonkeyPatch) -> None:
    """`x + x` is a kernel of one tensor, `t + x` one of two."""
    lines: tuple[str, ...] = (
        "w = R.add(x, x); a = R.subtract(t, w)",
        "a = R.add(t, x)",
        "a = R.add(x, t)",
        "b = R.astype(t, 'uint8'); a = R.multiply(b, R.const(3, 'uint8'))",
    )
    # The text of a module does not print the numbers of these.
    nothing = ("b = R.astype(t, 'uint8'); a = R.multiply(b, R.const(0, 'uint8'))",)
    for order in (nothing + lines, lines[::-1] + nothing):
        monkeypatch.setattr(sys.modules[__name__], "CASES", dict.fromkeys(order, WRONG))
        found = checks(_module(damaged=True), "RLX203")
        for number, line in enumerate(order):
            said = [one for one in found if one.function == f"main_{number}" and one.binding == "k1"]
            assert [one.verdict for one in said] == [UNSURE if line in nothing else WRONG], (order, line)
