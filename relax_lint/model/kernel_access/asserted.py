"""What the assertions in a loop say behind it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from relax_lint.model.kernel_access import conditions as c
from relax_lint.model.kernel_access.accesses import LoopRange
from relax_lint.model.kernel_access.conditions import AtLeastZero, Condition, Every
from relax_lint.model.kernel_access.polynomials import Poly
from relax_lint.model.kernel_access.terms import Terms

_IN_ORDER = ("serial", "unrolled")


def checked_by(terms: Terms, loop: LoopRange, facts: Sequence[Condition]) -> Iterator[Condition]:
    """What holds behind a loop each step of which has passed the facts."""
    if loop.kind not in _IN_ORDER or loop.variable is None or loop.extent is None:
        return
    has_no_step = c.at_least_zero(-loop.extent)
    for fact in facts:
        if isinstance(fact, Every):
            yield from checked_by(terms, loop, fact.parts)
        elif isinstance(fact, AtLeastZero):
            least = _in_every_step(terms, fact.value, loop.variable)
            if least is not None:
                yield c.any_of((has_no_step, c.at_least_zero(least)))


def _in_every_step(terms: Terms, value: Poly, variable: Poly) -> Poly | None:
    """What a value is in the step in which it is least; None where that is not known."""
    moving = variable.atoms() & {number for number in value.atoms() if not terms[number].static}
    for number in moving:
        least = terms.least_over(value, number)
        if least is None:
            return None
        value = least
    # What else is computed in a step may be another number in each.
    return value if terms.is_static(value) else None
