"""Findings as a code quality report of GitLab, which shows them in the changes of a merge request.

The elements are those that GitLab documents as read: `description`, `check_name`, `fingerprint`, `severity`,
`location.path` and `location.lines.begin`.
"""

from __future__ import annotations

from relax_lint.output.finding import safe_region
from relax_lint.output.repository import repository
from relax_lint.results.check import is_finding
from relax_lint.results.identity import identities
from relax_lint.results.report import Report
from relax_lint.results.verdict import Severity
from relax_lint.support.escaping import json_text, printable

_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "major", Severity.NOTE: "info"}


def render_gitlab(report: Report) -> str:
    """The findings as text of one JSON list. A fingerprint stays while lines move."""
    here = repository()
    checks = report.checks
    lines = []
    for check, identity in zip(checks, identities(checks), strict=True):
        if not is_finding(check):
            continue
        region = printable(safe_region(check))
        message = printable(check.message)
        entry = {
            "description": f"{message} ({region})" if region else message,
            "check_name": f"{check.rule} {check.name}",
            "fingerprint": identity,
            "severity": _SEVERITIES[check.severity],
            "location": {
                "path": here.relative(check.path) or printable(check.path),
                "lines": {"begin": check.location.line if check.location is not None else 1},
            },
        }
        lines.append(json_text(entry))
    return "[\n" + ",\n".join(lines) + "\n]\n" if lines else "[]\n"
