"""Values that are handed on, kept, cast and computed in few bits: a sample of the search, its forms, and the faults it finds."""

from __future__ import annotations

from collections import Counter

import pytest
import tvm

from relax_lint.analysis.aliases import Aliases
from relax_lint.analysis.left_out import LeftOut
from relax_lint.analysis.moved import Moved
from relax_lint.facts import assertions, read_at_start, wrong_things
from relax_lint.model.operations import Alias, MakeTuple, MatchCast, ValueId
from relax_lint.model.symbols import SymbolTable
from relax_lint.symbolic import translate
from tests.oracle.passing import Disagreement, Unusable
from tests.oracle.values.compare import compare
from tests.oracle.values.program import CASTS, ENDS, WAYS, Program, smaller, some

SEED = 5


@pytest.mark.vm
def test_a_sample_of_random_programs() -> None:
    seen: Counter[str] = Counter()
    for number, program in enumerate(some(10, 2)):
        try:
            seen += compare(program, folded=number % 2 == 1)
        except Unusable:
            seen["not taken"] += 1
    assert min(seen["right"], seen["wrong"]) > 0


def test_every_form_is_drawn() -> None:
    programs = list(some(300, SEED))
    ways = Counter(way for program in programs for way in program.ways)
    assert set(ways) == set(WAYS)
    assert {program.end for program in programs} == set(ENDS)
    assert {program.cast for program in programs} == set(CASTS)
    assert {program.width for program in programs if program.size} == {"int64", "int32", "int8"}
    assert {program.killed for program in programs} >= {None, 0, 1, 2}
    assert {program.used for program in programs} == {True, False}


def test_programs_get_smaller() -> None:
    for program in some(20, SEED):
        assert all(len(candidate.text) <= len(program.text) + 4 for candidate in smaller(program))


# -- faults that were found by hand -------------------------------------------------------------------


def _fields_of_tuples_alone(patch: pytest.MonkeyPatch) -> None:
    def fields(self: Aliases) -> dict[ValueId, tuple[ValueId, ...]]:
        found = dict(self._function.inline_tuples)
        for op in self._function.body.of(MakeTuple, Alias, MatchCast):
            if isinstance(op, MakeTuple):
                found[op.result] = op.items
            elif isinstance(op, Alias | MatchCast) and op.source in found:
                found[op.result] = found[op.source]
        return found

    patch.setattr(Aliases, "fields", property(fields))


def _operators_take_any_offset(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(read_at_start, "_refused", lambda *given: iter(()))


def _sorts_take_any_offset(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(read_at_start, "AT_DATA_POINTER", frozenset())


def _all_is_used(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(LeftOut, "of", lambda *given: frozenset())


def _tuples_hold_no_nulls(patch: pytest.MonkeyPatch) -> None:
    before = wrong_things._unlike
    patch.setattr(
        wrong_things,
        "_unlike",
        lambda value, type_, function, of, **given: (
            None
            if any(one.items for one in of.things_of(value, function))
            else before(value, type_, function, of, **given)
        ),
    )


def _nothing_is_null(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(assertions, "given_otherwise", lambda op, of: iter(()))


def _casts_keep_low_bits(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(translate.Translator, "_cast", lambda self, *given: translate._cast(*given))


def _few_bits_are_enough(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SymbolTable, "fits", lambda self, value, bits: True)


def _nobody_keeps(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Moved, "is_given_to", lambda self, keeps: False)


FAULTS = {
    "tuples in tuples have no registers": (_fields_of_tuples_alone, 197),
    "operators take any offset": (_operators_take_any_offset, 36),
    "sorts take any offset": (_sorts_take_any_offset, 80),
    "all is used": (_all_is_used, 354),
    "tuples hold no null values": (_tuples_hold_no_nulls, 38),
    "nothing is a null value": (_nothing_is_null, 5),
    "casts keep the low bits": (_casts_keep_low_bits, 510),
    "few bits are enough": (_few_bits_are_enough, 120),
    "nobody keeps what is moved": (_nobody_keeps, 205),
}
"""What puts a fault back, and a program of `SEED` that finds it."""


@pytest.fixture(scope="module")
def drawn() -> list[Program]:
    return list(some(600, SEED))


@pytest.mark.vm
@pytest.mark.parametrize("fault", FAULTS)
def test_the_search_finds(fault: str, drawn: list[Program], monkeypatch: pytest.MonkeyPatch) -> None:
    if fault == "casts keep the low bits" and tvm.__version__.startswith("0.26"):
        pytest.skip("TVM 0.26 builds no sizes of parameters of few bits")
    put_back, number = FAULTS[fault]
    compare(drawn[number], folded=fault == "all is used")
    put_back(monkeypatch)
    with pytest.raises(Disagreement):
        compare(drawn[number], folded=fault == "all is used")
