"""Calls that write one of their arguments and get another one on the same memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from relax_lint.analysis.aliases import Aliases
from relax_lint.analysis.effects import Effect
from relax_lint.analysis.overlaps import ByteRanges
from relax_lint.analysis.paths import Paths
from relax_lint.model.program import AllocTensor, Function, KernelCall, Unknown, ValueId


@dataclass(frozen=True)
class ArgumentOverlap:
    """`call` writes `written`, which may share bytes with its argument `other`.

    `elementwise`: each element that is written depends on the same element of the other only, and `harmless`:
    both are certain to start at one byte besides. `ordered`: as the kernel is written, all of the other is
    read before anything is written. `certain`: both are on one memory on every path.
    """

    call: KernelCall
    written: ValueId
    other: ValueId
    elementwise: bool
    harmless: bool
    ordered: bool
    certain: bool


@dataclass(frozen=True)
class OutsideWrite:
    """`call` overwrites a constant of the module, or (`constant` False) a parameter of the function."""

    call: KernelCall
    value: ValueId
    constant: bool


class ArgumentOverlaps:
    """The arguments of the calls of one function that may share memory."""

    def __init__(
        self,
        function: Function,
        aliases: Aliases,
        paths: Paths,
        ranges: ByteRanges,
        effect_of: Callable[[KernelCall], Effect],
    ) -> None:
        self._function = function
        self._aliases = aliases
        self._paths = paths
        self._ranges = ranges
        self._effect_of = effect_of

    def overlaps(self, calls: tuple[KernelCall, ...]) -> Iterator[ArgumentOverlap]:
        """Every pair of arguments on one memory of which one is written, where that is known."""
        for call in calls:
            effect = self._effect_of(call)
            count = len(call.arguments)
            written = [position for position in effect.writes if position < count] if effect.known else []
            for position in sorted(written):
                for other in range(count):
                    counts = other in effect.reads or (other in effect.writes and other > position)
                    if other == position or not counts:
                        continue
                    found = self._pair(call, position, other, effect)
                    if found is not None:
                        yield found

    def _pair(self, call: KernelCall, written: int, other: int, effect: Effect) -> ArgumentOverlap | None:
        first, second = call.arguments[written], call.arguments[other]
        one, two = self._memory(first), self._memory(second)
        if one.isdisjoint(two):
            return None
        same_start = self._ranges.of(first).same_start(self._ranges.of(second))
        elementwise = (other, written) in effect.elementwise
        ordered = (other, written) in effect.read_before
        certain = len(one) == len(two) == 1
        return ArgumentOverlap(call, first, second, elementwise, elementwise and same_start, ordered, certain)

    def changes_nothing(self, call: KernelCall, written: ValueId) -> bool:
        """Whether a call writes an argument with what is on its bytes already: it copies another argument on
        the same bytes, each element to its own place.
        """
        sources = self._copied(call, written)
        return bool(sources) and all(self._one_place(written, source) for source in sources)

    def may_change_nothing(self, call: KernelCall, written: ValueId) -> bool:
        """Whether that may be so for some values of the symbols."""
        sources = self._copied(call, written)
        return bool(sources) and all(self._may_be_one_place(written, source) for source in sources)

    def _copied(self, call: KernelCall, written: ValueId) -> list[ValueId]:
        """The arguments that an argument is a copy of after a call; none where it is something else."""
        effect, count = self._effect_of(call), len(call.arguments)
        places = {p for p in effect.writes if p < count and call.arguments[p] == written}
        sources = {
            target: call.arguments[source]
            for source, target in effect.copies
            if target in places and source < count
        }
        return list(sources.values()) if effect.known and places == sources.keys() else []

    def _may_be_one_place(self, one: ValueId, other: ValueId) -> bool:
        """Whether two tensors may start at the same byte."""
        start, start_2 = self._ranges.of(one).start, self._ranges.of(other).start
        if self._memory(one).isdisjoint(self._memory(other)):
            return False
        if isinstance(start, Unknown) or isinstance(start_2, Unknown):
            return True
        distance = start - start_2
        return not distance.is_Integer or distance == 0

    def _one_place(self, one: ValueId, other: ValueId) -> bool:
        """Whether two tensors certainly start at the same byte."""
        memory = self._memory(one)
        same = len(memory) == 1 and memory == self._memory(other)
        return same and self._ranges.of(one).same_start(self._ranges.of(other))

    def _memory(self, value: ValueId) -> frozenset[ValueId]:
        """What the bytes of a tensor belong to: storages where it was put on one."""
        found: set[ValueId] = set()
        for root in self._aliases.roots_of(value):
            op = self._paths.definitions.get(root)
            storage = op.storage if isinstance(op, AllocTensor) else None
            found |= {root} if storage is None else self._aliases.roots_of(storage)
        return frozenset(found)

    def outside_writes(self, calls: tuple[KernelCall, ...]) -> Iterator[OutsideWrite]:
        """Every write to a constant, and every declared in-place write to a tensor parameter."""
        constants = set(self._function.constants)
        tensors = {p for p in self._function.parameters if self._function.tensor_type(p) is not None}
        for call in calls:
            declared = call.kind.in_place
            effect = self._effect_of(call)
            if not effect.known and not declared:
                continue
            written = {index for index in call.inplace if index >= 0}.union(effect.writes)
            for position in sorted(written):
                if position >= len(call.arguments):
                    continue
                roots = self._aliases.roots_of(call.arguments[position])
                for root in sorted(roots & constants):
                    yield OutsideWrite(call, root, True)
                if declared:
                    for root in sorted(roots & tensors):
                        yield OutsideWrite(call, root, False)
