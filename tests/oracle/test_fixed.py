"""Fixes of random functions, as text and as modules: what was right stays as it was, and the rest is right or stopped."""

from __future__ import annotations

from collections import Counter

import pytest

from relax_lint.replay import Machine
from tests.oracle.as_often import assert_as_often
from tests.oracle.fixed import compare, some


@pytest.mark.vm
def test_a_fix_changes_no_run_that_was_right() -> None:
    seen: Counter[str] = Counter()
    with Machine() as machine:
        for program in some(1, 23):
            seen += compare(program, machine, 0)
    assert_as_often(seen, {"fixed": 1, "right before, the same after": 2, "wrong before, stopped after": 2})
