"""Calls and branches whose allocations are written by hand, as text: few bytes apart, so that a wrong one is seen."""

from __future__ import annotations

from functools import partial

import numpy as np

from tests.rules.checking import parse
from tests.totals.cases import NO, YES, Case, Run

VECTOR, TRUTH = 'R.Tensor((4,), "float32")', 'R.Tensor((), "bool")'
PAIR = f"R.Tuple({VECTOR}, {VECTOR})"
KERNELS = """
@T.prim_func(private=True, s_tir=True)
def copy(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[i]

@T.prim_func(private=True, s_tir=True)
def flip(c: T.Buffer((), "bool")):
    c[()] = not c[()]

@T.prim_func(private=True, s_tir=True)
def look(c: T.Buffer((), "bool"), d: T.Buffer((), "bool")):
    d[()] = c[()]

@T.prim_func(private=True, s_tir=True)
def both(x: T.Buffer((4,), "float32"), c: T.Buffer((), "bool"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        x[i] = x[i] * T.float32(2)
    for i in range(4):
        y[i] = x[i]
"""


def storage(size: str | int) -> str:
    """So many bytes."""
    return f'R.memory.alloc_storage(R.shape([{size}]), R.prim_value(0), R.str("global"), R.dtype("uint8"))'


def tensor(on: str, shape: str = "4", dtype: str = "float32") -> str:
    """At the start of a storage."""
    return f'R.memory.alloc_tensor({on}, R.prim_value(0), R.shape([{shape}]), R.dtype("{dtype}"))'


def choice(name: str, condition: str, then: str, otherwise: str) -> str:
    """One of two values."""
    return f"""
    if {condition}:
        {name}1 = {then}
        {name} = {name}1
    else:
        {name}1 = {otherwise}
        {name} = {name}1
"""


TUPLES_AGAIN = f"""
@R.function(private=True, pure=False)
def third(p: {PAIR}, q: {PAIR}, r: {PAIR}) -> {PAIR}:
    return r

@R.function(pure=False)
def main(x: {VECTOR}):
    cls = Module
    sa = {storage(1000)}
    a = {tensor("sa")}
    sb = {storage(3000)}
    b = {tensor("sb")}
    w = cls.copy(x, a)
    w1 = cls.copy(x, b)
    t = (a, a)
    u = (b, b)
    first = cls.third(t, t, u)
    f0 = first[0]
    w2 = cls.copy(f0, a)
    second = cls.third(t, u, t)
    sc = {storage(5000)}
    c = {tensor("sc")}
    s0 = second[0]
    w3 = cls.copy(s0, c)
    return c
"""
"""The second call returns `t`: 1,000 bytes and 5,000 at the end, `u` is gone."""

BY_SYMBOLS = f"""
@R.function(private=True, pure=False)
def inner(y: R.Tensor(("n",), "float32")):
    n = T.int64(){choice("r", "n > 4", storage(100), storage(3000))}    return r

@R.function(pure=False)
def main(x: R.Tensor(("m",), "float32")):
    m = T.int64()
    s = {storage("m * 4 + 8")}
    a = {tensor("s", "m + 1")}
    y = Module.inner(a)
    return y
"""

IN_PLACE = f"""
@R.function(pure=False)
def main(c: {TRUTH}, x: {VECTOR}):
    cls = Module{choice("a", "c", storage(4096), storage(8))}
    w = R.call_tir_inplace(cls.both, (x, c), [0, -1], [{VECTOR}, {VECTOR}]){choice("b", "c", storage(16), storage(8192))}
    return (a, b)
"""
"""`both` writes what it gets as `x`, and what it allocates: the condition stays what it is."""

DECIDED_BEFORE = f"""
@R.function(private=True, pure=False)
def inner(d: {TRUTH}, z: {VECTOR}):
    cls = Module
    s = {storage(200)}
    a = {tensor("s")}
    w = cls.copy(z, a){choice("r", "d", storage(16), storage(8192))}    return r

@R.function(pure=False)
def main(c: {TRUTH}, x: {VECTOR}):
    cls = Module{choice("a", "c", storage(4096), storage(8))}
    b = cls.inner(c, x)
    e = cls.inner(c, x)
    return (a, b, e)
"""
"""What `inner` writes before it asks is its own: who calls has decided."""

FLIPPED_BEFORE = f"""
@R.function(private=True, pure=False)
def inner(d: {TRUTH}, p: R.Tuple({TRUTH}, {TRUTH})):
    cls = Module
    q = p[1]
    w = cls.flip(q){choice("r", "d", storage(16), storage(8192))}    return r

@R.function(pure=False)
def main(c: {TRUTH}, x: {VECTOR}):
    cls = Module
    so = {storage(24)}
    o = {tensor("so", "", "bool")}
    w = cls.look(c, o){choice("a", "o", storage(4096), storage(8))}
    p = (c, {{second}})
    b = cls.inner(o, p)
    return (a, b)
"""

TWO_STORAGES = f"""
@R.function(pure=False)
def main(c: {TRUTH}, d: {TRUTH}, x: {VECTOR}):
    cls = Module
    sa = {storage(1000)}
    sb = {storage(2000)}{choice("s", "d", "sa", "sb")}
    t = {tensor("s", "", "bool")}
    w = cls.look(c, t){choice("a", "t", storage(4096), storage(8))}
    u = {tensor("sb", "", "bool")}
    w1 = cls.look(c, u)
    w2 = cls.flip(u){choice("b", "t", storage(16), storage(8192))}
    return (a, b, sa, sb)
"""
"""Where `t` is on `sb`, `u` takes its place."""

LATE_SHAPE = f"""
@R.function(pure=False)
def main(x: {VECTOR}):
    cls = Module
    sa = {storage(1000)}
    a = {tensor("sa")}
    w = cls.copy(x, a)
    sb = {storage(3000)}
    b = {tensor("sb")}
    w1 = cls.copy(x, b)
    q = R.shape_of(a)
    o = R.call_packed("vm.builtin.copy", q, ty_args=R.Object)
    sc = {storage(200)}
    c = {tensor("sc")}
    w2 = cls.copy(b, c)
    return (c, o)
"""
"""The register of `a` is needed until its shape was asked for; then `sc` takes 200 bytes."""

TUPLES_IN_TUPLES = f"""
@R.function(private=True, pure=False)
def inner(p: {PAIR}) -> {VECTOR}:
    cls = Module
    q = p[0]
    s = {storage(1000)}
    a = {tensor("s")}
    w = cls.copy(q, a)
    return a

@R.function(pure=False)
def main(x: {VECTOR}):
    cls = Module
    sa = {storage(64)}
    a = {tensor("sa")}
    sb = {storage(32)}
    b = {tensor("sb")}
    t = ((a, x), ((b, b), a))
    u = t[1]
    v = u[0]
    c = cls.inner(v)
    sd = {storage(256)}
    d = {tensor("sd")}
    w1 = cls.copy(c, d)
    return {{result}}
"""
"""A tuple that is written as a field is in no variable: its field is another value, not another name. Its register
is never killed, so that `a` and `b` are there to the end."""

TUPLES_OF_BRANCHES = f"""
@R.function(pure=False)
def main(c: {TRUTH}, x: {VECTOR}):
    cls = Module
    if c:
        sa = {storage(500)}
        a = {tensor("sa")}
        r = ((a, x), x)
    else:
        sa = {storage(700)}
        a = {tensor("sa")}
        r = ((x, a), a)
    q = r[0]
    y = q[0]
    sb = {storage(30)}
    b = {tensor("sb")}
    w1 = cls.copy(y, b)
    sd = {storage(90)}
    d = {tensor("sd")}
    w2 = cls.copy(b, d)
    return d
"""


def case(name: str, text: str, *runs: Run) -> Case:
    """A module with these functions."""
    return Case(name, partial(parse, text, before=""), runs, planned=False)


def _vector() -> np.ndarray:
    return np.ones(4, "float32")


ONE = tuple(Run((c, _vector())) for c in (YES, NO))
CASES = [
    case("tuples that are given again", KERNELS + TUPLES_AGAIN, Run((_vector(),))),
    case(
        "a callee that asks for an extent",
        KERNELS + BY_SYMBOLS,
        *(Run((np.ones(m, "float32"),), {"m": m}) for m in (2, 3)),
    ),
    case("a condition beside what is overwritten in place", KERNELS + IN_PLACE, *ONE),
    case("a condition that was decided before a call", KERNELS + DECIDED_BEFORE, *ONE),
    case("a condition that a callee flips", KERNELS + FLIPPED_BEFORE.format(second="o"), *ONE),
    case("a condition beside one that a callee flips", KERNELS + FLIPPED_BEFORE.format(second="c"), *ONE),
    case("a shape that is asked for late", KERNELS + LATE_SHAPE, Run((_vector(),))),
    *(
        case(
            f"tuples in tuples, {each} returned",
            KERNELS + TUPLES_IN_TUPLES.format(result=each),
            Run((_vector(),)),
        )
        for each in ("d", "u", "v", "(v, x)")
    ),
    case("tuples in tuples of branches", KERNELS + TUPLES_OF_BRANCHES, *ONE),
    case(
        "a condition on one of two storages",
        KERNELS + TWO_STORAGES,
        *(Run((c, d, _vector())) for c in (YES, NO) for d in (YES, NO)),
    ),
]
