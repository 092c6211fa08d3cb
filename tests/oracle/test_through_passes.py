"""What is said before and behind TVM's passes that decide what shares memory holds on the virtual machine."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.oracle.as_often import assert_as_often
from tests.oracle.passing import Unusable
from tests.oracle.through_passes import compare, some


@pytest.mark.vm
def test_what_is_called_fine_behind_a_pass_returns_what_is_meant() -> None:
    seen: Counter[str] = Counter()
    for program in some(16, 3):
        try:
            seen += compare(program)
        except Unusable:
            seen["not taken"] += 1
    assert_as_often(seen, {"right, fine": 44, "wrong, a finding": 28})
    assert seen["not taken"] < 10
