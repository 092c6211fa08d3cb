"""RLX203 and RLX206 where a write damages a part of a tensor and another part is looked at, in numbers of elements that
lie apart: by placement, by a view, by a kernel that stores to some elements, and by one that computes a part wrongly on
shared memory. With the VM, and a twin that looks at the damaged part.
"""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse
from tests.rules.four_elements import STORAGE, T4, TENSOR

T2 = 'R.Tensor((2,), "float32")'
KERNELS = """
@T.prim_func(private=True, s_tir=True)
def double(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[i] * T.float32(2)

@T.prim_func(private=True, s_tir=True)
def copy(a: T.handle, b: T.handle):
    x = T.match_buffer(a, (4,), "float32", offset_factor=1)
    y = T.match_buffer(b, (4,), "float32", offset_factor=1)
    for i in range(4):
        y[i] = x[i]

@T.prim_func(private=True, s_tir=True)
def two(x: T.Buffer((4,), "float32"), y: T.Buffer((2,), "float32")):
    for i in range(2):
        y[i] = x[i + FROM]

@T.prim_func(private=True, s_tir=True)
def twice_two(a: T.handle):
    x = T.match_buffer(a, (2,), "float32", offset_factor=1)
    for i in range(2):
        x[i] = x[i] * T.float32(2)

@T.prim_func(private=True, s_tir=True)
def twice_the_end(x: T.Buffer((4,), "float32")):
    for i in range(2):
        x[i + 2] = x[i + 2] * T.float32(2)

@T.prim_func(private=True, s_tir=True)
def shift(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(3):
        y[i + 1] = x[i] * T.float32(2)

@R.function(private=True, pure=False)
def ends(a: T4) -> T4:
    w = R.call_tir_inplace(Module.twice_the_end, (a,), inplace_indices=[0], out_ty=T4)
    return w

@R.function(private=True, pure=False)
def looks(a: T4) -> T2:
    o = R.call_tir(Module.two, (a,), out_ty=T2)
    return o
"""
PLACED = f"""s = {STORAGE.replace("16", "32")}
d = {TENSOR.format("s")}
b = {TENSOR.format("s").replace("value(0)", "value(8)")}
k0 = Module.double(x, d)
k1 = Module.copy(x, b)
"""
DOUBLED = "d = R.call_tir(Module.double, (x,), out_ty=T4)\n"
VIEW = DOUBLED + (
    'v = R.memory.view(d, R.shape([2]), "float32", 8)\n'
    "w = R.call_tir_inplace(Module.twice_two, (v,), inplace_indices=[0], out_ty=T2)\n"
)
KERNEL = DOUBLED + "w = R.call_tir_inplace(Module.twice_the_end, (d,), inplace_indices=[0], out_ty=T4)\n"
CALLEE = DOUBLED + "w = Module.ends(d)\n"
SHARED = DOUBLED + "k1 = Module.shift(d, d)\n"
LOOKS = {
    "kernel": "o = R.call_tir(Module.two, (d,), out_ty=T2)",
    "kernel of a copy": "c = R.call_tir(Module.copy, (d,), out_ty=T4)\no = R.call_tir(Module.two, (c,), out_ty=T2)",
    "function": "o = Module.looks(d)",
}
OPERATORS = {
    "slice": "o = R.strided_slice(d, axes=[0], begin=[FROM], end=[FROM + 2])",
    "split": "t = R.split(d, 2)\no = t[FROM // 2]",
}
DAMAGE = {"placed": PLACED, "view": VIEW, "kernel": KERNEL, "callee": CALLEE, "shared": SHARED}
CASES = [
    ("placed", "kernel of a copy"),
    ("placed", "split"),
    ("view", "kernel"),
    ("view", "slice"),
    ("kernel", "kernel of a copy"),
    ("kernel", "function"),
    ("callee", "kernel"),
    ("shared", "kernel"),
]


def _text(damage: str, look: str, begin: int) -> str:
    lines = (DAMAGE[damage] + (LOOKS | OPERATORS)[look]).splitlines()
    lines += ["r = (o, w)" if "w = " in DAMAGE[damage] else "r = (o, o)", "return r"]
    main = "\n@R.function(pure=False)\ndef main(x: T4):\n" + "".join(f"    {line}\n" for line in lines)
    text = KERNELS + main
    text = text.replace("FROM + 2", str(begin + 2)).replace("FROM // 2", str(begin // 2))
    return text.replace("FROM", str(begin)).replace("T4", T4).replace("T2", T2)


@pytest.mark.parametrize(("damage", "look"), CASES)
def test_a_part_is_damaged_and_another_one_is_looked_at(damage: str, look: str) -> None:
    x = np.arange(1, 5, dtype="float32")
    for begin, is_wrong in ((0, False), (2, True)):
        module = parse(_text(damage, look, begin))
        wrong = [check for check in checks(module, "RLX20") if check.verdict is Verdict.ALWAYS_WRONG]
        assert bool(wrong) == is_wrong, wrong
        found = [check for check in checks(module, "RLX20") if check.verdict is not Verdict.ALWAYS_FINE]
        assert found or not is_wrong
        built = tvm.compile(module, target="llvm")
        returned = relax.VirtualMachine(built, tvm.cpu())["main"](tvm.runtime.tensor(x))[0].numpy()
        # What the kernel is meant to compute is computed on memory of its own.
        meant = np.concatenate([x[:1] * 2, x[:3] * 4]) if damage == "shared" else x * 2
        assert (list(returned) == list(meant[begin : begin + 2])) != is_wrong


FILLED = f"""
@R.function(pure=False)
def main(x: T4):
    s = {STORAGE.replace("16", "32")}
    d = {TENSOR.format("s")}
    b = {TENSOR.format("s").replace("value(0)", "value(8)")}
    k0 = Module.double(x, d)
    k1 = R.call_packed("tests.fill_the_end", x, b, ty_args=R.Tuple)
    e = R.call_tir(Module.READS, (b,), out_ty=TYPE)
    o = R.call_tir(Module.copy, (d,), out_ty=T4)
    r = (o, e)
    return r
"""


def fill_the_end(x: tvm.runtime.Tensor, b: tvm.runtime.Tensor) -> None:
    """Fill the part of a tensor that lies on no other one."""
    held = b.numpy().copy()
    held[2:] = x.numpy()[2:]
    b.copyfrom(held)


@pytest.mark.parametrize(("reads", "is_wrong"), [("end", False), ("copy", True)])
def test_who_is_not_known_may_fill_only_what_is_looked_at(reads: str, is_wrong: bool) -> None:
    kernels = KERNELS.split("\n@T.prim_func(private=True, s_tir=True)\ndef two")[0]
    end = (
        kernels.split("\n@T")[-1]
        .replace("copy", "end")
        .replace('(4,), "float32", offset_factor=1)\n    for', '(2,), "float32", offset_factor=1)\n    for')
    )
    end = "\n@T" + end.replace("range(4)", "range(2)").replace("x[i]", "x[i + 2]")
    text = kernels + (end if reads == "end" else "") + FILLED.replace("READS", reads)
    text = text.replace("TYPE", "T2" if reads == "end" else "T4").replace("T4", T4).replace("T2", T2)
    module = parse(text)
    wrong = [one for one in checks(module, "RLX203") if one.verdict is Verdict.ALWAYS_WRONG]
    assert bool(wrong) == is_wrong
    if not is_wrong:
        tvm.register_global_func("tests.fill_the_end", fill_the_end, override=True)
        built = tvm.compile(module, target="llvm")
        x = np.arange(1, 5, dtype="float32")
        whole, part = relax.VirtualMachine(built, tvm.cpu())["main"](tvm.runtime.tensor(x))
        assert (list(whole.numpy()), list(part.numpy())) == (list(x * 2), list(x[2:]))
