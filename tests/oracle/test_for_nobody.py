"""Reads of damaged memory for something or for nobody: the verdicts hold on the virtual machine."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.oracle.as_often import assert_as_often
from tests.oracle.for_nobody import compare, some


@pytest.mark.vm
def test_what_is_always_wrong_shows_something_else_in_every_run() -> None:
    seen = Counter(compare(program) for program in some(12, 2))
    assert_as_often(seen, {"perhaps, 0 of 2 differ": 3, "wrong, 2 of 2 differ": 2})
