"""Kernels in which memory changes under another name, a narrow integer wraps around, or lanes go together."""

from __future__ import annotations

from typing import Any

import pytest
import tvm

from relax_lint.facts.kernel_access_verdicts import Status
from tests.oracle.tir.compare import compare_function, judged

HEAD = """\
@T.prim_func(s_tir=True)
def f(x_: T.handle, y_: T.handle, z_: T.handle):
    n = T.int64()
    m = T.int64()
    x = T.match_buffer(x_, (n,), "float32")
    y = T.match_buffer(y_, (m,), "float32")
    z = T.match_buffer(z_, (300,), "float32")
"""
COMPARED = {
    "many races before one in another buffer": """\
for i in T.parallel(4):
    for j in range(300):
        z[j] = z[299 - j]
for i in T.parallel(2):
    y[0] = y[0] + z[i]
""",
    "a view is stored to at the end of a step": """\
s = T.alloc_buffer((1,), "int32", scope="local")
s[0] = 0
for i in range(3):
    y[0] = z[s[0]]
    v = T.decl_buffer((1,), "int32", data=s.data)
    v[0] = 1000
""",
    "a view is stored to while it is small": """\
s = T.alloc_buffer((1,), "int32", scope="local")
s[0] = 0
while s[0] < 2000:
    y[0] = z[s[0]]
    v = T.decl_buffer((1,), "int32", data=s.data)
    v[0] = v[0] + 1000
""",
    "a window is stored to at the end of a step": """\
s = T.alloc_buffer((4,), "int32", scope="local")
s[1] = 0
for i in range(3):
    y[0] = z[s[1]]
    with T.sblock("b"):
        T.reads()
        T.writes()
        v = T.match_buffer(s[1:2], (1,), "int32", scope="local", offset_factor=1)
        v[0] = 1000
""",
    "int8": """\
for i in range(100):
    z[T.Cast("int32", T.Cast("int8", i) + T.Cast("int8", i))] = T.float32(1)
""",
    "int16": """\
for i in range(200):
    z[T.Cast("int32", T.Cast("int16", i) * T.Cast("int16", i)) // 200] = T.float32(1)
""",
    "uint32": """\
for i in range(200):
    if T.Cast("uint32", i) - T.uint32(100) >= T.uint32(150):
        z[i + 250] = T.float32(1)
""",
    "uint64": """\
for i in range(n):
    if T.Cast("uint64", i) - T.uint64(2) < T.uint64(4):
        y[i] = T.float32(1)
""",
    "a counter": """\
s = T.alloc_buffer((1,), "int8", scope="local")
s[0] = T.int8(0)
for i in range(200):
    z[T.Cast("int32", s[0])] = T.float32(1)
    s[0] = s[0] + T.int8(1)
""",
    "a choice of vectors loads both": """\
z[T.Ramp(0, 1, 4)] = T.Select(
    T.Ramp(T.int64(0), T.int64(1), 4) < T.Broadcast(n, 4), x[T.Ramp(T.int64(0), T.int64(1), 4)], T.Broadcast(T.float32(0), 4)
)
""",
    "lanes": """\
y[T.Ramp(T.int64(0), T.int64(1), 4) + T.Ramp(n, T.int64(-1), 4)] = T.Broadcast(T.float32(0), 4)
""",
}
BYTES = """\
s = T.alloc_buffer((1,), "int32", scope="local")
s[0] = 0
v = T.decl_buffer((4,), "int8", data=s.data, scope="local")
v[1] = T.int8(4)
z[s[0]] = T.float32(1)
"""


def read(body: str) -> Any:
    """A kernel with a body."""
    return tvm.script.from_source(HEAD + "".join(f"    {line}\n" for line in body.splitlines()))


@pytest.mark.parametrize("form", COMPARED)
def test_what_is_said_holds_at_every_size(form: str) -> None:
    seen = compare_function(read(COMPARED[form]))
    assert sum(count for word, count in seen.items() if "said" in word) == 35


LIMITED = {
    # 4 * 2**29 is beyond 32 bits, and so is 3 * 2**29 + 4 * 2**27.
    """\
for i in range(n):
    h: T.let[T.int32] = T.Cast("int32", i) * 536870912
    z[T.Cast("int64", h) // 536870912] = T.float32(1)
""": "n <= 4",
    """\
for i, j in T.grid(n, m):
    h: T.let[T.int32] = T.Cast("int32", i) * 536870912 + T.Cast("int32", j) * 134217728
    z[T.Cast("int64", h) // 134217728] = T.float32(1)
""": "m + 4*n <= 20",
    """\
for i in range(n):
    if 10 + T.Cast("int32", i) * 536870912 > 0:
        z[T.Cast("int64", T.Cast("int32", i) * 536870912 + 10) // 536870912] = T.float32(1)
""": "n <= 4",
    """\
s = T.alloc_buffer((1,), "int32", scope="local")
s[0] = 0
for i in range(n):
    s[0] = T.Cast("int32", i) * 536870912
    z[s[0] // 536870912] = T.float32(1)
""": "n <= 4",
}


@pytest.mark.parametrize("form", LIMITED)
def test_what_is_inside_while_32_bits_are_enough_says_up_to_which_size(form: str) -> None:
    function = read(form)
    compare_function(function)
    said = judged(function)
    assert Status.LIMITED in {one.status for one in said.opened}
    (check,) = said.checks
    assert (check.verdict.value, check.severity.value, check.undecided) == (
        "needs-runtime-check",
        "note",
        True,
    )
    assert f"it is inside if {LIMITED[form]}" in check.notes


def test_an_integer_whose_bytes_are_stored_one_by_one_is_any_number() -> None:
    assert "z[s[0]]" not in {access.text for access in judged(read(BYTES)).proved}


SHOWN = {
    "v = T.decl_buffer((1000,), 'float32', data=z.data)\nfor i in range({}):\n    v[i * i] = T.float32(1)\n": "v",
    """\
for i in range({}):
    with T.sblock("b"):
        T.reads()
        T.writes()
        w = T.match_buffer(z[i * i:i * i + 1], (1,), "float32", offset_factor=1)
        w[0] = T.float32(1)
""": "w",
}


@pytest.mark.parametrize("form", SHOWN)
def test_a_trial_looks_at_the_memory_that_a_buffer_shows(form: str) -> None:
    body, head = form, HEAD.replace("(n,)", "(4,)").replace("(m,)", "(4,)")
    head = "".join(f"{line}\n" for line in head.splitlines() if "T.int64()" not in line)
    for steps, is_proved in ((18, True), (20, False)):
        text = head + "".join(f"    {line}\n" for line in body.format(steps).splitlines())
        verdicts = {check.verdict.value for check in judged(tvm.script.from_source(text)).checks}
        assert verdicts <= {"always-fine"} if is_proved else verdicts == {"needs-runtime-check"}
