"""Fixes applied to a text: which go together, and the text that they make. No TVM, no files."""

from __future__ import annotations

import re
from collections.abc import Container, Hashable, Iterable, Sequence

from relax_lint.repair.trials import Subject, Trial
from relax_lint.results.check import Check, Edit, Fix
from relax_lint.results.location import Location
from relax_lint.support.lazy_dataclass import dataclass

_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True)
class Proposal:
    """A fix for a finding."""

    check: Check
    fix: Fix

    @property
    def trial(self) -> Trial:
        """What is remembered of it when it was tried."""
        fix, subject = self.fix, subject_of(self.check)
        # Effects have no name of their own: the message tells whose they are.
        key = (*subject, self.check.message, fix.title, *(edit.text for edit in fix.edits))
        return Trial(subject, key, fix.turn, fix.applicability == "safe")


def subject_of(check: Check) -> Subject:
    """What a check is about."""
    return check.rule, check.module, check.function, check.binding


def proposals(checks: Iterable[Check], *, unsafe: bool, refused: Container[Hashable] = ()) -> list[Proposal]:
    """The first fix that may be applied for each check that nobody accepts: a safe one or, with `unsafe`,
    either; `refused` are the keys of those that were tried in vain.
    """
    wanted = ("safe", "unsafe") if unsafe else ("safe",)
    found = []
    for check in checks:
        if check.suppressed:
            continue
        offered = (Proposal(check, fix) for fix in check.fixes if fix.edits and fix.applicability in wanted)
        found += [p for p in offered if p.trial.key not in refused][:1]
    return found


def without_what_goes(offered: Sequence[Proposal]) -> list[Proposal]:
    """Those that are not about something that another one removes."""
    removed = [edit.location for p in offered for edit in p.fix.edits if not edit.text]
    return [
        p
        for p in offered
        if any(not edit.text for edit in p.fix.edits)
        or p.check.location is None
        or not any(_overlap(p.check.location, place) for place in removed)
    ]


def compatible(offered: Iterable[Proposal]) -> list[Proposal]:
    """Those that can be applied together, first come first: no two edits overlap, equal ones count once."""
    taken: dict[Edit, None] = {}
    found = []
    for proposal in offered:
        edits = [edit for edit in proposal.fix.edits if edit not in taken]
        if not any(_overlap(edit.location, other.location) for edit in edits for other in taken):
            taken.update(dict.fromkeys(edits))
            found.append(proposal)
    return found


def apply_edits(content: str, edits: Iterable[Edit]) -> str:
    """The text with edits made that do not overlap, each once; what is inserted at one place stays in order.

    Raises ValueError for a place that the text does not have.
    """
    starts = _line_starts(content)
    numbered = enumerate(dict.fromkeys(edits))
    spans = sorted((*_span(edit.location, starts, content), number, edit.text) for number, edit in numbered)
    parts = []
    position = 0
    for start, end, _, text in spans:
        parts += [content[position:start], text]
        position = end
    return "".join([*parts, content[position:]])


def fitting(offered: Iterable[Proposal], path: str, content: str) -> list[Proposal]:
    """Those whose places the text of the file has. A worker that was taken over may name others."""
    starts = _line_starts(content)
    return [p for p in offered if all(_fits(edit, path, starts, content) for edit in p.fix.edits)]


def _fits(edit: Edit, path: str, starts: Sequence[int], content: str) -> bool:
    try:
        _span(edit.location, starts, content)
        edit.text.encode()
    except ValueError:
        return False
    return edit.location.path == path and edit.location.column > 0 and edit.location.end_column > 0


def _line_starts(content: str) -> list[int]:
    return [0, *(match.end() for match in _LINE_END.finditer(content))]


def edits_of(accepted: Sequence[Proposal]) -> list[Edit]:
    """The edits of several proposals, in order."""
    return [edit for proposal in accepted for edit in proposal.fix.edits]


def _span(place: Location, starts: Sequence[int], content: str) -> tuple[int, int]:
    if not 1 <= place.line <= place.end_line <= len(starts):
        raise ValueError(f"no line {place.end_line}")
    start, end = starts[place.line - 1] + place.column - 1, starts[place.end_line - 1] + place.end_column - 1
    if not start <= end <= len(content):
        raise ValueError(f"no column {place.end_column} in line {place.end_line}")
    return start, end


def _overlap(one: Location, other: Location) -> bool:
    """Whether two places have a character in common, or one lies within the other."""
    (start, end), (other_start, other_end) = _ends(one), _ends(other)
    if start == end and other_start == other_end:
        return False
    if start == end or other_start == other_end:
        point, low, high = (start, other_start, other_end) if start == end else (other_start, start, end)
        return low < point < high
    return start < other_end and other_start < end


def _ends(place: Location) -> tuple[tuple[int, int], tuple[int, int]]:
    return (place.line, place.column), (place.end_line, place.end_column)
