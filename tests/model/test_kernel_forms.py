"""What a kernel may be written with, one thing each: which of its accesses are proved, which are outside in some call
("exact"), of which that is not known ("open"), and which cannot be read.
"""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import indent

import pytest
import tvm

from relax_lint.model.prim_funcs import read_kernel

HEAD = """\
@T.prim_func(private=True)
def f(x_: T.handle, p_: T.handle, t: T.int32, h: T.handle):
    n = T.int64()
    m = T.int64()
    x = T.match_buffer(x_, (n,), "float32")
    p = T.match_buffer(p_, (m,), "int64")
    s = T.alloc_buffer((m,), "int64")
    e = T.alloc_buffer((1,), "int64")
"""

KERNELS = """\
# handle view: D proved
D = T.decl_buffer((8,), 'float32', data=h)
for i in range(8):
    D[i] = T.float32(1)
# handle view 9: D exact
D = T.decl_buffer((8,), 'float32', data=h)
for i in range(9):
    D[i] = T.float32(1)
# vector view: D proved
D = T.decl_buffer((2,), 'float32x4', data=x.data)
if n >= 8:
    for i in range(2):
        D[i] = T.Broadcast(T.float32(1), 4)
# vector view 7: D exact
D = T.decl_buffer((2,), 'float32x4', data=x.data)
if n >= 7:
    for i in range(2):
        D[i] = T.Broadcast(T.float32(1), 4)
# view offset: D proved
D = T.decl_buffer((4,), 'float32', data=x.data, elem_offset=4)
if n >= 8:
    for i in range(4):
        D[i] = T.float32(1)
# view offset 7: D exact
D = T.decl_buffer((4,), 'float32', data=x.data, elem_offset=4)
if n >= 7:
    for i in range(4):
        D[i] = T.float32(1)
# break then: x proved proved
for i in range(n):
    x[i] = T.float32(1)
    break
    x[n] = T.float32(1)
# break then after: x proved open
for i in range(n):
    if x[i] > T.float32(1):
        break
    x[i + 1] = T.float32(1)
# return value: x exact
return x[n]
# strided: x proved
for i in T.serial(2, n, step=3):
    x[i] = T.float32(1)
# strided t: x open
for i in T.serial(0, n, step=t):
    x[i] = T.float32(1)
# threads twice: x proved
for a in T.thread_binding(8, thread="threadIdx.x"):
    for b in T.thread_binding(8, thread="threadIdx.x"):
        if n >= 8:
            x[a - b] = T.float32(1)
# vthreads twice: x exact
for a in T.thread_binding(8, thread="vthread"):
    for b in T.thread_binding(8, thread="vthread"):
        if n >= 8:
            x[a - b] = T.float32(1)
# threads ok: x exact
for a in T.thread_binding(8, thread="threadIdx.x"):
    for b in T.thread_binding(8, thread="threadIdx.y"):
        if n >= 8:
            x[a - b] = T.float32(1)
# scalars after if: e proved proved proved, x exact open
e[0] = T.int64(3)
if x[0] > T.float32(1):
    e[0] = T.int64(5)
if n >= 4:
    x[e[0]] = T.float32(1)
# scalars after if same: e proved proved proved proved, x exact open
e[0] = T.int64(5)
if x[0] > T.float32(1):
    e[0] = T.int64(3)
else:
    e[0] = T.int64(3)
if n >= 4:
    x[e[0]] = T.float32(1)
# scalars else: x exact open, e proved proved proved
if x[0] > T.float32(1):
    e[0] = T.int64(3)
else:
    e[0] = T.int64(4)
if n >= 4:
    x[e[0]] = T.float32(1)
# assert data: x exact exact
assert x[0] > T.float32(1), ''
x[0] = T.float32(1)
# assert: x proved
assert n > 7, ''
x[7] = T.float32(1)
# copied: p proved, s proved proved, x open
for j in range(m):
    s[j] = p[j] + 1
for j in range(m):
    x[s[j]] = T.float32(1)
# copied twice: p proved, s proved proved, x open
for j in range(m):
    s[j] = p[j]
for j in range(m):
    x[s[j] + 2] = T.float32(1)
# not copied: p proved proved, s proved proved proved, x open
for j in range(m):
    s[j] = p[j] + 1
for j in range(m):
    s[j] = p[j]
for j in range(m):
    x[s[j]] = T.float32(1)
# copy of t: s proved proved, x exact
for j in range(m):
    s[j] = T.Cast('int64', t)
for j in range(m):
    x[s[j]] = T.float32(1)
# direct: p proved, x open
for j in range(m):
    x[p[j]] = T.float32(1)
# stored p: p proved proved, x open
for j in range(m):
    p[j] = T.int64(2)
for j in range(m):
    x[p[j]] = T.float32(1)
# view of p: D proved, x open
D = T.decl_buffer((m,), 'int64', data=p.data)
for j in range(m):
    x[D[j]] = T.float32(1)
# view of p 32: D proved, x open
D = T.decl_buffer((m,), 'int32', data=p.data)
for j in range(m):
    x[D[j]] = T.float32(1)
# min of held: p proved, s proved proved, x open
for j in range(m):
    s[j] = T.min(p[j], n - 1)
for j in range(m):
    x[s[j]] = T.float32(1)
# two ends: s proved proved proved proved proved, x open
for j in range(m):
    s[j] = T.max(T.min(j, n - 1), 0)
for j in range(m):
    s[j] = T.min(s[j], s[j] + 0)
for j in range(m):
    x[s[j]] = T.float32(1)
# window p: w exact, x open
with T.sblock('b'):
    T.reads()
    T.writes()
    w = T.match_buffer(p[1:5], (4,), 'int64', offset_factor=1)
    for j in range(4):
        x[w[j]] = T.float32(1)
# counter down: e proved proved proved proved, x open
e[0] = n
for j in range(m):
    e[0] = e[0] - 1
    x[e[0]] = T.float32(1)
# bool buffer: b proved proved, x open
b = T.alloc_buffer((4,), 'bool')
for i in range(4):
    b[i] = i > 2
if b[1]:
    x[0] = T.float32(1)
# float idx: x exact open
x[T.Cast('int64', x[n])] = T.float32(1)
# extern: x unread exact
T.evaluate(T.call_extern('int32', 'g', x.data))
x[0] = T.float32(1)
# extern addr: x unread
T.evaluate(T.call_extern('int32', 'g', T.address_of(x[n])))
# extern addr of var: p exact, s unread
T.evaluate(T.call_extern('int32', 'g', T.address_of(s[p[m]])))
# access ptr: x proved
T.evaluate(T.call_extern('int32', 'g', T.tvm_access_ptr(T.type_annotation('float32'), x.data, 0, n, 1)))
# access ptr over: x exact
T.evaluate(T.call_extern('int32', 'g', T.tvm_access_ptr(T.type_annotation('float32'), x.data, 1, n, 2)))
# access ptr both: x proved proved
T.evaluate(T.call_extern('int32', 'g', T.tvm_access_ptr(T.type_annotation('float32'), x.data, 0, n, 3)))
# access ptr mask: x proved proved
T.evaluate(T.call_extern('int32', 'g', T.tvm_access_ptr(T.type_annotation('float32'), x.data, 0, n, t)))
# access ptr f16: x proved
T.evaluate(T.call_extern('int32', 'g', T.tvm_access_ptr(T.type_annotation('float16'), x.data, 0, n * 2, 1)))
# access ptr f16 over: x exact
T.evaluate(T.call_extern('int32', 'g', T.tvm_access_ptr(T.type_annotation('float16'), x.data, 0, n * 2 + 1, 1)))
# access ptr f32x4: x exact
T.evaluate(T.call_extern('int32', 'g', T.tvm_access_ptr(T.type_annotation('float32x4'), x.data, 0, n, 1)))
# access ptr handle: x exact
T.evaluate(T.call_extern('int32', 'g', T.tvm_access_ptr(T.type_annotation('float32'), h, 0, x[n], 1)))
# select loads: x proved exact
x[0] = T.Select(n > 1, x[1], T.float32(0))
# let: x unread
x[T.Let(T.Var('j', 'int64') * 2, where={T.Var('j', 'int64'): T.int64(0)})] = T.float32(1)
"""
"""Above each body its name, and what is said of the accesses of each buffer, in the order of the text."""


def read(text: str) -> Iterator[tuple[str, dict[str, str], str]]:
    """The name, the words by buffer, and the body of each kernel of a text."""
    for part in text.split("# ")[1:]:
        title, _, body = part.partition("\n")
        name, _, words = title.partition(":")
        found = (one.strip().partition(" ") for one in words.split(",") if one)
        yield name, {buffer: said for buffer, _, said in found}, body


def said_of(body: str) -> dict[str, str]:
    """By buffer what is said of each of its accesses."""
    function = tvm.script.from_source(HEAD + indent(body, "    "), check_well_formed=False)
    found: dict[str, list[str]] = {}
    for access in read_kernel("f", function).accesses.accesses:
        is_certain = any(one.exact for one in access.obligations)
        word = "unread" if access.unread else "proved" if access.proved else "exact" if is_certain else "open"
        found.setdefault(access.buffer.name, []).append(word)
    return {name: " ".join(words) for name, words in found.items()}


NOT_BEFORE_0_27 = {"strided t"}


@pytest.mark.parametrize("kernel", list(read(KERNELS)), ids=lambda kernel: kernel[0])
def test_what_is_said_of_each_access(kernel: tuple[str, dict[str, str], str]) -> None:
    name, words, body = kernel
    if name in NOT_BEFORE_0_27 and tvm.__version__.startswith("0.26"):
        pytest.skip("TVM 0.26 takes a step only of the dtype of the loop")
    assert said_of(body) == words
