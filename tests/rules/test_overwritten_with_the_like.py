"""RLX203 and RLX206 of what is overwritten with something else of which the same is computed: it runs right, as
what is written is known. Beside each of these stands one like it in which it does not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from textwrap import indent

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.check import Check
from relax_lint.results.verdict import Verdict
from tests.rules.any_size import of_any_size
from tests.rules.checking import checks, parse
from tests.rules.four_elements import STORAGE, T4, TENSOR

UNSURE, WRONG = Verdict.NEEDS_RUNTIME_CHECK, Verdict.ALWAYS_WRONG
KERNEL = """
@T.prim_func(private=True, s_tir=True)
def {name}(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = {value}

@T.prim_func(private=True, s_tir=True)
def {name}_in_place(y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = {own}
"""
VALUES = {
    "copy": "x[i]",
    "size": "T.abs(x[i])",
    "negated": "T.float32(0) - x[i]",
    "positive": "T.max(x[i], T.float32(0))",
    "is_positive": "T.if_then_else(x[i] > T.float32(0), T.float32(1), T.float32(0))",
    "twice": "x[i] * T.float32(2)",
}
KERNELS = "".join(
    KERNEL.format(name=name, value=value, own=value.replace("x[", "y[")) for name, value in VALUES.items()
)
# What is computed, what is written over that, and what is computed of it.
OVER = {
    ("is_positive(x, t)", "is_positive(y, v)", "R.greater(t, R.const(-1.0, 'float32'))"): UNSURE,
    ("is_positive(x, t)", "twice(y, v)", "R.greater(t, R.const(-1.0, 'float32'))"): WRONG,
    ("is_positive(x, t)", "is_positive(y, v)", "R.floor(R.multiply(t, R.const(0.5, 'float32')))"): UNSURE,
    ("is_positive(x, t)", "is_positive(y, v)", "R.floor(R.multiply(t, R.const(1.5, 'float32')))"): WRONG,
    ("copy(x, t)", "size(x, v)", "R.abs(t)"): UNSURE,
    ("copy(x, t)", "size(y, v)", "R.abs(t)"): WRONG,
    ("copy(x, t)", "negated(x, v)", "R.multiply(t, t)"): UNSURE,
    ("copy(x, t)", "negated(x, v)", "R.multiply(t, x)"): WRONG,
    ("copy(x, t)", "positive(x, v)", "R.nn.relu(t)"): UNSURE,
    ("copy(x, t)", "positive(x, v)", "R.negative(t)"): WRONG,
    # Something else follows.
    ("copy(x, t)", "twice(x, v)\nk2 = Module.size(x, v)", "R.abs(t)"): UNSURE,
    ("copy(x, t)", "twice(x, v)\nk2 = Module.positive(x, v)", "R.abs(t)"): WRONG,
}
# What is done in place, and what is computed of the older name.
IN_PLACE = {
    ("size", "R.abs({d})"): UNSURE,
    ("size", "R.negative({d})"): WRONG,
    ("negated", "R.multiply({d}, {d})"): UNSURE,
    ("negated", "R.multiply({d}, x)"): WRONG,
    ("positive", "R.nn.relu({d})"): UNSURE,
    ("positive", "R.abs({d})"): WRONG,
    ("twice", "R.greater({d}, R.const(0.0, 'float32'))"): UNSURE,
    ("twice", "R.greater({d}, R.const(1.0, 'float32'))"): WRONG,
}
CASES = [*OVER.items(), *IN_PLACE.items()]
FUNCTION = f"""
@R.function(pure=False)
def main_NUMBER(x: {T4}, y: {T4}):
    s = {STORAGE}
    t = {TENSOR.format("s")}
    v = {TENSOR.format("WHERE")}
BODY
    return (a, v, k1)
"""


def _text(*, damaged: bool) -> str:
    texts = [f"k0 = Module.{before}\nk1 = Module.{after}\na = {read}" for before, after, read in OVER]
    for kernel, read in IN_PLACE:
        done = f"R.call_tir_inplace(Module.{kernel}_in_place, (d,), inplace_indices=[0], out_ty=[{T4}])"
        older = "d" if damaged else "f"
        lines = ("k0 = Module.copy(y, v)", "d = R.add(x, y)", "f = R.add(x, y)", f"k1 = {done}")
        texts.append("\n".join((*lines, f"a = {read.format(d=older)}")))
    functions = (
        FUNCTION.replace("NUMBER", f"{number}").replace("BODY", indent(body, "    "))
        for number, body in enumerate(texts)
    )
    return KERNELS + "".join(functions).replace("WHERE", "s" if damaged else STORAGE)


def _check(found: list[Check], cases: Sequence[tuple[object, Verdict]]) -> None:
    for number, (case, verdict) in enumerate(cases):
        said = [one for one in found if one.function == f"main_{number}" and one.binding == "k1"]
        # Without elements all is right.
        told = {WRONG if one.safe_when == "n <= 0" else one.verdict for one in said}
        assert told - {Verdict.ALWAYS_FINE} == {verdict}, case


@pytest.mark.parametrize(("resized", "count"), [(str, len(CASES)), (of_any_size, 4)], ids=("4", "n"))
def test_what_is_written_is_known(resized: Callable[[str], str], count: int) -> None:
    head, mark, _ = _text(damaged=True).partition(f"\n@R.function(pure=False)\ndef main_{count}(")
    module = parse(resized(head))
    assert bool(mark) == (count < len(CASES))
    _check([*checks(module, "RLX203"), *checks(module, "RLX206")], CASES[:count])


@pytest.mark.vm
def test_the_machine_returns_what_is_right_for_these_only() -> None:
    machines = [
        relax.VirtualMachine(tvm.compile(parse(_text(damaged=damaged)), "llvm"), tvm.cpu())
        for damaged in (True, False)
    ]
    for number, (case, verdict) in enumerate(CASES):
        given = [np.array(one, "float32") for one in ([0.3, 0.2, -3, 4], [-3, 0.5, 0.5, 2])]
        answers = [one[f"main_{number}"](*map(tvm.runtime.tensor, given))[0].numpy() for one in machines]
        assert np.allclose(*answers) == (verdict is UNSURE), case
