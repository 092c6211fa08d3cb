"""The fewest and weakest checks: none is inserted that others of the function imply."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from sympy.logic.boolalg import And, Boolean, false

from relax_lint.analysis.definitions import Definitions, Point
from relax_lint.fixes.changes import Applicability, InsertAssert, Remedy
from relax_lint.model.operations import OperationId
from relax_lint.results.check import Turn
from relax_lint.symbolic.domain import Domain, FactKind

MAX_CHECKS = 64
"""Distinct checks of one function that are compared with each other."""


class MinimalChecks:
    """Tells which checks a stronger one makes needless.

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

    def ordered(self, findings: Sequence[tuple[Remedy, ...]]) -> list[tuple[Remedy, ...]]:
        """The remedies of each finding, with checks put off that those of other findings make needless.

        Each remedy stays that of its finding. One that is put off is made only where the others were not
        made or did not suffice. Only what is applied without asking counts as a stronger one: the first safe
        remedy of a finding.
        """
        chosen = [first_safe(remedies) for remedies in findings]
        kept = self._fewest(list(dict.fromkeys(checks_of(chosen)))[:MAX_CHECKS])
        return [
            tuple(self._put_off(remedy, kept) if remedy is first else remedy for remedy in remedies)
            for remedies, first in zip(findings, chosen, strict=True)
        ]

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

    def _put_off(self, remedy: Remedy, kept: Sequence[InsertAssert]) -> Remedy:
        covered = any(self._is_covered(check, kept) for check in checks_of([remedy]))
        return replace(remedy, turn=Turn.COVERED) if covered else remedy

    def _is_covered(self, check: InsertAssert, kept: Sequence[InsertAssert]) -> bool:
        """Whether others, one or several together, are inserted that imply it."""
        if check in kept:
            return False
        related = self._related(kept, check)
        return any(self._serve(others, check) for others in (*([other] for other in related), related))

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


def first_safe(remedies: Iterable[Remedy]) -> Remedy | None:
    """What is applied without asking."""
    return next((remedy for remedy in remedies if remedy.applicability is Applicability.SAFE), None)


def checks_of(remedies: Iterable[Remedy | None]) -> list[InsertAssert]:
    """The checks that remedies insert."""
    changes = (change for remedy in remedies if remedy is not None for change in remedy.changes)
    return [change for change in changes if isinstance(change, InsertAssert)]
