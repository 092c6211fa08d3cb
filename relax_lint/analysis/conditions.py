"""What the conditions of several `If`s have to do with each other: two that ask for the same are both true or
both false.

A condition is a tensor that nothing may have written in between, or a comparison of symbols, which never
change.
"""

from __future__ import annotations

from collections.abc import Hashable

import sympy

from relax_lint.model.operations import If
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.domain import Fact


@record(frozen=True)
class Literal:
    """That a condition is true, or (not `holds`) that it is false."""

    condition: Hashable
    holds: bool

    @property
    def negated(self) -> Literal:
        """That it is the other one."""
        return Literal(self.condition, not self.holds)


@record(frozen=True)
class Branched:
    """An `If`, and what is known of conditions in its branches: what it asks for itself comes first."""

    op: If
    then: tuple[Literal, ...]
    otherwise: tuple[Literal, ...]


def of_facts(facts: tuple[Fact, ...]) -> Literal | None:
    """That a comparison of symbols holds; None where the machine may compute something else."""
    if len(facts) != 1 or facts[0].guessed:
        return None
    condition = facts[0].condition
    other = sympy.Not(condition)
    is_first = str(condition) <= str(other)
    return Literal(condition, True) if is_first else Literal(other, False)
