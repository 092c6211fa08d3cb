"""Loops whose start, extent or step says little: as in `test_kernel_forms`, what is said of the accesses inside."""

from __future__ import annotations

import pytest

from tests.model.test_kernel_forms import read, said_of

KERNELS = """\
# the least extent of 32 bits wraps around to many steps: x open
for i in range(t - T.int32(2)):
    if T.Cast('int64', t) <= n:
        x[2] = T.float32(1)
# an extent of 64 bits does not: x proved
for i in range(m - T.int64(2)):
    if m <= n:
        x[2] = T.float32(1)
# an extent of 32 bits that no arithmetic makes: x proved
for i in range(t):
    if T.Cast('int64', t) <= n:
        x[0] = T.float32(1)
# data as the start: x exact proved
for i in T.serial(T.Cast('int64', x[0]), T.Cast('int64', x[0]) + 4):
    if i < n and i >= 0:
        x[i] = T.float32(1)
# data as the extent, with a guard: x exact proved
for i in range(T.Cast('int64', x[0])):
    if i < n:
        x[i] = T.float32(1)
# data as the extent: x exact open
for i in range(T.Cast('int64', x[0])):
    x[i] = T.float32(1)
# a step that is no constant may be negative: x open
for i in T.serial(0, n, step=m):
    x[i] = T.float32(1)
# data as the step: x exact open
for i in T.serial(0, n, step=T.Cast('int64', x[0])):
    x[i] = T.float32(1)
# a step back leaves the buffer after the first round: x open
for i in T.serial(0, n, step=-1):
    x[i] = T.float32(1)
# no step: x open
for i in T.serial(0, n, step=0):
    x[i] = T.float32(1)
# a step of two: x proved
for i in T.serial(0, n, step=2):
    x[i] = T.float32(1)
# an extent that is not read: x open
for i in range(n << m):
    x[i] = T.float32(1)
"""


@pytest.mark.parametrize("kernel", list(read(KERNELS)), ids=lambda kernel: kernel[0])
def test_what_is_said_of_each_access(kernel: tuple[str, dict[str, str], str]) -> None:
    _, words, body = kernel
    assert said_of(body) == words
