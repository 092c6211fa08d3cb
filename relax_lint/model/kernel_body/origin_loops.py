"""Loops, in the search for where what a kernel stores comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from relax_lint.model.kernel_body.growing import Whole, divided
from relax_lint.model.kernel_body.intervals import Interval, Number, Steps, is_point
from relax_lint.model.kernel_body.origins import NO, PERHAPS, SURELY, Before, Element, Part, Search, Value

_NEAR_THE_END = 4
"""So many of the last steps are looked at one by one where nobody knows how many there are."""
_NEAR_THE_START = 8
"""So often the number of the first steps that are looked at is doubled there."""


class _Unknown:
    """Which step is the last one was not found out."""


_UNKNOWN: Final = _Unknown()


@dataclass(frozen=True)
class _Counted:
    """The first number of a loop, and what lies between the numbers that are taken."""

    first: Interval
    stride: int

    def numbers(self, low: Whole, high: Whole) -> Interval:
        """Between which numbers the loop is from one step to another one."""
        return self.first[0] + self.stride * low, self.first[1] + self.stride * high


@dataclass
class Repeated(Part):
    """A loop from `first` on, with so many numbers and a step between those that are taken; `asked` is what
    these look at. Where it `is_left` a step may be the last one.
    """

    variable: int
    first: Number
    extent: Number
    stride: Number
    body: Part
    asked: Value
    is_left: bool = False

    def __post_init__(self) -> None:
        self.stores = self.body.stores

    def _ends(self, steps: Steps) -> tuple[_Counted, Interval] | None:
        """From where to where the first number and the number of steps lie, and the step."""
        first, extent, stride = self.first(steps), self.extent(steps), self.stride(steps)
        if first is None or extent is None or stride is None:
            return None
        width, widest = stride
        if width != widest or not isinstance(width, int) or width < 1:
            return None
        least, most = extent
        if width > 1:
            least, most = -divided(-least, width)[1], -divided(-most, width)[0]
        if self.is_left:
            least = int(least > 0)
        return _Counted(first, width), (least, most)

    def touch(self, element: Element, steps: Steps, search: Search) -> int:
        """Whether it stores there."""
        if element.memory not in self.stores:
            return NO
        ends = self._ends(steps)
        if ends is None:
            return min(PERHAPS, self.body.touch(element, {**steps, self.variable: None}, search))
        counted, count = ends
        if count[1] < 1:
            return NO
        reached = counted.numbers(0, count[1] - 1)
        found = self.body.touch(element, {**steps, self.variable: reached}, search)
        return found if count[0] > 0 else min(PERHAPS, found)

    def after(self, element: Element, steps: Steps, before: Before, search: Search) -> bool:
        """Whether what it holds afterwards comes from there."""
        if element.memory not in self.stores:
            return before(element)
        ends = self._ends(steps)
        if ends is None:
            return self._after_some(None, element, steps, before, search)
        counted, count = ends
        if count[1] < 1:
            return before(element)
        if is_point(counted.first):
            return self._after(count, element, counted, steps, before, search)
        return self._after_some(counted.numbers(0, count[1] - 1), element, steps, before, search)

    def _after(
        self,
        count: Interval,
        element: Element,
        counted: _Counted,
        steps: Steps,
        before: Before,
        search: Search,
    ) -> bool:
        """The same after so many steps, which are counted from a number that is known."""
        if element.memory not in self.stores:
            return before(element)
        last = self._last(count, element, counted, steps, search)
        if last is None:
            return before(element) if search.work > 0 else False
        if isinstance(last, _Unknown):
            return self._after_open(count, element, counted, steps, before, search)

        def earlier(one: Element) -> bool:
            return self._after((last, last), one, counted, steps, before, search)

        return self.body.after(
            element, {**steps, self.variable: counted.numbers(last, last)}, earlier, search
        )

    def _after_open(
        self,
        count: Interval,
        element: Element,
        counted: _Counted,
        steps: Steps,
        before: Before,
        search: Search,
    ) -> bool:
        """The same where the last step that stores there is not known."""
        if self._after_some(counted.numbers(0, count[1] - 1), element, steps, before, search):
            return True
        if not (count[0] > 0 and search.goes_on()):
            return False
        first, rest = counted.numbers(0, 0), counted.numbers(1, count[1] - 1)
        # What is so after the first step, and stays so in each later one; or what the last one stores.
        if self.body.after(element, {**steps, self.variable: first}, before, search) and self._stays(
            rest, element, steps, before, search
        ):
            return True
        left = count[0] - 1, count[1] - 1

        def earlier(one: Element) -> bool:
            return self._after(left, one, counted, steps, before, search)

        search.depth -= 1
        found = self.body.after(element, {**steps, self.variable: counted.numbers(*left)}, earlier, search)
        search.depth += 1
        return found

    def _last(
        self, count: Interval, element: Element, counted: _Counted, steps: Steps, search: Search
    ) -> Whole | _Unknown | None:
        """The last step that may store there; None where none does."""
        least, most = count
        if isinstance(most, int) and least == most:
            return self._latest(0, most - 1, element, counted, steps, search)

        def touched(low: Whole, high: Whole) -> int:
            search.work -= 1
            return self.body.touch(element, {**steps, self.variable: counted.numbers(low, high)}, search)

        if touched(0, most - 1) == NO:
            return None
        backwards: Whole | _Unknown = _UNKNOWN
        for back in range(1, _NEAR_THE_END + 1) if least == most else ():
            if not least >= back:
                break
            found = touched(most - back, most - back)
            if found == SURELY:
                return most - back
            if found == PERHAPS:
                backwards = most - back
                break
        for power in range(_NEAR_THE_START):
            if touched(2**power, most - 1) == NO:
                first = self._latest(0, 2**power - 1, element, counted, steps, search)
                return first if first is None or first < least else _UNKNOWN
        # Most indices are the number of a step.
        for one in element.indices or ():
            if not isinstance(one, int) and one >= 0 and one < least and touched(one + 1, most - 1) == NO:
                return one
        return backwards

    def _latest(
        self, low: int, high: int, element: Element, counted: _Counted, steps: Steps, search: Search
    ) -> int | None:
        """The last of some steps that may store there."""
        if low > high or search.work <= 0:
            return None
        search.work -= 1
        if self.body.touch(element, {**steps, self.variable: counted.numbers(low, high)}, search) == NO:
            return None
        if low == high:
            return low
        middle = (low + high) // 2
        found = self._latest(middle + 1, high, element, counted, steps, search)
        return self._latest(low, middle, element, counted, steps, search) if found is None else found

    def _after_some(
        self, numbers: Interval | None, element: Element, steps: Steps, before: Before, search: Search
    ) -> bool:
        """The same where nobody knows how many steps there are: what is so before any of them, and stays so
        in each.
        """
        inside = {**steps, self.variable: numbers}
        touched = self.body.touch(element, inside, search)
        if touched == NO or not search.goes_on():
            return touched == NO and before(element)
        if self._may_be_first(element, steps, search) and self.asked(steps, before):
            return True
        return before(element) and self._stays(numbers, element, steps, before, search)

    def _may_be_first(self, element: Element, steps: Steps, search: Search) -> bool:
        """Whether the first step stores there if there is any."""
        first = self.first(steps)
        return self.body.touch(element, {**steps, self.variable: first}, search) == SURELY

    def _stays(
        self, numbers: Interval | None, element: Element, steps: Steps, before: Before, search: Search
    ) -> bool:
        """Whether an element comes from there after each of some steps if it does so before it."""

        def earlier(one: Element) -> bool:
            return one == element or (one.memory not in self.stores and before(one))

        return self.body.after(element, {**steps, self.variable: numbers}, earlier, search)

    def elements(self, steps: Steps, choose: Callable[[Interval], Whole]) -> Iterator[Element]:
        """Elements that are stored."""
        ends = self._ends(steps)
        if ends is None or not is_point(ends[0].first) or not ends[1][0] > 0:
            return
        number = choose((0, ends[1][0] - 1))
        yield from self.body.elements({**steps, self.variable: ends[0].numbers(number, number)}, choose)
