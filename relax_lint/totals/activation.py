"""What many calls have in common: those of the same function, with the same sizes and decisions and the same
kind of arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial

from relax_lint.analysis.access_paths import AccessPath
from relax_lint.model.operations import ValueId
from relax_lint.support.lazy_dataclass import record
from relax_lint.totals.frame import Frame, Reference
from relax_lint.totals.places import Memory, Place, together
from relax_lint.totals.walk import Allocation, Events


class Arguments:
    """What the arguments of a call keep alive. `references` say it to the callee: allocations of who calls
    have negative numbers there. `pattern` is the same for all calls that are alike.
    """

    def __init__(self, given: Sequence[Reference]) -> None:
        self._numbers: list[int] = []
        self._tuples: list[tuple[tuple[Reference, ...], tuple[Reference, ...]]] = []
        """As who calls has them, and as the callee does."""
        self._positions: dict[int, int] = {}
        pattern: list[Hashable] = []
        self.references = [self._read(one, pattern) for one in given]
        self.pattern = tuple(pattern)

    def _read(self, given: Reference, pattern: list[Hashable]) -> Reference:
        if given is None or isinstance(given, int):
            pattern.append(given is None)
            if given is None:
                return None
            self._numbers.append(given)
            return -len(self._numbers)
        position = self._positions.get(id(given))
        if position is None:
            pattern.append(("tuple", len(given)))
            inner = tuple([self._read(item, pattern) for item in given])
            position = self._positions[id(given)] = len(self._tuples)
            self._tuples.append((given, inner))
        else:
            pattern.append(("again", position))
        return self._tuples[position][1]

    def number(self, inner: int) -> int:
        """The allocation that has this negative number for the callee."""
        return self._numbers[-inner - 1]

    def tuples_of(self, recorded: Arguments) -> dict[int, Reference]:
        """The tuples by the identities that they had in a call that is alike."""
        pairs = zip(recorded._tuples, self._tuples, strict=True)
        return {id(inner): own for (_, inner), (own, _) in pairs}


class Overwrites:
    """What the calls of kernels in an activation may write. Where that is in memory is found out when a
    decision depends on it: few do.
    """

    def __init__(self) -> None:
        self._values: dict[tuple[Frame, ValueId], Reference] = {}
        self._calls: list[Callable[[], Memory]] = []

    def __bool__(self) -> bool:
        return bool(self._values or self._calls)

    def of_value(self, frame: Frame, value: ValueId, reference: Reference) -> None:
        """A value is written."""
        self._values[frame, value] = reference

    def of_kernel(
        self,
        frame: Frame,
        given: Mapping[ValueId, Reference],
        written: Callable[[], Iterable[ValueId]],
    ) -> None:
        """A call may write some of the values that it is given."""

        def memory() -> Memory:
            return together(frame.memory(value, given[value]) for value in written())

        self._calls.append(memory)

    def of_call(
        self, activation: Activation, frame: Frame, given: Sequence[ValueId], arguments: Arguments
    ) -> None:
        """All is written that an activation writes."""
        self._calls.append(partial(activation.overwritten, frame, given, arguments))

    @cached_property
    def memory(self) -> Memory:
        """All of it, once nothing is added any more."""
        return self.until_now()

    def until_now(self) -> Memory:
        """All of it so far."""
        values = (frame.memory(value, reference) for (frame, value), reference in self._values.items())
        return together((*values, *(overwritten() for overwritten in self._calls)))


@record(frozen=True)
class Activation:
    """What happens in a call, allocations having numbers of their own: first all before the machine lets go
    of what was returned to it last, then the rest, if it called a function and the machine keeps results.

    `lasting` are the allocations that are alive at the end: the result refers to them, or what was `returned`
    last.
    """

    frame: Frame
    arguments: Arguments
    stretches: tuple[Events, ...]
    result: Reference
    returned: Reference
    lasting: Mapping[int, Allocation]
    overwrites: Overwrites

    def overwritten(self, frame: Frame, given: Sequence[ValueId], arguments: Arguments) -> Memory:
        """What a call like it in `frame` may overwrite of what is there."""
        passed = dict(zip(self.frame.function.parameters, given, strict=False))

        def memory(places: Iterable[Place]) -> Iterator[Memory]:
            for place in places:
                if isinstance(place, int):
                    yield Memory(frozenset((arguments.number(place),) if place < 0 else ()))
                elif not isinstance(place, tuple):
                    yield Memory(frozenset((place,)))
                elif place[0] is self.frame and (path := self.frame.parameter(place[1])) is not None:
                    yield frame.memory_of(AccessPath(passed[path.value], path.fields))

        inside = self.overwrites.memory
        perhaps = (one.only_perhaps() for one in memory(inside.perhaps))
        return together((*memory(inside.places), *perhaps, Memory(known=inside.known)))


class Translation:
    """The references of an activation, for who makes a call like it with some `arguments`. `numbers` are the
    numbers of its lasting allocations there.
    """

    def __init__(self, activation: Activation, arguments: Arguments, numbers: Mapping[int, int]) -> None:
        self._arguments = arguments
        self._numbers = numbers
        self._tuples = arguments.tuples_of(activation.arguments)

    def of(self, inner: Reference) -> Reference:
        """The reference that who calls has."""
        if inner is None:
            return None
        if isinstance(inner, int):
            return self._numbers[inner] if inner >= 0 else self._arguments.number(inner)
        if id(inner) not in self._tuples:
            self._tuples[id(inner)] = tuple([self.of(item) for item in inner])
        return self._tuples[id(inner)]
