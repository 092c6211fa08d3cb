"""No run reaches what is taken for unreached: random conditions, and the VM on some of them."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.analysis.untaken import _Known
from tests.oracle.passing import Disagreement, _compiled
from tests.oracle.reached import compare, some
from tests.rules.checking import parse


def test_no_run_reaches_what_is_said_to_be_unreached() -> None:
    seen = _compare_all(25)
    assert seen["of these known"] > seen["unreached"] // 2 > 100
    assert seen["runs that end"] > 25


def test_a_mark_that_a_run_reaches_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is forgotten that a kernel may change."""
    monkeypatch.setattr(_Known, "forget", lambda self, may_change: None)
    with pytest.raises(Disagreement, match="a run reaches"):
        _compare_all(60)


def _compare_all(count: int) -> Counter[str]:
    seen: Counter[str] = Counter()
    for program in some(count, 1):
        seen += compare(program)
    return seen


@pytest.mark.vm
def test_runs_end_as_they_are_followed() -> None:
    """Without TVM's planner, which gives what one branch allocates to the other one (apache/tvm#20191)."""
    ends: Counter[bool] = Counter()
    for program in some(6, 1):
        _, built = _compiled(parse(program.text), planned=False)
        machine = relax.VirtualMachine(built, tvm.cpu())
        for flags in product((False, True), repeat=2):
            try:
                machine["main"](*map(tvm.runtime.tensor, (np.ones(4, "float32"), *map(np.array, flags))))
                is_through = True
            except AssertionError:
                is_through = False
            assert is_through == program.run(*flags), program.text
            ends[is_through] += 1
    assert set(ends) == {True, False}
