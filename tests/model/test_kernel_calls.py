"""Memory that a kernel hands to what it calls, and PrimFuncs that it calls."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest
import tvm

import relax_lint
from relax_lint.model.kernel_access.accesses import KernelAccess
from relax_lint.model.prim_funcs import Kernels, read_kernel

MODULE = """\
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def copy(a: T.handle("float32"), b: T.handle("float32"), k: T.int64):
        A = T.decl_buffer((k,), "float32", data=a)
        B = T.decl_buffer((k,), "float32", data=b)
        for i in range(k):
            B[i] = A[i]

    @T.prim_func(private=True, s_tir=True)
    def again(a: T.handle("float32"), b: T.handle("float32"), k: T.int64):
        Module.again(a, b, k - 1)

    @T.prim_func(private=True, s_tir=True)
    def twice(a: T.handle("float32"), b: T.handle("float32"), k: T.int64):
        Module.copy(a, b, k)
        Module.copy(b, a, k - 1)

    @T.prim_func(private=True, s_tir=True)
    def ends(a: T.handle("float32"), k: T.int64):
        A = T.decl_buffer((k,), "float32", data=a)
        s = T.alloc_buffer((1,), "int64", scope="local")
        t = T.alloc_buffer((1,), "int64", scope="local")
        s[0] = T.int64(0)
        t[0] = k - T.int64(1)
        A[s[0]] = T.float32(1)
        A[t[0]] = T.float32(1)

    @T.prim_func(private=True, s_tir=True)
    def small(k: T.int64):
        assert k < 4, "too large"

    @T.prim_func(private=True, s_tir=True)
    def tensor(a: T.Buffer((100,), "float32")):
        a[50] = T.float32(1)

    @T.prim_func(private=True, s_tir=True)
    def outer(x_: T.handle, y_: T.handle):
        n = T.int64()
        x = T.match_buffer(x_, (n,), "float32")
        y = T.match_buffer(y_, (n,), "float32")
        {call}

    @R.function
    def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        cls = Module
        with R.dataflow():
            y = R.call_tir(cls.outer, (x,), out_ty=R.Tensor((n,), "float32"))
            R.output(y)
        return y
"""
FIXED = """\
@T.prim_func(private=True)
def f(x_: T.handle, y_: T.handle, p_: T.handle):
    n = T.int64()
    x = T.match_buffer(x_, (n,), "float32")
    y = T.match_buffer(y_, (8,), "float32")
    p = T.match_buffer(p_, (8,), "int32")
    s = T.alloc_buffer((1,), "int32", scope="local")
"""


def called(call: str) -> tuple[KernelAccess, ...]:
    """The accesses of a kernel that makes a call."""
    module = tvm.script.from_source(MODULE.format(call=call), check_well_formed=False)
    return Kernels(module)["outer"].accesses.accesses


@pytest.mark.parametrize(
    "call",
    [
        "Module.copy(x.data, y.data, n)",
        "Module.copy(x.data, y.data, n // 2)",
        "Module.twice(x.data, y.data, n)",
        "for i in range(4):\n            Module.copy(x.data, y.data, n - i)",
    ],
)
def test_accesses_of_a_called_prim_func_are_those_of_its_caller(call: str) -> None:
    found = called(call)
    assert len(found) >= 2
    assert all(access.proved for access in found)


def test_a_called_prim_func_that_goes_too_far_is_outside_in_the_call() -> None:
    for text, verdict in (("n + 1", "always-wrong"), ("n * 2 - 3", "needs-runtime-check")):
        source = MODULE.format(call=f"Module.copy(x.data, y.data, {text})")
        module = tvm.script.from_source(source, check_well_formed=False)
        checks = [one for one in relax_lint.check(module).checks if one.rule == "RLX306"]
        assert [one.verdict.value for one in checks] == [verdict], text
    assert checks[0].safe_when == "n <= 3"


@pytest.mark.parametrize(
    "call", ["Module.again(x.data, y.data, n)", "Module.copy(x.data, T.reinterpret('handle', n), n)"]
)
def test_a_call_that_is_not_followed_is_told(call: str) -> None:
    assert any("is passed to" in access.unread for access in called(call))


@pytest.mark.parametrize(
    "body",
    [
        "s[0] = 0\nfor i in range(8):\n    y[s[0]] = x[0]\n    T.evaluate(T.call_extern('int32', 'f', s.data))",
        "if s[0] < 8 and s[0] >= 0:\n    for i in range(8):\n        y[s[0]] = x[0]\n"
        "        T.evaluate(T.call_extern('int32', 'f', s.data))",
        "s[0] = 0\nwhile s[0] < n:\n    y[s[0]] = x[0]\n    T.evaluate(T.call_extern('int32', 'f', s.data))",
    ],
)
def test_what_is_handed_on_in_a_loop_may_have_changed_before_the_call(body: str) -> None:
    function = tvm.script.from_source(FIXED + indent(dedent(body), "    "), check_well_formed=False)
    stores = [one for one in read_kernel("f", function).accesses.accesses if one.buffer.name == "y"]
    assert stores
    assert not any(one.proved for one in stores)


def test_indices_that_others_may_have_written_are_not_those_of_the_caller() -> None:
    body = "    T.evaluate(T.call_extern('int32', 'f', p.data))\n    y[p[0]] = x[0]"
    function = tvm.script.from_source(FIXED + body, check_well_formed=False)
    (store,) = [one for one in read_kernel("f", function).accesses.accesses if one.buffer.name == "y"]
    assert not any(one.holds for one in store.obligations)


def test_buffers_of_a_prim_func_that_is_called_twice_are_told_apart() -> None:
    found = called("Module.ends(y.data, n + 1)\n        Module.ends(y.data, n)")
    assert len({(access.buffer.number, access.buffer.name) for access in found}) == 6
    last = found[-1]
    assert {str(last.terms.expression(p)) for one in last.obligations for p in one.outside} == {"-n"}


def test_what_comes_back_has_passed_its_asserts() -> None:
    *_, store = called("Module.small(n)\n        y[n - 4] = x[0]")
    assert all("n - 4" not in str(one.outside) for one in store.obligations)
    assert not [one for one in store.obligations if not one.below]


def test_a_tensor_that_is_given_a_pointer_is_not_followed() -> None:
    assert any(access.unread for access in called("Module.tensor(y.data)"))
