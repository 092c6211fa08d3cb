"""How certain an event is: on every path, or on some."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TypeAlias


class Certainty(Enum):
    """`MUST`: on every path that reaches the operation; `MAY`: possible on some."""

    MUST = "must"
    MAY = "may"


Asked: TypeAlias = "Callable[[], Certainty]"
"""A certainty that takes time to find out, and of which nobody may ask."""


def surely() -> Certainty:
    """`MUST`, where somebody asks."""
    return Certainty.MUST


def perhaps() -> Certainty:
    """`MAY`, where somebody asks."""
    return Certainty.MAY


def must_if(condition: bool) -> Certainty:
    """`MUST` where a condition holds, else `MAY`."""
    return Certainty.MUST if condition else Certainty.MAY


def weakest(*certainties: Certainty) -> Certainty:
    """What is certain of several things together: `MUST` only where all of them are."""
    return must_if(Certainty.MAY not in certainties)
