"""The variables, ends and extents of loops, in whose 32-bit arithmetic something may wrap around."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relax_lint.model.kernel_access import conditions as c
from relax_lint.model.kernel_access.accesses import LoopRange
from relax_lint.model.kernel_access.conditions import Condition, Unread
from relax_lint.model.kernel_access.outside import Around
from relax_lint.model.kernel_access.polynomials import ONE, ZERO, Poly
from relax_lint.model.kernel_access.subroutines import Subroutines
from relax_lint.model.kernel_access.survey import Survey

_FEWER_STEPS = Unread("the 32-bit extent of a loop around it may wrap around")
_INT32 = 2**31


class Extents(Subroutines):
    """Reads the variables and ends of loops."""

    def __init__(self, survey: Survey, callees: Mapping[str, Any]) -> None:
        super().__init__(survey, callees)
        self.told: set[Poly] = set()
        """The extents of the parameters, which are not negative."""

    def bound(self, node: Any, *, extent: bool = False) -> Poly | None:
        """An end of a loop, or its extent: one that wraps around to a smaller number leaves steps out."""
        found = self.settled(node, self.number if extent else self._narrowed)
        if not isinstance(found, Poly):
            return None
        return self._not_below(found) if extent and str(node.ty.dtype) == "int32" else found

    def _narrowed(self, node: Any) -> Poly | None:
        value = self.number(node)
        return None if value is None else self.narrow(value, node)

    def _not_below(self, extent: Poly) -> Poly:
        """An extent that is not so small that it would wrap around to a large one."""
        low, _ = self.terms.span(extent)
        if extent in self.told or (low is not None and low >= -_INT32):
            return extent
        around = Around(self.facts, self._steps)
        may_wrap = self.left_of([(None, True, (-extent).shift(-_INT32 - 1))], around)
        return self._wrapped((extent,)) if may_wrap else extent

    def not_above(self, node: Any, extent: Poly | None) -> Condition:
        """That the extent of a loop has not wrapped around; where it has, some steps may be made."""
        if extent is None or str(node.ty.dtype) != "int32":
            return True
        _, high = self.terms.span(extent)
        if high is not None and high < _INT32:
            return True
        room = (-extent).shift(_INT32 - 1)
        wrapped = c.every((c.at_least_zero(-room.shift(1)), _FEWER_STEPS))
        return c.any_of((c.at_least_zero(room), wrapped))

    def variable_of(
        self,
        name: str,
        first: Poly | None,
        extent: Poly | None,
        stride: Poly | None,
        kind: str,
        tag: str,
    ) -> tuple[Poly, LoopRange]:
        """The value of a loop variable, and the loop."""
        if (
            first is None
            or extent is None
            or stride is None
            or not (stride.is_constant and stride.constant > 0)
        ):
            value = self.terms.opaque(name)
            return value, LoopRange(kind, value, first, extent, tag)
        if stride.constant > 1:
            steps = self.terms.quotient(extent + stride.shift(-1), stride)
            assert steps is not None
            count = self.terms.loop(name, ZERO, steps)
            return first + count.scale(stride.constant), LoopRange(kind, count, ZERO, steps, tag)
        if extent == ONE:
            return first, LoopRange(kind, first, first, extent, tag)
        value = self.terms.loop(name, first, extent)
        return value, LoopRange(kind, value, first, extent, tag)
