"""Tensors on a storage that a branch chooses: RLX203 is certain only where both branches give the same one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse

UNSURE, WRONG = Verdict.NEEDS_RUNTIME_CHECK, Verdict.ALWAYS_WRONG
T4 = 'R.Tensor((4,), "float32")'
STORAGE = 'R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))'
TENSOR = 'R.memory.alloc_tensor({}, R.prim_value(0), R.shape([4]), R.dtype("float32"))'
TEXT = f"""
@T.prim_func(private=True, s_tir=True)
def copy(a: T.handle, b: T.handle):
    x = T.match_buffer(a, (4,), "float32")
    y = T.match_buffer(b, (4,), "float32")
    for i in range(4):
        y[i] = x[i]

@R.function(pure=False)
def main(x: {T4}, z: {T4}, c: R.Tensor((), "bool")):
    s1 = {STORAGE}
    s2 = {STORAGE}
    if c:
        s = FIRST
    else:
        s = SECOND
    a = {TENSOR.format("BEFORE")}
    w = Module.copy(x, a)
    b = {TENSOR.format("BEHIND")}
    v = Module.copy(z, b)
    u = R.call_tir(Module.copy, (a,), out_ty={T4})
    return u
"""


def _module(first: str, second: str, before: str, behind: str) -> Any:
    text = TEXT.replace("FIRST", first).replace("SECOND", second)
    return parse(text.replace("BEFORE", before).replace("BEHIND", behind))


def _is_right(module: Any) -> list[bool]:
    """Whether what was written is still there, in each branch."""
    machine = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu())
    x, z = np.arange(4, dtype="float32"), np.full(4, 9, "float32")
    given = [(x, z, np.array(condition)) for condition in (True, False)]
    found = [machine["main"](*map(tvm.runtime.tensor, one)).numpy() for one in given]
    return [bool((one == x).all()) for one in found]


@pytest.mark.vm
@pytest.mark.parametrize(
    ("storages", "verdict", "right"),
    [
        (("s1", "s2", "s1", "s"), UNSURE, [False, True]),
        (("s1", "s2", "s", "s2"), UNSURE, [True, False]),
        (("s1", "s1", "s1", "s"), WRONG, [False, False]),
        (("s1", "s2", "s", "s"), UNSURE, [False, False]),
    ],
)
def test_a_write_meets_what_lies_on_the_storage_that_was_chosen(
    storages: tuple[str, str, str, str], verdict: Verdict, right: list[bool]
) -> None:
    module = _module(*storages)
    (found,) = [check for check in checks(module, "RLX203") if check.binding == "v"]
    assert found.verdict is verdict
    assert ("depends on the branch taken" in str(found.proof)) is (verdict is UNSURE)
    assert _is_right(module) == right
