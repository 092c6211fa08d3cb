"""Findings as workflow commands of GitHub Actions, which show them as annotations of a pull request.

GitHub shows at most 10 errors, 10 warnings and 10 notices of one step and 50 annotations of one job; the rest
is in the log. So the worst come first.
"""

from __future__ import annotations

from relax_lint.output.finding import details
from relax_lint.output.repository import Repository, repository
from relax_lint.results.check import Check, is_finding
from relax_lint.results.report import Report
from relax_lint.results.verdict import Severity
from relax_lint.support.escaping import printable

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render_github(report: Report) -> str:
    """One line for each finding, errors first."""
    here = repository()
    findings = sorted(filter(is_finding, report.checks), key=lambda check: -check.severity.rank)
    return "".join(f"{_command(check, here)}\n" for check in findings)


def _command(check: Check, here: Repository) -> str:
    properties = {"title": f"{check.rule} {check.name}", "file": here.relative(check.path) or check.path}
    place = check.location
    if place is not None:
        properties |= {"line": str(place.line), "endLine": str(place.end_line)}
        if place.line == place.end_line:
            # GitHub refuses columns of a range of several lines; its last column is in the range.
            last = max(place.end_column - 1, place.column)
            properties |= {"col": str(place.column), "endColumn": str(last)}
    given = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    text = "\n".join((printable(check.message), *details(check)))
    return f"::{_COMMANDS[check.severity]} {given}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(printable(text)).replace(":", "%3A").replace(",", "%2C")
