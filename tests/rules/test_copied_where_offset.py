"""`R.memory.ensure_zero_offset` copies what does not start at a multiple of 64 bytes: where that depends on the
call or on the device, what it gives back may be its argument.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import findings, parse

PROGRAM = """
@T.prim_func(private=True, s_tir=True)
def increment(a: T.Buffer((2,), "float32")):
    for i in range(2):
        with T.sblock("b"):
            v = T.axis.remap("S", [i])
            a[v] = a[v] + T.float32(1)

@R.function
def main(x: R.Tensor((40,), "float32"), s: R.Shape(["n"])):
    n = T.int64()
    a = R.add(x, x)
    v = R.memory.view(a, R.shape([2]), "float32", R.prim_value({offset}))
    z = R.memory.ensure_zero_offset(v)
    y = R.call_tir_inplace(Module.increment, (z,), inplace_indices=[0], out_ty=R.Tensor((2,), "float32"))
    r = R.add(a, a)
    return (y, r)
"""


def _run(module: Any, n: int) -> list[float]:
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
    x = tvm.runtime.tensor(np.ones(40, "float32"))
    return list(vm["main"](x, tvm.runtime.ShapeTuple([n]))[1].numpy()[:4])


@pytest.mark.parametrize(
    ("offset", "verdict"),
    [
        ("0", "always-wrong"),
        ("8", None),
        ("64 + 8", None),
        ("n * 64 + 8", None),
        ("n * 16 + 8", None),
        ("n * 8", "needs-runtime-check"),
        ("n * 16 + 64", "needs-runtime-check"),
        ("64", "needs-runtime-check"),
    ],
)
def test_only_a_certain_offset_makes_a_tensor_of_its_own(offset: str, verdict: str | None) -> None:
    found = findings(parse(PROGRAM.format(offset=offset)), "RLX206")
    assert [check.verdict.value for check in found] == ([verdict] if verdict else [])


@pytest.mark.vm
def test_the_virtual_machine_copies_behind_the_start_only() -> None:
    module = parse(PROGRAM.format(offset="n * 8"))
    assert _run(module, 0) == [6, 6, 4, 4]
    assert _run(module, 1) == [4, 4, 4, 4]


@pytest.mark.vm
def test_the_virtual_machine_moves_the_pointer_at_multiples_of_its_alignment() -> None:
    def last(offset: str) -> float:
        module = parse(PROGRAM.format(offset=offset))
        vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
        inputs = tvm.runtime.tensor(np.ones(40, "float32")), tvm.runtime.ShapeTuple([8])
        return float(vm["main"](*inputs)[1].numpy()[16])

    assert (last("64"), last("n * 8"), last("64 + 8")) == (6, 6, 4)


PLACED = """
@T.prim_func(private=True, s_tir=True)
def double(a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.sblock("b"):
            v = T.axis.remap("S", [i])
            b[v] = a[v] * T.float32(2)

@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")):
    s = R.memory.alloc_storage(R.shape([128]), 0, "global", "uint8")
    a = R.memory.alloc_tensor(s, {first}, R.shape([4]), "float32")
    za = R.memory.ensure_zero_offset(a)
    Module.double(x, za)
    b = R.memory.alloc_tensor(s, {second}, R.shape([4]), "float32")
    zb = R.memory.ensure_zero_offset(b)
    Module.double(za, zb)
    return za
"""


@pytest.mark.parametrize(
    ("target", "verdict"),
    [
        (None, None),
        ("llvm", None),
        ("hexagon", "needs-runtime-check"),
        ('{"kind": "hexagon"}', "needs-runtime-check"),
    ],
)
def test_a_hexagon_moves_the_pointer_and_copies_nothing(target: str | None, verdict: str | None) -> None:
    found = findings(parse(PLACED.format(first=16, second=16)), "RLX203", target=target)
    assert {check.verdict.value for check in found} == ({verdict} if verdict else set())


@pytest.mark.vm
@pytest.mark.parametrize(
    ("first", "second", "is_reported", "result"),
    [(64, 64, True, 4), (16, 16, False, 2), (0, 64, False, 2), (64, 0, False, 2)],
)
def test_tensors_behind_moved_pointers_overlap_where_they_are(
    first: int, second: int, is_reported: bool, result: int
) -> None:
    module = parse(PLACED.format(first=first, second=second))
    assert bool(findings(module, "RLX203")) is is_reported
    vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu(), memory_cfg="naive")
    assert vm["main"](tvm.runtime.tensor(np.ones(4, "float32"))).numpy()[0] == result
