"""`read_accesses`: every access of a PrimFunc."""

from __future__ import annotations

from typing import Any

from relax_lint.model.kernel_access.accesses import KernelAccesses
from relax_lint.model.kernel_access.terms import Terms


def read_accesses(prim_func: Any) -> KernelAccesses:
    """Every access of a PrimFunc in the order of the text."""
    return KernelAccesses((), Terms(), ())
