"""What a declared bound costs: memory that is planned for it whatever the inputs are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import sympy

from relax_lint.results.memory_why import Saving
from relax_lint.settings.memory_request import Binding
from relax_lint.support.byte_text import bytes_text
from relax_lint.symbolic.quantity import Unknown
from relax_lint.totals.quantities import Indeterminate, Quantity, evaluate

_SHARE = 2
"""A price is told where the plan takes at least so many times what the tensors need."""


def remarks_of(
    peak: Quantity | Unknown,
    needed: Quantity | Unknown,
    declared: Mapping[str, Binding],
    inputs: Mapping[str, int],
    at: Mapping[str, int],
) -> Iterator[str]:
    """That memory is planned for a `declared` bound and not for the input, with both figures at one of the
    `inputs`.
    """
    for name, span in declared.items():
        low = inputs[name]
        if low >= span.high:
            continue
        here = {**at, name: low}
        taken, tensors = _at(peak, here), _at(needed, here)
        if taken is None or not tensors or taken < _SHARE * tensors:
            continue
        yield (
            f"planned for the declared bound {name} <= {span.high}, not for your input: at {name} = {low} the"
            f" function takes {bytes_text(taken)}, its tensors need {bytes_text(tensors)}"
        )


def halved_bounds(
    needed: Quantity | Unknown, ranges: Mapping[str, Binding], at: Mapping[str, int]
) -> Iterator[Saving]:
    """What the tensors need less at one time if a bound is half of what it is."""
    most = _at(needed, at)
    for name, span in ranges.items():
        half = span.high // 2
        if most is None or half <= max(span.low, 0):
            continue
        less = _at(needed, {**at, name: half})
        if less is not None and less < most:
            text = f"{name} <= {half} for a bound: the tensors then need {bytes_text(less)} at one time"
            yield Saving("bound", text, most - less)


def _at(size: Quantity | Unknown, values: Mapping[str, int]) -> int | None:
    if isinstance(size, Unknown):
        return None
    if isinstance(size, int):
        return size
    try:
        return evaluate(sympy.sympify(size), values)
    except Indeterminate:
        return None
