"""Run-time checks that a function makes itself: can they fail, can they hold?"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from relax_lint.facts.claims import all_of
from relax_lint.facts.placements import Claim
from relax_lint.model.program import Assert, Function, MatchCast, Place
from relax_lint.symbolic.domain import Domain, FactKind
from relax_lint.symbolic.printing import condition_text


@dataclass(frozen=True)
class RuntimeCheck:
    """An `R.assert_op`, an `R.match_cast`, or a check that VMShapeLower put in for a declared type.

    `claim` is what it compares, over all that is believed where it stands; `enforced` the same over what is
    enforced there, so that a check of a declared bound does not count as proved by that bound.
    """

    op: Assert | MatchCast
    claim: Claim
    enforced: Claim
    text: str

    @property
    def written(self) -> bool:
        """Whether the check is an assertion of the program's own."""
        return isinstance(self.op, Assert) and self.op.written

    @property
    def kind(self) -> str:
        """What the check is, for a message."""
        if isinstance(self.op, MatchCast):
            return "match_cast"
        return "assertion" if self.op.written else "check"


def runtime_checks(function: Function, domain_at: Callable[[Place], Domain]) -> Iterable[RuntimeCheck]:
    """Every check of a function whose condition is about symbols."""
    domains: dict[int, Domain] = {}
    for op in function.body.walk():
        if isinstance(op, Assert) and op.fact is not None:
            conditions = [op.fact.condition]
        elif isinstance(op, MatchCast) and op.facts:
            conditions = [fact.condition for fact in op.facts if fact.kind is FactKind.ENFORCED]
        else:
            continue
        domain = domain_at(op.place)
        # Domains are compared by identity where answers are looked up.
        enforced = domains.setdefault(id(domain), domain.without(FactKind.ASSUMED, FactKind.GLOBAL))
        condition = all_of(conditions)
        text = " & ".join(condition_text(c) for c in conditions)
        yield RuntimeCheck(op, Claim(condition, domain), Claim(condition, enforced), text)
