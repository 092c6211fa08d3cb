"""Where what a kernel stores comes from, looked for from its end backwards: which statement has stored an
element last, what that one has loaded, which has stored that last, and so on.

What is said to come from somewhere does, whatever the data is; where the search ends before that is found
out, the answer is no.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from relax_lint.model.kernel_body.growing import Whole
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
    indices: tuple[Whole, ...] | None = None
    some: bool = False
    found: bool = False

    def may_be(self, other: Element) -> bool:
        """Whether the two may be one, at some sizes at least."""
        if self.memory != other.memory:
            return False
        if self.indices is None or other.indices is None:
            return True
        pairs = zip(self.indices, other.indices, strict=True)
        return not any(one < two or two < one for one, two in pairs)


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

    def elements(self, steps: Steps, choose: Callable[[Interval], Whole]) -> Iterator[Element]:
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
            if reached is None:
                found = PERHAPS
            elif sought < reached[0] or reached[1] < sought:
                return NO
            elif not reached[0] == reached[1] == sought:
                found = PERHAPS
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

    def elements(self, steps: Steps, choose: Callable[[Interval], Whole]) -> Iterator[Element]:
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

    def elements(self, steps: Steps, choose: Callable[[Interval], Whole]) -> Iterator[Element]:
        """Elements that are stored."""
        for part in self.parts:
            yield from part.elements(steps, choose)


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

    def elements(self, steps: Steps, choose: Callable[[Interval], Whole]) -> Iterator[Element]:
        """Elements that are stored."""
        for way in self._ways(steps):
            yield from way.elements(steps, choose)
