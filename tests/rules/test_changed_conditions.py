"""A condition that is asked for again, after something may have been written to it. The machine tells which branches
are taken, also where two parameters are one tensor.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import checks, parse

KERNELS = """
@T.prim_func(private=True, s_tir=True)
def flip(c: T.Buffer((), "bool")):
    c[()] = not c[()]

@T.prim_func(private=True, s_tir=True)
def look(c: T.Buffer((), "bool"), d: T.Buffer((), "bool")):
    d[()] = c[()]

@T.prim_func(private=True, s_tir=True)
def seven(x: T.Buffer((4,), "float32")):
    for i in range(4):
        x[i] = T.float32(7)

@T.prim_func(private=True, s_tir=True)
def nine(x: T.Buffer((4,), "float32")):
    for i in range(4):
        x[i] = T.float32(9)
"""
BOOL = 'R.Tensor((), "bool")'
FUNCTION = """
@R.function(pure=False)
def {name}(c: BOOL, d: BOOL, e: BOOL, x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    cls = Module
    s = R.memory.alloc_storage(R.shape([{size}]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    shared = R.memory.alloc_storage(R.shape([8]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    own = R.memory.alloc_tensor(shared, R.prim_value(0), R.shape([]), R.dtype("bool"))
    cls.look(c, own)
    {before}
    if {outer}:
        {inside}
        if {inner}:
            a = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
            cls.seven(a)
            p = a
        else:
            b = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
            cls.nine(b)
            p = b
        r = p
    else:
        r = x
    return r
""".replace("BOOL", BOOL)
NEITHER = "w = c"
NOT, NOT_C = "n = R.logical_not(own)", "n = R.logical_not(c)"
SECOND = """own2 = R.memory.alloc_tensor(shared, R.prim_value(0), R.shape([]), R.dtype("bool"))
    cls.look(c, own2)"""
CHOSEN = """if d:
        v0 = {}
        v = v0
    else:
        v0 = {}
        v = v0"""
NAMESAKE = f'n = R.call_packed("relax.logical_not", own, ty_args={BOOL})'
KEPT = 'h = R.call_packed("tests.keeps_a_condition", c, ty_args=R.Tuple)'
FLIP_KEPT = 'w = R.call_packed("tests.flips_what_it_keeps", own, ty_args=R.Tuple)'

CASES = [
    # outer, inner, before, inside, the branches that may be taken for all that is known
    ("own", "own", "q = c", NEITHER, "a"),
    ("own", "own", "q = c", "w = cls.flip(own)", "ab"),
    ("n", "own", NOT, NEITHER, "b"),
    ("n", "k", f"{NOT_C}\n    k = R.logical_not(n)", NEITHER, "b"),
    # What was the negation of a condition is none after one of them is written.
    ("own", "n", f"{NOT}\n    cls.flip(own)", NEITHER, "ab"),
    ("own", "n", f"{NOT}\n    cls.flip(n)", NEITHER, "ab"),
    ("own", "n", NOT, "w = cls.flip(own)", "ab"),
    ("n", "n", NOT_C, "w = cls.flip(n)", "ab"),
    ("n", "n", NOT_C, "w = cls.flip(own)", "a"),
    # Parameters may be one tensor, and tensors of the function may share a storage.
    ("c", "c", "q = c", "w = cls.flip(e)", "ab"),
    ("c", "c", CHOSEN.format("own", "e"), "w = cls.flip(v)", "ab"),
    ("own", "own", SECOND, "w = cls.flip(own2)", "ab"),
    ("v", "v", f"{SECOND}\n    {CHOSEN.format('own', 'c')}", "w = cls.flip(own2)", "ab"),
    ("c", "c", SECOND, "w = cls.flip(own2)", "a"),
    # Functions that nobody knows.
    ("own", "n", NAMESAKE, NEITHER, "ab"),
    ("c", "c", KEPT, FLIP_KEPT, "ab"),
]


def functions(size: int) -> str:
    """All cases, on storages of so many bytes."""
    return KERNELS + "".join(
        FUNCTION.format(name=f"f{number}", outer=outer, inner=inner, before=before, inside=inside, size=size)
        for number, (outer, inner, before, inside, _) in enumerate(CASES)
    )


@pytest.fixture(scope="module")
def machine() -> relax.VirtualMachine:
    """All cases, with storages that are large enough."""
    kept: list[tvm.runtime.Tensor] = []
    tvm.register_global_func("relax.logical_not", lambda given: given, override=True)
    tvm.register_global_func("tests.keeps_a_condition", kept.append, override=True)

    def flip(_: tvm.runtime.Tensor) -> None:
        one = kept.pop()
        one.copyfrom(np.logical_not(one.numpy()))

    tvm.register_global_func("tests.flips_what_it_keeps", flip, override=True)
    built = tvm.compile(parse(functions(16)), target="llvm", relax_pipeline="default")
    return relax.VirtualMachine(built, tvm.cpu())


@pytest.fixture(scope="module")
def reached() -> dict[str, str]:
    """By function the tensors that never fit into a storage of four bytes: those of the branches that are taken."""
    found = dict.fromkeys((f"f{number}" for number in range(len(CASES))), "")
    for check in checks(parse(functions(4)), "RLX101"):
        if check.verdict.value == "always-wrong":
            found[check.function or ""] += check.binding or ""
    return found


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda number: "-".join(CASES[number][:4]))
def test_the_branches_that_may_be_taken(
    number: int, machine: relax.VirtualMachine, reached: dict[str, str]
) -> None:
    assert reached[f"f{number}"] == CASES[number][4]
    taken = {7.0: "a", 9.0: "b"}
    seen = set()
    x = tvm.runtime.tensor(np.ones(4, "float32"))
    for truths in product((True, False), repeat=3):
        c, d, e = (tvm.runtime.tensor(np.array(truth)) for truth in truths)
        seen.add(taken.get(float(machine[f"f{number}"](c, d, e, x).numpy()[0])))
        c = tvm.runtime.tensor(np.array(truths[0]))
        seen.add(taken.get(float(machine[f"f{number}"](c, d, c, x).numpy()[0])))
    assert seen - {None} <= set(reached[f"f{number}"])
