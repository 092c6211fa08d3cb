"""What of the arguments of a call is refused, in words, and that a tensor without elements starts nowhere."""

from __future__ import annotations

import pytest

from tests.rules.checking import checks, parse

KERNEL = """
@T.prim_func(private=True, s_tir=True)
def copy(x: T.Buffer((T.int64(2), T.int64(2)), "float32"), y: T.Buffer((T.int64(2), T.int64(2)), "float32")):
    for i, j in T.grid(T.int64(2), T.int64(2)):
        y[i, j] = x[i, j]

@R.function(pure=False)
def main(x: {given}, z: R.Tensor((2, 2), "float32")):
    cls = Module
    y = R.call_tir(cls.copy, ({arguments}), out_ty=R.Tensor((2, 2), "float32"))
    return y
"""


@pytest.mark.parametrize(
    ("given", "arguments", "said"),
    [
        ("R.Tensor((2, 2), 'float32')", "", "it receives 1 arguments, the kernel expects 2"),
        ("R.Tensor((2, 2), 'float32')", "x, z", "it receives 3 arguments, the kernel expects 2"),
        ("R.Tensor((4,), 'float32')", "x,", "`x` has rank 1, the kernel expects rank 2"),
        ("R.Tensor((2, 3), 'float32')", "x,", "extent 1 of `x` is `3`, the kernel expects `2`"),
    ],
)
def test_what_a_kernel_refuses_is_said(given: str, arguments: str, said: str) -> None:
    (found,) = checks(parse(KERNEL.format(given=given, arguments=arguments)), "RLX301")
    assert found.verdict.value == "always-wrong"
    assert said in found.message


SORTED = """
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")):
    s = R.memory.alloc_storage(R.shape([64]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    o = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([{count}]), R.dtype("float32"))
    t = R.memory.alloc_tensor(s, R.prim_value({start}), R.shape([{count}]), R.dtype("float32"))
    u = R.call_packed("tvm.contrib.sort.sort", t, o, R.prim_value(0), R.prim_value(0), ty_args=(R.Tuple,))
    return x
"""


@pytest.mark.parametrize(
    ("count", "start", "told"), [(2, 16, True), (0, 16, False), (2, 0, False), (0, 0, False)]
)
def test_a_tensor_without_elements_starts_nowhere(count: int, start: int, told: bool) -> None:
    found = checks(parse(SORTED.format(count=count, start=start)), "RLX303")
    assert ("needs-runtime-check" in {one.verdict.value for one in found}) is told
