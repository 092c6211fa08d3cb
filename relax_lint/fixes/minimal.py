"""The fewest and weakest checks: none that another one of the function implies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from sympy.logic.boolalg import Boolean

from relax_lint.analysis.definitions import Definitions, Point
from relax_lint.fixes.changes import Applicability, Change, InsertAssert, Remedy
from relax_lint.fixes.conditions import check_title
from relax_lint.model.program import Place
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
        domain_at: Callable[[Place], Domain],
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
        chosen = [_first_safe(remedies) for remedies in findings]
        checks = [
            change
            for remedy in chosen
            if remedy is not None
            for change in remedy.changes
            if isinstance(change, InsertAssert)
        ]
        kept: list[InsertAssert] = []
        for check in list(dict.fromkeys(checks))[:MAX_CHECKS]:
            if not any(self._serves(other, check) for other in kept):
                kept = [other for other in kept if not self._serves(check, other)]
                kept.append(check)
        return [
            tuple(self._served(remedy, kept) if remedy is first else remedy for remedy in remedies)
            for remedies, first in zip(findings, chosen, strict=True)
        ]

    def _served(self, remedy: Remedy, kept: Sequence[InsertAssert]) -> Remedy:
        changes: dict[Change, None] = {}
        for change in remedy.changes:
            if isinstance(change, InsertAssert) and change not in kept:
                change = next((other for other in kept if self._serves(other, change)), change)
            changes[change] = None
        if tuple(changes) == remedy.changes:
            return remedy
        checked = [change.condition for change in changes if isinstance(change, InsertAssert)]
        return replace(remedy, title=check_title(checked), changes=tuple(changes))

    def _serves(self, stronger: InsertAssert, weaker: InsertAssert) -> bool:
        """Whether whoever passes `stronger` need not make the other check."""
        if not stronger.condition.free_symbols & weaker.condition.free_symbols:
            return False
        if not self._definitions.dominates(Point(stronger.before), Point(weaker.before)):
            return False
        before = weaker.before
        domain = self._entry if before is None else self._domain_at(before)
        return self._implies(domain.without(FactKind.ASSUMED), stronger.condition, weaker.condition)


def _first_safe(remedies: Iterable[Remedy]) -> Remedy | None:
    return next((remedy for remedy in remedies if remedy.applicability is Applicability.SAFE), None)
