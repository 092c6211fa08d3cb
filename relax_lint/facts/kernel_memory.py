"""Accesses that leave an axis of their buffer: whether the element is outside the memory too."""

from __future__ import annotations

from collections.abc import Callable

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.facts.claims import Claim, all_of, either
from relax_lint.facts.judge import Judge
from relax_lint.facts.kernels import KernelUse
from relax_lint.model.kernel_access.accesses import KernelAccess, Obligation
from relax_lint.model.kernel_access.trial import Trial
from relax_lint.results.verdict import Verdict
from relax_lint.symbolic.quantity import Unknown

MAY_BE_ANOTHER = "an index that leaves its axis may be another element of the same memory"
_IS_ANOTHER = "no step was found in which the element beyond the axis is outside the memory"
BESIDE_AS_FAR_AS_KNOWN = "it is not known whether the element beyond the axis is outside the memory"


def leaves_memory_too(
    judge: Judge,
    use: KernelUse,
    access: KernelAccess,
    stays: Boolean | Unknown,
    condition_of: Callable[[Obligation], Boolean | Unknown],
) -> bool:
    """Whether the access is outside its memory in every call in which it is not true that it `stays` inside
    every axis.
    """
    if access.memory is None:
        return True
    exact = (one for one in access.memory.obligations if one.exact and not one.holds)
    inside = all_of(condition_of(one) for one in exact)
    if isinstance(inside, Unknown):
        return False
    # With none it does not follow from anything.
    follows = Claim(either(stays, sympy.Not(inside)), use.entered)
    return judge.judge(follows).verdict is Verdict.ALWAYS_FINE


def reason(trial: Trial | None) -> str:
    """Why it is not said to be outside."""
    return _IS_ANOTHER if trial is not None and trial.knows_memory else BESIDE_AS_FAR_AS_KNOWN
