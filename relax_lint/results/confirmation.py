"""What running the examples of a finding showed. Free of TVM, like the rest of the result model."""

from __future__ import annotations

from enum import Enum

from relax_lint.support.lazy_dataclass import dataclass


class Symptom(str, Enum):
    """How a run can show that something is wrong.

    `error`: an exception other than a check's; `stopped`: an AssertionError, raised by a check of the
    function itself; `crash`: the process died of a signal; `out-of-bounds`: memory outside a storage was
    accessed; `wrong-numbers`: the results differ from those of the same module with each tensor on a storage
    of its own; `negative-extent`: a result has one; `indeterminate`: the results depend on what memory held
    before; `accepted`: no check stopped a call that a declared bound excludes.
    """

    ERROR = "error"
    STOPPED = "stopped"
    CRASH = "crash"
    OUT_OF_BOUNDS = "out-of-bounds"
    WRONG_NUMBERS = "wrong-numbers"
    NEGATIVE_EXTENT = "negative-extent"
    INDETERMINATE = "indeterminate"
    ACCEPTED = "accepted"


MISBEHAVIOUR = frozenset(
    {
        Symptom.ERROR,
        Symptom.CRASH,
        Symptom.OUT_OF_BOUNDS,
        Symptom.WRONG_NUMBERS,
        Symptom.NEGATIVE_EXTENT,
        Symptom.INDETERMINATE,
    }
)
"""Everything that is an error by itself."""

FAILURE = frozenset({Symptom.ERROR, Symptom.CRASH, Symptom.OUT_OF_BOUNDS, Symptom.NEGATIVE_EXTENT})
"""For what the machine refuses, crashes on, or lets access memory of others."""

OTHER_RESULTS = frozenset({Symptom.WRONG_NUMBERS, Symptom.INDETERMINATE})
"""For what runs and returns a wrong result."""

NOTHING_TO_SEE: frozenset[Symptom] = frozenset()
"""For what a function costs or declares: nothing fails when it runs."""


class Status(str, Enum):
    """Whether a run confirms a finding."""

    CONFIRMED = "confirmed"
    NOT_CONFIRMED = "not-confirmed"
    NOT_RUNNABLE = "not-runnable"


@dataclass(frozen=True)
class Run:
    """One call and its outcome.

    `example` is `wrong`, `fine`, or `first failure`; `call` is in the notation of the rule pages; `how`
    names the allocator and other conditions of the run; `symptom` is None if nothing went wrong.
    """

    example: str
    call: str
    how: str
    outcome: str
    symptom: Symptom | None = None


@dataclass(frozen=True)
class Confirmation:
    """The runs of one finding. `reason` says in one line why the status is what it is."""

    status: Status
    reason: str
    runs: tuple[Run, ...] = ()
