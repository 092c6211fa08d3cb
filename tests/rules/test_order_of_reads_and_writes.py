"""What a function reads before it writes, a tensor that only may be what was overwritten, and a call that is believed to
write what lies on another tensor; with what the VM returns.
"""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.check import Check
from tests.rules.checking import checks, parse

T4 = 'R.Tensor((4,), "float32")'
KERNELS = """
@T.prim_func(private=True, s_tir=True)
def double_in_place(x: T.Buffer((T.int64(4),), "float32")):
    for i in range(T.int64(4)):
        x[i] = x[i] * T.float32(2)

@T.prim_func(private=True, s_tir=True)
def copy(x: T.Buffer((T.int64(4),), "float32"), y: T.Buffer((T.int64(4),), "float32")):
    for i in range(T.int64(4)):
        y[i] = x[i]
"""
READ = f"z = R.call_tir(Module.copy, (q,), out_ty={T4})"
WRITE = f"w = R.call_tir_inplace(Module.double_in_place, (p,), inplace_indices=[0], out_ty={T4})"
INNER = f"""
@R.function(private=True, pure=False)
def inner(p: {T4}, q: {T4}):
    FIRST
    SECOND
    return (w, z)

@R.function(pure=False)
def main(x: {T4}) -> {T4}:
    a = R.call_tir(Module.copy, (x,), out_ty={T4})
    r = Module.inner(a, a)
    o = r[1]
    return o
"""
PAIR = f"""
@R.function(private=True, pure=False)
def pair(p: {T4}) -> R.Tuple({T4}, {T4}):
    q = R.call_packed("tests.other", p, ty_args={T4})
    return (q, p)

@R.function(pure=False)
def main(x: {T4}):
    a = R.call_tir(Module.copy, (x,), out_ty={T4})
    t = Module.pair(a)
    a1 = R.call_tir_inplace(Module.double_in_place, (a,), inplace_indices=[0], out_ty={T4})
    v = t[FIELD]
    w = R.call_tir(Module.copy, (v,), out_ty={T4})
    return w
"""
ON_ONE_STORAGE = f"""
@R.function(pure=False)
def main(x: {T4}) -> {T4}:
    s = R.memory.alloc_storage(R.shape([64]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    a = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
    b = R.memory.alloc_tensor(s, R.prim_value(START), R.shape([4]), R.dtype("float32"))
    k = Module.copy(x, a)
    u = R.call_packed("tests.fill", b, ty_args=R.Tuple)
    w = R.call_tir(Module.copy, (a,), out_ty={T4})
    v = R.call_tir(Module.copy, (b,), out_ty={T4})
    y = R.add(w, USED)
    return y
"""


def _said(text: str, code: str) -> list[Check]:
    return checks(parse(KERNELS + text), code)


@pytest.mark.parametrize(
    ("first", "second", "verdict", "factor"),
    [(READ, WRITE, "always-fine", 1), (WRITE, READ, "needs-runtime-check", 2)],
)
def test_what_is_read_for_the_last_time_before_the_write_may_share_memory(
    first: str, second: str, verdict: str, factor: int
) -> None:
    """The second argument is meant to be copied as it came."""
    text = INNER.replace("FIRST", first).replace("SECOND", second)
    (check,) = [one for one in _said(text, "RLX206") if one.binding == "r"]
    assert check.verdict.value == verdict
    built = tvm.compile(parse(KERNELS + text), target="llvm", relax_pipeline="default")
    x = np.arange(1, 5, dtype="float32")
    returned = relax.VirtualMachine(built, tvm.cpu())["main"](tvm.runtime.tensor(x)).numpy()
    assert list(returned) == list(factor * x)


def test_a_field_that_is_presumed_to_be_new_is_not_what_another_field_is() -> None:
    """What `tests.other` returns is assumed to be another tensor; the second field is the one that is doubled."""
    (new,) = _said(PAIR.replace("FIELD", "0"), "RLX206")
    assert new.verdict.value == "always-fine"
    assert new.assumes == ("`tests.other` returns a new tensor, none that it was given or has kept",)
    (same,) = _said(PAIR.replace("FIELD", "1"), "RLX206")
    assert same.verdict.value == "needs-runtime-check"


@pytest.mark.parametrize(
    ("start", "used", "verdict"),
    [
        (0, "v", "always-wrong"),
        (8, "v", "always-wrong"),
        (16, "v", "always-fine"),
        (0, "b", "always-wrong"),
        # If it does nothing nobody notices.
        (0, "x", "needs-runtime-check"),
        (8, "x", "needs-runtime-check"),
        (16, "x", "always-fine"),
    ],
)
def test_what_a_call_is_believed_to_write_it_writes_over_what_lies_there(
    start: int, used: str, verdict: str
) -> None:
    """Nothing else writes `b`: what the call is assumed to fill is the only thing that makes `v` right."""
    text = ON_ONE_STORAGE.replace("START", str(start)).replace("USED", used)
    found = {check.verdict.value for check in _said(text, "RLX203") if check.binding == "u"}
    assert found <= {verdict}
    assert found or verdict == "always-fine"
