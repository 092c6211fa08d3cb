"""RLX303 for a kernel that gets several tensors at offsets, for whoever a value of unknown origin may call, and for
tensors of which nobody knows whether they have an element.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tvm
from tvm import relax

from relax_lint.results.check import Check
from tests.rules.checking import checks, parse

T4 = 'R.Tensor((4,), "float32")'
KERNELS = """
@T.prim_func(private=True, s_tir=True)
def copy(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[i]

@T.prim_func(private=True, s_tir=True)
def add(x: T.Buffer((4,), "float32"), z: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[i] + z[i]

@T.prim_func(private=True, s_tir=True)
def fill(a: T.handle, y: T.Buffer((4,), "float32")):
    n = T.int64()
    x = T.match_buffer(a, (n,), "float32", elem_offset=T.int64(), offset_factor=4)
    for i in range(4):
        y[i] = T.float32(1)
"""
STORAGE = 's = R.memory.alloc_storage(R.shape([64]), R.prim_value(0), R.str("global"), R.dtype("uint8"))'
BOTH = f"""
@R.function(pure=False)
def main(x: {T4}):
    {STORAGE}
    t = R.memory.alloc_tensor(s, R.prim_value(FIRST), R.shape([4]), R.dtype("float32"))
    u = R.memory.alloc_tensor(s, R.prim_value(SECOND), R.shape([4]), R.dtype("float32"))
    v = R.call_tir(Module.add, (t, u), out_ty={T4})
    return v
"""
HANDED_ON = f"""
@R.function(private=True, pure=False)
def taker(p: {T4}) -> {T4}:
    u = R.call_tir(Module.copy, (p,), out_ty={T4})
    return u

@R.function(pure=False)
def main(x: {T4}, f: R.Object):
    {STORAGE}
    t = R.memory.alloc_tensor(s, R.prim_value(AT), R.shape([4]), R.dtype("float32"))
    k = R.call_packed("tests.keep", Module.taker, ty_args=R.Tuple)
    k2 = R.call_packed("tests.fill", t, ty_args=R.Tuple)
    v = CALL
    return v
"""
UNKNOWN = f"""
@R.function(pure=False)
def main(x: {T4}, shape: R.Shape(ndim=1)):
    {STORAGE}
    t = R.memory.alloc_tensor(s, R.prim_value(4), shape, R.dtype("float32"))
    v = R.call_tir(Module.fill, (t,), out_ty={T4})
    return v
"""


def _said(text: str) -> list[Check]:
    return checks(parse(KERNELS + text), "RLX303")


def _beside(first: int, second: int) -> list[str]:
    found = _said(BOTH.replace("FIRST", str(first)).replace("SECOND", str(second)))
    assert all(check.verdict.value == "always-wrong" for check in found)
    return [check.message.split("`")[1] for check in found]


def test_each_operand_of_a_kernel_is_told_that_starts_beside_its_data() -> None:
    assert _beside(16, 32) == ["t", "u"]
    assert _beside(0, 32) == ["u"]
    assert _beside(16, 0) == ["t"]
    assert _beside(0, 0) == []


def test_a_function_that_somebody_kept_may_be_what_an_unknown_function_is() -> None:
    """`f` may be a closure of `taker`; `copy` may not be what it calls, and `taker` is not given an offset."""
    call = f"R.invoke_closure(f, (t,), ty_args={T4})"
    (check,) = _said(HANDED_ON.replace("AT", "16").replace("CALL", call))
    assert (check.function, check.verdict.value) == ("taker", "needs-runtime-check")
    assert not _said(HANDED_ON.replace("AT", "0").replace("CALL", call))
    assert not _said(HANDED_ON.replace("AT", "16").replace("CALL", "x"))


def test_a_tensor_that_may_have_no_element_is_a_warning() -> None:
    (check,) = _said(UNKNOWN)
    assert check.proof == "it may have no element: the shape is unknown in the IR"
    assert (check.verdict.value, check.severity.value) == ("needs-runtime-check", "warning")


def _error(text: str) -> str:
    """What the machine says where a packed function calls the function that it is given; nothing if it runs."""
    machines: list[relax.VirtualMachine] = []

    def fill(_: Any) -> None:
        """Leave it as it is."""

    def apply(function: Any, tensor: Any) -> Any:
        return machines[0].invoke_closure(function, tensor)

    tvm.register_global_func("tests.starts.fill", fill, override=True)
    tvm.register_global_func("tests.starts.apply", apply, override=True)
    built = tvm.compile(parse(text), target="llvm", relax_pipeline="default")
    machines.append(relax.VirtualMachine(built, tvm.cpu()))
    try:
        machines[0]["main"](tvm.runtime.tensor(np.zeros(4, dtype="float32")), None)
    except Exception as reason:
        return str(reason)
    return ""


def test_a_packed_function_may_call_what_it_is_given_with_what_it_is_given() -> None:
    call = f"R.call_packed('tests.starts.apply', Module.taker, t, ty_args={T4})"
    text = KERNELS + HANDED_ON.replace("tests.fill", "tests.starts.fill").replace("CALL", call)
    text = text.replace('    k = R.call_packed("tests.keep", Module.taker, ty_args=R.Tuple)\n', "")
    at_start, behind = (text.replace("AT)", f"{at})") for at in (0, 16))
    assert not _error(at_start)
    assert not checks(parse(at_start), "RLX303")
    assert "byte_offset" in _error(behind)
    (check,) = checks(parse(behind), "RLX303")
    assert (check.function, check.verdict.value) == ("taker", "needs-runtime-check")


def test_a_packed_function_that_nobody_gave_a_function_calls_none() -> None:
    call = f"R.call_packed('tests.apply', t, ty_args={T4})"
    text = HANDED_ON.replace("AT", "16").replace("CALL", call)
    assert not _said(text)
    both = text.replace("'tests.apply', t", "'tests.apply', (Module.taker, t)")
    assert [check.function for check in _said(both)] == ["taker"]
