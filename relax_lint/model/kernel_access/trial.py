"""One access at concrete numbers: is it made outside its memory, or its axes, in some step of its loops?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from enum import Enum

from relax_lint.model.kernel_access.accesses import KernelAccess
from relax_lint.model.kernel_access.atoms import Kind
from relax_lint.model.kernel_access.conditions import AnyOf, AtLeastZero, Condition, Every, Unread
from relax_lint.model.kernel_access.polynomials import Poly
from relax_lint.model.kernel_access.terms import Terms
from relax_lint.support.lazy_dataclass import record

MAX_STEPS = 3000


class Outcome(Enum):
    """What the steps of an access showed."""

    OUTSIDE = "an index is outside, and so is the element"
    BESIDE = "an index is outside, and the element is not, as far as steps were tried"
    INSIDE = "every step was tried"
    UNKNOWN = "not every step could be tried"


@record(frozen=True)
class Trial:
    """The outcome, and of a step that is outside: the axis, its index and the values of the loops.
    `knows_memory` says whether the place of the element was compared with the end of the memory.
    """

    outcome: Outcome
    axis: int = 0
    index: int = 0
    extent: int = 0
    loops: Mapping[str, int] = field(default_factory=dict)
    knows_memory: bool = True


class _NotKnown(Exception):
    """A number that depends on data."""


def attempt(access: KernelAccess, values: Mapping[int, int]) -> Trial:
    """The access with these values of the symbols, by the numbers of their atoms."""
    if access.unread or any(index is None or extent is None for index, extent in _axes(access)):
        return Trial(Outcome.UNKNOWN)
    return _Attempt(access, values).run()


def _axes(access: KernelAccess) -> Iterator[tuple[Poly | None, Poly | None]]:
    return zip(access.where, access.shape, strict=False)


class _Attempt:
    def __init__(self, access: KernelAccess, values: Mapping[int, int]) -> None:
        self._access = access
        self._terms: Terms = access.terms
        self._given = dict(values)
        self._steps = 0
        self._unknown = any(loop.variable is None for loop in access.loops)

    def run(self) -> Trial:
        """Every step, the ends of the loops first."""
        variables = [
            number
            for loop in self._access.loops
            if loop.variable is not None and (number := self._variable(loop.variable)) is not None
        ]
        beside: Trial | None = None
        try:
            for point in self._points(list(dict.fromkeys(variables)), dict(self._given)):
                found = self._step(point)
                if found is not None and found.outcome is Outcome.OUTSIDE:
                    return found
                beside = beside or found
                if beside is not None and not beside.knows_memory:
                    break
        except (_NotKnown, ZeroDivisionError):
            self._unknown = True
        return beside or Trial(Outcome.UNKNOWN if self._unknown else Outcome.INSIDE)

    def _variable(self, p: Poly) -> int | None:
        number = p.single()
        if number is None:
            return None
        kind = self._terms[number].kind
        self._unknown |= kind in (Kind.OPAQUE, Kind.LOADED)
        return number if kind is Kind.LOOP else None

    def _points(self, variables: Sequence[int], point: dict[int, int]) -> Iterator[dict[int, int]]:
        if not variables:
            self._steps += 1
            if self._steps > MAX_STEPS:
                raise _NotKnown
            yield point
            return
        number = variables[0]
        atom = self._terms[number]
        first, last = self._value(atom.first, point), self._value(atom.last, point)
        for value in _ends_first(first, last):
            yield from self._points(variables[1:], {**point, number: value})

    def _step(self, point: dict[int, int]) -> Trial | None:
        try:
            holds = self._all(self._access.conditions, point)
            found = None if holds is False or self._wraps(point) else self._outside(point)
            outcome = Outcome.OUTSIDE if found is None or self._leaves_memory(point) else Outcome.BESIDE
        except ZeroDivisionError:
            # The division ends the run.
            return None
        except _NotKnown:
            self._unknown = True
            return None
        if found is None:
            return None
        if holds is None:
            self._unknown = True
            return None
        axis, index, extent = found
        names = {
            str(self._terms[number].name): value
            for number, value in point.items()
            if self._terms[number].kind is Kind.LOOP
        }
        memory = self._access.memory
        return Trial(outcome, axis, index, extent, names, memory is None or bool(memory.claims))

    def _leaves_memory(self, point: dict[int, int]) -> bool:
        """Whether the element of a step that leaves an axis is known to be outside the memory."""
        memory = self._access.memory
        return memory is None or any(self._value(claim, point) >= 0 for claim in memory.claims)

    def _wraps(self, point: dict[int, int]) -> bool:
        """Whether index arithmetic wraps around in a step: which element is accessed is not known then."""
        found = any(self._value(claim, point) >= 0 for claim in self._access.wraps)
        self._unknown |= found
        return found

    def _outside(self, point: dict[int, int]) -> tuple[int, int, int] | None:
        for axis, (where, shape) in enumerate(_axes(self._access)):
            assert where is not None
            assert shape is not None
            index, extent = self._value(where, point), self._value(shape, point)
            if not 0 <= index < extent:
                return axis, index, extent
        # What is not an index of this buffer: memory that it only shows, a part of it, a number of 32 bits.
        self._unknown |= any(self._value(claim, point) >= 0 for claim in self._access.claims)
        return None

    def _all(self, conditions: Sequence[Condition], point: dict[int, int]) -> bool | None:
        """Whether all hold; None where that depends on data."""
        result: bool | None = True
        for condition in conditions:
            value = self._truth(condition, point)
            if value is False:
                return False
            if value is None:
                result = None
        return result

    def _truth(self, condition: Condition, point: dict[int, int]) -> bool | None:
        if isinstance(condition, bool):
            return condition
        if isinstance(condition, Unread):
            return None
        if isinstance(condition, AtLeastZero):
            try:
                return self._value(condition.value, point) >= 0
            except _NotKnown:
                return None
        if isinstance(condition, Every):
            return self._all(condition.parts, point)
        assert isinstance(condition, AnyOf)
        parts = [self._truth(part, point) for part in condition.parts]
        return True if True in parts else None if None in parts else False

    def _value(self, p: Poly, point: dict[int, int]) -> int:
        result = 0
        for monomial, coefficient in p.terms.items():
            for number in monomial:
                coefficient *= self._number(number, point)
            result += coefficient
        return result

    def _number(self, number: int, point: dict[int, int]) -> int:
        known = point.get(number)
        if known is not None:
            return known
        atom = self._terms[number]
        if atom.kind is Kind.QUOTIENT:
            return self._value(atom.first, point) // self._value(atom.last, point)
        if atom.kind is Kind.REMAINDER:
            return self._value(atom.first, point) % self._value(atom.last, point)
        # Only a choice has options.
        for option in atom.options:
            holds = self._truth(option.condition, point)
            if holds is None:
                break
            if holds:
                return self._value(option.value, point)
        raise _NotKnown


def _ends_first(first: int, last: int) -> Iterator[int]:
    if first > last:
        return
    yield last
    if first < last:
        yield first
    yield from range(last - 1, first, -1)
