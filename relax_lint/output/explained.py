"""What was asked about each operation, and what decided it: `check --explain`."""

from __future__ import annotations

from collections.abc import Iterator

from relax_lint.output.finding import headline
from relax_lint.output.style import Style
from relax_lint.results.check import Check, RecordedClaim
from relax_lint.results.report import Report
from relax_lint.results.verdict import Severity
from relax_lint.rule import is_source_problem
from relax_lint.support.escaping import printable, printable_lines


def explained_lines(report: Report, style: Style) -> Iterator[list[str]]:
    """One section for each operation that was judged, safe ones included, in the order of the text."""
    for file in report.files:
        for check in sorted(file.checks, key=_place):
            if not is_source_problem(check.rule):
                yield [_headline(check, style), *_reasons(check)]


def claim_text(claim: RecordedClaim) -> str:
    """A claim with the quantities in it by name."""
    terms = ", ".join(f"{name}: {value}" for name, value in claim.terms.items())
    return f"{claim.condition} ({terms})" if terms else claim.condition


def _headline(check: Check, style: Style) -> str:
    if check.severity is not Severity.NONE:
        return headline(check, style)
    where = (
        printable(check.path) if check.location is None else printable(check.path) + check.location.in_words
    )
    return (
        f"{where}: {style.paint('strong', f'{check.verdict.value}[{check.rule}]')} {printable(check.message)}"
    )


def _reasons(check: Check) -> Iterator[str]:
    claims = () if check.proof_record is None else check.proof_record.claims
    texts = [
        *(f"asked: {claim_text(claim)}" for claim in claims),
        f"decided by {check.prover.value}: {check.proof}" if check.proof else "",
        *(f"assumes: {assumption}" for assumption in check.assumes),
    ]
    for text in filter(None, texts):
        first, *rest = printable_lines(text)
        yield f"  {first}"
        yield from (f"    {line}" for line in rest)


def _place(check: Check) -> tuple[int, int, str]:
    line, column = (0, 0) if check.location is None else (check.location.line, check.location.column)
    return line, column, check.rule
