"""Concrete members of a domain at which a condition holds, smallest first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from sympy.logic.boolalg import Boolean

from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.domain import INT64_MAX, INT64_MIN
from relax_lint.symbolic.evaluation import compile_condition, compile_expr, may_be_undefined, size_of
from relax_lint.symbolic.formula import Formula, Unsupported, is_polynomial, substitute, symbols_of
from relax_lint.symbolic.intervals import Interval
from relax_lint.symbolic.knowledge import Knowledge
from relax_lint.symbolic.univariate import IntSet, intersection, solve, threshold, trend, union
from relax_lint.symbolic.work import TooMuchWork, spend, stage

Point = tuple[int, ...]
"""Values of the domain's symbols, in their order."""

PER_POINT = 4
PER_LINE = 4
"""Steps of work for a point, beside those for what is evaluated there, and for a line and each node of the
condition that is solved along it."""

SMALL_VALUES = (0, 1, 2, 3, 4, 5, 8, 16, 17, 64, 100, 1024)


@record(frozen=True)
class Budget:
    """How much a search may do: points to evaluate, and lines along one axis to solve."""

    points: int
    lines: int


QUICK = Budget(points=600, lines=40)
THOROUGH = Budget(points=20_000, lines=2_500)


@record(frozen=True)
class BestPoint:
    """The best point found, and whether it is certain that no smaller one exists.

    `point` None with `exact` True means that no point exists at all.
    """

    point: Point | None
    exact: bool


class Search:
    """Looks for members of the domain that `knowledge` describes."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge
        self._axes = knowledge.independent
        self._values = [self._value(s) for s in knowledge.symbols]
        self._facts = _compiled(knowledge.conditions, knowledge.symbols)
        evaluated = (*knowledge.conditions, *knowledge.solved.values())
        self._price = PER_POINT + (len(knowledge.symbols) + sum(map(size_of, evaluated))) // 8
        self._is_plain = not knowledge.solved

    def smallest(self, condition: Boolean, budget: Budget) -> BestPoint:
        """The member with the smallest sum of absolute values, then the lexicographically first, at
        which the condition holds.
        """
        attempt = _SmallestSearch(self, condition)
        if self.knowledge.empty:
            return BestPoint(None, exact=True)
        if attempt.test is None or self._facts is None:
            return BestPoint(None, exact=False)
        exact = False
        with stage():
            if len(self._axes) <= 1:
                exact = attempt.scan_line((), budget.points)
            else:
                exact = attempt.scan_points(budget.points) or attempt.scan_lines(budget)
        if not exact:
            with stage():
                attempt.guess()
        return BestPoint(attempt.best, exact and not attempt.undefined)

    def largest(self, condition: Boolean, limit: int, budget: Budget) -> Point | None:
        """The member with the largest value of the domain's only axis where the condition holds; None if
        that is `limit` or more, if there are more axes, or if it is not known.
        """
        test = _compiled((condition,), self.knowledge.symbols)
        if len(self._axes) != 1 or test is None or self._facts is None:
            return None
        (symbol,) = self._axes
        values = self._solutions(_formula(self.knowledge, condition), symbol)
        if not values or values[-1][1] >= limit:
            return None
        descending = (x for low, high in reversed(values) for x in range(high, low - 1, -1))
        with stage():
            for x in islice(descending, budget.points):
                point = self.member((x,))
                if point is not None and test(point):
                    return point
        return None

    def sample(self, condition: Boolean) -> Point | None:
        """Some member at which the condition holds, from a few likely places; None if none of them is."""
        test = _compiled((condition,), self.knowledge.symbols)
        if test is None or self._facts is None or self.knowledge.empty:
            return None
        with stage():
            for values in self._likely():
                point = self.member(values)
                if point is not None and test(point):
                    return point
        return None

    def members(self, limit: int) -> list[Point] | None:
        """Every member of the domain, or None if its box has more than `limit` points."""
        size = 1
        for s in self._axes:
            low, high = self.knowledge.box[s]
            size *= max(0, high - low + 1)
        if size > limit or self._facts is None:
            return None
        boxes = [self.knowledge.box[s] for s in self._axes]
        points = (self.member(values) for values in _product(boxes))
        return [p for p in points if p is not None]

    def member(self, values: Point) -> Point | None:
        """The full assignment for values of the axes, if it is a member of the domain."""
        point = self.completed(values)
        return point if point is not None and self.is_member(point) else None

    def completed(self, values: Point) -> Point | None:
        """The full assignment for values of the axes, member or not; None where there is none."""
        spend(self._price)
        try:
            return self.complete(values)
        except ZeroDivisionError:
            return None

    def is_member(self, point: Point) -> bool:
        """Whether a full assignment is a member of the domain."""
        is_int64 = all(INT64_MIN <= x <= INT64_MAX for x in point)
        return is_int64 and self._facts is not None and self._facts(point) is True

    def complete(self, values: Point) -> Point:
        """All symbols' values for values of the axes. Raises ZeroDivisionError."""
        return values if self._is_plain else tuple([value(*values) for value in self._values])

    def _solutions(self, formula: Formula | None, symbol: Any) -> IntSet:
        """Values of the symbol outside which the formula or a fact about the symbol fails."""
        allowed = self.knowledge.values(symbol)[0]
        if formula is None or symbols_of(formula) - {symbol}:
            return allowed
        solved = solve(formula, symbol, self.knowledge.box[symbol])
        return allowed if solved is None else intersection(allowed, solved)

    def _value(self, symbol: Any) -> Callable[..., int]:
        return compile_expr(self.knowledge.solved.get(symbol, symbol), self._axes)

    def _likely(self) -> Iterator[Point]:
        """Corners of the box and small values, all axes alike or one apart from the rest."""
        boxes = [self.knowledge.box[s] for s in self._axes]
        steps = [x for v in SMALL_VALUES for x in (v, -v)]
        lows, highs = [b[0] for b in boxes], [b[1] for b in boxes]
        yield tuple(lows)
        yield tuple(highs)
        for x in steps:
            yield tuple(_clamp(x, b) for b in boxes)
        for i, (low, high) in enumerate(boxes):
            ends = [high, high - 1, low, low + 1, low + 2, low + 3, (low + high) // 2]
            for base in (lows, [_clamp(1, b) for b in boxes], highs):
                for x in (*ends, *steps):
                    yield (*base[:i], _clamp(x, (low, high)), *base[i + 1 :])


class _SmallestSearch:
    """One search for the smallest point."""

    def __init__(self, search: Search, condition: Boolean) -> None:
        self.search = search
        self.axes = search.knowledge.independent
        self.test = _compiled((condition,), search.knowledge.symbols)
        self.formula = _formula(search.knowledge, condition)
        self.best: Point | None = None
        self.undefined = False
        self._polynomial = self.formula is not None and is_polynomial(self.formula)
        self._trend = None
        total = not any(map(may_be_undefined, search.knowledge.solved.values()))
        if self.formula is not None and not self._polynomial and self.axes and total:
            self._trend = trend(self.formula, self.axes[-1], search.knowledge.bounds)
        self._key: tuple[int, Point] | None = None
        self._line_price = PER_LINE * (1 + size_of(condition))

    @property
    def best_sum(self) -> int | None:
        """The sum of absolute values of the best point so far."""
        return None if self._key is None else self._key[0]

    def try_point(self, values: Point) -> bool:
        """Keep the point if it is a member, satisfies the condition and beats the best so far."""
        point = self.search.completed(values)
        if point is None or self.test is None:
            return False
        holds = self.test(point)
        # At most points the condition fails: whether they are members does not matter.
        if holds is False or not self.search.is_member(point):
            return False
        if holds is None:
            self.undefined = True
            return False
        key = (sum(map(abs, point)), point)
        if self._key is None or key < self._key:
            self._key, self.best = key, point
        return True

    def scan_points(self, limit: int) -> bool:
        """All points by rising sum; True if the best one is then certainly the smallest."""
        boxes = [self.search.knowledge.box[s] for s in self.axes]
        tried = 0
        for radius in range(_least(boxes), _most(boxes) + 1):
            if self.best_sum is not None and radius > self.best_sum:
                return True
            for values in _shell(boxes, radius):
                tried += 1
                if tried > limit:
                    return False
                self.try_point(values)
        return True

    def scan_lines(self, budget: Budget) -> bool:
        """Like `scan_points`, but solves for the last axis: for answers that are far from zero."""
        boxes = [self.search.knowledge.box[s] for s in self.axes[:-1]]
        tried = 0
        for radius in range(_least(boxes), _most(boxes) + 1):
            if self.best_sum is not None and radius > self.best_sum:
                return True
            for prefix in _shell(boxes, radius):
                tried += 1
                if tried > budget.lines:
                    return False
                if not self.scan_line(prefix, limit=64):
                    return False
        return True

    def scan_line(self, prefix: Point, limit: int) -> bool:
        """Values of the last axis by rising magnitude, the others fixed; True if none was left out."""
        if not self.axes:
            self.try_point(())
            return True
        symbol = self.axes[-1]
        spend(self._line_price)
        candidates = self._candidates(prefix, symbol)
        start = sum(map(abs, prefix))
        for tried, x in enumerate(_by_magnitude(candidates)):
            if self.best_sum is not None and start + abs(x) > self.best_sum:
                return True
            if tried >= limit:
                return False
            self.try_point((*prefix, x))
        return True

    def guess(self) -> None:
        """A point that is small, if not the smallest: halve the distance between a bad and a good one."""
        boxes = [self.search.knowledge.box[s] for s in self.axes]

        def along(x: int) -> Point:
            return tuple(_clamp(x, b) for b in boxes)

        previous = 0
        for exponent in range(63):
            x = 2**exponent
            if self.try_point(along(x)):
                low, high = previous, x
                while high - low > 1:
                    middle = (low + high) // 2
                    if self.try_point(along(middle)):
                        high = middle
                    else:
                        low = middle
                return
            previous = x
        if self.best is None:
            any(self.try_point(values) for values in self.search._likely())

    def _candidates(self, prefix: Point, symbol: Any) -> IntSet:
        """Values of the last axis outside which the condition fails when the others are fixed."""
        if not prefix or self.formula is None:
            return self.search._solutions(self.formula, symbol)
        if self._polynomial:
            along = substitute(self.formula, dict(zip(self.axes, prefix, strict=False)))
            return self.search._solutions(along, symbol)
        allowed = self.search.knowledge.values(symbol)[0]
        if not self._trend:
            return allowed
        within = self.search.knowledge.box[symbol]
        solved = threshold(lambda x: self._holds((*prefix, x)), within, rising=self._trend == 1)
        return intersection(allowed, union([solved]))

    def _holds(self, values: Point) -> bool:
        """Whether the condition holds at values of the axes, be they a member of the domain or not."""
        return self.test is not None and self.test(self.search.complete(values)) is True


def _formula(knowledge: Knowledge, condition: Boolean) -> Formula | None:
    try:
        return knowledge.formula(condition)
    except (Unsupported, TooMuchWork):
        return None


def _compiled(
    conditions: tuple[Boolean, ...], symbols: tuple[Any, ...]
) -> Callable[[Point], bool | None] | None:
    """The conjunction as a function of a point, or None if a part cannot be evaluated."""
    try:
        parts = [compile_condition(c, symbols) for c in conditions]
    except TypeError:
        return None
    if len(parts) == 1:
        return lambda point: parts[0](*point)

    def holds(point: Point) -> bool | None:
        result: bool | None = True
        for part in parts:
            value = part(*point)
            if value is False:
                return False
            if value is None:
                result = None
        return result

    return holds


def _clamp(x: int, interval: Interval) -> int:
    return min(max(x, interval[0]), interval[1])


def _least(boxes: list[Interval]) -> int:
    return sum(abs(_clamp(0, b)) for b in boxes)


def _most(boxes: list[Interval]) -> int:
    return sum(max(abs(b[0]), abs(b[1])) for b in boxes)


def _shell(boxes: list[Interval], radius: int) -> Iterator[Point]:
    """All points of the boxes whose absolute values add up to `radius`, in lexicographic order."""
    least, most = [0], [0]
    for low, high in reversed(boxes):
        least.append(least[-1] + abs(_clamp(0, (low, high))))
        most.append(most[-1] + max(abs(low), abs(high)))
    return _within_shell(boxes, 0, radius, least[::-1], most[::-1])


def _within_shell(
    boxes: list[Interval], axis: int, radius: int, least: list[int], most: list[int]
) -> Iterator[Point]:
    """The same for the axes from `axis` on: those from each axis on take between `least` and `most`."""
    low, high = boxes[axis]
    if axis == len(boxes) - 1:
        # It takes what is left of the radius.
        yield from [(x,) for x in ((-radius, radius) if radius else (0,)) if low <= x <= high]
        return
    # The rest takes between `least` and `most` of the radius: no other x has a point.
    far, near = radius - least[axis + 1], max(radius - most[axis + 1], 0)
    for first, last in ((-far, min(-near, far)), (max(near, 1 - near), far)):
        for x in range(max(low, first), min(high, last) + 1):
            for tail in _within_shell(boxes, axis + 1, radius - abs(x), least, most):
                yield (x, *tail)


def _product(boxes: list[Interval]) -> Iterator[Point]:
    if not boxes:
        yield ()
        return
    for x in range(boxes[0][0], boxes[0][1] + 1):
        for tail in _product(boxes[1:]):
            yield (x, *tail)


def _by_magnitude(values: IntSet) -> Iterator[int]:
    """The integers of a set by rising absolute value, the negative one first."""
    positive = (x for low, high in values for x in range(max(low, 0), high + 1))
    negative = (x for low, high in reversed(values) for x in range(min(high, -1), low - 1, -1))
    p, n = next(positive, None), next(negative, None)
    while p is not None or n is not None:
        if n is not None and (p is None or -n <= p):
            yield n
            n = next(negative, None)
        else:
            assert p is not None
            yield p
            p = next(positive, None)
