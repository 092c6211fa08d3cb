"""Branches that no run takes are not taken on the virtual machine: the stored programs with a shape heap.

`python -m tests.oracle.untaken` does the same with random programs for as long as it is told to.
"""

from __future__ import annotations

from collections import Counter

import pytest

from relax_lint.analysis.untaken import Untaken
from relax_lint.replay import Machine
from tests.oracle.compare import Disagreement
from tests.oracle.untaken import compare, heap_case
from tests.strength.programs import SEED

WITH_SUCH_BRANCHES = (4, 11, 20, 23, 32, 36, 37, 46, 48, 50, 51, 52, 62, 67, 68, 72, 75)
"""The numbers of the stored programs that have them."""


@pytest.mark.vm
def test_no_run_takes_a_branch_that_no_run_takes() -> None:
    seen: Counter[str] = Counter()
    with Machine() as machine:
        for number in WITH_SUCH_BRANCHES:
            for bare in (False, True):
                module, calls = heap_case(SEED * 1000 + number, bare=bare)
                seen += compare(module, calls[:4] if bare else calls, machine)
    # A name of the heap is an operation of the bare program only.
    assert seen["branches that no run takes"] == 22 + 23
    # Of the programs as they are, a check or an allocation ends some calls before.
    assert seen["branches around them are taken"] >= len(WITH_SUCH_BRANCHES) + 9


@pytest.mark.vm
def test_a_branch_that_is_taken_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that takes the first branch of every inner `If` for one that no run takes."""

    def wrong(self: Untaken, op: object, known: object) -> object:
        result = right(self, op, known)  # type: ignore[arg-type]
        self._found += [inner.place.index for inner in op.then_block.walk()]  # type: ignore[attr-defined]
        return result

    right = Untaken._if
    monkeypatch.setattr(Untaken, "_if", wrong)
    with Machine() as machine, pytest.raises(Disagreement, match="a branch is taken"):
        compare(*heap_case(SEED * 1000 + WITH_SUCH_BRANCHES[0], bare=True), machine)
