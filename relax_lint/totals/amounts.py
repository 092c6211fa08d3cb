"""Quantities as amounts of the result model."""

from __future__ import annotations

from relax_lint.results.memory_figures import Amount
from relax_lint.symbolic.printing import expr_text
from relax_lint.symbolic.quantity import Unknown
from relax_lint.totals.quantities import Quantity


def amount(formula: Quantity | Unknown, value: Quantity | Unknown) -> Amount | None:
    """A total with its value at a binding; a total without a formula has that value for one."""
    if isinstance(formula, Unknown):
        formula = value
    if isinstance(formula, Unknown):
        return None
    exact = value if isinstance(value, int) else None
    return Amount(str(formula) if isinstance(formula, int) else expr_text(formula), exact)
