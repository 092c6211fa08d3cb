"""What is computed of damage, cut into functions at random: the verdicts hold on the virtual machine."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.oracle.as_often import assert_as_often
from tests.oracle.cancelled import compare, some


@pytest.mark.vm
def test_what_is_always_wrong_returns_something_else() -> None:
    seen = sum((compare(program) for program in some(3, 5)), Counter[str]())
    assert_as_often(seen, {"perhaps, the same": 5, "wrong, another one": 3})
