"""What the linter reads from a kernel, against runs of it: apart and on one memory, interpreted and compiled."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable

import numpy as np
import sympy
import tvm

from relax_lint.model.kernels import BufferParameter, Kernel
from relax_lint.model.prim_funcs import read_kernel
from relax_lint.symbolic.quantity import Unknown
from tests.oracle.kernels.bodies import Body, script
from tests.oracle.kernels.interpreter import Watched, run, sizes

OTHER_SEEDS = range(2, 7)
"""Of contents that are tried where those of the first runs decide nothing."""


class Disagreement(AssertionError):
    """The linter says something that a run contradicts."""


class Unusable(Exception):
    """TVM does not take the text."""


def kernel_of(body: Body) -> tuple[object, Kernel]:
    """The function and what is read from it."""
    try:
        function = tvm.script.from_source(script(body))
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        raise Unusable from None
    return function, read_kernel("f", function)


def extents(text: str, n: int, m: int) -> tuple[int, ...]:
    """The numbers of a shape."""
    return tuple(eval(part, {"n": n, "m": m}) for part in text.split(", "))


def _cells(count: int, seed: int) -> list[float]:
    chance = random.Random(seed)
    return [float(chance.randint(-9, 9)) for _ in range(count)]


def _apart(body: Body, n: int, m: int, seed: int) -> tuple[Watched, Watched, list[float]]:
    """A run on memory apart that holds the same, and what it held."""
    shapes = extents(body.x, n, m), extents(body.y, n, m)
    cells = _cells(max(map(math.prod, shapes)), seed)
    x, y = (Watched(cells[: math.prod(shape)], shape) for shape in shapes)
    run(body, x, y, n, m)
    return x, y, cells


def _shared(body: Body, n: int, m: int, cells: list[float]) -> Watched:
    shared = list(cells)
    x, y = Watched(shared, extents(body.x, n, m)), Watched(shared, extents(body.y, n, m))
    run(body, x, y, n, m)
    y.outside |= x.outside
    return y


def compare(body: Body) -> Counter[str]:
    """Every claim about the kernel at some sizes and contents. Raises `Disagreement`."""
    _, kernel = kernel_of(body)
    seen: Counter[str] = Counter()
    for n, m in sizes():
        outcomes = [_apart(body, n, m, seed) for seed in (1, 2)]
        _compare_effects(kernel, outcomes, n, m, seen)
        if not any(buffer.outside for x, y, _ in outcomes for buffer in (x, y)):
            _compare_shared(body, kernel, outcomes, n, m, seen)
    return seen


def _says(what: str, claimed: bool, holds: bool, seen: Counter[str]) -> None:
    if claimed:
        seen[what] += 1
        if not holds:
            raise Disagreement(what)


def values_of(kernel: Kernel, n: int, m: int) -> dict[sympy.Symbol, int]:
    """The values of the symbols of its parameters."""
    found: dict[sympy.Symbol, int] = {}
    for parameter in kernel.parameters:
        assert isinstance(parameter, BufferParameter)
        assert not isinstance(parameter.shape, Unknown)
        for symbol in {symbol for extent in parameter.shape for symbol in extent.free_symbols}:
            found[symbol] = {"n": n, "m": m}[symbol.name]
    return found


def _bounds(kernel: Kernel, values: dict[sympy.Symbol, int]) -> tuple[bool, bool]:
    """Whether every access is said to stay inside, and whether one is said to be outside, at some values."""
    inside, leaves = not kernel.accesses.unread, False
    for access in kernel.accesses.accesses:
        inside = inside and not access.unread and not access.assumed
        for obligation in access.obligations:
            numbers = [access.terms.expression(p).subs(values) for p in obligation.outside]
            inside = inside and any(number.is_Integer and number < 0 for number in numbers)
            made = all(number.is_Integer and number >= 0 for number in numbers)
            leaves = leaves or (obligation.exact and made)
    return inside, leaves


def _compare_effects(
    kernel: Kernel,
    outcomes: list[tuple[Watched, Watched, list[float]]],
    n: int,
    m: int,
    seen: Counter[str],
) -> None:
    values = values_of(kernel, n, m)
    whole = kernel.whole_writes.get(1, sympy.false).subs(values) == sympy.true
    left = kernel.left(1).subs(values) == sympy.true
    inside, leaves = _bounds(kernel, values)
    for x, y, _ in outcomes:
        outside = x.outside or y.outside
        _says("RLX306 outside", leaves, outside, seen)
        _says("RLX306 inside", inside, not outside, seen)
        _says("x is not written", 0 not in kernel.writes, not x.stored, seen)
        _says("y is not written", 1 not in kernel.writes, not y.stored, seen)
        if outside:
            continue
        _says("y is whole", whole, len(y.stored) == y.count, seen)
        _says("y is left alone in part", left and y.count > 0, len(y.stored) < y.count, seen)
        seen["all of y is stored"] += len(y.stored) == y.count
        _says("y is not read", 1 not in kernel.reads, not y.early, seen)
        _says("y is read first", kernel.first_reads.get(1, False) and y.count > 0, y.early, seen)


def _compare_shared(
    body: Body,
    kernel: Kernel,
    outcomes: list[tuple[Watched, Watched, list[float]]],
    n: int,
    m: int,
    seen: Counter[str],
) -> None:
    same = []
    for _, y, cells in outcomes:
        shared = _shared(body, n, m, cells)
        same.append(shared.cells[: y.count] == y.cells)
        _says("copies", (0, 1) in kernel.copies, shared.cells == cells, seen)
    _says("elementwise", (0, 1) in kernel.elementwise, all(same), seen)
    _says("read before", (0, 1) in kernel.read_before, all(same), seen)
    seen["right on one memory"] += all(same)
    if kernel.differs is not None and n > 0 and m > 0:
        values = values_of(kernel, n, m)
        once = dict.fromkeys(values, 1)
        repeated = bool(values) and values.keys() <= kernel.repeated(1, 0)
        claimed = repeated and kernel.differs(once, 1, 0, 0) is True
        _says("differs at each size", claimed, not _is_always(all(same), body, n, m), seen)
    if kernel.differs is not None and not all(same) and n in (2, 5):
        found = kernel.differs(values_of(kernel, n, m), 1, 0, 0)
        _says("differs", found is True, not all(same), seen)
    elif kernel.differs is not None and all(same) and n in (2, 5):
        found = kernel.differs(values_of(kernel, n, m), 1, 0, 0)
        right = found is not True or not _is_always(True, body, n, m)
        _says("does not differ", True, right, seen)


def _is_always(same: bool, body: Body, n: int, m: int) -> bool:
    """Whether what was the `same` on one memory as apart is so with other contents too: two runs may be by chance."""
    return same and all(_is_same_again(body, n, m, seed) for seed in OTHER_SEEDS)


def _is_same_again(body: Body, n: int, m: int, seed: int) -> bool:
    """Whether other contents give the same on one memory as apart, where no index is outside."""
    x, y, cells = _apart(body, n, m, seed)
    shared = _shared(body, n, m, cells)
    return bool(x.outside or y.outside or shared.outside) or shared.cells[: y.count] == y.cells


def compare_machine(body: Body) -> Counter[str]:
    """The compiled kernel, where no index is outside, against the interpreter and the claims."""
    function, kernel = kernel_of(body)
    seen: Counter[str] = Counter()
    try:
        compiled = tvm.compile(function, target="llvm")["f"]
    except Exception:
        raise Unusable from None
    for n, m in ((1, 3), (2, 4), (5, 4), (8, 3)):
        same = _is_same_when_shared(compiled, body, n, m, 1, seen)
        if same is None:
            continue
        claims = (0, 1) in kernel.elementwise or (0, 1) in kernel.read_before
        _says("right on the machine", claims, same, seen)
        found = kernel.differs is not None and kernel.differs(values_of(kernel, n, m), 1, 0, 0) is True
        if found and same:
            # Some numbers give the same by chance: so must those of other runs before something is wrong.
            others = (_is_same_when_shared(compiled, body, n, m, seed, seen) for seed in OTHER_SEEDS)
            same = all(other is not False for other in others)
        _says("wrong on the machine", found, not same, seen)
    return seen


def _is_same_when_shared(
    compiled: Callable[..., object], body: Body, n: int, m: int, seed: int, seen: Counter[str]
) -> bool | None:
    """Whether the compiled kernel gives the same on one memory as apart; None where that cannot be asked."""
    x, y, cells = _apart(body, n, m, seed)
    if x.outside or y.outside:
        return None
    shapes = extents(body.x, n, m), extents(body.y, n, m)
    tensors = [_tensor(cells, shape) for shape in shapes]
    compiled(*tensors)
    got = tensors[1].numpy().reshape(-1)
    if not np.allclose(got, y.cells, rtol=1e-4, atol=1e-4, equal_nan=True):
        if max(map(abs, y.cells), default=0) < 1e6:
            raise Disagreement("the interpreter")
        return None
    seen["runs on the machine"] += 1
    # A store may change what decides whether an index is outside.
    if shapes[0] != shapes[1] or _shared(body, n, m, cells).outside:
        return None
    shared = _tensor(cells, shapes[0])
    compiled(shared, shared)
    return bool(np.allclose(shared.numpy().reshape(-1), got, rtol=1e-3, atol=1e-3, equal_nan=True))


def _tensor(cells: list[float], shape: tuple[int, ...]) -> tvm.runtime.Tensor:
    return tvm.runtime.tensor(np.array(cells[: math.prod(shape)], "float32").reshape(shape))
