"""What was decided of a program when that was verified is decided still, no more is reported, and what is said anew
is true.
"""

from __future__ import annotations

from collections import Counter

import pytest
import tvm

from tests.strength import stored
from tests.strength.claims import lost
from tests.strength.programs import FAMILIES, UNUSABLE, cases

STORED = {(family, name): said for family in FAMILIES for name, said in stored.read(family).items()}

MEASURED = "lowered"
"""A family whose second opinion takes minutes: it is asked when what is said is stored."""
PRINTED = (
    *("modules", "single", "lowered", "scheduled", "optional"),
    *(family for family in FAMILIES if family.startswith("drawn")),
)
PRINTED_BY = "0.27."
"""Families that this release of TVM printed, made with its passes, or that were drawn with it: an earlier one reads
some of them otherwise, or not at all.
"""
IS_OTHER = not tvm.__version__.startswith(PRINTED_BY)


def before_forks() -> None:
    """Those who run these tests in many forks, each with a fault in the engine, make the programs once."""
    for family in FAMILIES:
        cases(family)


@pytest.mark.parametrize(("family", "name"), STORED)
def test_nothing_became_weaker(family: str, name: str) -> None:
    if IS_OTHER and family in PRINTED:
        pytest.skip(f"the texts are those of TVM {PRINTED_BY}")
    case, before = cases(family)[name], STORED[family, name]
    try:
        now = case.said()
    except UNUSABLE:
        if IS_OTHER:
            pytest.skip(f"only TVM {PRINTED_BY} reads it")
        raise
    assert _of_any_release(lost(before.claims, now.claims)) == []
    assert Counter(now.findings) <= Counter(before.findings)
    if not IS_OTHER:
        assert Counter(now.words) == Counter(before.words), (
            f"it is said in other words: `python -m tests.strength {family}` stores them"
        )
    if stored.is_same(now, before):
        return
    if case.verify is not None and family != MEASURED:
        case.verify()
    else:
        anew = _of_any_release(lost(now.claims, before.claims))
        assert anew == [], (
            f"nothing here verifies it: `python -m tests.strength {family}` stores what is true"
        )


def _of_any_release(claims: list[str]) -> list[str]:
    """Without the totals where TVM is another one: it compiles the same kernel to other workspaces."""
    return [claim for claim in claims if not (IS_OTHER and " memory " in claim)]


def test_the_programs_are_there() -> None:
    claims = Counter(family for (family, _), said in STORED.items() for _ in said.claims)
    assert all(claims[family] > 500 for family in FAMILIES), claims
