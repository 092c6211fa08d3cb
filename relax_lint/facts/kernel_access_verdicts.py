"""What is said of one access of a kernel in a call, and of all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import Enum

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.analysis.presumption import Presumption
from relax_lint.facts.claims import Claim, all_of
from relax_lint.facts.judge import Judge
from relax_lint.facts.kernels import KernelUse
from relax_lint.model.kernel_access.accesses import KernelAccess, Obligation
from relax_lint.model.kernel_access.trial import Trial
from relax_lint.results.verdict import Verdict
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.decision import Decision
from relax_lint.symbolic.quantity import Unknown


class Status(Enum):
    """What is known of an access in a call."""

    PROVED = "proved"
    WRONG = "wrong"
    BESIDE = "outside an axis, perhaps not outside its memory"
    DEPENDS = "depends on the input"
    LIMITED = "inside up to a size"
    """Beyond it 32-bit arithmetic may wrap around; whether an access is outside then is not known."""
    ASSUMED = "assumed"
    UNDECIDED = "undecided"


@record(frozen=True, eq=False)
class AccessVerdict:
    """The verdict on one access. `condition` says when it stays inside; unless it is `complete`, it only is
    necessary or sufficient for that. `reason` says why; `assumptions` are what it is assumed to hold.
    """

    access: KernelAccess
    status: Status
    condition: Boolean | Unknown = sympy.true
    decision: Decision | None = None
    reason: str = ""
    assumptions: tuple[Presumption, ...] = ()
    obligation: Obligation | None = None
    trial: Trial | None = None
    complete: bool = True

    @property
    def leaves_an_axis(self) -> bool:
        """Whether an index is outside its axis in every call."""
        decision = self.decision
        return decision is not None and decision.verdict is Verdict.ALWAYS_WRONG


@record(frozen=True, eq=False)
class CallVerdict:
    """The verdicts on the accesses of one call that were not proved for every call; `proved` counts the
    others. `unread` are the statements of the kernel that could not be read.
    """

    proved: int
    open: tuple[AccessVerdict, ...]
    unread: tuple[str, ...] = ()

    def of(self, *statuses: Status) -> tuple[AccessVerdict, ...]:
        """Those with one of some statuses."""
        return tuple(verdict for verdict in self.open if verdict.status in statuses)


def limited(
    judge: Judge,
    use: KernelUse,
    found: AccessVerdict,
    limits: Sequence[Obligation],
    conditions: Mapping[Obligation, Boolean | Unknown],
) -> AccessVerdict:
    """A verdict that counts only for the calls that keep to limits."""
    unproved = [one for one in limits if is_open(judge, use, conditions[one])]
    if not unproved:
        return found
    if found.status is Status.DEPENDS:
        return replace(found, reason=found.reason or unproved[0].why, complete=False)
    if found.status not in (Status.PROVED, Status.ASSUMED):
        return found
    claim = all_of(dict.fromkeys(conditions[one] for one in unproved))
    return replace(
        found,
        status=Status.LIMITED,
        condition=claim,
        decision=judge.judge(Claim(claim, use.entered)),
        reason=unproved[0].why,
        obligation=unproved[0],
        complete=False,
    )


def is_open(judge: Judge, use: KernelUse, condition: Boolean | Unknown) -> bool:
    """Whether a condition is not proved for every call that the entry of a kernel lets through."""
    return judge.judge(Claim(condition, use.entered)).verdict is not Verdict.ALWAYS_FINE
