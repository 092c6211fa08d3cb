"""What storages take in the memory scopes of devices."""

from __future__ import annotations

import sympy

from relax_lint.model.operations import AllocStorage, AllocTensor
from relax_lint.symbolic.functions import FloorDiv
from relax_lint.symbolic.quantity import Unknown
from relax_lint.totals.quantities import Quantity, Scope, planned_bytes
from relax_lint.totals.walk import Allocation, located
from relax_lint.vm.scopes import REGION_STEP, SCOPE_STEPS, is_table, unknown_amount


def storage_of(op: AllocStorage, scope: Scope) -> Allocation:
    """The memory that a storage takes. Raises Indeterminate where not even its size is known."""
    size = scope.quantity(op.size)
    extents = () if isinstance(op.extents, Unknown) else op.extents
    unknown = unknown_amount(op.scope, len(extents))
    if unknown is None and is_table(op.scope, len(extents)):
        # The regions lie in one piece of memory, each from a step on.
        regions, each = (scope.quantity(extent) for extent in extents)
        unit = 1 if op.size_in_bytes else op.dtype.storage_bytes
        return located(regions * _in_steps(each * unit, REGION_STEP), op)
    return located(_taken_in(op.scope, size), op, unknown)


def storage_for(op: AllocTensor, scope: Scope) -> Allocation:
    """The storage, of one axis, that a tensor gets which has none yet. Raises Indeterminate."""
    size = planned_bytes(op.shape, op.dtype, scope)
    return located(_taken_in(op.scope, size), op, unknown_amount(op.scope, 1))


def _taken_in(scope: str, size: Quantity) -> Quantity:
    step = SCOPE_STEPS.get(scope)
    return size if step is None else _in_steps(size, step)


def _in_steps(size: Quantity, step: int) -> Quantity:
    """The least multiple of `step` bytes that is no less."""
    more = size + (step - 1)
    return step * (more // step if isinstance(more, int) else FloorDiv(more, sympy.Integer(step)))
