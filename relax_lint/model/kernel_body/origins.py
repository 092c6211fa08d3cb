"""Where what a kernel stores comes from, looked for from its end backwards: which statement has stored an
element last, what that one has loaded, which has stored that last, and so on.

What is said to come from somewhere does, whatever the data is; where the search ends before that is found
out, the answer is no.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from relax_lint.model.kernel_body.intervals import Interval, Number, Steps, is_point

NO, PERHAPS, SURELY = 0, 1, 2
"""Whether something is stored in an element."""
_TRUE, _FALSE = (1, 1), (0, 0)


@dataclass(frozen=True)
class Element:
    """An element of a buffer or the value of a name. Without `indices` it is the one that was stored last, or
    with `some` one of which nobody knows which it is; `found` says that something was stored in such a one.
    """

    memory: int
    indices: tuple[int, ...] | None = None
    some: bool = False
    found: bool = False


Before: TypeAlias = "Callable[[Element], bool]"
"""Whether what an element holds at some point comes from where the search leads to."""
Value: TypeAlias = "Callable[[Steps, Before], bool]"
"""The same for an expression."""


class Search:
    """How far a search may go on."""

    def __init__(self, depth: int, work: int) -> None:
        self.depth, self.work = depth, work

    def goes_on(self) -> bool:
        """Count a statement."""
        self.work -= 1
        return self.work > 0 and self.depth > 0


class Part:
    """A statement. `stores` is the memory in which something is stored."""

    stores: frozenset[int] = frozenset()

    def touch(self, element: Element, steps: Steps, search: Search) -> int:
        """Whether it stores there, in any of these steps."""
        return NO

    def after(self, element: Element, steps: Steps, before: Before, search: Search) -> bool:
        """Whether what an element holds after this statement comes from where the search leads to."""
        return before(element)

    def elements(self, steps: Steps, choose: Callable[[Interval], int]) -> Iterator[Element]:
        """Elements that are stored in steps that are chosen."""
        return iter(())


@dataclass
class Store(Part):
    """A store of a value; `asked` is what the indices look at."""

    memory: int
    indices: Sequence[Number]
    value: Value
    asked: Value

    def __post_init__(self) -> None:
        self.stores = frozenset((self.memory,))

    def touch(self, element: Element, steps: Steps, search: Search) -> int:
        """Whether it stores there."""
        if element.memory != self.memory:
            return NO
        if element.indices is None:
            return PERHAPS if element.some else SURELY
        search.work -= 1
        found = SURELY
        for index, sought in zip(self.indices, element.indices, strict=True):
            reached = index(steps)
            if reached is None or reached[0] != reached[1]:
                found = PERHAPS
            if reached is not None and not reached[0] <= sought <= reached[1]:
                return NO
        return found

    def after(self, element: Element, steps: Steps, before: Before, search: Search) -> bool:
        """Whether what it holds afterwards comes from there."""
        touched = self.touch(element, steps, search)
        if touched == NO or not search.goes_on():
            return touched == NO and before(element)
        kept = Element(element.memory, None, some=True, found=True) if element.some else element
        search.depth -= 1
        found = self.value(steps, before) or self.asked(steps, before)
        found = found and (touched == SURELY or before(kept))
        search.depth += 1
        return found

    def elements(self, steps: Steps, choose: Callable[[Interval], int]) -> Iterator[Element]:
        """Elements that are stored."""
        reached = [index(steps) for index in self.indices]
        if all(map(is_point, reached)):
            yield Element(self.memory, tuple(one[0] for one in reached if one is not None))


@dataclass
class Fresh(Part):
    """A buffer begins here: it holds nothing that comes from anywhere."""

    memory: int

    def __post_init__(self) -> None:
        self.stores = frozenset((self.memory,))

    def touch(self, element: Element, steps: Steps, search: Search) -> int:
        """Whether it stores there."""
        return PERHAPS if element.memory == self.memory else NO

    def after(self, element: Element, steps: Steps, before: Before, search: Search) -> bool:
        """Whether what it holds afterwards comes from there."""
        return element.found if element.memory == self.memory else before(element)


@dataclass
class Several(Part):
    """One statement after the other."""

    parts: Sequence[Part]

    def __post_init__(self) -> None:
        self.stores = frozenset().union(*(part.stores for part in self.parts))

    def touch(self, element: Element, steps: Steps, search: Search) -> int:
        """Whether it stores there."""
        parts = (part for part in self.parts if element.memory in part.stores)
        return max((part.touch(element, steps, search) for part in parts), default=NO)

    def after(self, element: Element, steps: Steps, before: Before, search: Search) -> bool:
        """Whether what it holds afterwards comes from there."""
        return self._after(len(self.parts), element, steps, before, search)

    def _after(self, count: int, element: Element, steps: Steps, before: Before, search: Search) -> bool:
        while count and not (
            element.memory in self.parts[count - 1].stores
            and self.parts[count - 1].touch(element, steps, search)
        ):
            count -= 1
        if not count:
            return before(element)

        def earlier(one: Element) -> bool:
            return self._after(count - 1, one, steps, before, search)

        return self.parts[count - 1].after(element, steps, earlier, search)

    def elements(self, steps: Steps, choose: Callable[[Interval], int]) -> Iterator[Element]:
        """Elements that are stored."""
        for part in self.parts:
            yield from part.elements(steps, choose)


@dataclass
class Repeated(Part):
    """A loop from `first` on, with so many numbers and a step between those that are taken; `asked` is what
    these look at.
    """

    variable: int
    first: Number
    extent: Number
    stride: Number
    body: Part
    asked: Value

    def __post_init__(self) -> None:
        self.stores = self.body.stores

    def _ends(self, steps: Steps) -> tuple[Interval, Interval, int] | None:
        """From where to where the first number and the number of steps lie, and the step."""
        first, extent, stride = self.first(steps), self.extent(steps), self.stride(steps)
        if first is None or extent is None or stride is None or stride[0] != stride[1] or stride[0] < 1:
            return None
        width = stride[0]
        return first, (-(-extent[0] // width), -(-extent[1] // width)), width

    def touch(self, element: Element, steps: Steps, search: Search) -> int:
        """Whether it stores there."""
        if element.memory not in self.stores:
            return NO
        ends = self._ends(steps)
        if ends is None:
            return min(PERHAPS, self.body.touch(element, {**steps, self.variable: None}, search))
        first, count, stride = ends
        if count[1] < 1:
            return NO
        reached = first[0], first[1] + stride * (count[1] - 1)
        found = self.body.touch(element, {**steps, self.variable: reached}, search)
        return found if count[0] > 0 else min(PERHAPS, found)

    def after(self, element: Element, steps: Steps, before: Before, search: Search) -> bool:
        """Whether what it holds afterwards comes from there."""
        if element.memory not in self.stores:
            return before(element)
        ends = self._ends(steps)
        if ends is None or not (is_point(ends[0]) and is_point(ends[1])):
            return self._after_some(element, steps, before, search)
        return self._after(ends[1][0], element, (ends[0][0], ends[2]), steps, before, search)

    def _after(
        self,
        count: int,
        element: Element,
        counted: tuple[int, int],
        steps: Steps,
        before: Before,
        search: Search,
    ) -> bool:
        """The same after so many steps."""
        if element.memory not in self.stores:
            return before(element)
        last = self._latest(0, count - 1, element, counted, steps, search)
        if last is None:
            return before(element) if search.work > 0 else False
        number = counted[0] + counted[1] * last

        def earlier(one: Element) -> bool:
            return self._after(last, one, counted, steps, before, search)

        return self.body.after(element, {**steps, self.variable: (number, number)}, earlier, search)

    def _latest(
        self, low: int, high: int, element: Element, counted: tuple[int, int], steps: Steps, search: Search
    ) -> int | None:
        """The last of some steps that may store there."""
        if low > high or search.work <= 0:
            return None
        first, stride = counted
        reached = first + stride * low, first + stride * high
        search.work -= 1
        if self.body.touch(element, {**steps, self.variable: reached}, search) == NO:
            return None
        if low == high:
            return low
        middle = (low + high) // 2
        found = self._latest(middle + 1, high, element, counted, steps, search)
        return self._latest(low, middle, element, counted, steps, search) if found is None else found

    def _after_some(self, element: Element, steps: Steps, before: Before, search: Search) -> bool:
        """The same where nobody knows how many steps there are."""
        inside = {**steps, self.variable: None}
        touched = self.body.touch(element, inside, search)
        if touched == NO or not search.goes_on():
            return touched == NO and before(element)
        if self.asked(steps, before):
            return True

        def earlier(one: Element) -> bool:
            return one.memory not in self.stores and before(one)

        return before(element) and self.body.after(element, inside, earlier, search)

    def elements(self, steps: Steps, choose: Callable[[Interval], int]) -> Iterator[Element]:
        """Elements that are stored."""
        ends = self._ends(steps)
        if ends is None or not (is_point(ends[0]) and is_point(ends[1])) or ends[1][0] < 1:
            return
        number = ends[0][0] + ends[2] * choose((0, ends[1][0] - 1))
        yield from self.body.elements({**steps, self.variable: (number, number)}, choose)


@dataclass
class Either(Part):
    """A condition, which looks at `asked`, and what is done where it holds and where it does not; that is the
    same if `alike`.
    """

    condition: Number
    asked: Value
    then: Part
    other: Part
    alike: bool = False

    def __post_init__(self) -> None:
        self.stores = self.then.stores | self.other.stores

    def _ways(self, steps: Steps) -> tuple[Part, ...]:
        holds = self.condition(steps)
        if self.alike or holds == _TRUE:
            return (self.then,)
        return (self.other,) if holds == _FALSE else (self.then, self.other)

    def touch(self, element: Element, steps: Steps, search: Search) -> int:
        """Whether it stores there."""
        found = {way.touch(element, steps, search) for way in self._ways(steps)}
        return found.pop() if len(found) == 1 else PERHAPS

    def after(self, element: Element, steps: Steps, before: Before, search: Search) -> bool:
        """Whether what it holds afterwards comes from there."""
        if element.memory not in self.stores:
            return before(element)
        ways = self._ways(steps)
        if len(ways) > 1:
            if not search.goes_on():
                return False
            if any(way.touch(element, steps, search) == SURELY for way in ways):
                search.depth -= 1
                asked = self.asked(steps, before)
                search.depth += 1
                if asked:
                    return True
        return all(way.after(element, steps, before, search) for way in ways)

    def elements(self, steps: Steps, choose: Callable[[Interval], int]) -> Iterator[Element]:
        """Elements that are stored."""
        for way in self._ways(steps):
            yield from way.elements(steps, choose)
