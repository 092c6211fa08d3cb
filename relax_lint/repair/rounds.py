"""Fixes applied in rounds: after each the file is judged anew, and what did not help is taken back."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from relax_lint.repair.apply import (
    Proposal,
    apply_edits,
    compatible,
    edits_of,
    fitting,
    proposals,
    subject_of,
    without_what_goes,
)
from relax_lint.repair.trials import MAX_ROUNDS, Subject, Trials
from relax_lint.results.check import Check, is_finding
from relax_lint.results.report import FileResult

Judge: TypeAlias = Callable[[Mapping[str, str]], Mapping[str, FileResult]]
"""Judges texts, by the path to show."""


_CHECK = ".assert_op("


@dataclass(eq=False)
class FixedFile:
    """One file on the way: its text, what is known of it, and how many findings were fixed."""

    text: str
    result: FileResult
    fixed: int = 0
    _trials: Trials = field(default_factory=Trials)
    _checks: list[_Inserted] = field(default_factory=list)

    def propose(self, *, unsafe: bool) -> list[Proposal]:
        """What to apply next; nothing where there is nothing left to try."""
        findings = filter(is_finding, self.result.checks)
        offered = proposals(findings, unsafe=unsafe, refused=self._trials.refused)
        offered = fitting(offered, self.result.input.path, self.text)
        offered = self._trials.whose_turn_it_is(without_what_goes(offered))
        return self._trials.limited(compatible(offered))

    def settle(self, accepted: list[Proposal], text: str, result: FileResult) -> None:
        """Keep what was applied, or take it back where it did not do what it should."""
        gone = self._trials.settle(accepted, _tally(self.result.checks), _tally(result.checks))
        if gone:
            inserted = dict.fromkeys(edit.text for edit in edits_of(accepted) if _CHECK in edit.text)
            self._checks += [_Inserted(check) for check in inserted if check not in self.text]
            self.text, self.result = text, result
            self.fixed += gone

    def spare(self) -> str | None:
        """The text without one check that a later fix may have made needless; None where all are needed."""
        while self._trials.may_have_spare_checks and self._checks:
            check = self._checks[-1]
            # At the start of a line: the same check may stand in a deeper block too.
            places = list(re.finditer(rf"(?<![^\r\n]){re.escape(check.text)}", self.text))
            if check.needed < len(places):
                start, end = places[check.needed].span()
                return self.text[:start] + self.text[end:]
            self._checks.pop()
        return None

    def settle_spare(self, text: str, result: FileResult) -> None:
        """Leave out the check, or keep it where a finding comes back without it."""
        if _tally(result.checks) - _tally(self.result.checks):
            check = self._checks.pop()
            self._checks.append(replace(check, needed=check.needed + 1))
        else:
            self.text, self.result = text, result


@dataclass(frozen=True)
class _Inserted:
    """The line of a check that was inserted, in one place or more; the first `needed` of them stay."""

    text: str
    needed: int = 0


def fix_files(files: Iterable[FixedFile], judge: Judge, *, unsafe: bool) -> None:
    """Apply the fixes of files until none is left. A fix stays only if a finding went away and, for a safe
    one, none came.
    """
    everything = list(files)
    for _ in range(MAX_ROUNDS):
        tried: dict[str, tuple[FixedFile, list[Proposal], str]] = {}
        for file in everything:
            accepted = file.propose(unsafe=unsafe)
            if accepted:
                text = apply_edits(file.text, edits_of(accepted))
                tried[file.result.input.path] = file, accepted, text
        if not tried:
            break
        results = judge({path: text for path, (_, _, text) in tried.items()})
        for path, (file, accepted, text) in tried.items():
            file.settle(accepted, text, results[path])
    while spared := {file: shorter for file in everything if (shorter := file.spare()) is not None}:
        results = judge({file.result.input.path: text for file, text in spared.items()})
        for file, text in spared.items():
            file.settle_spare(text, results[file.result.input.path])


def _tally(checks: Iterable[Check]) -> Counter[Subject]:
    return Counter(subject_of(check) for check in checks if is_finding(check))
