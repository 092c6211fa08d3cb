"""JUnit XML as an independent reader of it understands it, and what is a failure in it."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as ET

import junitparser

from relax_lint.output.junit import render_junit
from relax_lint.results.report import Report
from relax_lint.results.verdict import Severity, Verdict
from tests.output.builders import fine, overflow, report, totals

UNREADABLE = overflow(
    rule="RLX904",
    name="analysis-failed",
    severity=Severity.ERROR,
    verdict=Verdict.ALWAYS_WRONG,
    function=None,
)


def rendered(one: Report, fail_on: Severity = Severity.WARNING) -> ET.Element:
    root = ET.fromstring(render_junit(one, fail_on))
    assert understood(root) == [declared(suite) for suite in root]
    return root


def understood(root: ET.Element) -> list[tuple[int, ...]]:
    """Tests, failures and errors of each suite, counted by the reader."""
    read = junitparser.JUnitXml.fromstring(ET.tostring(root))
    suites: list[Any] = list(read)
    for suite in suites:
        assert all(case.name and case.classname for case in suite)
        suite.update_statistics()
    return [(suite.tests, suite.failures, suite.errors) for suite in suites]


def declared(suite: ET.Element) -> tuple[int, ...]:
    return tuple(int(suite.get(name, "-1")) for name in ("tests", "failures", "errors"))


def counts(element: ET.Element) -> tuple[str | None, ...]:
    return tuple(element.get(name) for name in ("tests", "failures", "errors"))


def test_every_function_is_a_test_case_the_fine_ones_too() -> None:
    memory = (totals(), totals(function="other"), totals(module=None, function="bare"))
    root = rendered(report(overflow(), overflow(binding="second"), fine(), memory=memory))
    assert [case.get("name") for case in root.iter("testcase")] == ["Module.main", "Module.other", "bare"]
    assert counts(root) == counts(root[0]) == ("3", "1", "0")
    (failure,) = root.iter("failure")
    assert failure.get("message", "").endswith("has 16 bytes (and 1 more)")
    assert (failure.text or "").count("warning[RLX101]") == 2


def test_what_could_not_be_analysed_is_an_error() -> None:
    root = rendered(report(UNREADABLE, overflow()))
    assert counts(root) == ("2", "1", "1")
    (error,) = root.iter("error")
    assert error.get("type") == "RLX904"


def test_what_is_below_the_failing_level_is_output() -> None:
    root = rendered(report(overflow()), Severity.ERROR)
    assert counts(root) == ("1", "0", "0")
    assert "warning[RLX101]" in (next(root.iter("system-out")).text or "")


def test_suppressed_findings_fail_nothing() -> None:
    assert counts(rendered(report(overflow(suppressed=True)))) == ("1", "0", "0")


def test_files_without_relax_are_left_out() -> None:
    assert counts(rendered(report())) == ("0", "0", "0")
    assert len(rendered(report())) == 0


def test_characters_that_xml_cannot_hold_are_escaped() -> None:
    root = rendered(report(overflow(message="\x00 \x1b[0m \udcff ]]> & <", path="\udcff.py", label="\x07")))
    assert r"\x00 \x1b[0m \udcff ]]> & <" in next(root.iter("failure")).get("message", "")
