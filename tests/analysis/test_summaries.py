"""What is known of a call that may be of either of two functions."""

from __future__ import annotations

from relax_lint.analysis.access_paths import AccessPath
from relax_lint.analysis.certainty import Certainty
from relax_lint.analysis.summaries import Summary
from relax_lint.model.operations import ValueId

ONE, OTHER = AccessPath(ValueId(1)), AccessPath(ValueId(2))
PARAMETERS = (ONE.value, OTHER.value)


def test_either_of_two_results_is_one_of_both() -> None:
    nothing = Summary(PARAMETERS)
    first, second = (Summary(PARAMETERS, result=frozenset({path})) for path in (ONE, OTHER))
    assert first.union(nothing).returned_paths == nothing.union(first).returned_paths == {ONE}
    assert first.union(second).returned_paths == {ONE, OTHER}
    assert nothing.union(nothing).returned_paths == set()


def test_what_only_one_does_may_be_done() -> None:
    both = {ONE: Certainty.MUST, OTHER: Certainty.MUST}
    first = Summary(PARAMETERS, reads=both, writes=both, unwritten={(0,): Certainty.MUST})
    second = Summary(
        PARAMETERS, writes={ONE: Certainty.MUST}, passed=frozenset({OTHER}), unwritten={(0,): Certainty.MUST}
    )
    for found in (first.union(second), second.union(first)):
        assert found.reads == {ONE: Certainty.MAY, OTHER: Certainty.MAY}
        assert found.writes == {ONE: Certainty.MUST, OTHER: Certainty.MAY}
        assert found.passed == {OTHER}
        assert found.unwritten == {(0,): Certainty.MUST}
