"""Answers of workers: what goes in comes out, and nothing but the result model comes out."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relax_lint.results.check import AllocatorFailure, Check, Edit, Fix, Related
from relax_lint.results.location import Location
from relax_lint.results.memory_figures import Amount, CallMemory, MemoryTotals, PlaceOfPeak
from relax_lint.results.problem import Problem, ProblemKind
from relax_lint.results.report import UnitResult
from relax_lint.results.verdict import Prover, Severity, Verdict
from relax_lint.running.messages import Loaded, UnitHead, UnitList, read_answer
from relax_lint.sources.ignore_comment import IgnoreComment
from relax_lint.support.codec import decode, encode

PLACE = Location("a.py", 1, 2, 3, 4)
CHECK = Check(
    rule="RLX101",
    name="storage-overflow",
    verdict=Verdict.NEEDS_RUNTIME_CHECK,
    severity=Severity.WARNING,
    message="\udcff",
    path="a.py",
    module=None,
    function="main",
    location=PLACE,
    related=(Related("x", None), Related("y", PLACE)),
    fine={"m": 2**80},
    allocators={"naive": AllocatorFailure({"m": 5}), "pooled": AllocatorFailure(None, known=False)},
    prover=Prover.Z3,
    fixes=(Fix("t", "safe", (Edit(PLACE, ""),)),),
)
AMOUNT = Amount("4*m", None)
TOTALS = MemoryTotals(
    *("a.py", None, "main", 1, AMOUNT, 0, AMOUNT, None, 0, 0, 1, AMOUNT, 1, 16, 0, None),
    *({"naive": AMOUNT, "pooled": None}, {}, {}),
    peak_live=AMOUNT,
    peak_at=PlaceOfPeak("b", PLACE),
    calls=(CallMemory("f", "_", AMOUNT),),
)


@pytest.mark.parametrize(
    "answer",
    [
        UnitList(
            (UnitHead("M", PLACE), UnitHead(None, None)),
            (Problem(ProblemKind.PARSE_ERROR, "m", None, "u", ("d",)),),
            (IgnoreComment(PLACE, None, ("RLX1",), "", "", None),),
            {3: "x"},
        ),
        Loaded("0.27.0", ("RLX101",)),
        UnitResult((CHECK,), (TOTALS,), 1, ("note",), {}, (), ()),
    ],
)
def test_an_answer_survives_the_way(answer: Any) -> None:
    assert read_answer([type(answer).__name__, encode(answer)]) == answer


@pytest.mark.parametrize(
    "value",
    [
        None,
        "Loaded",
        ["Loaded"],
        ["Config", []],
        ["Loaded", []],
        ["Loaded", ["0.27", "more"]],
        ["Loaded", [27, []]],
        ["Loaded", {"tvm_version": "0.27", "rules": []}],
        ["UnitResult", [[["RLX101"]], [], 1, [], []]],
        ["UnitResult", [[], [], True, [], []]],
        ["UnitResult", [[], [], 1, "note", []]],
        ["UnitResult", [[], [], 1, [], [["1", "x"]]]],
        ["UnitResult", [[], [], 1, [], [[1]]]],
    ],
)
def test_anything_else_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        read_answer(value)


def test_an_unknown_word_is_refused() -> None:
    data = encode(CHECK)
    data[2] = "perhaps"
    with pytest.raises(ValueError, match="perhaps"):
        decode(Check, data)


@dataclass(frozen=True)
class Outside:
    what: object


def test_types_beyond_the_result_model_have_no_decoder() -> None:
    with pytest.raises(TypeError, match="no place for"):
        decode(Outside, [1])


def test_strings_of_tvm_are_written_as_plain_strings() -> None:
    class TvmString(str):
        """As TVM's: a subclass that `str()` gives back as it is."""

        __slots__ = ()

        def __str__(self) -> str:
            return self

    encoded = encode(CallMemory(TvmString("te_func"), "y", None))
    assert encoded == ["te_func", "y", None]
    assert type(encoded[0]) is str


ROWS = tuple(
    replace(
        CHECK,
        message=f"operation {number}",
        severity=Severity.NONE if number % 3 else Severity.NOTE,
        location=None if number == 5 else Location("a.py", number // 2 + 1, 1, 9, 9),
        fine=[None, {}, {"n": 0}, {"n": number}][number % 4],
        undecided=number == 11,
        notes=("one", "two")[: number % 3],
    )
    for number in range(40)
)


def test_many_checks_are_a_table_in_which_shared_values_stand_once() -> None:
    answer = UnitResult(ROWS)
    written = json.dumps(encode(answer))
    assert read_answer(["UnitResult", json.loads(written)]) == answer
    assert written.count("storage-overflow") == 1
    assert len(written) < len(json.dumps([encode(check) for check in ROWS])) / 4


@given(
    st.lists(st.tuples(st.sampled_from(["", "a", "b"]), st.none() | st.builds(Amount, st.text(max_size=2))))
)
def test_tables_of_any_length_survive_the_way(rows: list[tuple[str, Amount | None]]) -> None:
    calls = tuple(CallMemory(callee, "y", amount) for callee, amount in rows)
    assert decode(MemoryTotals, json.loads(json.dumps(encode(replace(TOTALS, calls=calls))))).calls == calls


def test_a_table_may_begin_with_a_table() -> None:
    nested = tuple(Edit(Location("a.py", number, 1, 1, 1), "") for number in range(9))
    fix = Fix("t", "safe", nested)
    assert decode(Fix, json.loads(json.dumps(encode(fix)))) == fix


def test_the_first_column_may_be_a_table_whose_rows_stand_for_many() -> None:
    places = [Location("a.py", number, 1, number, 9) for number in range(1, 11)]
    fix = Fix("t", "safe", tuple(Edit(places[number % 10], str(number % 3)) for number in range(40)))
    data = json.loads(json.dumps(encode(fix)))
    (first, numbers), _ = data[2]["columns"]
    assert len(first["columns"]) == len(fields(Location))
    assert len(numbers) == 40
    assert decode(Fix, data) == fix
    damaged: Any
    for damaged in ({"columns": first}, {"columns": []}, {"columns": [first]}, {}, None):
        data[2]["columns"][0] = [damaged, numbers]
        with pytest.raises(ValueError, match=r"\w"):
            decode(Fix, data)


def _units(data: Any) -> UnitList:
    found = read_answer(data)
    assert isinstance(found, UnitList)
    return found


@pytest.mark.parametrize("column", [[["x" * 1000]], [["x" * 1000, "y"], [0] * 150_000]])
def test_a_few_words_do_not_become_a_flood(column: Any) -> None:
    heads = [[["A" * 9], [0] * 150_000], [[None]]]
    assert len(_units(_heads({"columns": heads})).units) == 150_000
    origins = {"columns": [column if len(column) == 2 else [column[0], [0] * 150_000], [[None]]]}
    with pytest.raises(ValueError, match="too large"):
        decode(Check, [*encode(CHECK)[:12], origins, *encode(CHECK)[13:]])
    # So it is with several words that all rows share.
    shared = [[[value]] for value in ("m", None, "u", ["x" * 500] * 2, False, False)]
    problems = {"columns": [[["parse-error"], [0] * 150_000], *shared]}
    with pytest.raises(ValueError, match="too large"):
        read_answer(["UnitList", [[], problems, [], [], []]])
    shared[3] = [[["x"]]]
    problems = {"columns": [[["parse-error"], [0] * 150_000], *shared]}
    assert len(_units(["UnitList", [[], problems, [], [], []]]).problems) == 150_000


HEADS = tuple(UnitHead(f"unit {number}", Location("a.py", number, 1, number, 9)) for number in range(1, 9))


def _heads(columns: Any) -> Any:
    return ["UnitList", [columns, [], [], [], []]]


@pytest.mark.parametrize(
    "columns",
    [
        [],
        [["a", "b"], None],
        [[["a", "b"], None]],
        [[["a", "b"], None], [[None], [0]]],
        [[["a", "b"], None], [[None], [0, 1]]],
        [[["a", "b"], None], [[None], [0, -1]]],
        [[["a", "b"], None], [[None], [0, False]]],
        [[["a", "b"], None], [[None], [0, "0"]]],
        [[["a", "b"], None], [[None, None]]],
        [[["a", "b"], None], [[1]]],
        [[["a", 1], None], [[None]]],
        [[["a"]], [[None]]],
        [[["a"], [0] * 3_000_000], [[None]]],
        [[["a"], [0] * 8], [[None]], [[None]]],
    ],
)
def test_a_table_of_another_form_is_refused(columns: Any) -> None:
    assert read_answer(["UnitList", encode(UnitList(HEADS))]) == UnitList(HEADS)
    with pytest.raises(ValueError, match=r"\w"):
        read_answer(_heads({"columns": columns}))


def test_a_table_stands_for_a_sequence_only() -> None:
    with pytest.raises(ValueError, match="not a list"):
        read_answer(_heads({"rows": []}))
    with pytest.raises(ValueError, match="not a list"):
        decode(Loaded, {"columns": [[["0.27"], None], [[["RLX101"]], None]]})
    with pytest.raises(ValueError, match="not a list"):
        decode(Loaded, ["0.27", {"columns": [[["RLX101"], None]]}])


def test_locations_in_a_table_are_as_bounded_as_alone() -> None:
    with pytest.raises(ValueError, match="not a location"):
        read_answer(_heads({"columns": [[["a"] * 8, None], [[["a.py", 2**40, 1, 2, 2, None, None]]]]}))
