"""Of two findings about one read, the one that is told: what is certain before what may be, and that before
what is taken not to be.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from relax_lint.analysis.certainty import Certainty
from relax_lint.analysis.events import Mending, Overwriting, Reading, StaleRead
from relax_lint.analysis.presumption import Presumption
from relax_lint.analysis.reported import says_more, weighs_more
from relax_lint.model.operations import KernelCall, OperationId, ValueId
from relax_lint.model.types import OpaqueType
from relax_lint.vm.calls import CallKind

CALL = KernelCall(OperationId("v", 0), ValueId(1), CallKind.PACKED, "f", (), OpaqueType())
READING = Reading(CALL, ValueId(1))
MUST, MAY = Certainty.MUST, Certainty.MAY
HARMLESS = Presumption("they share no memory")
MENDED = (Mending(CALL, ValueId(1)),)


def _stale(certainty: Certainty, harmless: Presumption | None) -> StaleRead:
    return StaleRead(CALL, ValueId(1), READING, certainty, (), harmless)


@pytest.mark.parametrize(
    ("found", "known", "expected"),
    [
        ((MUST, None), (MAY, None), True),
        ((MUST, None), (MUST, None), False),
        ((MAY, None), (MUST, None), False),
        ((MAY, None), (MAY, None), False),
        ((MUST, HARMLESS), (MAY, HARMLESS), True),
        ((MAY, None), (MUST, HARMLESS), True),
        ((MUST, HARMLESS), (MAY, None), False),
    ],
)
def test_a_read_of_an_older_name_is_told_where_it_says_more(found: Any, known: Any, expected: bool) -> None:
    assert says_more(_stale(*found), _stale(*known)) is expected


def _overwriting(
    certainty: Certainty, mended: tuple[Mending, ...], harmless: Presumption | None
) -> Overwriting:
    return Overwriting(CALL, CALL, ValueId(1), READING, certainty, mended, harmless)


def test_writes_over_a_tensor_are_in_one_order() -> None:
    least = [
        _overwriting(certainty, mended, HARMLESS) for certainty, mended in product((MUST, MAY), ((), MENDED))
    ]
    levels = [
        least,
        [_overwriting(MAY, MENDED, None)],
        [_overwriting(MAY, (), None), _overwriting(MUST, MENDED, None)],
        [_overwriting(MUST, (), None)],
    ]
    for (one, lower), (other, higher) in product(enumerate(levels), repeat=2):
        for known, found in product(lower, higher):
            assert weighs_more(found, known) is (other > one)
