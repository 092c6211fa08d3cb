"""Whether `R.memory.ensure_zero_offset` copies: where the host may move the pointers of a device, as those
of a CPU, it gives back the same memory if a tensor starts at a multiple of the alignment.
"""

from __future__ import annotations

from math import gcd

import sympy

from relax_lint.symbolic.quantity import Size, Unknown
from relax_lint.vm.scopes import ZERO_OFFSET_STEP


def is_certain(offset: Size) -> bool:
    """Whether a tensor with this offset is copied in every call: the offset is never such a multiple."""
    if isinstance(offset, Unknown):
        return False
    rest, others = sympy.expand(offset).as_coeff_Add()
    step = ZERO_OFFSET_STEP
    for term in sympy.Add.make_args(others):
        factor = term.as_coeff_Mul()[0]
        if not factor.is_Integer:
            return False
        step = gcd(step, int(factor))
    return bool(rest.is_Integer) and int(rest) % step != 0
