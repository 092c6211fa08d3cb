"""Where a tensor starts that an unknown call returns which an earlier one may have kept: RLX303, with the VM."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse

FINE, UNSURE = Verdict.ALWAYS_FINE, Verdict.NEEDS_RUNTIME_CHECK
T4 = 'R.Tensor((4,), "float32")'
KEEP, GIVE = "relax_lint.tests.keeps", "relax_lint.tests.gives_what_was_kept"
TEXT = f"""
@T.prim_func(private=True, s_tir=True)
def copy(a: T.handle, b: T.handle):
    x = T.match_buffer(a, (4,), "float32", elem_offset=T.int64())
    y = T.match_buffer(b, (4,), "float32", elem_offset=T.int64())
    for i in range(4):
        y[i] = x[i]

@T.prim_func(private=True, s_tir=True)
def at_zero(a: T.handle, b: T.handle):
    x = T.match_buffer(a, (4,), "float32")
    y = T.match_buffer(b, (4,), "float32")
    for i in range(4):
        y[i] = x[i]

@R.function(private=True, pure=False)
def hand_on(t: {T4}) -> {T4}:
    k = R.call_packed("{KEEP}", t, ty_args=(R.Any,))
    return t

@R.function(pure=False)
def main(x: {T4}, c: R.Tensor((), "bool")):
    s = R.memory.alloc_storage(R.shape([64]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    t = R.memory.alloc_tensor(s, R.prim_value(START), R.shape([4]), R.dtype("float32"))
    w = Module.copy(x, t)
    LINES
    g = R.call_packed("{GIVE}", ty_args=({T4},))
    u = R.call_tir(Module.at_zero, (g,), out_ty={T4})
    return u
"""
KEPT = f'k = R.call_packed("{KEEP}", t, ty_args=(R.Any,))'
IN_A_BRANCH = f"""if c:
        k = R.call_packed("{KEEP}", (x, t), ty_args=(R.Any,))
        z = x
    else:
        z = x"""


def _module(lines: str, start: int) -> Any:
    return parse(TEXT.replace("LINES", lines).replace("START", str(start)))


def _run(module: Any) -> list[float]:
    kept: list[Any] = []
    keep = lambda given: kept.append(given if hasattr(given, "numpy") else given[1])  # noqa: E731
    tvm.register_global_func(KEEP, keep, override=True)
    tvm.register_global_func(GIVE, lambda: kept[-1], override=True)
    machine = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu())
    given = (np.arange(4, dtype="float32"), np.array(True))
    return list(machine["main"](*map(tvm.runtime.tensor, given)).numpy())


@pytest.mark.vm
@pytest.mark.parametrize("lines", [KEPT, IN_A_BRANCH, "k = Module.hand_on(t)"])
def test_a_kept_tensor_that_starts_elsewhere_may_come_back(lines: str) -> None:
    (found,) = [check for check in checks(_module(lines, 16), "RLX303") if check.binding == "u"]
    assert found.verdict is UNSURE
    assert "an earlier call was given" in str(found.proof)
    with pytest.raises(Exception, match="expected 0"):
        _run(_module(lines, 16))
    assert {check.verdict for check in checks(_module(lines, 0), "RLX303")} <= {FINE}
    assert _run(_module(lines, 0)) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "lines",
    [
        "k = Module.at_zero(x, x)",
        f'k = R.call_packed("{KEEP}", x, ty_args=(R.Any,))',
        # A pure function keeps nothing.
        f'k = R.call_pure_packed("{KEEP}", t, ty_args=(R.Any,))',
    ],
)
def test_nothing_is_kept_of_what_is_not_handed_over(lines: str) -> None:
    assert [check for check in checks(_module(lines, 16), "RLX303") if check.binding == "u"] == []
