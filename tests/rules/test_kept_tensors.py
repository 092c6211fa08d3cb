"""Storages that are reused although an unknown call may have kept what lay there, and write it later: RLX203 lists
that nobody did, with what the VM returns.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse

T4 = 'R.Tensor((4,), "float32")'
KEEP, WRITE = "relax_lint.tests.keeps_a_tensor", "relax_lint.tests.writes_what_it_kept"
TEXT = f"""
@T.prim_func(private=True, s_tir=True)
def copy(a: T.handle, b: T.handle):
    x = T.match_buffer(a, (4,), "float32")
    y = T.match_buffer(b, (4,), "float32")
    for i in range(4):
        y[i] = x[i]

@R.function(private=True, pure=False)
def hand_on(t: {T4}):
    k = R.call_packed("{KEEP}", t, ty_args=(R.Any,))
    return t

@R.function(private=True, pure=False)
def write(t: {T4}):
    k = R.call_packed("{WRITE}", ty_args=(R.Any,))
    return t

@R.function(private=True, pure=False)
def leave(t: {T4}):
    return t

@R.function(pure=False)
def main(x: {T4}):
    s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    t = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
    w = Module.copy(x, t)
    FIRST
    R.memory.kill_tensor(t)
    t2 = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
    w2 = Module.copy(x, t2)
    THEN
    u = R.call_tir(Module.copy, (t2,), out_ty={T4})
    THEN_LAST
    return u
"""
KEPT = f'k = R.call_packed("{KEEP}", t, ty_args=(R.Any,))'
WRITTEN = f'k2 = R.call_packed("{WRITE}", ty_args=(R.Any,))'
NOTHING = "z = x"


def _module(first: str, then: str, last: str = NOTHING) -> Any:
    return parse(TEXT.replace("FIRST", first).replace("THEN_LAST", last).replace("THEN", then))


def _run(module: Any) -> list[float]:
    kept: list[Any] = []

    def write() -> None:
        for tensor in kept:
            tensor.copyfrom(np.full(4, 9, "float32"))

    tvm.register_global_func(KEEP, kept.append, override=True)
    tvm.register_global_func(WRITE, write, override=True)
    machine = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu())
    return list(machine["main"](tvm.runtime.tensor(np.arange(4, dtype="float32"))).numpy())


@pytest.mark.vm
@pytest.mark.parametrize(
    ("first", "then", "last", "assumed", "returned"),
    [
        (
            KEPT,
            WRITTEN,
            NOTHING,
            f"`{KEEP}` may read and write its arguments, but does not keep them",
            [9] * 4,
        ),
        ("k = Module.hand_on(t)", WRITTEN, NOTHING, "nobody keeps what `hand_on` passes on", [9] * 4),
        # The call that writes it may be further down.
        (
            KEPT,
            "k2 = Module.write(x)",
            NOTHING,
            f"`{KEEP}` may read and write its arguments, but does not keep them",
            [9] * 4,
        ),
        (KEPT, "k2 = Module.leave(x)", NOTHING, None, [0, 1, 2, 3]),
        (KEPT, NOTHING, "k2 = Module.write(x)", None, [0, 1, 2, 3]),
        # Nobody writes it while it is needed, or nobody has it.
        (KEPT, NOTHING, NOTHING, None, [0, 1, 2, 3]),
        (KEPT, NOTHING, WRITTEN, None, [0, 1, 2, 3]),
        (NOTHING, WRITTEN, NOTHING, None, [0, 1, 2, 3]),
        (KEPT.replace("t,", "x,"), NOTHING, NOTHING, None, [0, 1, 2, 3]),
    ],
)
def test_a_reused_storage_is_fine_if_nobody_kept_what_was_there(
    first: str, then: str, last: str, assumed: str | None, returned: list[float]
) -> None:
    module = _module(first, then, last)
    found = [check for check in checks(module, "RLX203") if check.binding == "t2"]
    assert {check.verdict for check in found} == {Verdict.ALWAYS_FINE}
    assert {text for check in found for text in check.assumes} == ({assumed} if assumed else set())
    assert _run(module) == returned
