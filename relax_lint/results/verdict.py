"""Verdict, severity, and how a verdict was reached."""

from __future__ import annotations

from enum import Enum


class Verdict(str, Enum):
    """What holds for one memory operation over every admissible symbol assignment.

    With D the admissible assignments and paths that reach the operation and C its safety
    condition: `always-fine` when C holds on all of D, `always-wrong` when D is not empty and C
    fails on all of D, `needs-runtime-check` otherwise (mixed, or undecided with a reason).
    """

    ALWAYS_WRONG = "always-wrong"
    ALWAYS_FINE = "always-fine"
    NEEDS_RUNTIME_CHECK = "needs-runtime-check"


class Severity(str, Enum):
    """How a check is reported; `none` is for operations that are fine, and for what another check tells."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"
    NONE = "none"

    @property
    def rank(self) -> int:
        """0 for `none` up to 3 for `error`: comparable, for `--fail-on`."""
        return _RANK[self]


_RANK = {Severity.NONE: 0, Severity.NOTE: 1, Severity.WARNING: 2, Severity.ERROR: 3}


class Prover(str, Enum):
    """Which link of the chain of provers decided, cheapest first."""

    CONSTANT = "constant"
    POLYNOMIAL = "polynomial"
    INTERVAL = "interval"
    ANALYZER = "analyzer"
    Z3 = "z3"
    UNDECIDED = "undecided"
