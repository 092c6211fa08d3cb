"""RLX203 where a kernel reads another part of a tensor than was written over: that does no harm, whatever the rest of
the tensor holds. Against numbers and the VM, beside readers of what was written over, on all paths and on some.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.verdict import Verdict
from tests.rules.any_extent import KERNELS
from tests.rules.checking import checks, parse

READER = """
@T.prim_func(private=True, s_tir=True)
def {name}(a: T.handle, b: T.handle):
    n = T.int64()
    x = T.match_buffer(a, (n,), "float32", offset_factor=1)
    y = T.match_buffer(b, (8,), "float32", offset_factor=1)
    for i in range(8):
        y[i] = x[{index}] + T.float32(1)
"""
# Which of n elements a kernel reads in 8 steps; n is 8 or more.
READERS = {
    "first": "i",
    "pair": "i // 4",
    "one": "5",
    "last": "n - 8 + i",
    "every_other": "i // 2 * 2",
    "back": "n - 1 - i",
}
FUNCTION = """
@R.function(pure=False)
def {name}(x: R.Tensor(("n",), "float32"), sizes: R.Shape(["m"]), c: R.Tensor((), "bool")):
    n = T.int64()
    m = T.int64()
    known = R.assert_op(R.prim_value(n >= 8), [], format="")
    s = R.memory.alloc_storage(R.shape([4 * (n + m + 40)]), 0, "global", "uint8")
    t = R.memory.alloc_tensor(s, 0, R.shape([n]), "float32", R.prim_value(0))
    _1 = Module.one_more(x, t)
    u = R.memory.alloc_tensor(s, {at}, R.shape([m]), "float32", R.prim_value(0))
    _2 = Module.fill(u)
    o = R.builtin.alloc_tensor(R.shape([8]), "float32", R.prim_value(0), "global")
    p = R.builtin.alloc_tensor(R.shape([8]), "float32", R.prim_value(0), "global")
    {body}
"""
STRAIGHT = "_3 = Module.{one}(t, o)\n    return o"
BOTH = "_3 = Module.{one}(t, o)\n    _4 = Module.{other}(t, p)\n    return (o, p)"
BRANCHES = """if c:
        _3 = Module.{one}(t, o)
        z = o
    else:
        _4 = Module.{other}(t, o)
        z = o
    return z"""
# Where what is written begins, in elements, and who reads, how.
CASES = {
    "first_behind": (10, "first", None, STRAIGHT),
    "first_in_it": (6, "first", None, STRAIGHT),
    "first_before": (0, "first", None, STRAIGHT),
    "pair_behind": (2, "pair", None, STRAIGHT),
    "pair_in_it": (1, "pair", None, STRAIGHT),
    "one_behind": (6, "one", None, STRAIGHT),
    "one_before": (0, "one", None, STRAIGHT),
    "last_before": (0, "last", None, STRAIGHT),
    "last_behind": (20, "last", None, STRAIGHT),
    "back_before": (0, "back", None, STRAIGHT),
    "every_other_behind": (7, "every_other", None, STRAIGHT),
    "then_all": (8, "first", "last", BOTH),
    "both_elsewhere": (8, "first", "pair", BOTH),
    "in_branches": (8, "first", "last", BRANCHES),
    "in_branches_elsewhere": (8, "first", "pair", BRANCHES),
    "in_branches_alike": (0, "first", "pair", BRANCHES),
}
SIZES = (8, 9, 15, 16, 19, 20, 28, 29, 40)
WRITTEN = (0, 1, 2, 5, 6, 12, 30)
FINE, WRONG, DOUBT = Verdict.ALWAYS_FINE, Verdict.ALWAYS_WRONG, Verdict.NEEDS_RUNTIME_CHECK


def text() -> str:
    """The module."""
    readers = "".join(READER.format(name=name, index=index) for name, index in READERS.items())
    functions = (
        FUNCTION.format(name=name, at=4 * at, body=body.format(one=one, other=other))
        for name, (at, one, other, body) in CASES.items()
    )
    return "".join((KERNELS, readers, *functions))


def read(reader: str, n: int) -> list[int]:
    return [eval(READERS[reader], {"i": i, "n": n}) for i in range(8)]


def damaged(name: str, n: int, m: int, *, branch: bool) -> bool:
    """Whether an element that is read is written over."""
    at, one, other, body = CASES[name]
    readers = [one, *([] if other is None else [other])]
    if body is BRANCHES:
        readers = readers[:1] if branch else readers[1:]
    return any(at <= element < at + m for reader in readers for element in read(reader, n))


def test_what_is_not_read_may_be_written_over() -> None:
    found = {one.function: one for one in checks(parse(text()), "RLX203")}
    for name in CASES:
        told = found[name]
        points = list(product(SIZES, WRITTEN))
        wrong = [{damaged(name, n, m, branch=branch) for branch in (True, False)} for n, m in points]
        if all(one == {False} for one in wrong):
            assert told.verdict is FINE, name
            continue
        assert told.verdict is DOUBT, name
        if told.safe_when is not None:
            for (n, m), one in zip(points, wrong, strict=True):
                assert one == {not eval(told.safe_when, {"n": n, "m": m})}, (name, n, m)


@pytest.mark.vm
@pytest.mark.parametrize("name", CASES)
def test_the_machine_sees_what_is_read(name: str) -> None:
    machine = relax.VirtualMachine(tvm.compile(parse(text()), "llvm"), tvm.cpu())
    _, one, other, body = CASES[name]
    for n, m, branch in product((8, 16, 29), (0, 1, 6, 30), (True, False)):
        x = np.arange(5, n + 5, dtype="float32")
        readers = [one, *([] if other is None else [other])]
        if body is BRANCHES:
            readers = readers[:1] if branch else readers[1:]
        right = [x[read(reader, n)] + 2 for reader in readers]
        given = tvm.runtime.tensor(x), tvm.runtime.ShapeTuple([m]), tvm.runtime.tensor(np.array(branch))
        found = machine[name](*given)
        found = [one.numpy() for one in ([found] if len(right) == 1 else found)]
        is_right = all(np.array_equal(a, b) for a, b in zip(found, right, strict=True))
        assert is_right == (not damaged(name, n, m, branch=branch)), (n, m, branch)
