"""The text of a file as a target of fixes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
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
from relax_lint.repair.driver import Target, repair
from relax_lint.repair.trials import Subject
from relax_lint.results.check import is_finding
from relax_lint.results.report import FileResult
from relax_lint.support.lazy_dataclass import dataclass
from relax_lint.vm.builtins import MATCH_SHAPE

JudgeTexts: TypeAlias = Callable[[Mapping[str, str]], Mapping[str, FileResult]]
"""Judges texts, by the path to show."""

_CHECKS = (".assert_op(", f'.call_packed("{MATCH_SHAPE}"')


@dataclass(frozen=True)
class JudgedText:
    """A text, and what is known of it."""

    text: str
    result: FileResult

    @cached_property
    def tally(self) -> Counter[Subject]:
        """How many findings there are of each kind."""
        return Counter(subject_of(check) for check in self.result.checks if is_finding(check))


@dataclass(frozen=True)
class _Inserted:
    """The line of a check that was inserted, in one place or more; the first `needed` of them stay."""

    text: str
    needed: int = 0


class FixedFile:
    """One file on the way: its text, what is known of it, and how many findings were fixed."""

    def __init__(self, text: str, result: FileResult, *, unsafe: bool = False) -> None:
        self.judged = JudgedText(text, result)
        self.fixed = 0
        self.unsafe = unsafe
        self._checks: list[_Inserted] = []

    @property
    def text(self) -> str:
        """Its text with the fixes that were kept."""
        return self.judged.text

    @property
    def result(self) -> FileResult:
        """What is known of that text."""
        return self.judged.result

    def offers(self, refused: Container[Hashable]) -> Sequence[Proposal]:
        """The fix to try next for each finding."""
        findings = filter(is_finding, self.result.checks)
        offered = proposals(findings, unsafe=self.unsafe, refused=refused)
        return without_what_goes(fitting(offered, self.result.input.path, self.text))

    def compatible(self, offers: Sequence[Proposal]) -> Sequence[Proposal]:
        """Those whose edits do not overlap."""
        return compatible(offers)

    def draft(self, offers: Sequence[Proposal]) -> str:
        """The text with the edits of the fixes."""
        return apply_edits(self.text, edits_of(offers))

    def adopt(self, judged: JudgedText, offers: Sequence[Proposal]) -> None:
        """Take over a text that was judged."""
        inserted = dict.fromkeys(
            edit.text for edit in edits_of(offers) if any(check in edit.text for check in _CHECKS)
        )
        self._checks += [_Inserted(check) for check in inserted if check not in self.text]
        self.judged = judged

    def without_check(self) -> str | None:
        """The text without one check that a later fix may have made needless; None where all are needed."""
        while self._checks:
            check = self._checks[-1]
            # At the start of a line: the same check may stand in a deeper block too.
            places = list(re.finditer(rf"(?<![^\r\n]){re.escape(check.text)}", self.text))
            if check.needed < len(places):
                start, end = places[check.needed].span()
                return self.text[:start] + self.text[end:]
            self._checks.pop()
        return None

    def keep_check(self) -> None:
        """The check that was left out last is needed."""
        check = self._checks.pop()
        self._checks.append(replace(check, needed=check.needed + 1))


def fix_files(files: Iterable[FixedFile], judge: JudgeTexts) -> None:
    """Apply the fixes of files until none is left."""
    by_path = {file.result.input.path: file for file in files}

    def judge_drafts(
        drafts: Mapping[Target[Proposal, str, JudgedText], str],
    ) -> Mapping[Target[Proposal, str, JudgedText], JudgedText]:
        texts = {path: drafts[file] for path, file in by_path.items() if file in drafts}
        results = judge(texts)
        return {by_path[path]: JudgedText(text, results[path]) for path, text in texts.items()}

    repair(by_path.values(), judge_drafts)
