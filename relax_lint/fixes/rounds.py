"""Fixes applied in rounds: after each the file is judged anew, and what did not help is taken back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from relax_lint.config import UNREADABLE_BLOCKS
from relax_lint.diagnostic import Check, FileResult, is_finding
from relax_lint.fixes.apply import Proposal, apply_edits, compatible, edits_of, proposals, without_what_goes

MAX_ROUNDS = 32
"""How often a file is judged anew; what is left then stays as it is."""

Judge: TypeAlias = Callable[[Mapping[str, str]], Mapping[str, FileResult]]
"""Judges texts, by the path to show."""


@dataclass
class FixedFile:
    """One file on the way: its text, what is known of it, and how many findings were fixed."""

    text: str
    result: FileResult
    fixed: int = 0
    _refused: set[tuple[str | None, ...]] = field(default_factory=set)
    _put_off: set[tuple[str | None, ...]] = field(default_factory=set)
    _limit: int | None = None

    def propose(self, *, unsafe: bool) -> list[Proposal]:
        """What to apply next; nothing where there is nothing left to try."""
        findings = filter(is_finding, self.result.checks)
        offered = proposals(findings, unsafe=unsafe, refused=self._refused)
        offered = without_what_goes(offered)
        offered = [p for p in offered if p.key not in self._put_off] or offered
        turn = min((p.fix.turn for p in offered), default=0)
        return compatible(p for p in offered if p.fix.turn == turn)[: self._limit]

    def settle(self, accepted: list[Proposal], text: str, result: FileResult) -> None:
        """Keep what was applied, or take it back where it did not do what it should."""
        before, after = _tally(self.result.checks), _tally(result.checks)
        helped = before - after
        if _harms(accepted, before, after) or not helped:
            if len(accepted) == 1:
                self._refused.add(accepted[0].key)
            self._limit = max(len(accepted) // 2, 1)
            return
        idle = {proposal.key for proposal in accepted if _subject(proposal.check) not in helped}
        if idle and len(accepted) > 1:
            # Tried alone, it is enough for them that any finding goes away: some share an edit.
            self._put_off |= idle
            self._limit = 1 if all(proposal.key in self._put_off for proposal in accepted) else None
            return
        self.text, self.result = text, result
        self.fixed += helped.total()
        self._put_off.clear()
        self._limit = None


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
            return
        results = judge({path: text for path, (_, _, text) in tried.items()})
        for path, (file, accepted, text) in tried.items():
            file.settle(accepted, text, results[path])


_Subject: TypeAlias = tuple[str, str | None, str | None, str | None]


def _subject(check: Check) -> _Subject:
    return check.rule, check.module, check.function, check.binding


def _tally(checks: Iterable[Check]) -> Counter[_Subject]:
    return Counter(_subject(check) for check in checks if is_finding(check))


# What comes to light without harm: that a verdict, now a good one, relies on a declared bound, and that a
# comment which accepted a finding is of no use any more.
_HARMLESS = ("RLX501", "RLX905")


def _harms(accepted: Iterable[Proposal], before: Counter[_Subject], after: Counter[_Subject]) -> bool:
    """Whether something came up that was not there. What an unsafe fix brings to light is no harm, unless
    the file can no longer be read.
    """
    came = Counter({subject: n for subject, n in (after - before).items() if subject[0] not in _HARMLESS})
    if all(proposal.fix.applicability == "safe" for proposal in accepted):
        return bool(came)
    return any(rule.startswith(UNREADABLE_BLOCKS) for rule, *_ in came)
