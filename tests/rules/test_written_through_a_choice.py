"""A write to a tensor that a branch chooses among several on the same bytes: RLX203, with what the VM does.

Whichever is written, the others lose what they hold; what is read by the name that was written is as it should be.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse

FINE, UNSURE = Verdict.ALWAYS_FINE, Verdict.NEEDS_RUNTIME_CHECK
T4 = 'R.Tensor((4,), "float32")'
TEXT = f"""
@T.prim_func(private=True, s_tir=True)
def copy(a: T.handle, b: T.handle):
    x = T.match_buffer(a, (4,), "float32", elem_offset=T.int64())
    y = T.match_buffer(b, (4,), "float32", elem_offset=T.int64())
    for i in range(4):
        y[i] = x[i]

@R.function(private=True, pure=False)
def one_of(p: {T4}, q: {T4}, c: R.Tensor((), "bool")) -> {T4}:
    if c:
        r = p
    else:
        r = q
    return r

@R.function(private=True, pure=False)
def fill(p: {T4}, q: {T4}) -> {T4}:
    k = Module.copy(p, q)
    return q

@R.function(pure=False)
def main(x: {T4}, z: {T4}, c: R.Tensor((), "bool")):
    s = R.memory.alloc_storage(R.shape([32]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    a = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
    k = Module.copy(x, a)
    b = R.memory.alloc_tensor(s, R.prim_value(OFFSET), R.shape([4]), R.dtype("float32"))
    CHOICE
    WRITE
    READ
    return u
"""
IF = "if c:\n        v = a\n    else:\n        v = b"
PAIRS = "if c:\n        p = (a, b)\n    else:\n        p = (b, a)"
WRITE = "w = Module.copy(z, v)"
READ = f"u = R.call_tir(Module.copy, (NAME,), out_ty={T4})"
TENSOR = 'R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))'
X, Z = [0, 1, 2, 3], [9, 9, 9, 9]


def _module(choice: str, write: str, name: str, offset: int) -> Any:
    text = TEXT.replace("OFFSET", str(offset)).replace("CHOICE", choice).replace("WRITE", write)
    return parse(text.replace("READ", READ.replace("NAME", name)))


def _returned(module: Any) -> list[list[float]]:
    """What each branch leaves."""
    machine = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu())
    x, z = np.arange(4, dtype="float32"), np.full(4, 9, "float32")
    given = [(x, z, np.array(condition)) for condition in (True, False)]
    return [list(machine["main"](*map(tvm.runtime.tensor, one)).numpy()) for one in given]


@pytest.mark.vm
@pytest.mark.parametrize(
    ("choice", "write"),
    [
        (IF, WRITE),
        ("v = Module.one_of(a, b, c)", WRITE),
        (IF, "w = Module.fill(z, v)"),
        (f"{PAIRS}\n    v = p[0]", WRITE),
        (IF.replace("v", "v1") + "\n    v = R.memory.view(v1, R.shape([4]))", WRITE),
    ],
    ids=["branch", "function", "written by a function", "field", "view"],
)
def test_what_the_other_one_held_is_lost(choice: str, write: str) -> None:
    module = _module(choice, write, "a", 0)
    (found,) = [check for check in checks(module, "RLX203") if check.binding == "w"]
    assert found.verdict is UNSURE
    # It is meant where `v` is `a`, and not where `v` is `b`: the machine does the same in both branches.
    assert _returned(module) == [Z, Z]


@pytest.mark.vm
@pytest.mark.parametrize(
    ("write", "name", "offset", "returned"),
    [
        (WRITE, "v", 0, [Z, Z]),
        (WRITE, "R.memory.view(v, R.shape([4]))", 0, [Z, Z]),
        ("w = Module.fill(z, v)", "w", 0, [Z, Z]),
        (WRITE, "a", 16, [Z, X]),
    ],
    ids=["its own name", "a view of it", "what the function returns", "other bytes"],
)
def test_what_was_written_is_read_by_its_own_name(
    write: str, name: str, offset: int, returned: list[list[float]]
) -> None:
    module = _module(IF, write, name, offset)
    assert {check.verdict for check in checks(module, "RLX203")} <= {FINE}
    assert _returned(module) == returned


@pytest.mark.vm
def test_what_is_written_on_one_way_stays_lost_on_the_other() -> None:
    """`d` overwrites `a`, and where `v` is `a` that is written again."""
    lost = f"e = {TENSOR}\n    d = Module.copy(z, e)\n    {IF}"
    module = _module(lost, "w = Module.copy(x, v)", "a", 16)
    said = {check.binding: check.verdict for check in checks(module, "RLX203")}
    assert (said["d"], said.get("w", FINE)) == (UNSURE, FINE)
    assert _returned(module) == [X, Z]


def test_of_two_choices_one_may_be_the_other() -> None:
    """`p[1]` is what `p[0]` is not."""
    module = _module(f"{PAIRS}\n    v = p[0]\n    o = p[1]", WRITE, "o", 0)
    assert [check.verdict for check in checks(module, "RLX203") if check.binding == "w"] == [UNSURE]


def test_an_inner_function_may_return_what_it_captures_by_another_name() -> None:
    """`o` is what `v` is not: half of its bytes are written through `v`, and what they held is lost."""
    inner = f"""o = p[1]
    @R.function(pure=False)
    def inner(q: {T4}) -> {T4}:
        n = Module.copy(z, q)
        return o
    w = inner(v)"""
    module = _module(f"l = Module.copy(x, b)\n    {PAIRS}\n    v = p[0]", inner, "w", 8)
    said = {(check.binding, check.verdict) for check in checks(module, "RLX203")}
    assert ("w", UNSURE) in said


def test_a_call_that_fills_two_on_the_same_bytes_leaves_one_of_them_overwritten() -> None:
    """Neither held anything before, and which is written last is not known."""
    write = "w = R.call_packed('relax_lint.tests.fills', v, b, ty_args=R.Any)"
    module = _module(f"v = {TENSOR}", f"{write}\n    o = R.call_tir(Module.copy, (v,), out_ty={T4})", "b", 0)
    found = [check for check in checks(module, "RLX203") if check.binding == "w"]
    assert UNSURE in {check.verdict for check in found}
