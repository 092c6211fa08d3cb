"""RLX203 for a part of one tensor that a branch chooses, with runs of both branches."""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse

TEXT = """
@T.prim_func(private=True, s_tir=True)
def fill(a: T.handle, v: T.float32):
    x = T.match_buffer(a, (4,), "float32", elem_offset=T.int64())
    for i in range(4):
        x[i] = v

@T.prim_func(private=True, s_tir=True)
def copy(a: T.handle, b: T.handle):
    x = T.match_buffer(a, (4,), "float32", elem_offset=T.int64())
    y = T.match_buffer(b, (4,), "float32", elem_offset=T.int64())
    for i in range(4):
        y[i] = x[i]

@R.function(pure=False)
def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")):
    s = R.memory.alloc_storage(R.shape([64]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    a = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([8]), R.dtype("float32"))
    b = R.memory.alloc_tensor(s, R.prim_value(AT), R.shape([4]), R.dtype("float32"))
    if c:
        e = R.memory.view(a, R.shape([4]), R.dtype("float32"), 0)
    else:
        e = R.memory.view(a, R.shape([4]), R.dtype("float32"), 16)
    w = Module.copy(x, FIRST)
    w2 = Module.copy(y, SECOND)
    z = R.call_tir(Module.copy, (FIRST,), out_ty=R.Tensor((4,), "float32"))
    return z
"""


@pytest.mark.parametrize(("first", "second"), [("b", "e"), ("e", "b")])
@pytest.mark.parametrize(
    ("at", "wrong"), [(32, ()), (48, ()), (16, (False,)), (0, (True,)), (8, (True, False))]
)
def test_each_part_counts(first: str, second: str, at: int, wrong: tuple[bool, ...]) -> None:
    text = TEXT.replace("FIRST", first).replace("SECOND", second).replace("AT", str(at))
    module = parse(text)
    told = {check.verdict for check in checks(module, "RLX203")} - {Verdict.ALWAYS_FINE}
    assert told == ({Verdict.NEEDS_RUNTIME_CHECK} if wrong else set())
    machine = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu())
    x, y = np.arange(4, dtype="float32"), np.full(4, 7, "float32")
    for c in (True, False):
        found = machine["main"](*map(tvm.runtime.tensor, (x, y, np.array(c)))).numpy()
        assert (not np.array_equal(found, x)) is (c in wrong)
