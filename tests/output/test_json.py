"""The JSON output against its schema and against the report that it was made from."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jsonschema
import pytest

from relax_lint.output.json import render_json
from relax_lint.output.schema import SCHEMA_FILE, report_schema
from relax_lint.results.check import AllocatorFailure, Edit, Fix
from relax_lint.results.memory_figures import Amount, CallMemory, PlaceOfPeak
from relax_lint.results.report import FileResult, InputStatus, Report
from tests.output.builders import fine, overflow, place, report, totals
from tests.report_schema import report_validator


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    return report_validator()


def rendered(one: Report) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(render_json(one))
    return data


FULL = report(
    overflow(fixes=(Fix("make it larger", "safe", (Edit(place(8, 41, 43), "4*m"),)),), help=("do",)),
    fine(allocators={"naive": AllocatorFailure(None, known=False)}),
    fine(location=None, related=(), module=None, binding=None, binding_index=None, path="model.json"),
    memory=(
        totals(
            peak_live=Amount("16", 16),
            peak_at=PlaceOfPeak("alloc", place(9, 1, 2)),
            lower_bound=Amount("4*m", None),
            calls=(CallMemory("add1", "_", Amount("8*m", None)),),
        ),
        totals(parameter_bytes=None, reserved={"naive": None}, module=None),
    ),
)


def test_every_form_of_report_is_valid(validator: jsonschema.Draft202012Validator) -> None:
    skipped = Report((FileResult(InputStatus("a.py", 0, "skipped", "no Relax function in it")),), None)
    for each in (FULL, skipped, Report((), None)):
        validator.validate(rendered(each))


def test_the_schema_that_is_shipped_is_that_of_the_types() -> None:
    assert json.loads(SCHEMA_FILE.read_text()) == report_schema(), "run `make schema`"


def test_a_call_whose_memory_is_not_known_is_valid(validator: jsonschema.Draft202012Validator) -> None:
    data = rendered(report(memory=(totals(calls=(CallMemory("add1", "_", None),)),)))
    assert data["memory"][0]["calls"][0]["used_memory"] is None
    validator.validate(data)


def test_the_schema_refuses_unknown_and_missing_fields(validator: jsonschema.Draft202012Validator) -> None:
    spoils: tuple[Callable[[Any], object], ...] = (
        lambda data: data.update(extra=1),
        lambda data: data.pop("summary"),
        lambda data: data["checks"][0].update(extra=1),
        lambda data: data["checks"][0].update(verdict="perhaps"),
        lambda data: data["checks"][0]["location"].update(line=0),
        lambda data: data["memory"][0]["planned"].pop("static_bytes"),
    )
    for spoil in spoils:
        data = rendered(FULL)
        spoil(data)
        assert not validator.is_valid(data)


def test_the_check_of_17322() -> None:
    check = rendered(FULL)["checks"][0]
    assert check["rule"] == "RLX101"
    assert check["safe_when"] == "m <= 4"
    assert check["examples"] == {"fine": {"m": 4}, "wrong": {"m": 5}}
    assert check["allocators"] == {
        "naive": {"first_failure": {"m": 5}},
        "pooled": {"first_failure": {"m": 1025}},
    }
    place = {"path": "model.py", "line": 9, "column": 17, "end_line": 9, "end_column": 63}
    assert check["location"] == {**place, "cell": None, "cell_line": None}
    assert check["fixes"][0]["edits"][0]["start"] == {"line": 8, "column": 41}


def test_never_fails_and_not_known_are_told_apart() -> None:
    checks = rendered(FULL)["checks"]
    assert checks[1]["allocators"]["naive"] == {"first_failure": None, "known": False}
    assert checks[2]["allocators"]["naive"] == {"first_failure": None}


def test_ids_are_distinct_and_do_not_move_with_lines() -> None:
    twice = [overflow(), overflow(), overflow(function="other")]
    moved = [replace(check, location=place(99, 1, 2), binding_index=7) for check in twice]
    before = [check["id"] for check in rendered(report(*twice))["checks"]]
    after = [check["id"] for check in rendered(report(*moved))["checks"]]
    assert len(set(before)) == 3
    assert before == after


def test_summary_counts() -> None:
    undecided = overflow(undecided=True, rule="RLX103", name="size-overflow")
    summary = rendered(report(overflow(), undecided, fine(), fine(), fine()))["summary"]
    assert summary["checks"] == 5
    assert (summary["needs_runtime_check"], summary["always_fine"], summary["undecided"]) == (2, 3, 1)
    assert summary["by_rule"]["RLX103"] == {"always_wrong": 0, "always_fine": 0, "needs_runtime_check": 1}
    assert summary["selectivity"] == 0.6


def test_selectivity_of_nothing_is_null() -> None:
    assert rendered(report())["summary"]["selectivity"] is None


def test_text_that_is_not_unicode_is_still_json() -> None:
    assert rendered(report(overflow(path="\udcff.py")))["checks"][0]["path"] == "\udcff.py"
