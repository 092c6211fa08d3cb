"""What an index or a condition of a kernel may be made of, one thing each: as in `test_kernel_forms`."""

from __future__ import annotations

import pytest

from tests.model.test_kernel_forms import read, said_of

KERNELS = """\
# vec pointer: x exact
T.evaluate(T.call_extern('int32', 'g', T.tvm_access_ptr(T.type_annotation('float32x4'), x.data, 0, 2, 1)))
# ptr of a handle:
T.evaluate(T.call_extern('int32', 'g', T.tvm_access_ptr(T.type_annotation('float32'), h, 0, 1, 1)))
# ptr of element's pointer: x unread
T.evaluate(T.call_extern('int32', 'g', T.tvm_access_ptr(T.type_annotation('float32'), T.address_of(x[n]), 0, 1, 1)))
# mask float: x unread
T.evaluate(T.call_extern('int32', 'g', T.tvm_access_ptr(T.type_annotation('float32'), x.data, 0, n, T.float32(1))))
# array of handle:
T.evaluate(T.call_packed('g', T.tvm_stack_make_array(h, T.tvm_stack_make_shape(n), 0, 1, T.float32(0), T.int64(0))))
# array of element: x unread
T.evaluate(T.call_packed('g', T.tvm_stack_make_array(T.address_of(x[n]), T.tvm_stack_make_shape(n), 0, 1, T.float32(0), T.int64(0))))
# array no shape: x unread
T.evaluate(T.call_packed('g', T.tvm_stack_make_array(x.data, h, 0, 1, T.float32(0), T.int64(0))))
# array: x proved proved
T.evaluate(T.call_packed('g', T.tvm_stack_make_array(x.data, T.tvm_stack_make_shape(n), 0, 1, T.float32(0), T.int64(0))))
# array at 1: x exact exact
T.evaluate(T.call_packed('g', T.tvm_stack_make_array(x.data, T.tvm_stack_make_shape(n), 0, 1, T.float32(0), T.int64(1))))
# call of truth: x open
if T.call_extern('bool', 'g', 1):
    x[0] = T.float32(1)
# call of float idx: x open
x[T.Cast('int64', T.call_extern('float32', 'g', 1))] = T.float32(1)
# call int: x open
x[T.call_extern('int8', 'g', 1)] = T.float32(1)
# call int guard: x open
if n > 127:
    x[T.call_extern('int8', 'g', 1) + T.int8(0)] = T.float32(1)
# addr of nonload: x exact
T.evaluate(T.call_extern('int32', 'g', T.isnan(x[n])))
# select of truths: x exact
if T.Select(n > 3, n > 5, n > 1):
    x[3] = T.float32(1)
# select of truths 2: x proved
if T.Select(n > 3, n > 1, n > 5):
    x[3] = T.float32(1)
# select truth float: x proved proved
if T.Select(n > 3, x[0] > T.float32(0), n > 5):
    x[3] = T.float32(1)
# ite truth: x exact
if T.if_then_else(n > 3, n > 5, n > 1):
    x[5] = T.float32(1)
# cmp truths: x proved
if (n > 3) == (m > 3):
    if m > 3:
        x[3] = T.float32(1)
# cmp truths ne: x proved
if (n > 3) != (m > 3):
    if m <= 3:
        x[3] = T.float32(1)
# lt truths: x exact
if T.Cast('int32', n > 3) < T.Cast('int32', m > 3):
    if n < 2:
        x[0] = T.float32(1)
# lt truths 2: x proved
if T.Cast('int32', m > 3) < T.Cast('int32', n > 3):
    x[3] = T.float32(1)
# xor: x open
if (n > 3) ^ (m > 3):
    if m <= 3:
        x[3] = T.float32(1)
# and bits: x proved
if (n > 3) & (m > 3):
    x[3] = T.float32(1)
# or bits: x proved
if (n > 5) | (n > 3):
    x[3] = T.float32(1)
# and mix: x exact
x[T.bitwise_and(T.Cast('int64', n > 0), T.int64(0))] = T.float32(1)
# not bits: x proved
if ~(n <= 3):
    x[3] = T.float32(1)
# shift 0: x proved
if n > 5:
    x[T.shift_left(T.int64(5), T.int64(0))] = T.float32(1)
# shift 62: x proved
if n > 5:
    x[T.shift_right(n, T.int64(62))] = T.float32(1)
# shift 63: x proved
if n > 5:
    x[T.shift_right(n, T.int64(63))] = T.float32(1)
# shift m: x unread
x[T.shift_right(n, m)] = T.float32(1)
# shift float: x exact unread
x[T.shift_right(n, T.Cast('int64', x[0]))] = T.float32(1)
# div by data: p proved, x unread
for j in range(m):
    x[T.truncdiv(j, p[j])] = T.float32(1)
# mod by data: p proved, x unread
for j in range(m):
    x[T.truncmod(j, p[j])] = T.float32(1)
# floordiv by data: p proved, x unread
for j in range(m):
    x[j // p[j]] = T.float32(1)
# min of float: x exact open
for j in range(m):
    x[T.min(j, T.Cast('int64', x[0]))] = T.float32(1)
# uint8: x open
x[T.Cast('int64', T.Cast('uint8', n))] = T.float32(1)
# uint8 guard: x proved
if n > 255:
    x[T.Cast('int64', T.Cast('uint8', n))] = T.float32(1)
# uint8 guard 254: x open
if n > 254:
    x[T.Cast('int64', T.Cast('uint8', n))] = T.float32(1)
# int8 arith: x open
if n > 3:
    x[T.Cast('int64', T.Cast('int8', n % 100) * T.int8(2))] = T.float32(1)
# mask and: x proved
if n > 7:
    for j in range(m):
        x[j & 7] = T.float32(1)
# mask and 6: x open
if n > 6:
    for j in range(m):
        x[j & 6] = T.float32(1)
# mask neg: x unread
for j in range(m):
    x[j & -8] = T.float32(1)
# or range: x proved
if n > 7:
    for j in range(4):
        x[j | 4] = T.float32(1)
# or range 6: x open
if n > 6:
    for j in range(4):
        x[j | 4] = T.float32(1)
# and data: p proved, x proved
if n > 3:
    for j in range(m):
        x[p[j] & 3] = T.float32(1)
# or data: p proved, x unread
for j in range(m):
    x[p[j] | 3] = T.float32(1)
# ceil log: x proved
if n > 3:
    x[T.Cast('int64', T.ceil(T.log2(T.Cast('float64', 5))))] = T.float32(1)
# ceil log 3: x exact
if n > 2:
    x[T.Cast('int64', T.ceil(T.log2(T.Cast('float64', 5))))] = T.float32(1)
# wrap cond: x exact
if T.Cast('int32', n) * 4 < 8:
    x[0] = T.float32(1)
# promise: x proved
T.evaluate(T.assume(n > 4))
x[4] = T.float32(1)
# promise data: p proved proved proved, x proved
for j in range(m):
    T.evaluate(T.assume(p[j] >= 0 and p[j] < n))
    x[p[j]] = T.float32(1)
# ramp float: x exact open
x[T.Ramp(T.Cast('int32', x[0]), 1, 4)] = T.Broadcast(T.float32(1), 4)
# ramp: x proved
if n >= 4:
    x[T.Ramp(0, 1, 4)] = T.Broadcast(T.float32(1), 4)
# ramp 2: x exact
if n >= 6:
    x[T.Ramp(0, 2, 4)] = T.Broadcast(T.float32(1), 4)
# ramp 7: x proved
if n >= 7:
    x[T.Ramp(0, 2, 4)] = T.Broadcast(T.float32(1), 4)
# pow shift: x proved
for j in range(3):
    if n > 4:
        x[T.shift_left(1, j)] = T.float32(1)
# pow shift 3: x open
for j in range(3):
    if n > 3:
        x[T.shift_left(1, j)] = T.float32(1)
"""


@pytest.mark.parametrize("kernel", list(read(KERNELS)), ids=lambda kernel: kernel[0])
def test_what_is_said_of_each_access(kernel: tuple[str, dict[str, str], str]) -> None:
    _, words, body = kernel
    assert said_of(body) == words
