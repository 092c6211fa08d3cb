"""The fewest and weakest checks: none that another one of the function implies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from sympy.logic.boolalg import And, Boolean, false, true

from relax_lint.analysis.definitions import Definitions, Point
from relax_lint.fixes.changes import Applicability, Change, InsertAssert, Remedy
from relax_lint.fixes.conditions import check_title
from relax_lint.model.operations import OperationId
from relax_lint.symbolic.domain import Domain, FactKind

MAX_CHECKS = 64
"""Distinct checks of one function that are compared with each other."""


class MinimalChecks:
    """Replaces checks that a stronger one makes needless.

    `implies` tells whether one condition follows from another in a domain.
    """

    def __init__(
        self,
        definitions: Definitions,
        domain_at: Callable[[OperationId], Domain],
        entry: Domain,
        implies: Callable[[Domain, Boolean, Boolean], bool],
    ) -> None:
        self._definitions = definitions
        self._domain_at = domain_at
        self._entry = entry
        self._implies = implies

    def unified(self, findings: Sequence[tuple[Remedy, ...]]) -> list[tuple[Remedy, ...]]:
        """The remedies of each finding, with a check that a stronger one makes needless replaced by it.

        Only what is applied without asking counts as a stronger one: the first safe remedy of a finding.
        """
        chosen = [_first_safe(remedies) if remedies else None for remedies in findings]
        checks = [
            change
            for remedy in chosen
            if remedy is not None
            for change in remedy.changes
            if isinstance(change, InsertAssert)
        ]
        kept = self._fewest(list(dict.fromkeys(checks))[:MAX_CHECKS])
        return [
            tuple(self._served(remedy, kept) if remedy is first else remedy for remedy in remedies)
            if remedies
            else ()
            for remedies, first in zip(findings, chosen, strict=True)
        ]

    def left_over(self, findings: Sequence[tuple[Remedy, ...]]) -> str | None:
        """What all checks at the entry that are made without asking leave of the inputs together, where that
        is next to nothing: none, or of some symbol 0 and 1 only.
        """
        told = (remedies for remedies in findings if remedies)
        chosen = [remedy for remedies in told if (remedy := _first_safe(remedies)) is not None]
        checks = [c for remedy in chosen for c in remedy.changes if isinstance(c, InsertAssert)]
        at_entry = dict.fromkeys(check.condition for check in checks if check.before is None)
        conditions = list(at_entry)[:MAX_CHECKS]
        if len(conditions) < 2:
            return None
        domain, passed = self._entry.without(FactKind.ASSUMED), And(*conditions)
        if self._implies(domain, passed, false):
            return "no input passes all checks"
        for symbol in sorted(passed.free_symbols, key=str):
            few = symbol <= 1
            if self._implies(domain, passed, few) and not self._implies(domain, true, few):
                return f"all checks together admit only `{symbol} <= 1`"
        return None

    def _fewest(self, checks: Sequence[InsertAssert]) -> list[InsertAssert]:
        """Those that the others, together, do not imply."""
        kept: list[InsertAssert] = []
        for check in checks:
            if not any(self._serve([other], check) for other in kept):
                kept = [other for other in kept if not self._serve([check], other)]
                kept.append(check)
        for check in tuple(kept):
            others = [other for other in kept if other is not check]
            if self._serve(self._related(others, check), check):
                kept = others
        return kept

    def _served(self, remedy: Remedy, kept: Sequence[InsertAssert]) -> Remedy:
        changes: dict[Change, None] = {}
        for change in remedy.changes:
            instead = self._instead(change, kept) if isinstance(change, InsertAssert) else (change,)
            changes.update(dict.fromkeys(instead))
        if tuple(changes) == remedy.changes:
            return remedy
        checked = [change.condition for change in changes if isinstance(change, InsertAssert)]
        return replace(remedy, title=check_title(checked), changes=tuple(changes))

    def _instead(self, check: InsertAssert, kept: Sequence[InsertAssert]) -> Sequence[InsertAssert]:
        """What is inserted instead of a check: one other, or several that imply it together."""
        if check in kept:
            return (check,)
        related = self._related(kept, check)
        alternatives = (*([other] for other in related), related)
        return next((others for others in alternatives if self._serve(others, check)), (check,))

    def _related(self, checks: Iterable[InsertAssert], check: InsertAssert) -> list[InsertAssert]:
        """Those that whoever reaches a check has passed, and that have a symbol in common with it, or with
        another one that does: `a <= b` and `b <= 4` together imply `a <= 4`.
        """
        passed = [other for other in checks if self._is_passed(other, check)]
        symbols = set(check.condition.free_symbols)
        related: list[InsertAssert] = []
        while found := [o for o in passed if o not in related and o.condition.free_symbols & symbols]:
            related += found
            symbols.update(*(other.condition.free_symbols for other in found))
        return [other for other in passed if other in related]

    def _is_passed(self, other: InsertAssert, check: InsertAssert) -> bool:
        return self._definitions.dominates(Point(other.before), Point(check.before))

    def _serve(self, stronger: Sequence[InsertAssert], weaker: InsertAssert) -> bool:
        """Whether whoever passes all of `stronger` need not make the other check. Checks that nobody passes
        would make every other one needless, and say nothing about what is wrong.
        """
        if not stronger or not all(self._is_passed(other, weaker) for other in stronger):
            return False
        at = self._entry if weaker.before is None else self._domain_at(weaker.before)
        domain = at.without(FactKind.ASSUMED)
        passed = And(*(check.condition for check in stronger))
        if not self._implies(domain, passed, weaker.condition):
            return False
        return len(stronger) == 1 or not self._implies(domain, passed, false)


def _first_safe(remedies: Iterable[Remedy]) -> Remedy | None:
    return next((remedy for remedy in remedies if remedy.applicability is Applicability.SAFE), None)
