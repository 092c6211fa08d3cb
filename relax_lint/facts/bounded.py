"""Allocations whose size has no upper bound."""

from __future__ import annotations

import sympy

from relax_lint.facts.placements import Claim
from relax_lint.model.program import AllocStorage, AllocTensor, Unknown
from relax_lint.symbolic.domain import Domain, FactKind

LARGEST_PLANNED = 2**48
"""Bytes from which on a size counts as unbounded: more than any address space holds."""


def has_bound(op: AllocStorage | AllocTensor, domain: Domain) -> Claim:
    """Declared bounds and checks keep the size of an allocation below any address space. A constant size is
    bounded however large it is.
    """
    size = op.size if isinstance(op, AllocStorage) else op.bytes
    if isinstance(size, Unknown):
        return Claim(size, domain)
    condition = sympy.true if size.is_Integer else sympy.Le(size, LARGEST_PLANNED)
    return Claim(condition, domain.without(FactKind.GLOBAL))
