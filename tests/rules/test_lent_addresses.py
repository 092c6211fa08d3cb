"""Addresses that a kernel gives away by access pointers: that they are only read, and not kept, is listed."""

from __future__ import annotations

import pytest

from relax_lint.results.verdict import Verdict
from tests.rules.checking import checks, parse

TEXT = """
@T.prim_func(private=True, s_tir=True)
def fill(a: T.handle):
    x = T.match_buffer(a, (4,), "float32")
    for i in range(4):
        x[i] = T.float32(1)

@T.prim_func(private=True, s_tir=True)
def away(a: T.handle, b: T.handle):
    x = T.match_buffer(a, (4,), "float32")
    y = T.match_buffer(b, (4,), "float32")
    for i in range(4):
        y[i] = x[i]
    BODY

@R.function(pure=False)
def main(o: R.Tensor((4,), "float32")):
    s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    t = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
    w = Module.fill(t)
    w1 = Module.away(t, o)
    t2 = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
    w2 = Module.fill(t2)
    w3 = Module.away(t2, o)
    u = R.call_tir(Module.away, (t2,), out_ty=R.Tensor((4,), "float32"))
    return u
"""
KEPT = "nobody keeps the addresses that `away` gives away"
READ = "who gets addresses of `away` to read writes nothing there, and keeps none"


@pytest.mark.parametrize(
    ("body", "kept", "read"),
    [
        ('T.evaluate(T.call_extern("int32", "f", x.access_ptr("r")))', True, True),
        ('T.evaluate(T.call_extern("int32", "f", x.access_ptr("r"), y.access_ptr("w")))', True, True),
        ('T.evaluate(T.call_packed("f", x.access_ptr("r")))', True, True),
        ('T.evaluate(T.call_extern("int32", "f", y.access_ptr("w")))', False, False),
        ('T.evaluate(T.call_extern("int32", "f", x.access_ptr("r"), x.access_ptr("w")))', True, False),
        ("T.evaluate(0)", False, False),
    ],
)
def test_what_is_assumed_of_others_is_listed(body: str, kept: bool, read: bool) -> None:
    found = checks(parse(TEXT.replace("BODY", body)), "RLX20")
    fine = [check for check in found if check.verdict is Verdict.ALWAYS_FINE]
    listed = {text for check in fine for text in check.assumes}
    assert (KEPT in listed) is kept
    assert (READ in listed) is read


ASKED = """
@T.prim_func(private=True)
def fill(x: T.Buffer((4,), "float32")):
    for i in range(4):
        x[i] = T.float32(1)

@T.prim_func(private=True)
def copy(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[i]

@T.prim_func(private=True)
def peek(k: T.Buffer((), "bool")):
    BODY

@R.function(pure=False)
def main(o: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")):
    s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    a = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
    if c:
        f = Module.fill(a)
        u = o
    else:
        u = o
    p = Module.peek(c)
    if c:
        g = Module.copy(a, o)
        v = o
    else:
        v = o
    return o
"""
POINTER = 'T.tvm_access_ptr(T.type_annotation("bool"), k.data, 0, 1, 1)'


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"p = T.bind({POINTER})\n    T.evaluate(T.call_packed('f', p))", [Verdict.NEEDS_RUNTIME_CHECK]),
        (
            f"p: T.let[T.handle('bool')] = {POINTER}\n    T.evaluate(T.call_packed('f', p))",
            [Verdict.NEEDS_RUNTIME_CHECK],
        ),
        # Who is called with it reads only, which is listed.
        (f"T.evaluate(T.call_packed('f', {POINTER}))", []),
    ],
)
def test_what_is_done_by_a_name_of_a_pointer_is_not_known(body: str, expected: list[Verdict]) -> None:
    # Where `peek` may have changed the condition, `a` may be copied without having been filled.
    found = checks(parse(ASKED.replace("BODY", body)), "RLX205")
    assert [check.verdict for check in found if check.binding == "g"] == expected
