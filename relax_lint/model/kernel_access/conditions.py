"""Conditions on atoms: relations `p >= 0`, joined; what cannot be read is unknown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import TypeAlias

from relax_lint.model.kernel_access.polynomials import Poly
from relax_lint.support.lazy_dataclass import record

MAX_BRANCHES = 16


@record(frozen=True)
class AtLeastZero:
    """p >= 0."""

    value: Poly


@record(frozen=True)
class Every:
    """All of them."""

    parts: tuple[Condition, ...]


@record(frozen=True)
class AnyOf:
    """One of them."""

    parts: tuple[Condition, ...]


@record(frozen=True)
class Unread:
    """A condition that depends on data, or on what cannot be expressed; its negation is one, too."""

    why: str


BOTH_SIDES = Unread("whether the first side of an `and` or `or` guards the second depends on the target")
"""LLVM evaluates both sides, C and CUDA only one."""

Condition: TypeAlias = "AtLeastZero | Every | AnyOf | Unread | bool"
Branch: TypeAlias = "tuple[tuple[Poly, ...], tuple[str, ...]]"
"""Polynomials that are not negative, and why there may be more to it."""


def every(parts: Iterable[Condition]) -> Condition:
    """The conjunction."""
    kept: list[Condition] = []
    for part in parts:
        if part is False:
            return False
        if part is not True:
            kept += part.parts if isinstance(part, Every) else (part,)
    return kept[0] if len(kept) == 1 else Every(tuple(kept)) if kept else True


def any_of(parts: Iterable[Condition]) -> Condition:
    """The disjunction."""
    kept: list[Condition] = []
    for part in parts:
        if part is True:
            return True
        if part is not False:
            kept += part.parts if isinstance(part, AnyOf) else (part,)
    return kept[0] if len(kept) == 1 else AnyOf(tuple(kept)) if kept else False


def at_least_zero(p: Poly) -> Condition:
    """p >= 0."""
    return p.constant >= 0 if p.is_constant else AtLeastZero(p)


def equal(a: Poly, b: Poly) -> Condition:
    """a == b."""
    return every((at_least_zero(a - b), at_least_zero(b - a)))


def negated(condition: Condition) -> Condition:
    """What holds exactly where the condition does not."""
    if isinstance(condition, bool):
        return not condition
    if isinstance(condition, AtLeastZero):
        return at_least_zero(-condition.value.shift(1))
    if isinstance(condition, Every):
        return any_of(map(negated, condition.parts))
    if isinstance(condition, AnyOf):
        return every(map(negated, condition.parts))
    return condition


def atoms_of(conditions: Iterable[Condition]) -> set[int]:
    """The atoms that occur in conditions."""
    found: set[int] = set()
    for condition in conditions:
        if isinstance(condition, AtLeastZero):
            found |= condition.value.atoms()
        elif isinstance(condition, Every | AnyOf):
            found |= atoms_of(condition.parts)
    return found


def is_unread(condition: Condition) -> bool:
    """Whether a condition, or a part of it, is not known."""
    if isinstance(condition, Every | AnyOf):
        return any(map(is_unread, condition.parts))
    return isinstance(condition, Unread)


def branches(conditions: Sequence[Condition]) -> list[Branch]:
    """The ways in which all conditions can hold at once: some polynomials are not negative, and perhaps more.

    Of more than `MAX_BRANCHES` ways the alternatives are left open.
    """
    found: list[Branch] = [((), ())]
    for condition in conditions:
        ways = _ways(condition)
        if len(ways) * len(found) > MAX_BRANCHES:
            ways = [((), ("it is under a condition with many alternatives",))]
        found = [((*kept, *more), (*why, *because)) for (kept, why), (more, because) in product(found, ways)]
    return found


def _ways(condition: Condition) -> list[Branch]:
    if isinstance(condition, bool):
        return [((), ())] if condition else []
    if isinstance(condition, AtLeastZero):
        return [((condition.value,), ())]
    if isinstance(condition, Every):
        return branches(condition.parts)
    if isinstance(condition, Unread):
        return [((), (condition.why,))]
    return [way for part in condition.parts for way in _ways(part)]
