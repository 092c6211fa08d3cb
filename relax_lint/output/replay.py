"""What became of the findings when their examples were run, as text for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from relax_lint.output.style import PLAIN, Style
from relax_lint.output.tables import count
from relax_lint.results.check import Check
from relax_lint.results.confirmation import Confirmation, Run, Status
from relax_lint.results.report import Report
from relax_lint.support.escaping import printable, without_commands

_PAINTS = {Status.CONFIRMED: "error", Status.NOT_CONFIRMED: "warning", Status.NOT_RUNNABLE: "note"}


def render_replay(report: Report, style: Style = PLAIN, *, quiet: bool = False) -> str:
    """A block for each finding: where it is, whether it is confirmed and why, and every run; then the counts.
    `quiet` leaves out the runs and the findings that are not runnable.
    """
    blocks: list[str] = []
    statuses: Counter[Status] = Counter()
    for check in report.checks:
        if check.confirmation is None:
            continue
        statuses[check.confirmation.status] += 1
        if not quiet or check.confirmation.status is not Status.NOT_RUNNABLE:
            blocks.append("\n".join(_block(check, check.confirmation, style, runs=not quiet)))
    blocks.append(_summary(statuses))
    return without_commands("\n\n".join(blocks) + "\n")


def _block(check: Check, confirmation: Confirmation, style: Style, *, runs: bool) -> Iterator[str]:
    status = confirmation.status
    word = style.paint(_PAINTS[status], f"{status.value.replace('-', ' ')}[{check.rule}]")
    yield f"{word} {style.paint('strong', f'{check.name}: {printable(check.message)}')}"
    place = check.location
    where = printable(check.path) if place is None else f"{printable(place.path)}{place.in_words}"
    yield f"  {style.paint('frame', '-->')} {where}, in `{printable(str(check.function))}`"
    yield f"  {style.paint('frame', '=')} {printable(confirmation.reason)}"
    if runs:
        yield from (f"  {style.paint('frame', '=')} {printable(_run(run))}" for run in confirmation.runs)


def _run(run: Run) -> str:
    return f"{run.example}: {run.call} on {run.how}: {run.outcome}"


def _summary(statuses: Counter[Status]) -> str:
    if not statuses:
        return "no finding to replay"
    numbers = ", ".join(f"{statuses[status]} {status.value.replace('-', ' ')}" for status in Status)
    return f"{count(statuses.total(), 'finding')}: {numbers}"
