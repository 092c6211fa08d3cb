"""Numbers that grow with the sizes of tensors: polynomials over how much larger each size is than its least.

All operations with whole numbers are exact. A comparison holds only where it does at every size: of two
numbers neither may be less.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

Product: TypeAlias = "tuple[int, ...]"
"""The sizes that are multiplied, in order; none for the constant."""


_MOST_STEPS = 16
"""So many terms of a quotient are looked for."""


class NotOrdered(ArithmeticError):
    """Which of two numbers is the less one depends on the sizes."""


class Growing:
    """A number with at least one size in it. Use `growing` and the operators to get one."""

    __slots__ = ("_hash", "terms")

    def __init__(self, terms: Mapping[Product, int]) -> None:
        self.terms = terms
        self._hash: int | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Growing) and self.terms == other.terms

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self.terms.items()))
        return self._hash

    def __repr__(self) -> str:
        return " + ".join(f"{factor}*{list(product)}" for product, factor in sorted(self.terms.items()))

    def __add__(self, other: Whole) -> Whole:
        return _sum(self, other, 1)

    __radd__ = __add__

    def __neg__(self) -> Growing:
        return Growing({product: -factor for product, factor in self.terms.items()})

    def __sub__(self, other: Whole) -> Whole:
        return _sum(self, other, -1)

    def __rsub__(self, other: Whole) -> Whole:
        return -self + other

    def __mul__(self, other: Whole) -> Whole:
        if isinstance(other, int):
            return Growing({one: factor * other for one, factor in self.terms.items()}) if other else 0
        found: dict[Product, int] = {}
        for one, factor in self.terms.items():
            for two, times in _terms(other).items():
                product = tuple(sorted(one + two)) if one and two else one or two
                found[product] = found.get(product, 0) + factor * times
        return _whole(found)

    __rmul__ = __mul__

    def __lt__(self, other: Whole) -> bool:
        return _is_larger(other, self, 1)

    def __le__(self, other: Whole) -> bool:
        return _is_larger(other, self, 0)

    def __gt__(self, other: Whole) -> bool:
        return _is_larger(self, other, 1)

    def __ge__(self, other: Whole) -> bool:
        return _is_larger(self, other, 0)


Whole: TypeAlias = "int | Growing"
"""A number, for all sizes that are asked about."""


def growing(size: int, least: int) -> Whole:
    """A size that is `least` or any larger number; it has a number of its own."""
    return Growing({(): least, (size,): 1} if least else {(size,): 1})


def _terms(one: Whole) -> Mapping[Product, int]:
    return one.terms if isinstance(one, Growing) else {(): one}


def _whole(terms: Mapping[Product, int]) -> Whole:
    left = {product: factor for product, factor in terms.items() if factor}
    return Growing(left) if any(left) else left.get((), 0)


def _sum(one: Growing, other: Whole, sign: int) -> Whole:
    found = dict(one.terms)
    if isinstance(other, int):
        # No term with a size goes away.
        found[()] = found.get((), 0) + sign * other
        if not found[()]:
            del found[()]
        return Growing(found)
    for product, factor in _terms(other).items():
        found[product] = found.get(product, 0) + sign * factor
    return _whole(found)


def _is_larger(one: Whole, other: Whole, least: int) -> bool:
    """Whether one number is larger than another one by so much at every size."""
    if isinstance(one, int):
        # Then the other one has sizes in it.
        return isinstance(other, Growing) and _is_at_least(other.terms, least - one, -1)
    if isinstance(other, int):
        return _is_at_least(one.terms, least + other, 1)
    own, others = one.terms, other.terms
    if own.get((), 0) - others.get((), 0) < least:
        return False
    return all(factor >= others.get(product, 0) for product, factor in own.items() if product) and all(
        factor <= own.get(product, 0) for product, factor in others.items() if product
    )


def _is_at_least(terms: Mapping[Product, int], least: int, sign: int) -> bool:
    """Whether that is so of a sum of terms that all have this sign."""
    if sign * terms.get((), 0) < least:
        return False
    return all(sign * factor >= 0 for product, factor in terms.items() if product)


def _extreme(better: Callable[[Whole, Whole], bool], ends: tuple[Whole, ...]) -> Whole:
    found = ends[0]
    for one in ends[1:]:
        if better(one, found):
            found = one
        elif not better(found, one):
            raise NotOrdered
    return found


def least(*ends: Whole) -> Whole:
    """The least of some numbers. Raises `NotOrdered`."""
    return _extreme(lambda one, other: one <= other, ends)


def greatest(*ends: Whole) -> Whole:
    """The greatest of some numbers. Raises `NotOrdered`."""
    return _extreme(lambda one, other: one >= other, ends)


def divided(one: Whole, width: Whole) -> tuple[Whole, Whole]:
    """Between what numbers a quotient lies that is rounded down, for a positive divisor. Raises `NotOrdered`
    where that is not known.
    """
    if isinstance(width, int):
        if isinstance(one, int):
            return one // width, one // width
        low = _whole({product: factor // width for product, factor in one.terms.items()})
        high = {product: -(-factor // width) for product, factor in one.terms.items()}
        return low, _whole({**high, (): one.terms.get((), 0) // width})
    found = _divided_exactly(one, width)
    return found, found


def _divided_exactly(one: Whole, width: Growing) -> Whole:
    """Division of polynomials: it tells the quotient where the rest stays below the divisor."""
    leading = max(width.terms, key=_order)
    times = width.terms[leading]
    quotient: Whole = 0
    rest = one
    for _ in range(_MOST_STEPS):
        if not isinstance(rest, Growing):
            break
        fitting = [
            product
            for product in sorted(rest.terms, key=_order, reverse=True)
            if _without(product, leading) is not None and rest.terms[product] % times == 0
        ]
        if not fitting:
            break
        left = _without(fitting[0], leading)
        assert left is not None
        step = _whole({left: rest.terms[fitting[0]] // times})
        quotient, rest = quotient + step, rest - step * width
    for more in (0, -1, 1):
        if rest - more * width >= 0 and rest - more * width < width:
            return quotient + more
    raise NotOrdered


def _order(product: Product) -> tuple[int, Product]:
    return len(product), product


def _without(product: Product, leading: Product) -> Product | None:
    left = list(product)
    for size in leading:
        if size not in left:
            return None
        left.remove(size)
    return tuple(left)
