"""How certain an event is: on every path, or on some."""

from __future__ import annotations

from enum import Enum


class Certainty(Enum):
    """`MUST`: on every path that reaches the operation; `MAY`: possible on some."""

    MUST = "must"
    MAY = "may"


def must_if(condition: bool) -> Certainty:
    """`MUST` where a condition holds, else `MAY`."""
    return Certainty.MUST if condition else Certainty.MAY


def weakest(*certainties: Certainty) -> Certainty:
    """What is certain of several things together: `MUST` only where all of them are."""
    return must_if(Certainty.MAY not in certainties)
