"""A rule as code scanning shows it: its page, and what it is filtered and sorted by."""

from __future__ import annotations

from typing import Any

from relax_lint.results.verdict import Severity, Verdict
from relax_lint.rule import Rule

MAX_DESCRIPTION = 1024
"""GitHub takes so many characters of a description."""

_PROBLEMS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "recommendation"}


def descriptor(rule: Rule) -> dict[str, Any]:
    """The `reportingDescriptor` of a rule."""
    page = page_of(rule)
    usual = rule.severity_of(Verdict.NEEDS_RUNTIME_CHECK)
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": _first_paragraph(page, "## What it catches") or rule.summary},
        "help": {"text": page, "markdown": page},
        "defaultConfiguration": {"level": usual.value, "enabled": rule.default},
        "properties": {
            "tags": ["memory-safety", rule.family],
            "precision": "high",
            "problem.severity": _PROBLEMS[usual],
            "kind": rule.kind.value,
            "fix": rule.fix.value,
        },
    }


def page_of(rule: Rule) -> str:
    """The text of the rule's page; its summary where a rule package brings no page."""
    try:
        return rule.page.read_text(encoding="utf-8")
    except OSError:
        return rule.summary


def _first_paragraph(page: str, heading: str) -> str:
    after = page.partition(f"\n{heading}\n")[2].strip()
    paragraph = " ".join(after.partition("\n\n")[0].split())
    return paragraph if len(paragraph) <= MAX_DESCRIPTION else paragraph[: MAX_DESCRIPTION - 3] + "..."
