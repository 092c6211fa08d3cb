"""Findings as JUnit XML, which every CI system shows as tests: a file is a suite, a function a test case.

The elements are those that Jenkins' xUnit schema allows and GitLab reads. A function fails where a finding
is at or above the failing level; what is below it is the test's output. What could not be analysed is an
error.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.etree import ElementTree as ET

from relax_lint.output.finding import finding_lines
from relax_lint.output.style import PLAIN
from relax_lint.results.check import Check, is_finding
from relax_lint.results.report import FileResult, Report
from relax_lint.results.verdict import Severity
from relax_lint.rule import unreadable_codes
from relax_lint.support.escaping import printable, without_commands

_WHOLE_FILE = "whole file"


def render_junit(report: Report, fail_on: Severity) -> str:
    """The report as text of one XML document. Files without Relax are left out."""
    suites = [_suite(file, fail_on) for file in report.files if file.checks or file.memory]
    root = ET.Element("testsuites", {"name": "relax-lint", **_totals(suites)})
    root.extend(suites)
    ET.indent(root)
    text = without_commands(ET.tostring(root, encoding="unicode"))
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _suite(file: FileResult, fail_on: Severity) -> ET.Element:
    by_function: dict[str, list[Check]] = {
        _test_name(total.module, total.function): [] for total in file.memory
    }
    for check in file.checks:
        findings = by_function.setdefault(_test_name(check.module, check.function), [])
        if is_finding(check):
            findings.append(check)
    path = printable(file.input.path)
    cases = [_case(path, name, found, file, fail_on) for name, found in by_function.items()]
    suite = ET.Element("testsuite", {"name": path, "file": path, **_counts(cases)})
    suite.extend(cases)
    return suite


def _test_name(module: str | None, function: str | None) -> str:
    return printable(".".join(name for name in (module, function) if name)) or _WHOLE_FILE


def _case(path: str, name: str, findings: list[Check], file: FileResult, fail_on: Severity) -> ET.Element:
    case = ET.Element("testcase", classname=path, name=name)
    by_element: dict[str, list[Check]] = {"error": [], "failure": [], "system-out": []}
    for check in findings:
        by_element[_element(check, fail_on)].append(check)
    for element, found in by_element.items():
        if found:
            node = ET.SubElement(case, element, {} if element == "system-out" else _headline(found))
            node.text = _text(found, file)
    return case


def _element(check: Check, fail_on: Severity) -> str:
    if check.severity.rank < fail_on.rank:
        return "system-out"
    return "error" if check.rule in unreadable_codes() else "failure"


def _headline(findings: Sequence[Check]) -> dict[str, str]:
    worst = max(findings, key=lambda check: check.severity.rank)
    more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
    return {"type": worst.rule, "message": printable(f"{worst.rule} {worst.name}: {worst.message}") + more}


def _text(findings: Iterable[Check], file: FileResult) -> str:
    return "\n\n".join("\n".join(finding_lines(check, file.lines, PLAIN)) for check in findings) + "\n"


def _counts(cases: Iterable[ET.Element]) -> dict[str, str]:
    tests = list(cases)
    return {
        "tests": str(len(tests)),
        "failures": str(sum(case.find("failure") is not None for case in tests)),
        "errors": str(sum(case.find("error") is not None for case in tests)),
    }


def _totals(suites: Iterable[ET.Element]) -> dict[str, str]:
    counted = list(suites)
    return {
        name: str(sum(int(suite.get(name, "0")) for suite in counted))
        for name in ("tests", "failures", "errors")
    }
