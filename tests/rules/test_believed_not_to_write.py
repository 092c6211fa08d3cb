"""What only a call says of itself, that it writes none of its arguments, makes nothing `always-wrong`: a packed
function that writes one all the same makes good what nobody wrote, or what was overwritten. TVM's pipelines for
targets leave such a call out where nothing uses what it returns, and then it is missing.
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
T4 = 'R.Tensor((4,), "float32")'
TEXT = f"""
@T.prim_func(private=True, s_tir=True)
def fill(x: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.sblock("fill"):
            v = T.axis.spatial(4, i)
            x[v] = T.float32(2)

@T.prim_func(private=True, s_tir=True)
def threes(x: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.sblock("threes"):
            v = T.axis.spatial(4, i)
            x[v] = T.float32(3)

@R.function(private=True)
def callee(p: {T4}) -> {T4}:
    v = R.call_pure_packed("tests.seven", p, ty_args={T4})
    return v

@R.function(pure=False)
def main(x: {T4}) -> {T4}:
    s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    LINES
    z = R.add(a, x)
    return z
"""
ALLOC = ' = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))'
NOTHING = f"a{ALLOC}"
OVERWRITTEN = f"a{ALLOC}\nk1 = Module.threes(a)\nb{ALLOC}\nk2 = Module.fill(b)"
IN_PLACE = """a = R.add(x, x)
v = R.call_tir_inplace(Module.fill, (a,), inplace_indices=[0], out_ty=T4)
w = R.add(v, v)
k1 = R.memory.kill_tensor(w)"""
CALLS = {
    "pure packed": 'u = R.call_pure_packed("tests.seven", a, ty_args=T4)',
    "what returns nothing": 'u = R.call_pure_packed("tests.seven", a, ty_args=R.Tuple)',
    "what fills its result": 'u = R.call_dps_packed("tests.seven", (a,), out_ty=T4)',
    "in place on another one": 'u = R.call_inplace_packed("tests.other", x, a, inplace_indices=[0], ty_args=T4)',
    "in a function": "u = Module.callee(a)",
}
DAMAGED = {"RLX205": NOTHING, "RLX203": OVERWRITTEN, "RLX206": IN_PLACE}


def _module(lines: str) -> Any:
    return parse(TEXT.replace("LINES", lines.replace("\n", "\n    ")).replace("T4", T4))


def _seven(one: Any, *others: Any) -> Any:
    one.copyfrom(np.full(4, 7, "float32"))
    return one


def _result(module: Any) -> list[float]:
    """What a run gives where no pass leaves a call out."""
    tvm.register_global_func("tests.seven", _seven, override=True)
    tvm.register_global_func("tests.other", lambda one, other: (_seven(other), one)[1], override=True)
    machine = relax.VirtualMachine(relax.build(module, "llvm", relax_pipeline="default"), tvm.cpu())
    return list(machine["main"](tvm.runtime.tensor(np.ones(4, "float32"))).numpy())


@pytest.mark.vm
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("code", DAMAGED)
def test_what_may_be_written_all_the_same_is_not_always_wrong(code: str, call: str) -> None:
    module = _module(f"{DAMAGED[code]}\n{CALLS[call]}")
    assert {check.verdict for check in checks(module, code)} & {UNSURE, WRONG} == {UNSURE}
    # Seven and one, whatever was done to it before.
    assert _result(module) == [8.0] * 4


@pytest.mark.vm
@pytest.mark.parametrize("code", ["RLX203", "RLX206"])
def test_without_the_call_it_is_always_wrong(code: str) -> None:
    (found,) = (check for check in checks(_module(DAMAGED[code]), code) if check.verdict in (UNSURE, WRONG))
    assert found.verdict is WRONG
    # What was overwritten holds two: twice one in place is two as well.
    assert _result(_module(DAMAGED[code])) == [3.0] * 4


def test_who_may_have_written_it_is_told() -> None:
    for call, name in (("pure packed", "tests.seven"), ("in a function", "callee")):
        (found,) = (one for one in checks(_module(f"{NOTHING}\n{CALLS[call]}"), "RLX205"))
        assert found.proof == f"`{name}` is only believed not to write it"
    # It was read before.
    assert {one.verdict for one in checks(_module(NOTHING), "RLX205")} == {WRONG}
    first = f"{NOTHING}\ny = R.add(a, a)\nk1 = R.print(y, format='')\n{CALLS['pure packed']}"
    assert {one.verdict for one in checks(_module(first), "RLX205")} == {WRONG}
