"""The step in which TVM initialises what a block reduces to: each reduced axis is at its least number.

A block says over which numbers an axis runs, and the loops around it say which of them come. Where they leave
the least number out (`T.where(i >= 1)`, an axis bound to `i + 1`), nothing is ever initialised.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import sympy

from relax_lint.model.kernel_body.conditions import Below
from relax_lint.model.kernel_body.loops import Loops, Range
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.functions import FloorDiv, FloorMod
from relax_lint.symbolic.translate import Translator, Untranslatable

REDUCTION_AXIS = 2

_ZERO, _ONE = sympy.Integer(0), sympy.Integer(1)


@record(frozen=True)
class Axis:
    """An axis of a block: what the loops make it (None: that cannot be read), its least number, and how many
    numbers it has.
    """

    index: sympy.Expr | None
    least: sympy.Expr
    extent: sympy.Expr
    reduced: bool


@record(frozen=True)
class Digit:
    """A part of a number that loops count: from `unit` on, up to where the next part begins (None: all)."""

    number: sympy.Expr
    unit: sympy.Expr
    end: sympy.Expr | None

    def is_apart_from(self, other: Digit) -> bool:
        """Whether one says nothing of the other."""
        return self.number == other.number and (self._precedes(other) or other._precedes(self))

    def _precedes(self, other: Digit) -> bool:
        return self.end is not None and sympy.cancel(other.unit / self.end).as_numer_denom()[1] == 1


@record(frozen=True)
class FirstSteps:
    """The axes of a block, and the ranges of the loops around it that are known."""

    axes: tuple[Axis, ...]
    ranges: Mapping[sympy.Symbol, Range]
    loops: Loops

    @property
    def is_read(self) -> bool:
        """Whether the call alone decides how many numbers the axes have."""
        return all(self.loops.in_signature(axis.extent) for axis in self.axes)

    @property
    def reduced(self) -> frozenset[sympy.Symbol]:
        """The loops that are reduced."""
        return frozenset(symbol for index in self._indices(reduced=True) for symbol in index.free_symbols)

    @property
    def kept(self) -> frozenset[sympy.Symbol]:
        """The loops of the axes that stay."""
        return frozenset(symbol for index in self._indices(reduced=False) for symbol in index.free_symbols)

    def _indices(self, *, reduced: bool) -> list[sympy.Expr]:
        indices = (axis.index for axis in self.axes if axis.reduced is reduced)
        return [index for index in indices if index is not None]

    @property
    def is_first(self) -> bool:
        """Whether the first step of the reduced loops initialises, for each element that is kept."""
        return self._at_least_number(self._start()) and self.reduced.isdisjoint(self.kept)

    @property
    def comes(self) -> bool:
        """Whether there is a step that initialises, the first one or a later one, for each element that is
        kept, unless a loop is empty or a condition leaves it out.
        """
        return self._at_least_number(self._steps()) and all(
            self._is_free(symbol) for symbol in self.reduced & self.kept
        )

    def _at_least_number(self, steps: Mapping[sympy.Symbol, sympy.Expr]) -> bool:
        if any(axis.index is None for axis in self.axes):
            return False
        return all(_at(axis.index, steps) == axis.least for axis in self.axes if axis.reduced)

    def _start(self) -> dict[sympy.Symbol, sympy.Expr]:
        return {symbol: reached.first for symbol, reached in self.ranges.items()}

    def _steps(self) -> dict[sympy.Symbol, sympy.Expr]:
        """The step of each loop in which the axes are as small as they get, as far as their sums tell."""
        steps = self._start()
        for symbol in steps:
            if any(index.coeff(symbol).is_negative for index in self._indices(reduced=True)):
                steps[symbol] = self.ranges[symbol].last
        return steps

    def _is_free(self, symbol: sympy.Symbol) -> bool:
        """Whether the part of a loop that is kept says nothing of the reduced one, as `i // 4` of `i % 4`."""
        kept, reduced = (
            [part for index in self._indices(reduced=which) for part in _digits(index, symbol)]
            for which in (False, True)
        )
        return all(
            one is not None and other is not None and one.is_apart_from(other)
            for one in kept
            for other in reduced
        )

    def extents(self) -> tuple[sympy.Expr, ...]:
        """What has to be positive for that step to come: the extents of the reduced axes, and of loops those
        that this does not tell.
        """
        around = dict.fromkeys(
            self.ranges[symbol].extent for symbol in sorted(self.reduced, key=str) if symbol in self.ranges
        )
        own = tuple(axis.extent for axis in self.axes if axis.reduced)
        return (*own, *(extent for extent in around if not self._is_positive(extent)))

    def _is_positive(self, value: sympy.Expr) -> bool:
        """Whether a value is positive because every axis has a number."""
        if value.is_Integer:
            return bool(value > 0)
        if isinstance(value, FloorDiv) and value.args[1].is_Integer and value.args[1] > 0:
            return self._is_positive(sympy.expand(value.args[0] - value.args[1] + 1))
        extents = [axis.extent for axis in self.axes]
        quotients = [sympy.cancel(one / value) for one in (*extents, sympy.Mul(*extents))]
        return any(q.as_numer_denom()[1] == 1 and self.loops.is_not_negative(q) for q in quotients)

    def at_first(self, conditions: Sequence[Below]) -> tuple[Below, ...]:
        """What conditions ask in the first step of the reduced loops."""
        start = {symbol: step for symbol, step in self._start().items() if symbol in self.reduced}
        return tuple(Below(sympy.expand(one.value.xreplace(start)), one.limit) for one in conditions)

    def hold(self, conditions: Sequence[Below]) -> bool:
        """Whether conditions say nothing of the reduced loops, or hold in that step."""
        steps = {symbol: step for symbol, step in self._steps().items() if symbol in self.reduced}
        for one in conditions:
            room = sympy.expand(one.limit - _at(one.value, steps))
            is_about = not one.value.free_symbols.isdisjoint(self.reduced)
            if is_about and not (self.loops.is_not_negative(room - 1) or self._is_positive(room)):
                return False
        return True


def steps_of(
    block: Any,
    values: Sequence[Any],
    nest: Sequence[sympy.Symbol | None],
    translator: Translator,
    loops: Loops,
) -> FirstSteps | None:
    """The axes of a block with what the loops around, `nest`, make of them; None where the numbers of an axis
    cannot be read.
    """
    reached = {symbol: loops.range_of(symbol) for symbol in nest if symbol is not None}
    axes = []
    for axis, value in zip(block.iter_vars[:], values, strict=True):
        least, extent = (_read(one, translator) for one in (axis.dom.min, axis.dom.extent))
        if least is None or extent is None:
            return None
        axes.append(Axis(_read(value, translator), least, extent, int(axis.iter_type) == REDUCTION_AXIS))
    return FirstSteps(tuple(axes), {symbol: one for symbol, one in reached.items() if one is not None}, loops)


def _read(node: Any, translator: Translator) -> sympy.Expr | None:
    try:
        return translator.expr(node)
    except (Untranslatable, AttributeError):
        return None


def _at(index: sympy.Expr, steps: Mapping[sympy.Symbol, sympy.Expr]) -> sympy.Expr:
    """An index in some steps of loops; parts of nothing are nothing, whatever it is divided by."""
    value = sympy.expand(index.xreplace(steps))
    while True:
        parts = {one: _ZERO for one in value.atoms(FloorDiv, FloorMod) if one.args[0] == 0}
        if not parts:
            return value
        value = value.xreplace(parts)


def _digits(index: sympy.Expr, symbol: sympy.Symbol) -> Iterator[Digit | None]:
    """The parts of a loop variable that an index is made of; None for what is none."""
    rest = index
    while symbol in rest.free_symbols:
        parts = [part for part in rest.atoms(FloorDiv, FloorMod) if symbol in part.free_symbols]
        if not parts:
            yield None
            return
        outer = max(parts, key=lambda part: (part.count_ops(), str(part)))
        yield _digit(outer)
        rest = rest.xreplace({outer: _ZERO})


def _digit(part: sympy.Expr) -> Digit:
    if not isinstance(part, FloorDiv | FloorMod):
        return Digit(part, _ONE, None)
    inner, divisor = _digit(part.args[0]), part.args[1]
    if isinstance(part, FloorDiv):
        return Digit(inner.number, inner.unit * divisor, inner.end)
    return Digit(inner.number, inner.unit, inner.unit * divisor)
