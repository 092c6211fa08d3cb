"""Results as the editor shows them: diagnostics, hovers and code actions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from lsprotocol import types

from relax_lint.output.finding import details
from relax_lint.repair.apply import compatible, edits_of, proposals
from relax_lint.results.check import Check, Edit, Fix, is_finding
from relax_lint.results.location import Location
from relax_lint.results.memory_figures import MemoryTotals
from relax_lint.results.verdict import Severity
from relax_lint.server.positions import Ruler, covers
from relax_lint.support.escaping import printable
from relax_lint.support.lazy_dataclass import dataclass

SOURCE = "relax-lint"
FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.{SOURCE}"

_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.NOTE: types.DiagnosticSeverity.Information,
}
# A line has a handful of operations of interest, each with a handful of checks.
_MOST_SHOWN = 20


@dataclass(frozen=True)
class DocumentResult:
    """One version of a document and what was found in it."""

    uri: str
    version: int | None
    ruler: Ruler
    checks: Sequence[Check]
    memory: Sequence[MemoryTotals] = ()

    @property
    def findings(self) -> list[Check]:
        """What is shown as a diagnostic."""
        return [check for check in self.checks if is_finding(check)]

    def touching(self, where: types.Range) -> Iterator[Check]:
        """The findings that share a position with a range."""
        for check in self.findings:
            shown = self.ruler.range(check.location)
            if shown.start <= where.end and where.start <= shown.end:
                yield check


def diagnostic(check: Check, judged: DocumentResult) -> types.Diagnostic:
    """A finding as a diagnostic."""
    known = "\n".join(details(replace(check, related=())))
    related = [
        types.DiagnosticRelatedInformation(
            types.Location(judged.uri, judged.ruler.range(one.location)), printable(one.message)
        )
        for one in check.related
        if one.location is not None and one.location.path == check.path
    ]
    return types.Diagnostic(
        range=judged.ruler.range(check.location),
        severity=_SEVERITIES[check.severity],
        code=check.rule,
        source=SOURCE,
        message=f"{check.name}: {printable(check.message)}" + (f"\n{known}" if known else ""),
        related_information=related,
    )


def hover(judged: DocumentResult, position: types.Position) -> types.Hover | None:
    """What is known of the operation at a position, one line for each finding, and one for all that is fine.
    None where there is no operation.
    """
    place = judged.ruler.place(position)
    here = [
        (check, check.location)
        for check in judged.checks
        if check.location is not None and covers(check.location, place)
    ]
    if not here:
        return None
    # The innermost operation: a module that cannot be read covers all that is in it.
    innermost = min((where for _, where in here), key=_extent)
    checks = [check for check, where in here if where == innermost]
    # What is wrong first, then in the order of codes.
    checks.sort(key=lambda check: (-check.severity.rank, check.rule))
    text = "\n\n".join(_lines(checks[:_MOST_SHOWN]))
    return types.Hover(
        types.MarkupContent(types.MarkupKind.Markdown, text), range=judged.ruler.range(innermost)
    )


def _lines(checks: Sequence[Check]) -> Iterator[str]:
    """One line for each check that says something, and one for all the others."""
    fine = [check for check in checks if check.severity is Severity.NONE and not check.suppressed]
    yield from (_line(check) for check in checks if check not in fine)
    if fine:
        yield ", ".join(
            f"**{one.rule}** {one.name} ({one.verdict.value}) by {one.prover.value}" for one in fine
        )


def _extent(location: Location) -> tuple[int, int]:
    """How much a location covers: lines, then columns."""
    return location.end_line - location.line, location.end_column - location.column


def _line(check: Check) -> str:
    verdict = check.verdict.value if check.severity is Severity.NONE else check.severity.value
    head = f"**{check.rule}** {check.name} ({verdict}): {_escaped(printable(check.message))}"
    known = details(replace(check, related=(), help=(), fixes=()))
    facts = [_escaped(line.replace("\n", " ")) for line in known if not line.startswith("verdict: ")]
    proof = f"decided by: {check.prover.value}"
    return "; ".join([head, *facts, proof])


def _escaped(text: str) -> str:
    """Text of the linted file as Markdown that shows itself; text in back-ticks stays code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        parts = [text.replace("`", "'")]
    outside = [
        "".join(f"\\{character}" if character in "\\*_[]<>#|~!" else character for character in part)
        for part in parts[::2]
    ]
    return "`".join(
        part for pair in zip(outside, [*parts[1::2], None], strict=True) for part in pair if part is not None
    )


def actions(judged: DocumentResult, where: types.Range, *, versioned: bool) -> Iterator[types.CodeAction]:
    """The fixes of the findings in a range, and one for all safe ones of the document. `versioned`: the
    client refuses edits of an older version.
    """
    for check in judged.touching(where):
        for number, fix in enumerate(check.fixes):
            if fix.applicability != "display" and fix.edits:
                yield _action(check, fix, judged, preferred=number == 0, versioned=versioned)
    everywhere = compatible(proposals(judged.findings, unsafe=False))
    if everywhere:
        yield types.CodeAction(
            title=f"{SOURCE}: apply all safe fixes",
            kind=FIX_ALL,
            edit=workspace_edit(edits_of(everywhere), judged, versioned=versioned),
        )


def _action(
    check: Check, fix: Fix, judged: DocumentResult, *, preferred: bool, versioned: bool
) -> types.CodeAction:
    safe = fix.applicability == "safe"
    return types.CodeAction(
        title=f"{check.rule}: {printable(fix.title)}" + ("" if safe else " (unsafe)"),
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[diagnostic(check, judged)],
        is_preferred=safe and preferred,
        edit=workspace_edit(fix.edits, judged, versioned=versioned),
    )


def workspace_edit(edits: Iterable[Edit], judged: DocumentResult, *, versioned: bool) -> types.WorkspaceEdit:
    """The edits as the protocol has them."""
    changes = [types.TextEdit(judged.ruler.range(edit.location), edit.text) for edit in dict.fromkeys(edits)]
    if not versioned:
        return types.WorkspaceEdit(changes={judged.uri: changes})
    document = types.OptionalVersionedTextDocumentIdentifier(judged.uri, judged.version)
    return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(document, changes)])
