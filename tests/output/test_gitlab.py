"""Code quality reports, as GitLab documents them."""

from __future__ import annotations

import json
from typing import Any

from relax_lint.output.gitlab import render_gitlab
from relax_lint.results.check import Check
from relax_lint.results.verdict import Severity
from tests.output.builders import fine, overflow, place, report

# https://docs.gitlab.com/ci/testing/code_quality/: what a report of another tool must have.
SEVERITIES = {"info", "minor", "major", "critical", "blocker"}


def entries(*checks: Check) -> list[dict[str, Any]]:
    found = json.loads(render_gitlab(report(*checks)))
    assert isinstance(found, list)
    return found


def test_a_finding_is_one_entry() -> None:
    (entry,) = entries(overflow(), fine())
    assert entry["description"] == (
        "tensor `alloc` needs `4*m` bytes, storage `storage` has 16 bytes (safe iff m <= 4)"
    )
    assert entry["check_name"] == "RLX101 storage-overflow"
    assert entry["location"] == {"path": "model.py", "lines": {"begin": 9}}


def test_severities_are_those_of_gitlab_and_keep_their_order() -> None:
    kinds = (Severity.ERROR, Severity.WARNING, Severity.NOTE)
    found = [entry["severity"] for entry in entries(*(overflow(severity=kind) for kind in kinds))]
    assert found == ["critical", "major", "info"]
    assert SEVERITIES.issuperset(found)


def test_fingerprints_tell_findings_apart_and_stay_when_lines_move() -> None:
    here = entries(overflow(), overflow())
    moved = entries(overflow(location=place(90, 17, 62)), overflow(location=place(99, 17, 62)))
    assert len({entry["fingerprint"] for entry in here}) == 2
    assert [entry["fingerprint"] for entry in here] == [entry["fingerprint"] for entry in moved]


def test_without_findings_the_list_is_empty() -> None:
    assert entries(fine()) == []


def test_a_finding_without_a_place_is_at_the_first_line() -> None:
    (entry,) = entries(overflow(location=None))
    assert entry["location"]["lines"] == {"begin": 1}
