"""RLX206: what a kernel computes wrongly on shared memory does harm only if somebody reads it: the VM returns what
is right where nobody does, and where it is written again before.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse

UNSURE, WRONG = Verdict.NEEDS_RUNTIME_CHECK, Verdict.ALWAYS_WRONG
TEXT = """
@T.prim_func(private=True, s_tir=True)
def copy(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[i]

@T.prim_func(private=True, s_tir=True)
def half(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(2):
        y[i] = x[i]

@T.prim_func(private=True, s_tir=True)
def reverse(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[3 - i]

@T.prim_func(private=True, s_tir=True)
def both(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32"), z: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[3 - i]
        z[i] = x[3 - i]

@T.prim_func(private=True, s_tir=True)
def add(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32"), z: T.Buffer((4,), "float32")):
    for i in range(4):
        z[i] = x[i] + y[i]

@R.function(private=True, pure=False)
def fills(p: R.Tensor((4,), "float32"), q: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    k = Module.copy(p, q)
    return p

@R.function(pure=False)
def main(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((4,), "float32"):
    s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    a = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
    s2 = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    b = R.memory.alloc_tensor(s2, R.prim_value(0), R.shape([4]), R.dtype("float32"))
    k1 = Module.copy(x, a)
    k2 = CALL
    LINES
"""
X = [1.0, 2.0, 3.0, 4.0]
ADD = "R.call_tir(Module.add, (a, {}), R.Tensor((4,), 'float32'))"
REVERSE, BOTH = "Module.reverse(a, a)", "Module.both(a, a, b)"
ON_A_BRANCH = """if c:
    k3 = Module.copy(x, a)
    r = a
else:
    k4 = R.memory.kill_tensor(b)
    r = a
return r"""
CASES: dict[str, tuple[str, str, list[float], list[float], Verdict]] = {
    # The call, what follows it, what is right, what the VM returns, and the verdict.
    "returned": (REVERSE, "return a", X[::-1], [4, 3, 3, 4], WRONG),
    "read": (REVERSE, f"z = {ADD.format('x')}\nreturn z", [5, 5, 5, 5], [5, 5, 6, 8], WRONG),
    "read as something else": (
        REVERSE,
        "v = R.reshape(a, R.shape([4]))\nreturn v",
        X[::-1],
        [4, 3, 3, 4],
        WRONG,
    ),
    "the other result": (BOTH, "return b", X[::-1], [4, 3, 3, 4], WRONG),
    "written again in part": (REVERSE, "k3 = Module.half(x, a)\nreturn a", [1, 2, 2, 1], [1, 2, 3, 4], WRONG),
    "not read": (REVERSE, "return x", X, X, UNSURE),
    "killed": (REVERSE, "k3 = R.memory.kill_tensor(a)\nreturn x", X, X, UNSURE),
    "its shape": (REVERSE, "z = R.shape_of(a)\nreturn x", X, X, UNSURE),
    "nobody uses who reads it": (REVERSE, f"z = {ADD.format('a')}\nreturn x", X, X, UNSURE),
    "written again": (REVERSE, "k3 = Module.copy(x, a)\nreturn a", X, X, UNSURE),
    "written again by a function": (REVERSE, "k3 = Module.fills(x, a)\nreturn a", X, X, UNSURE),
    "read by a function": (REVERSE, "k3 = Module.fills(a, b)\nreturn b", X[::-1], [4, 3, 3, 4], WRONG),
    "neither result": (BOTH, "return x", X, X, UNSURE),
}


def _run(module: Any, *, condition: bool = False) -> list[float]:
    machine = relax.VirtualMachine(relax.build(module, "llvm", relax_pipeline="default"), tvm.cpu())
    given = (tvm.runtime.tensor(np.array(one)) for one in (np.array(X, "float32"), condition))
    return list(machine["main"](*given).numpy())


@pytest.mark.vm
@pytest.mark.parametrize("name", CASES)
def test_what_is_computed_for_nobody_is_not_always_wrong(name: str) -> None:
    call, lines, right, returned, verdict = CASES[name]
    text = TEXT.replace("CALL", call).replace("LINES", lines.replace("\n", "\n    "))
    module = parse(text)
    found = {check.verdict for check in checks(module, "RLX206") if check.binding == "k2"} - {
        Verdict.ALWAYS_FINE
    }
    assert found == {verdict}
    assert _run(module) == returned
    assert (returned == right) == (verdict is UNSURE)


GIVEN = {
    # What reads what was computed there, and the verdict where nobody knows more.
    'R.call_packed("relax_lint_tests_nobody", a, ty_args=R.Tuple)': UNSURE,
    "Module.copy(a, b)": UNSURE,
    "Module.copy(a, x)": WRONG,
}


@pytest.mark.vm
@pytest.mark.parametrize("call", GIVEN)
def test_who_is_given_it_has_to_look_at_it(call: str) -> None:
    tvm.register_global_func("relax_lint_tests_nobody", lambda _: None, override=True)
    lines = f"k3 = {call}\n    return x"
    module, right = (
        parse(TEXT.replace("CALL", one).replace("LINES", lines)) for one in (REVERSE, "Module.reverse(x, a)")
    )
    found = {check.verdict for check in checks(module, "RLX206") if check.binding == "k2"}
    assert found - {Verdict.ALWAYS_FINE} == {GIVEN[call]}
    assert (_run(module) == _run(right)) == (GIVEN[call] is UNSURE)


@pytest.mark.vm
def test_what_one_branch_writes_again_is_wrong_on_the_other_one() -> None:
    module = parse(TEXT.replace("CALL", REVERSE).replace("LINES", ON_A_BRANCH.replace("\n", "\n    ")))
    found = {check.verdict for check in checks(module, "RLX206") if check.binding == "k2"}
    assert found - {Verdict.ALWAYS_FINE} == {UNSURE}
    assert _run(module, condition=False) == [4, 3, 3, 4]
    assert _run(module, condition=True) == X
