"""What a kernel is said to read for sure, or not to read at all, against runs with other contents."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable, Iterator

import sympy

from relax_lint.model.kernels import Kernel
from tests.oracle.kernels.bodies import Body
from tests.oracle.kernels.compare import Disagreement, extents, kernel_of, values_of
from tests.oracle.kernels.interpreter import Watched, run

SIZES = ((1, 3), (3, 1), (2, 4), (5, 3), (4, 1), (8, 3))
MORE_SIZES = (*SIZES[:3], (7, 2), (9, 1), (13, 2), (16, 1), (20, 1), (31, 1))
"""For bodies with constants that these come to, or go beyond."""
_OTHERS = 8
"""With so many contents of the other buffer it is asked whether one matters: some of them may hide it."""
_EACH = (-5.013, 5.013, 0.0)
"""Contents that are the same in each element."""
_CONTENTS = 10
"""How many contents of a buffer are tried, with each of those of the other one."""


def compare_more_reads(body: Body) -> Counter[str]:
    """Both claims at larger sizes as well. Raises `Disagreement`."""
    return compare_reads(body, MORE_SIZES)


def compare_reads(body: Body, sizes: Iterable[tuple[int, int]] = SIZES) -> Counter[str]:
    """Both claims at some sizes. Raises `Disagreement`."""
    _, kernel = kernel_of(body)
    seen: Counter[str] = Counter()
    for n, m in sizes:
        values = values_of(kernel, n, m)
        for position, shape in enumerate((body.x, body.y)):
            claim = _claim(kernel, position, values)
            if claim is None or not math.prod(extents(shape, n, m)):
                continue
            matters = _matters(body, position, n, m)
            if matters is None:
                seen["outside"] += 1
                continue
            if matters is not claim:
                raise Disagreement(f"{'xy'[position]} is{' ' if claim else ' not '}read")
            seen["read for sure" if claim else "not read"] += 1
    return seen


def _claim(kernel: Kernel, position: int, values: dict[sympy.Symbol, int]) -> bool | None:
    """Whether it is said that a parameter is read, or that it is not; None where neither is said."""
    if position not in kernel.reads:
        return False
    if not kernel.writes:
        return None
    when = kernel.read_if.get(position, sympy.false) if position in kernel.unsure_reads else sympy.true
    return True if when.subs(values) == sympy.true else None


def _matters(body: Body, position: int, n: int, m: int) -> bool | None:
    """Whether what one buffer held before changes what is stored; None where an index is outside."""
    for other in range(_OTHERS):
        results = []
        for number in range(_CONTENTS):
            found = _stored(body, position, n, m, other, number)
            if found is None:
                return None
            results.append(found)
            if found != results[0]:
                return True
    return False


def _stored(
    body: Body, position: int, n: int, m: int, other: int, number: int
) -> tuple[dict[int, float], ...] | None:
    shapes = extents(body.x, n, m), extents(body.y, n, m)
    given = (
        (_contents(number, other), _cells(other))
        if position == 0
        else (_cells(other), _contents(number, other))
    )
    x, y = (
        Watched([next(cells) for _ in range(math.prod(shape))], shape)
        for cells, shape in zip(given, shapes, strict=True)
    )
    run(body, x, y, n, m)
    if x.outside or y.outside:
        return None
    return tuple({cell: one.cells[cell] for cell in one.stored} for one in (x, y))


def _contents(number: int, other: int) -> Iterator[float]:
    if number < len(_EACH):
        while True:
            yield _EACH[number]
    yield from _cells(1_000 + number + 100 * other)


def _cells(seed: int) -> Iterator[float]:
    chance = random.Random(seed)
    while True:
        yield chance.randint(-9, 9) + 0.013
