"""The bytes alive at each kernel call: its inputs, its output, and everything else that is used later."""

from __future__ import annotations

from collections.abc import Iterable

import sympy

from relax_lint.model.operations import FunctionCall, KernelCall
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.quantity import Unknown
from relax_lint.totals.formula import Sizes, greatest
from relax_lint.totals.quantities import Quantity
from relax_lint.totals.walk import Walk


@record(frozen=True)
class CallUse:
    """A call and the bytes alive at it; over several paths, the most."""

    op: KernelCall | FunctionCall
    size: Quantity | Unknown


def used_memory(walks: Iterable[Walk], positive: frozenset[sympy.Symbol]) -> tuple[CallUse, ...]:
    """Every call in program order. The walks are those of values."""
    found: dict[int, tuple[KernelCall | FunctionCall, list[Quantity | Unknown]]] = {}
    for walk in walks:
        for op, size in _along(walk):
            found.setdefault(op.place.index, (op, []))[1].append(size)
    return tuple([CallUse(op, _most(sizes, positive)) for _, (op, sizes) in sorted(found.items())])


def _most(sizes: list[Quantity | Unknown], positive: frozenset[sympy.Symbol]) -> Quantity | Unknown:
    if len(sizes) == 1:
        return sizes[0]
    known = [size for size in sizes if not isinstance(size, Unknown)]
    if len(known) < len(sizes):
        return next(size for size in sizes if isinstance(size, Unknown))
    return greatest(known, positive)


def _along(walk: Walk) -> Iterable[tuple[KernelCall | FunctionCall, Quantity | Unknown]]:
    constants = [size for call in walk.calls for size in call.constants]
    sizes = Sizes([*(allocation.size for allocation in walk.allocations), *constants])
    weights = [_weight(allocation.size, sizes) for allocation in walk.allocations]
    live = [0] * (len(sizes.symbolic) + 1)
    # Of sizes that are not known, the numbers of those that are alive.
    without = {number for number, a in enumerate(walk.allocations) if a.unknown is not None}
    unknown: set[int] = set()
    moment = 0
    for call in walk.calls:
        for event in walk.events[moment : call.moment]:
            number = abs(event) - 1
            position, weight = weights[number]
            live[position] += weight if event > 0 else -weight
            if without and number in without:
                unknown ^= {number}
        moment = call.moment
        if unknown:
            yield call.op, Unknown(walk.allocations[min(unknown)].unknown or "")
            continue
        at_call = list(live)
        for constant in call.constants:
            position, weight = _weight(constant, sizes)
            at_call[position] += weight
        yield call.op, sizes.quantity(tuple(at_call))


def _weight(size: Quantity, sizes: Sizes) -> tuple[int, int]:
    """The part of a `Sum` that a size adds to, and what it adds."""
    return sizes.index(size), size if isinstance(size, int) else 1
