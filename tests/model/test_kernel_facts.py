"""What a body is known to read and to fill, and what may share memory with what: one idea each, carried out by Python."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import sympy

from relax_lint.model.kernels import BufferParameter, Kernel
from tests.oracle.kernels.bodies import Body, Do
from tests.oracle.kernels.compare import kernel_of, values_of
from tests.oracle.kernels.interpreter import Watched, run

SIZES = ((0, 3), (1, 3), (2, 4), (5, 4))

KERNELS = """\
# carried: n | reads x, y whole, first x, elementwise xy
y[0] = x[0]
for i in range(n - 1):
    y[i + 1] = y[i] + x[i + 1]
# carried up to another loop: n | reads xy, y at 0 1, first x
y[0] = x[0]
for i in range(n):
    for j in range(i):
        y[j + 1] = y[j] + x[j]
# carried backwards: 8 | reads x, y not, first x
y[4] = x[4]
for i in range(1, 5):
    y[5 - i - 1] = y[5 - i] + x[i]
# stored in the first step: 8 | reads xy, y not, first x
for i in range(1, 5):
    y[i] = x[i]
    y[4 - i] = y[5 - i] + x[i]
# store before the element: 8 | reads xy, y not, first x
for i in range(1, 5):
    y[i] = T.float32(1)
    y[4 - i] = y[5 - i] + x[i]
# conditional steps: n | reads x, y not, elementwise xy
for i in range(n):
    if i < 5:
        y[i] = x[i]
    if i < 5:
        y[i] = y[i] + x[i]
# other conditions: n | reads xy, y not, elementwise xy
for i in range(n):
    if i < 4:
        y[i] = x[i]
    if i < 5:
        y[i] = y[i] + x[i]
# condition of another loop: n | reads xy, y not
for j in range(4):
    for i in range(n):
        if i < j:
            y[i] = x[i]
    for k in range(n):
        if k < j:
            y[k] = y[k] + x[k]
# a comparison as a number: n | reads x, y whole, first x, elementwise xy
for i in range(n):
    y[i] = T.Cast("float32", x[i] > T.float32(1))
# a choice by two comparisons: n | reads x, y whole, first x, elementwise xy
for i in range(n):
    y[i] = T.Select(x[i] >= T.float32(1) and x[i] != T.float32(3), T.float32(1), T.float32(2))
# a choice by one of two: n | reads x, y whole, first x, elementwise xy
for i in range(n):
    y[i] = T.Select(x[i] <= T.float32(1) or x[i] == T.float32(3), T.float32(1), T.float32(2))
# inner loop in condition: n, 4 | reads xy, y whole, elementwise xy
for i in range(n):
    for j in range(4):
        if j < 4:
            y[i, j] = x[i, j]
    for j in range(4):
        if j < 4:
            y[i, j] = y[i, j] + x[i, j]
# column of constant: n, 4 | reads x, y whole, first x, elementwise xy
for i in range(n):
    for j in range(4):
        for k in range(3):
            y[i, j] = x[i, j]
    y[i, 2] = y[i, 2] + x[i, 2]
# column no step: n, 4 | reads xy, y not, first x, elementwise xy
for i in range(n):
    for j in range(4):
        for k in range(0):
            y[i, j] = x[i, j]
    y[i, 2] = y[i, 2] + x[i, 2]
# column of n steps: n, m; n, 4 | reads xy, y at 0 1 2 3 4 5 6, first x
for i in range(n):
    for j in range(4):
        for k in range(m):
            y[i, j] = x[i, 0]
    y[i, 2] = y[i, 2] + x[i, 0]
# column 4 outside: n, 5 | reads xy, y whole, first x, before xy
for i in range(n):
    for j in range(4):
        y[i, j] = x[i, j]
    y[i, 4] = y[i, 4] + x[i, 2]
# column 1 from 1: n, 5 | reads xy, y not, first x, elementwise xy
for i in range(n):
    for j in range(2, 5):
        y[i, j] = x[i, j]
    y[i, 1] = y[i, 1] + x[i, 1]
# column 2 from 2: n, 5 | reads x, y not, first x, elementwise xy
for i in range(n):
    for j in range(2, 5):
        y[i, j] = x[i, j]
    y[i, 2] = y[i, 2] + x[i, 2]
# column in one step: n, 4 | reads x, y not, first x, elementwise xy
for i in range(n):
    for k in range(1):
        y[i, 2] = x[i, 2]
    y[i, 2] = y[i, 2] + x[i, 2]
# triangle: n, n | reads xy, y not, first x
for i in range(n):
    for j in range(i):
        y[i, j] = x[i, j]
    y[i, 0] = y[i, 0] + x[i, 0]
# triangle 2: n, n | reads xy, y whole, first x
for i in range(n):
    for j in range(n):
        y[i, j] = x[i, j]
    for j in range(i):
        y[i, j] = y[i, j] + x[i, 0]
# same element of an inner loop: n, 4 | reads xy, y whole, first x
for i in range(n):
    for j in range(4):
        y[i, 3 - j] = x[i, j]
    for j in range(4):
        y[i, 3 - j] = y[i, 3 - j] + x[i, j]
# parallel after: n | reads x, y whole, first x, elementwise xy
for j in range(n):
    y[j] = x[j]
for j in range(n):
    y[j] = y[j] + y[n - 1 - j]
# cases of remainders: n | reads x, y whole, first x?
for i in range((n + 1) // 2):
    y[i * 2] = x[i]
for i in range(n // 2):
    y[i * 2 + 1] = x[i]
# cases of two: n * m | reads x, y not, first x?
for i in range((n * m + 1) // 2):
    y[i * 2] = x[i]
for i in range(n * m // 2):
    y[i * 2 + 1] = x[i]
# cases of a sum: n + m | reads x, y not, first x?
for i in range((n + m + 1) // 2):
    y[i * 2] = x[i]
for i in range((n + m) // 2):
    y[i * 2 + 1] = x[i]
# thirds: n | reads x, y whole, first x?
for i in range((n + 2) // 3):
    y[i * 3] = x[i]
for i in range((n + 1) // 3):
    y[i * 3 + 1] = x[i]
for i in range(n // 3):
    y[i * 3 + 2] = x[i]
# halves and thirds: n | reads x, y whole, first x?
for i in range(n // 2):
    y[i] = x[i]
for i in range(n - n // 2):
    y[i + n // 2] = x[i]
# divided by -2: n | reads x, y whole, first x?
for i in range(n // -2 + n):
    y[i] = x[i]
for i in range(0 - n // -2):
    y[i + n + n // -2] = x[i]
# divided by m: n, m; n | reads x, y whole, first x?
for i in range(n // m):
    y[i] = x[i, 0]
for i in range(n - n // m):
    y[i + n // m] = x[i, 0]
# rows: n, 4 | reads x, y whole, first x, elementwise xy, copies xy
for i in range(n):
    y[i, 0] = x[i, 0]
for i in range(n):
    y[i, 1] = x[i, 1]
    y[i, 2] = x[i, 2]
for i in range(n):
    y[i, 3] = x[i, 3]
# rows missing: n, 4 | reads x, y not, first x, elementwise xy, copies xy
for i in range(n):
    y[i, 0] = x[i, 0]
for i in range(n):
    y[i, 1] = x[i, 1]
for i in range(n):
    y[i, 3] = x[i, 3]
# in a row: n + 6 | reads x, y whole, first x
for i in range(2):
    y[i] = x[i]
for i in range(n):
    y[i + 2] = x[i]
for i in range(4):
    y[n + 2 + i] = x[i]
# not in a row: n + 6 | reads x, y at , first x
for i in range(2):
    y[i] = x[i]
for i in range(n):
    y[i + 3] = x[i]
for i in range(3):
    y[n + 3 + i] = x[i]
# in the step of a number: n; 1 | reads x, y whole
for i in range(n + 1):
    if i == 0:
        y[0] = x[i]
# in the step of a number that is not the first: n; 1 | reads x, y not
for i in range(n + 1):
    if i == 1:
        y[0] = x[i - 1]
# digits and the number that has them: n, 4; 4, 4 | reads x, y whole, first x
for i in range(16):
    y[(i - i % 4) // 4, i % 4] = x[0, 0]
# fewer digits: n, 4; 4, 4 | reads x, y not, first x
for i in range(12):
    y[(i - i % 4) // 4, i % 4] = x[0, 0]
# other elements of its row: n, 4; n, 4 | reads x, y not, first x, elementwise xy
for i in range(n):
    y[i, 0] = x[i, 0] + x[i, 1]
    y[i, 1] = T.float32(0)
# an element of the row after it: n, 4; n, 4 | reads x, y not, first x?
for i in range(n - 1):
    y[i, 0] = x[i, 0] + x[i + 1, 1]
    y[i, 1] = T.float32(0)
"""
"""Above each body its name, the shapes of `x` and `y` (one where they are alike), and what is said of it."""


def read(text: str) -> Iterator[tuple[str, str, str, str]]:
    """The name, what it has for parameters, what is said of it, and the body of each kernel of a text."""
    for part in text.split("# ")[1:]:
        title, _, body = part.partition("\n")
        name, _, rest = title.partition(":")
        parameters, _, words = rest.partition("|")
        yield name, parameters.strip(), words.strip(), body.strip("\n")


def said_of(kernel: Kernel) -> str:
    """What may be read, what is written as a whole (for a condition: at which `n`, with 3 for `m`), what is read first
    ("?": perhaps), which pairs may be one memory, which indices are looked up, and whose address is lost.
    """
    names = [parameter.name for parameter in kernel.parameters]
    words = ["reads " + "".join(names[place] for place in sorted(kernel.reads))]
    words += [f"{names[place]} {_word_of(kernel.whole_writes[place])}" for place in kernel.whole_writes]
    if kernel.first_reads:
        first = (names[place] + "?" * (not certain) for place, certain in kernel.first_reads.items())
        words.append(f"first {' '.join(first)}")
    for word, pairs in (
        ("elementwise", kernel.elementwise),
        ("copies", kernel.copies),
        ("before", kernel.read_before),
    ):
        if pairs:
            words.append(f"{word} {' '.join(sorted(names[a] + names[b] for a, b in pairs))}")
    if kernel.lookups:
        words.append("looks up " + " ".join(names[one.indices] for one in kernel.lookups))
    if kernel.opaque:
        words.append("opaque " + "".join(names[place] for place in kernel.opaque))
    return ", ".join(words)


def _word_of(whole: sympy.Basic) -> str:
    if whole in (sympy.true, sympy.false):
        return "whole" if whole == sympy.true else "not"
    held = (n for n in range(7) if _at(whole, {"n": n, "m": 3}) == sympy.true)
    return f"at {' '.join(map(str, held))}"


def _at(value: sympy.Basic, sizes: dict[str, int]) -> sympy.Basic:
    return value.subs({symbol: sizes[str(symbol)] for symbol in value.free_symbols})


def check_runs(body: Body, kernel: Kernel) -> None:
    """What is said is so of runs of the body."""
    for n, m in SIZES:
        values = values_of(kernel, n, m)
        buffers = []
        for parameter in kernel.parameters:
            assert isinstance(parameter, BufferParameter)
            shape = [int(extent.subs(values)) for extent in parameter.shape]  # type: ignore[union-attr]
            buffers.append(Watched([float(i % 7 + 1) for i in range(int(sympy.prod(shape)))], shape))
        x, y = buffers
        run(body, x, y, n, m)
        if x.outside or y.outside:
            continue
        assert kernel.whole_writes[1].subs(values) != sympy.true or len(y.stored) == y.count
        assert 1 in kernel.reads or not y.early
        assert not kernel.first_reads.get(1, False) or y.early or not y.count


def check(row: tuple[str, str, str, str]) -> None:
    """That a body is said to be what stands above it, and is that."""
    _, shapes, words, text = row
    x, _, y = shapes.partition("; ")
    body = Body(x, y or x, (Do(text),))
    _, kernel = kernel_of(body)
    assert said_of(kernel) == words
    check_runs(body, kernel)


@pytest.mark.parametrize("row", list(read(KERNELS)), ids=lambda row: row[0])
def test_what_is_said_of_a_body(row: tuple[str, str, str, str]) -> None:
    check(row)
