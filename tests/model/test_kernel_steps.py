"""Quotients and remainders of steps, ways out and reductions: what the bodies fill, as in `test_kernel_facts`."""

from __future__ import annotations

import pytest

from tests.model.test_kernel_facts import check, read

KERNELS = """\
# digits from 4: n * 4; n + 1, 4 | reads x, y not, first x
for i in range(4, n * 4 + 4):
    y[i // 4, i % 4] = x[i - 4]
# digits from 4 and the last: n * 4; n + 1, 4 | reads x, y at 0, first x
for i in range(4, n * 4 + 4):
    y[i // 4, i % 4] = x[i - 4]
for j in range(4):
    y[n, j] = x[0]
# digits: n * 4; n, 4 | reads x, y whole, first x, elementwise xy, copies xy
for i in range(n * 4):
    y[i // 4, i % 4] = x[i]
# quotient in a condition: 16; 8 | reads x, y whole, elementwise xy, copies xy
for i in range(16):
    if i // 4 < 2:
        y[i] = x[i]
# quotient in a condition 3: 16; 9 | reads x, y not, elementwise xy, copies xy
for i in range(16):
    if i // 4 < 2:
        y[i] = x[i]
# negative quotient in a condition: 16; 16 | reads x, y not, elementwise xy, copies xy
for i in range(16):
    if i // -2 < -2:
        y[i] = x[i]
# negative quotient in a condition 2: 16; 16 | reads x, y whole, elementwise xy, copies xy
for i in range(16):
    if i // -2 < 2:
        y[i] = x[i]
# one before two: n; n * 2 + 2 | reads x, y whole, first x
for i in range(n):
    y[i * 2] = x[i]
for i in range(n + 1):
    y[i * 2 + 1] = x[0]
y[n * 2] = x[0]
# one before two, not the last: n; n * 2 + 2 | reads x, y at , first x
for i in range(n):
    y[i * 2] = x[i]
for i in range(n + 1):
    y[i * 2 + 1] = x[0]
y[0] = x[0]
# in rows: n; n, 5 | reads x, y whole, first x
for i in range(n):
    for j in range(3):
        y[i, j * 2] = x[i]
for i in range(n):
    for j in range(2):
        y[i, j * 2 + 1] = x[i]
# in rows, first: n; n, 5 | reads x, y not, first x
for i in range(n):
    for j in range(3):
        y[i, j * 2] = x[i]
for j in range(2):
    y[0, j * 2 + 1] = x[0]
# each in its rows: 21 | reads x, y not, first x
for j in range(3):
    y[j * 2] = x[j]
for i in range(3):
    for j in range(2):
        y[i * 7 + j * 2 + 1] = x[j]
for i in range(3):
    for j in range(3):
        y[i * 7 + 4 + j] = x[j]
# once: n; n, 5 | reads x, y whole, first x
for i in range(n):
    for j in range(2):
        y[i, j * 2] = x[i]
for i in range(n):
    y[i, 1] = x[i]
    y[i, 3] = x[i]
    y[i, 4] = x[i]
# by two and by three: 6 | reads x, y not, first x
for j in range(3):
    y[j * 2] = x[j]
for j in range(2):
    y[j * 3 + 1] = x[j]
for j in range(2):
    y[j * 3 + 2] = x[j]
# fewer before: 6 | reads x, y not, first x
for i in range(2):
    y[i * 2] = x[i]
for i in range(3):
    y[i * 2 + 1] = x[i]
# eight more: n; n * 2 + 16 | reads x, y whole, first x
for i in range(n + 8):
    y[i * 2] = x[0]
for i in range(n):
    y[i * 2 + 1] = x[i]
for i in range(8):
    y[n * 2 + i * 2 + 1] = x[0]
# behind the first: n; n * 2 + 2 | reads x, y whole, first x
y[0] = x[0]
for i in range(n + 1):
    y[i * 2 + 1] = x[0]
for i in range(n):
    y[i * 2 + 2] = x[i]
# one step that is not seen at once: n, m; n, 3 | reads x, y whole, first x
for i in range((n + 1) * m - n * m - m + 1):
    for j in range(n):
        for k in range(3):
            y[i + j, k] = x[j, 0]
# two remainders: 12; 4 | reads x, y whole, first x
for i in range(12):
    y[i % 6 % 4] = x[i % 4]
# two remainders that fit: 12; 4 | reads x, y whole, first x, elementwise xy, copies xy
for i in range(12):
    y[i % 8 % 4] = x[i % 4]
# remainder below 0: n * 8; n, 8 | reads x, y not, first x?
for j in range(n - 1):
    for i in range(8):
        y[j + 1, (i - 2) % 8] = x[j * 8 + i + 6]
# condition with a quotient: n | reads x, y not, elementwise xy, copies xy
for i in range(n):
    if i < n + n * ((n - 4) // 2):
        y[i] = x[i]
# rows from the middle: n, 2 * m | reads x, y not, first x?, elementwise xy, copies xy
for i in range(n):
    for j in range(m):
        y[i, j + m] = x[i, j + m]
# both ways, two of each: n, 2 | reads x, y whole
for i in range(n):
    if n > 3:
        y[i, 0] = x[i, 0]
        y[i, 1] = x[i, 1]
    else:
        y[i, 1] = x[i, 0]
        y[i, 0] = x[i, 1]
# leaves a loop: n | reads x, y whole, first x, elementwise xy, copies xy
for i in range(n):
    if i == 3:
        break
for i in range(n):
    y[i] = x[i]
# leaves a while: n | reads x, y whole, first x, elementwise xy
while x[0] > T.float32(0):
    break
for i in range(n):
    y[i] = x[i]
# init of two: n, 4; n, 2 | reads x, y whole, first x
for i in range(n):
    for j in range(4):
        with T.sblock("b"):
            v = T.axis.spatial(n, i)
            r = T.axis.reduce(4, j)
            with T.init():
                y[v, 0] = T.float32(0)
                y[v, 1] = T.float32(0)
            y[v, 0] = y[v, 0] + x[v, r]
            y[v, 1] = y[v, 1] + x[v, r]
# init of one: n, 4; n, 2 | reads xy, y whole, first x
for i in range(n):
    for j in range(4):
        with T.sblock("b"):
            v = T.axis.spatial(n, i)
            r = T.axis.reduce(4, j)
            with T.init():
                y[v, 0] = T.float32(0)
            y[v, 0] = y[v, 0] + x[v, r]
            y[v, 1] = y[v, 1] + x[v, r]
# init by the reduced axis: n, 4; n, 4 | reads xy, y whole, first x
for i in range(n):
    for j in range(4):
        with T.sblock("b"):
            v = T.axis.spatial(n, i)
            r = T.axis.reduce(4, j)
            with T.init():
                y[v, r] = T.float32(0)
                y[v, 0] = T.float32(0)
            y[v, r] = y[v, r] + x[v, r]
# init of some: n, 4; n | reads x, y not
for i in range(n):
    for j in range(4):
        with T.sblock("b"):
            v = T.axis.spatial(n, i)
            r = T.axis.reduce(4, j)
            with T.init():
                if v < 2:
                    y[v] = T.float32(0)
            if v < 2:
                y[v] = y[v] + x[v, r]
# init over a triangle: n, n; n | reads xy, y not, first x?
for i in range(n):
    for j in range(i):
        with T.sblock("b"):
            v = T.axis.spatial(n, i)
            r = T.axis.reduce(n, j)
            with T.init():
                y[v] = T.float32(0)
            y[v] = y[v] + x[v, r]
# init of some over a triangle: n, n; n | reads xy, y not, first x?
for i in range(n):
    for j in range(i):
        with T.sblock("b"):
            v = T.axis.spatial(n, i)
            r = T.axis.reduce(n, j)
            with T.init():
                if r + v < 2:
                    y[v] = T.float32(0)
            y[v] = y[v] + x[v, r]
# init without a reduction: n | reads x, y whole, first x
for i in range(n):
    with T.sblock("b"):
        v = T.axis.spatial(n, i)
        with T.init():
            y[v] = T.float32(0)
        y[v] = y[v] + x[v]
"""
"""Above each body its name, the shapes of `x` and `y` (one where they are alike), and what is said of it."""


@pytest.mark.parametrize("row", list(read(KERNELS)), ids=lambda row: row[0])
def test_what_is_said_of_a_body(row: tuple[str, str, str, str]) -> None:
    check(row)
