"""Sizes up to which 32-bit arithmetic is enough: a kernel is read again for the calls that keep to them.

What wraps around only beyond some size (`n >= 2147483648`) says nothing of smaller calls. There an access may
be proved; what is left of it is the size, as an obligation of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from relax_lint.model.kernel_access.accesses import KernelAccess, Obligation
from relax_lint.model.kernel_access.invariants import Transfer
from relax_lint.model.kernel_access.outside import is_impossible
from relax_lint.model.kernel_access.polynomials import Poly
from relax_lint.model.kernel_access.terms import Terms

MAX_LIMITS = 8
MAX_READINGS = 3
"""A kernel is read so often with more limits."""
_LEAST = 4
"""A smaller limit is that of a loop, not of 32 bits."""
_WRAPS = "its 32-bit index arithmetic may wrap around"


def limits_of(symbols: int, beyond: Iterable[tuple[Poly, ...]]) -> tuple[Poly, ...]:
    """What is not negative in a call in which all arithmetic fits, where each of `beyond` are polynomials
    that are not negative where some wraps around. The first atoms are so many symbols of the signature.
    """
    found: dict[Poly, None] = {}
    for outside in beyond:
        large = [p for p in outside if p.constant < -_LEAST and _is_plain(symbols, p)]
        if large:
            found[-min(large, key=lambda p: p.constant).shift(1)] = None
    tightest = [p for p in found if not any(_implies(q, p) for q in found)]
    return tuple(tightest[:MAX_LIMITS])


def _is_plain(symbols: int, p: Poly) -> bool:
    return not p.is_constant and max(p.atoms()) < symbols


def _implies(limit: Poly, other: Poly) -> bool:
    """Whether one limit is tighter than another one on the same sum."""
    room = other - limit
    return room.is_constant and room.constant > 0


def keep(terms: Terms, limits: Iterable[Poly]) -> list[Poly]:
    """Take limits for granted: bounds of symbols, and those that are left."""
    left = []
    for limit in limits:
        symbol = min(limit.atoms())
        factor = limit.terms.get((symbol,), 0)
        if factor < 0 and len(limit.terms) == 2:
            terms.lower(symbol, limit.constant // -factor)
        else:
            left.append(limit)
    return left


def merged(
    accesses: Sequence[KernelAccess], limited: Sequence[KernelAccess], limits: Sequence[Poly]
) -> tuple[KernelAccess, ...]:
    """The accesses of a kernel, with what another reading found out for calls that keep to limits."""
    if len(accesses) != len(limited):
        return tuple(accesses)
    return tuple(_merged(one, other, limits) for one, other in zip(accesses, limited, strict=True))


def _merged(access: KernelAccess, limited: KernelAccess, limits: Sequence[Poly]) -> KernelAccess:
    open_ones = [one for one in access.obligations if not is_settled(one)]
    if not open_ones or access.unread or limited.unread or limited.assumed != access.assumed:
        return access
    if not all(is_settled(one) for one in limited.obligations):
        return access
    transfer = Transfer(limited.terms, access.terms)
    there = []
    for one in limited.obligations:
        outside = [transfer.poly(p) for p in one.outside]
        known = [p for p in outside if p is not None]
        if len(known) != len(outside):
            return access
        there.append(replace(one, outside=(*known, *limits)))
    beyond = [found for one in open_ones for limit in limits for found in _beyond(access.terms, one, limit)]
    kept = [one for one in access.obligations if is_settled(one)]
    return replace(access, obligations=tuple(dict.fromkeys((*kept, *there, *beyond))))


def is_settled(obligation: Obligation) -> bool:
    """Whether the call alone, or what an argument holds, decides about an obligation."""
    return obligation.exact or obligation.is_limit or bool(obligation.holds)


def _beyond(terms: Terms, obligation: Obligation, limit: Poly) -> Iterable[Obligation]:
    """What is left of an obligation in calls that exceed a limit."""
    plain = [p for p in obligation.outside if not terms.contents_in((p,))]
    outside = (*plain, -limit.shift(1))
    if not is_impossible(terms, outside):
        shown = (-limit.shift(1),)
        yield Obligation(obligation.axis, obligation.below, shown, exact=False, why=_WRAPS, is_limit=True)
