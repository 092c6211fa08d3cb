"""Where a tensor starts that comes from outside of a function by another way than a call that is seen: RLX303 and
RLX203, with what the VM does.
"""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse

FINE, UNSURE, WRONG = Verdict.ALWAYS_FINE, Verdict.NEEDS_RUNTIME_CHECK, Verdict.ALWAYS_WRONG
T4 = 'R.Tensor((4,), "float32")'
KERNELS = """
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
"""
START = """    s = R.memory.alloc_storage(R.shape([64]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    t = R.memory.alloc_tensor(s, R.prim_value(AT), R.shape([4]), R.dtype("float32"))
    k = Module.copy(x, t)
"""
USE = f"R.call_tir(Module.at_zero, (t,), out_ty={T4})"
CAPTURED = f"""
@R.function(pure=False)
def main(x: {T4}, c: R.Tensor((), "bool")):
{START}
    @R.function(pure=False)
    def inner(p: {T4}) -> {T4}:
        u = {USE}
        return u
    v: {T4} = inner(x)
    return v
"""
CAPTURED_TWICE = f"""
@R.function(pure=False)
def main(x: {T4}, c: R.Tensor((), "bool")):
{START}
    @R.function(pure=False)
    def inner(p: {T4}) -> {T4}:
        @R.function(pure=False)
        def innermost(q: {T4}) -> {T4}:
            u = {USE}
            return u
        w: {T4} = innermost(p)
        return w
    v: {T4} = inner(x)
    return v
"""
HANDED_BACK = f"""
@R.function(pure=False)
def main(x: {T4}, c: R.Tensor((), "bool")):
{START}
    @R.function(pure=False)
    def inner(p: {T4}) -> {T4}:
        return t
    w: {T4} = inner(x)
    u = {USE.replace("(t,)", "(w,)")}
    return u
"""
EACH_OTHER = f"""
@R.function(private=True, pure=False)
def one(t: {T4}, c: R.Tensor((), "bool")) -> {T4}:
    u = Module.other(t, c)
    return u

@R.function(private=True, pure=False)
def other(t: {T4}, c: R.Tensor((), "bool")) -> {T4}:
    if c:
        d = R.const(False, "bool")
        v = Module.one(t, d)
        w = v
    else:
        u = {USE}
        w = u
    return w

@R.function(pure=False)
def main(x: {T4}, c: R.Tensor((), "bool")):
{START}    v = Module.one(t, c)
    return v
"""


def _said(text: str, start: int) -> set[Verdict]:
    found = checks(parse(KERNELS + text.replace("AT", str(start))), "RLX303")
    return {check.verdict for check in found if check.binding == "u"}


def _run(text: str, start: int) -> list[float]:
    module = relax.transform.LambdaLift()(parse(KERNELS + text.replace("AT", str(start))))
    machine = relax.VirtualMachine(tvm.compile(module, "llvm", relax_pipeline="default"), tvm.cpu())
    given = (np.arange(4, dtype="float32"), np.array(True))
    return list(machine["main"](*map(tvm.runtime.tensor, given)).numpy())


@pytest.mark.vm
@pytest.mark.parametrize("text", [CAPTURED, CAPTURED_TWICE])
def test_what_an_inner_function_captures_starts_where_it_was(text: str) -> None:
    assert _said(text, 16) == {WRONG}
    with pytest.raises(Exception, match="expected 0"):
        _run(text, 16)
    assert _said(text, 0) <= {FINE}
    assert _run(text, 0) == [0, 1, 2, 3]


def test_what_an_inner_function_gives_back_starts_where_it_was() -> None:
    # The VM takes no result of a closure as an argument of a kernel: its type is lost.
    assert _said(HANDED_BACK, 16) == {WRONG}
    assert _said(HANDED_BACK, 0) <= {FINE}


@pytest.mark.parametrize("text", [CAPTURED, CAPTURED_TWICE])
def test_what_a_closure_holds_starts_where_it_was(text: str) -> None:
    lifted = [relax.transform.LambdaLift()(parse(KERNELS + text.replace("AT", str(at)))) for at in (16, 0)]
    said, said_of_zero = (
        {check.verdict for check in checks(module, "RLX303") if check.binding == "u"} for module in lifted
    )
    assert said == {WRONG}
    assert said_of_zero <= {FINE}


@pytest.mark.vm
def test_functions_that_call_each_other_pass_on_what_is_moved() -> None:
    said = _said(EACH_OTHER, 16)
    assert said
    assert FINE not in said
    with pytest.raises(Exception, match="expected 0"):
        _run(EACH_OTHER, 16)
    assert _said(EACH_OTHER, 0) <= {FINE}
    assert _run(EACH_OTHER, 0) == [0, 1, 2, 3]


KEEP, KEPT = "relax_lint.tests.keep", "relax_lint.tests.kept"
KEEPERS = f"""
@R.function(private=True, pure=False)
def keep(p: {T4}):
    w = R.call_packed("{KEEP}", p, ty_args=R.Object)
    return w

@R.function(private=True, pure=False)
def kept() -> {T4}:
    w = R.call_packed("{KEPT}", ty_args={T4})
    return w
"""
COMES_BACK = f"""
@R.function(pure=False)
def main(x: {T4}, c: R.Tensor((), "bool")):
{START}    h = GIVEN
    b = BACK
    u = {USE.replace("(t,)", "(b,)")}
    return u
"""


@pytest.mark.vm
@pytest.mark.parametrize(
    ("given", "back"),
    [
        (f'R.call_packed("{KEEP}", t, ty_args=R.Object)', f'R.call_packed("{KEPT}", ty_args={T4})'),
        ("Module.keep(t)", "Module.kept()"),
        ("Module.keep(t)", f'R.call_packed("{KEPT}", ty_args={T4})'),
    ],
)
def test_what_somebody_has_kept_starts_where_it_was(given: str, back: str) -> None:
    kept: list[object] = []
    tvm.register_global_func(KEEP, kept.append, override=True)
    tvm.register_global_func(KEPT, lambda: kept[-1], override=True)
    text = KEEPERS + COMES_BACK.replace("GIVEN", given).replace("BACK", back)
    assert _said(text, 16) == {UNSURE}
    with pytest.raises(Exception, match="expected 0"):
        _run(text, 16)
    assert _said(text, 0) <= {FINE}
    assert _run(text, 0) == [0, 1, 2, 3]
    # Where only what starts at its data pointer is kept, so does what comes back.
    unmoved = text.replace(given, given.replace("(t)", "(x)").replace(", t,", ", x,"))
    assert _said(unmoved, 16) <= {FINE}
