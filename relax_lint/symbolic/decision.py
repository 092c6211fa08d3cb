"""What the provers answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import Enum
from functools import lru_cache

from sympy.logic.boolalg import Boolean

from relax_lint.results.verdict import Prover, Verdict
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.asked import Asked
from relax_lint.symbolic.domain import Domain, Fact

Assignment = Mapping[str, int]
"""Symbol name (as the user wrote it) to value, in signature order."""


@record(frozen=True)
class Proof:
    """Who decided, and one line of how. For an undecided claim `detail` is the reason."""

    by: Prover
    detail: str


@record(frozen=True)
class Decision:
    """The verdict on one claim C over one domain D.

    `reachable` is False when D is empty: then the operation is not a finding at all and
    `verdict` is vacuously always-fine. `mixed` is True when both a fine and a wrong example are
    known. `safe_when` is the simplified safe region in the user's symbols (None unless the verdict is
    needs-runtime-check, and None there too when no readable form is known). `fine` is the
    largest fine assignment where one symbol decides and the set is bounded, else any fine one;
    `wrong` the smallest wrong one (smallest sum of absolute values, then lexicographic).
    `assumptions` are the ASSUMED facts without which the verdict could not be reached, in domain order.
    `reaches` is False where guesses were left out of the domain, which may stop the examples before they get
    to the operation: they are not to be named. `claims` are the claims as they were asked and as they were
    put to the provers, and their domains, where they are kept for a record.
    """

    verdict: Verdict
    proof: Proof
    reachable: bool = True
    mixed: bool = False
    safe_when: Boolean | None = None
    fine: Assignment | None = None
    wrong: Assignment | None = None
    assumptions: tuple[Fact, ...] = field(default=())
    reaches: bool = True
    claims: tuple[tuple[Asked, Boolean, Domain], ...] = field(default=(), compare=False, repr=False)

    @property
    def named(self) -> tuple[Assignment | None, Assignment | None]:
        """The fine and the wrong example as far as they may be named."""
        if self.reaches:
            return self.fine, self.wrong
        return self.fine and None, self.wrong and None


@lru_cache(maxsize=1 << 12)
def certain(verdict: Verdict, reason: str) -> Decision:
    """A verdict that follows from the text alone."""
    return Decision(verdict, Proof(Prover.CONSTANT, reason))


class FailureStatus(Enum):
    """Whether a first failing assignment is known."""

    FAILS = "fails"
    NEVER = "never"
    UNKNOWN = "unknown"


@record(frozen=True)
class FirstFailure:
    """The smallest assignment that violates a claim: smallest sum, then lexicographic.

    Declared bounds are dropped before the search, since nothing enforces them; free integers are
    taken as non-negative. `at` is None unless `status` is FAILS.
    """

    status: FailureStatus
    at: Assignment | None = None
