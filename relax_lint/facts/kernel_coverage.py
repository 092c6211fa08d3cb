"""How many accesses of the kernels of one function were proved, and what stands in the way of the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from relax_lint.facts.kernel_access_verdicts import AccessVerdict, CallVerdict, Status
from relax_lint.facts.kernels import KernelUse
from relax_lint.results.accesses import FunctionAccesses


def coverage(
    path: str, module: str | None, function: str, calls: Iterable[tuple[KernelUse, CallVerdict]]
) -> FunctionAccesses:
    """The counts over the calls of one function."""
    counts: Counter[Status] = Counter()
    depends: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    assumptions: dict[str, None] = {}
    unread: dict[str, str] = {}
    for use, verdict in calls:
        counts[Status.PROVED] += verdict.proved
        if verdict.unread:
            unread.setdefault(use.kernel.name, verdict.unread[0])
        for found in verdict.open:
            counts[found.status] += 1
            assumptions.update(dict.fromkeys(assumed.text for assumed in found.assumptions))
            if found.status in (Status.DEPENDS, Status.LIMITED):
                depends[_symbols(found)] += 1
            elif found.status in (Status.UNDECIDED, Status.BESIDE):
                reasons[found.reason] += 1
    return FunctionAccesses(
        path,
        module,
        function,
        proved=counts[Status.PROVED],
        wrong=counts[Status.WRONG],
        assumed=counts[Status.ASSUMED],
        undecided=counts[Status.UNDECIDED] + counts[Status.BESIDE],
        depends=dict(sorted(depends.items())),
        assumptions=tuple(assumptions),
        reasons=dict(sorted(reasons.items())),
        unread=dict(sorted(unread.items())),
    )


def _symbols(found: AccessVerdict) -> str:
    """The symbols that decide about an access."""
    decision = found.decision
    if decision is None:
        return "the input"
    if decision.safe_when is not None:
        names = sorted(symbol.name for symbol in decision.safe_when.free_symbols)
    else:
        names = sorted(decision.wrong or ())
    return ", ".join(names) or "the input"
