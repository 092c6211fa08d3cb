"""What is known of a call that may be of either of two functions."""

from __future__ import annotations

from typing import Any

from relax_lint.analysis.access_paths import AccessPath
from relax_lint.analysis.certainty import Certainty
from relax_lint.analysis.presumption import Presumption
from relax_lint.analysis.results import New
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


SUPPOSED, SUPPOSED_TOO = Presumption("one writes it"), Presumption("the other writes it")
MUST, MAY = Certainty.MUST, Certainty.MAY


def test_each_of_two_adds_what_only_it_does() -> None:
    pair, back = frozenset({(ONE, OTHER)}), frozenset({(OTHER, ONE)})
    first = Summary(PARAMETERS, places=frozenset({ONE}), handed_on=frozenset({ONE}), late=pair)
    second = Summary(PARAMETERS, places=frozenset({OTHER}), handed_on=frozenset({OTHER}), late=back)
    for found in (first.union(second), second.union(first)):
        assert found.places == found.handed_on == {ONE, OTHER}
        assert found.late == pair | back
        assert found.parameters == PARAMETERS


def test_what_is_unwritten_in_one_only_may_be_written() -> None:
    first = Summary(PARAMETERS, unwritten={(0,): MUST, (1,): MUST, (2,): MAY})
    second = Summary(PARAMETERS, unwritten={(1,): MUST, (3,): MUST})
    expected = {(0,): MAY, (1,): MUST, (2,): MAY, (3,): MAY}
    assert first.union(second).unwritten == second.union(first).unwritten == expected


def test_a_presumption_holds_where_each_that_leaves_a_field_unwritten_has_one() -> None:
    first = Summary(
        PARAMETERS,
        unwritten={(0,): MAY, (1,): MAY, (2,): MAY},
        presumed={(0,): SUPPOSED, (1,): SUPPOSED, (2,): SUPPOSED},
    )
    second = Summary(
        PARAMETERS,
        unwritten={(1,): MAY, (2,): MAY, (3,): MAY},
        presumed={(2,): SUPPOSED_TOO, (3,): SUPPOSED_TOO},
    )
    assert first.union(second).presumed == {(0,): SUPPOSED, (2,): SUPPOSED_TOO, (3,): SUPPOSED_TOO}
    assert second.union(first).presumed == {(0,): SUPPOSED, (2,): SUPPOSED, (3,): SUPPOSED_TOO}


def test_a_rest_is_read_where_both_that_read_it_read_a_rest() -> None:
    third = AccessPath(ValueId(3))
    reads = {ONE: MAY, OTHER: MAY}
    first = Summary(PARAMETERS, reads={**reads, third: MAY}, rests=frozenset({ONE, OTHER, third}))
    second = Summary(PARAMETERS, reads=reads, rests=frozenset({ONE}))
    assert first.union(second).rests == second.union(first).rests == {ONE, third}


def test_a_field_is_partly_written_where_both_that_leave_it_unwritten_say_so() -> None:
    first = Summary(
        PARAMETERS, unwritten={(0,): MAY, (1,): MAY, (2,): MAY}, partly=frozenset({(0,), (1,), (2,)})
    )
    second = Summary(PARAMETERS, unwritten={(0,): MAY, (1,): MAY}, partly=frozenset({(0,)}))
    assert first.union(second).partly == second.union(first).partly == {(0,), (2,)}


def test_what_a_caller_has_for_a_value_of_a_function() -> None:
    third = AccessPath(ValueId(3))
    # A field of what is held is a field of a field of the closure.
    passed = {ONE.value: AccessPath(ValueId(7)), OTHER.value: AccessPath(ValueId(8), (1,))}
    found = Summary(PARAMETERS, reads=dict.fromkeys((ONE, third), MUST), passed_as=passed)
    assert found.path(AccessPath(OTHER.value, (2,))) == AccessPath(ValueId(8), (1, 2))
    assert found.touched(found.reads) == [(AccessPath(ValueId(7)), MUST), (third, MUST)]
    assert found.captured == (third,)


def test_other_names_for_parameters() -> None:
    a, b = ValueId(7), ValueId(8)
    inside = AccessPath(ValueId(3))
    result: Any = (frozenset({ONE, _made(ONE, OTHER)}), frozenset({inside}))
    found = Summary(
        PARAMETERS,
        reads={ONE: MUST},
        writes={OTHER: MAY},
        passed=frozenset({ONE}),
        places=frozenset({OTHER}),
        result=result,
        superseded={AccessPath(ONE.value, (1,)): MAY},
        handed_on=frozenset({ONE, inside}),
        late=frozenset({(ONE, OTHER)}),
        rests=frozenset({OTHER}),
    ).with_names(PARAMETERS, (a, b))
    first, second = AccessPath(a), AccessPath(b)
    renamed: Any = (frozenset({first, _made(first, second)}), frozenset({inside}))
    assert found == Summary(
        (a, b),
        reads={first: MUST},
        writes={second: MAY},
        passed=frozenset({first}),
        places=frozenset({second}),
        result=renamed,
        superseded={AccessPath(a, (1,)): MAY},
        handed_on=frozenset({first, inside}),
        late=frozenset({(first, second)}),
        rests=frozenset({second}),
    )


def _made(storage: AccessPath, perhaps: AccessPath) -> New:
    return New(storages=frozenset({storage}), perhaps=frozenset({perhaps}))
