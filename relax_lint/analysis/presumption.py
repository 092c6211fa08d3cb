"""What is treated as granted that is not a condition on symbols."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Presumption:
    """Something that a verdict relies on and nothing checks, such as the type that a call claims. `text` is
    what people read in the list of assumptions.
    """

    text: str
