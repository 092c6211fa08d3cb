"""Where the bytes of a tensor come from: the call that writes it first, and what it is declared as."""

from __future__ import annotations

from collections.abc import Sequence

from relax_lint.model.operations import AllocTensor, KernelCall, Op
from relax_lint.symbolic.printing import expr_text
from relax_lint.symbolic.quantity import Unknown


def first_writer(operations: Sequence[Op], begin: int, end: int) -> KernelCall | None:
    """The first call that receives the tensor that step `begin` makes, before step `end`: nothing can have
    written it before.
    """
    made = operations[begin].result
    for later in operations[begin + 1 : end]:
        if isinstance(later, KernelCall) and made in later.arguments:
            return later
    return None


def shape_text(op: Op) -> str:
    """The shape of the tensor that an operation makes, as a tuple of Python; empty where it is not known."""
    if not isinstance(op, AllocTensor) or isinstance(op.shape, Unknown):
        return ""
    extents = ", ".join(map(expr_text, op.shape))
    return f"({extents},)" if len(op.shape) == 1 else f"({extents})"


def dtype_name(op: Op) -> str:
    """The element type of the tensor that an operation makes; empty for another operation."""
    return op.dtype.name if isinstance(op, AllocTensor) else ""
