"""What lives when and where, for people to look at."""

from __future__ import annotations

import re

from relax_lint.model.operations import FunctionCall, KernelCall, Op
from relax_lint.model.program import Function, Program
from relax_lint.results.memory_figures import MAX_TIMELINES, Resident, Tenure, Timeline
from relax_lint.symbolic.printing import expr_text
from relax_lint.totals.inlined import paths_of
from relax_lint.totals.layers import layers_of
from relax_lint.totals.peaks import require_known
from relax_lint.totals.plans import Plans
from relax_lint.totals.pool_profile import rounded
from relax_lint.totals.quantities import Indeterminate, Quantity
from relax_lint.totals.walk import Allocation, Inventory, Placed, Walk
from relax_lint.totals.writers import dtype_name, first_writer, shape_text
from relax_lint.vm.builtins import SHAPE_HEAP
from relax_lint.vm.scopes import SHARED_BUFFER_BYTES

_CAPITAL = re.compile("(?<=[a-z])(?=[A-Z])")


def timelines(program: Program, function: Function, page_size: int) -> tuple[Timeline, ...]:
    """The timeline of each of the first paths through a function; none where sizes are not known."""
    plans = Plans.of(program)
    try:
        storages = paths_of(plans, function, Inventory.STORAGES)
        tensors = paths_of(plans, function, Inventory.TENSORS)
        require_known(storages)
    except Indeterminate:
        return ()
    pairs = list(zip(storages, tensors, strict=True))[:MAX_TIMELINES]
    return tuple(_timeline(held, used, page_size) for held, used in pairs)


class _Formulas:
    """Sizes by their position in the list of distinct ones."""

    def __init__(self) -> None:
        self.texts: dict[str, int] = {}

    def position(self, size: Quantity) -> int:
        text = str(size) if isinstance(size, int) else expr_text(size)
        return self.texts.setdefault(text, len(self.texts))


def _timeline(held: Walk, used: Walk, page_size: int) -> Timeline:
    formulas = _Formulas()
    last_uses = dict(_spans(used))
    residents: list[list[Resident]] = [[] for _ in held.allocations]
    for placed in held.placed:
        end = last_uses.get(placed.step, placed.step + 1)
        size, offset = formulas.position(placed.size), formulas.position(placed.offset)
        residents[placed.allocation].append(_resident(held, placed, offset, size, end))
    storages = tuple(
        _tenure(
            allocation,
            formulas.position(allocation.size),
            formulas.position(_obtained(allocation, page_size)),
            span,
            tuple(tensors),
        )
        for allocation, span, tensors in zip(held.allocations, _spans(held), residents, strict=True)
    )
    branches = ", ".join("then" if taken else "else" for taken in held.taken)
    steps = tuple(map(_name, held.operations))
    return Timeline(branches, steps, tuple(formulas.texts), storages, layers_of(held.operations))


def _resident(walk: Walk, placed: Placed, offset: int, size: int, end: int) -> Resident:
    writer = first_writer(walk.operations, placed.step, end)
    place = placed.op.place if writer is None else writer.place
    return Resident(
        placed.op.place.binding,
        offset,
        size,
        placed.step,
        end,
        operator=None if writer is None else writer.callee,
        shape=shape_text(placed.op),
        dtype=dtype_name(placed.op),
        line=None if place.location is None else place.location.line,
    )


def _tenure(
    allocation: Allocation, size: int, pooled: int, span: tuple[int, int], residents: tuple[Resident, ...]
) -> Tenure:
    place = allocation.place
    return Tenure(
        name="" if place is None else place.binding,
        size=size,
        pooled=pooled,
        begin=span[0],
        end=span[1],
        scope=allocation.scope,
        device=allocation.device,
        line=None if place is None or place.location is None else place.location.line,
        residents=residents,
    )


def _obtained(allocation: Allocation, page_size: int) -> Quantity:
    """What the pooled allocator obtains for an allocation."""
    return rounded(allocation.size, page_size) + (SHARED_BUFFER_BYTES if allocation.pool[1] else 0)


def _spans(walk: Walk) -> list[tuple[int, int]]:
    """The steps of each allocation, the end excluded."""
    begins = [0] * len(walk.allocations)
    ends = [len(walk.operations)] * len(walk.allocations)
    for event, step in zip(walk.events, walk.steps, strict=True):
        if event > 0:
            begins[event - 1] = step
        else:
            ends[-event - 1] = step + 1
    return list(zip(begins, ends, strict=True))


def _name(op: Op) -> str:
    if isinstance(op, KernelCall | FunctionCall):
        what = "shape heap" if op.callee == SHAPE_HEAP else op.callee
        return f"{op.place.binding} = {what}(…)"
    return f"{op.place.binding} = {_CAPITAL.sub('_', type(op).__name__).lower()}"
