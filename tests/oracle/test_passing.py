"""Tensors under several names, and overwritten in place: the verdicts hold on the virtual machine."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.oracle.as_often import assert_as_often
from tests.oracle.passing import Unusable, compare, some


@pytest.mark.vm
@pytest.mark.parametrize("planned", [False, True])
def test_what_is_called_fine_returns_what_is_meant(planned: bool) -> None:
    seen: Counter[str] = Counter()
    for program in some(14, 3):
        try:
            seen[compare(program, planned=planned)] += 1
        except Unusable:
            seen["not taken"] += 1
    assert_as_often(seen, {"right, fine": 4, "wrong, a finding": 9})
    assert seen["not taken"] < 7
