"""Claims: conditions over the values that reach an operation, to be proved or refuted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from functools import lru_cache

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.model.types import TensorType, ValueType
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.asked import Asked, Asking, Plain
from relax_lint.symbolic.domain import Domain, Fact
from relax_lint.symbolic.functions import FloorMod
from relax_lint.symbolic.printing import condition_text
from relax_lint.symbolic.quantity import Unknown
from relax_lint.symbolic.relations import CACHED, at_least_zero, at_most
from relax_lint.vm.facts import FactSource

_ZERO = sympy.Integer(0)


@record(frozen=True)
class Claim:
    """A condition to be judged over a domain; Unknown when the IR does not say enough to state it. `asked` is
    the condition before arithmetic made it shorter, or true or false.
    """

    condition: Boolean | Unknown
    domain: Domain
    asked: Asking | None = field(default=None, compare=False)

    def unfolded(self) -> Asked:
        """The claim as it was asked."""
        if self.asked is not None:
            return self.asked()
        assert not isinstance(self.condition, Unknown)
        return Asked(Plain(self.condition))


@lru_cache(maxsize=CACHED)
def equal(a: sympy.Expr, b: sympy.Expr) -> Boolean:
    """a == b."""
    return sympy.Eq(a, b)


@lru_cache(maxsize=CACHED)
def multiple_of(a: sympy.Expr, unit: int) -> Boolean:
    """a is a multiple of `unit`."""
    return sympy.true if unit == 1 else sympy.Eq(FloorMod(a, sympy.Integer(unit)), 0)


def all_of(conditions: Iterable[Boolean | Unknown]) -> Boolean | Unknown:
    """The conjunction: false where one condition is, else unknown where one is."""
    stated = []
    unknown: Unknown | None = None
    for condition in conditions:
        if isinstance(condition, Unknown):
            unknown = condition
        elif condition == sympy.false:
            return sympy.false
        elif condition != sympy.true:
            stated.append(condition)
    if unknown is not None:
        return unknown
    return sympy.And(*stated) if stated else sympy.true


def either(condition: Boolean | Unknown, other: Boolean) -> Boolean | Unknown:
    """One of two conditions; unknown where the first one is."""
    return condition if isinstance(condition, Unknown) else sympy.Or(condition, other)


def any_empty(types: Iterable[ValueType | None]) -> Boolean | None:
    """Some tensor of these types has no element; None where none can be empty."""
    extents = [extent for one in types if isinstance(one, TensorType) for extent in one.shape or ()]
    conditions = dict.fromkeys(at_most(extent, _ZERO) for extent in extents)
    return sympy.Or(*conditions) if conditions else None


def not_negative(domain: Domain, quantities: Iterable[sympy.Expr]) -> Domain:
    """The part of a domain on which the quantities are >= 0."""
    conditions = tuple([at_least_zero(q) for q in quantities if not (q.is_Integer and int(q) >= 0)])
    if not conditions:
        return domain
    part = domain.parts.get(conditions)
    if part is None:
        added = (_judged_elsewhere(c) for c in conditions if not domain.states(c))
        part = domain.parts[conditions] = domain.with_facts(added)
    return part


@lru_cache(maxsize=CACHED)
def _judged_elsewhere(condition: Boolean) -> Fact:
    return Fact.of(FactSource.JUDGED_ELSEWHERE, condition, f"{condition_text(condition)} (judged on its own)")
