"""Findings as SARIF 2.1.0, the format of code scanning, within the limits that GitHub documents for uploads.

What is shown of a rule is its page. The code flow of a finding leads from where the symbols of its condition
get their values, over the storage or whatever else is involved, to the operation.
"""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from relax_lint import __version__
from relax_lint.output.finding import details
from relax_lint.output.repository import Repository, repository
from relax_lint.output.sarif_rules import descriptor
from relax_lint.results.check import Check, Edit, Fix, Related, Suppression
from relax_lint.results.identity import identities
from relax_lint.results.location import Location
from relax_lint.results.report import Report
from relax_lint.results.verdict import Severity
from relax_lint.rule import load_rules
from relax_lint.support.escaping import encodable, json_text, printable

MAX_RESULTS = 5_000
"""GitHub shows 5,000 results of a run and refuses more than 25,000."""
MAX_COMPRESSED_BYTES = 10_000_000
"""GitHub refuses a file of more than 10 MB after gzip."""
MAX_LOCATIONS = 100
"""GitHub shows 100 locations of a result and 1,000 of its code flow."""

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT = "%SRCROOT%"
_FINGERPRINT = "relaxLint/v1"
# What SARIF would read as a link, and as a placeholder.
_LINK = re.compile(r"\[(?=[^\[\]]*\]\()")


def render_sarif(report: Report) -> str:
    """The findings, suppressed ones included, as text of one SARIF log. Where they are too many for an upload
    the least severe are left out, and a notification in the log says so.
    """
    checks = report.checks
    found = [
        (check, identity)
        for check, identity in zip(checks, identities(checks), strict=True)
        if check.severity is not Severity.NONE
    ]
    kept = found
    if len(found) > MAX_RESULTS:
        # Stable: among equals the order of the report stays.
        kept = sorted(found, key=lambda one: (one[0].suppressed, -one[0].severity.rank))[:MAX_RESULTS]
    while True:
        text = _log(report, kept, len(found))
        if not kept or _fits(text):
            return text
        kept = kept[: len(kept) // 2]


def _fits(text: str) -> bool:
    data = text.encode()
    return len(data) <= MAX_COMPRESSED_BYTES or len(gzip.compress(data)) <= MAX_COMPRESSED_BYTES


def _log(report: Report, found: Sequence[tuple[Check, str]], total: int) -> str:
    codes = sorted({check.rule for check, _ in found})
    rules = load_rules()
    index = {code: number for number, code in enumerate(codes)}
    writer = _Writer(index, repository())
    run = {
        "tool": {
            "driver": {
                "name": "relax-lint",
                "semanticVersion": __version__,
                "properties": {"tvmVersion": report.tvm_version},
                "rules": [descriptor(rules[code]) for code in codes],
            }
        },
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": [*_notes(report), *_left_out(len(found), total)],
            }
        ],
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the repository."}}},
        "results": [writer.result(check, identity) for check, identity in found],
    }
    lines = ",\n".join(f'"{key}": {_lines(value)}' for key, value in run.items())
    return f'{{"$schema": "{_SCHEMA}", "version": "2.1.0", "runs": [{{\n{lines}\n}}]}}\n'


def _lines(value: Any) -> str:
    """One line for each item of a list: readable, and less than half as large as with everything indented."""
    if not isinstance(value, list) or not value:
        return json_text(value)
    return "[\n" + ",\n".join(map(json_text, value)) + "\n]"


def _notes(report: Report) -> list[dict[str, Any]]:
    notes = [f"{file.input.path}: {note}" for file in report.files for note in file.input.notes]
    return [{"level": "note", "message": _message(printable(note))} for note in (*notes, *report.notes)]


def _left_out(kept: int, total: int) -> list[dict[str, Any]]:
    if kept == total:
        return []
    text = (
        f"{total - kept:,} of {total:,} findings, the least severe, are omitted: the limit of code scanning"
    )
    return [{"level": "warning", "message": {"text": text}}]


class _Writer:
    """Writes findings down as results. `index` is the place of a rule in the list of rules."""

    def __init__(self, index: Mapping[str, int], here: Repository) -> None:
        self._index = index
        self._here = here

    def result(self, check: Check, identity: str) -> dict[str, Any]:
        """One finding."""
        result: dict[str, Any] = {
            "ruleId": check.rule,
            "ruleIndex": self._index[check.rule],
            "level": check.severity.value,
            "message": _message(_text(check)),
            "locations": [self._operation(check)],
            "partialFingerprints": {_FINGERPRINT: identity},
            "properties": _properties(check),
        }
        related = [place for place in (*check.origins, *check.related) if place.location is not None]
        if related:
            result["relatedLocations"] = self._places(related[:MAX_LOCATIONS])
        if check.location is not None and check.origins and related:
            steps = [*self._places(related[: MAX_LOCATIONS - 1]), self._last_step(check)]
            flow = {"locations": [{"location": step} for step in steps]}
            result["codeFlows"] = [{"threadFlows": [flow]}]
        fixes = [self._fix(fix) for fix in check.fixes if fix.edits]
        if fixes:
            result["fixes"] = fixes
        if check.suppressed:
            result["suppressions"] = [_suppression(check.suppressed_by)]
        return result

    def _operation(self, check: Check) -> dict[str, Any]:
        names = [name for name in (check.module, check.function) if name]
        place = {"physicalLocation": self._physical(check.path, check.location)}
        if not names:
            return place
        logical = {
            "fullyQualifiedName": printable(".".join(names)),
            "kind": "function" if check.function else "module",
        }
        return {**place, "logicalLocations": [logical]}

    def _last_step(self, check: Check) -> dict[str, Any]:
        text = check.label or check.message
        return {
            "physicalLocation": self._physical(check.path, check.location),
            "message": _message(printable(text)),
        }

    def _places(self, places: Iterable[Related]) -> list[dict[str, Any]]:
        return [
            {
                "physicalLocation": self._physical(place.location.path, place.location),
                "message": _message(printable(place.message)),
            }
            for place in places
            if place.location is not None
        ]

    def _physical(self, path: str, location: Location | None) -> dict[str, Any]:
        """Code scanning has to have a region: a finding without a position is at the start of its file."""
        place = location or Location(path, 1, 1, 1, 1)
        found: dict[str, Any] = {"artifactLocation": self._artifact(path), "region": _region(place)}
        if place.cell is not None:
            found["properties"] = {"cell": place.cell, "cellLine": place.cell_line}
        return found

    def _artifact(self, path: str) -> dict[str, str]:
        relative = self._here.relative(path)
        if relative is not None:
            return {"uri": _uri(relative), "uriBaseId": _ROOT}
        if os.path.exists(path):
            return {"uri": Path(path).resolve().as_uri()}
        return {"uri": _uri(path)}

    def _fix(self, fix: Fix) -> dict[str, Any]:
        by_path: dict[str, list[Edit]] = {}
        for edit in fix.edits:
            by_path.setdefault(edit.location.path, []).append(edit)
        return {
            "description": _message(printable(f"{fix.title} ({fix.applicability})")),
            "artifactChanges": [
                {
                    "artifactLocation": self._artifact(path),
                    "replacements": [
                        {"deletedRegion": _region(edit.location), "insertedContent": {"text": edit.text}}
                        for edit in edits
                    ],
                }
                for path, edits in by_path.items()
            ],
        }


def _text(check: Check) -> str:
    """The headline and what is known. Places and remedies have fields of their own."""
    elsewhere = tuple(place for place in check.related if place.location is None)
    return "\n".join(
        (printable(check.message), *details(replace(check, related=elsewhere, help=(), fixes=())))
    )


def _suppression(by: Suppression | None) -> dict[str, str]:
    external = by is not None and by.kind == "baseline"
    found = {"kind": "external" if external else "inSource", "status": "accepted"}
    return {**found, "justification": by.reason} if by is not None and by.reason else found


def _region(place: Location) -> dict[str, int]:
    return {
        "startLine": place.line,
        "startColumn": place.column,
        "endLine": place.end_line,
        "endColumn": place.end_column,
    }


def _uri(path: str) -> str:
    try:
        return quote(os.fsencode(path))
    except UnicodeEncodeError:
        # No name that a file can have.
        return quote(encodable(path))


def _message(text: str) -> dict[str, str]:
    """Text as SARIF takes it: braces and brackets of untrusted names are neither placeholders nor links."""
    plain = text.replace("{", "{{").replace("}", "}}")
    return {"text": _LINK.sub(r"\\[", plain)}


def _properties(check: Check) -> dict[str, Any]:
    return {
        "verdict": check.verdict.value,
        "safeWhen": check.safe_when,
        "assumes": list(check.assumes),
        "provedBy": check.prover.value,
    }
