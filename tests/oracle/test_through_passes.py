"""What is said before and behind TVM's passes that decide what shares memory holds on the virtual machine."""

from __future__ import annotations

from collections import Counter

import pytest

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
    assert seen["right, fine"] > 0
    assert seen["wrong, a finding"] > 0
    assert seen["not taken"] < 10
