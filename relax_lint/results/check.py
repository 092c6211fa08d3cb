"""A check: what a report says of one operation. Free of TVM and sympy objects, so that it can be sent between
processes, cached and rendered.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import IntEnum

from relax_lint.results.confirmation import Confirmation
from relax_lint.results.location import Location
from relax_lint.results.notebook import check_html
from relax_lint.results.plain import to_json
from relax_lint.results.verdict import Prover, Severity, Verdict
from relax_lint.support.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Related:
    """A secondary location and what it shows."""

    message: str
    location: Location | None


@dataclass(frozen=True)
class Edit:
    """Replace the text of `location` by `text`."""

    location: Location
    text: str


class Turn(IntEnum):
    """What is done first may make what comes later needless: a `CHANGE` of what the program does, a `CHECK`
    at run time, a check of a declared `BOUND`, on which verdicts may rely only until the others are there,
    and a check that other ones imply (`COVERED`).
    """

    CHANGE = 0
    CHECK = 1
    BOUND = 2
    COVERED = 3


@dataclass(frozen=True)
class Fix:
    """A change that removes the finding; `applicability` is safe, unsafe or display. Fixes with a lower
    `turn` are applied first, as they may make the others unnecessary.
    """

    title: str
    applicability: str
    edits: tuple[Edit, ...]
    turn: int = 0


@dataclass(frozen=True)
class Suppression:
    """What accepts a finding: a `comment` in its file or the `baseline`, and the reason given."""

    kind: str
    reason: str = ""


@dataclass(frozen=True)
class AllocatorFailure:
    """The smallest assignment at which an allocator refuses; None: it never does.
    `known` is False when the search could not decide.
    """

    first_failure: Mapping[str, int] | None
    known: bool = True


@dataclass(frozen=True)
class RecordedClaim:
    """A claim as it was asked, and the quantities in it by what they are."""

    condition: str
    terms: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ProofRecord:
    """A recorded proof: for a solver (SMT-LIB 2, `checkable`), or in words. `file` is the path of the
    written record. Of several `claims` one holds on each path.
    """

    text: str
    checkable: bool
    file: str | None = None
    claims: tuple[RecordedClaim, ...] = ()


@dataclass(frozen=True)
class Check:
    """One judged memory operation, also if it is fine. The fields are those of the JSON output.

    `message` is the headline (lower case, code in back-ticks); `label` is shown under the caret of the
    primary location; `notes` and `help` are further lines of the text output. `origins` tells where the
    symbols that it depends on get their values. `confirmation` is the result of running its examples,
    `proof_record` the recorded proof of a certain verdict; both on request. `count` is for how many equal
    questions about the operation it stands, which all have this verdict.
    """

    rule: str
    name: str
    verdict: Verdict
    severity: Severity
    message: str
    path: str
    module: str | None
    function: str | None
    binding: str | None = None
    binding_index: int | None = None
    location: Location | None = None
    label: str = ""
    related: tuple[Related, ...] = ()
    origins: tuple[Related, ...] = ()
    safe_when: str | None = None
    assumes: tuple[str, ...] = ()
    fine: Mapping[str, int] | None = None
    wrong: Mapping[str, int] | None = None
    allocators: Mapping[str, AllocatorFailure] = field(default_factory=dict)
    prover: Prover = Prover.CONSTANT
    proof: str = ""
    undecided: bool = False
    notes: tuple[str, ...] = ()
    help: tuple[str, ...] = ()
    suppressed: bool = False
    suppressed_by: Suppression | None = None
    fixes: tuple[Fix, ...] = ()
    confirmation: Confirmation | None = None
    proof_record: ProofRecord | None = None
    count: int = 1

    def to_json(self) -> str:
        """The check as JSON, field for field."""
        return to_json(self)

    def _repr_html_(self) -> str:
        return check_html(self)


def is_finding(check: Check) -> bool:
    """Whether a check is reported to the user."""
    return check.severity is not Severity.NONE and not check.suppressed
