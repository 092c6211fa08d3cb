"""The events of one function, each kept once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeAlias

from relax_lint.analysis.aliases import Aliases
from relax_lint.analysis.certainty import Certainty, must_if
from relax_lint.analysis.events import Damage, Mending, Overwriting, Reading, StaleRead, UnwrittenRead, Write
from relax_lint.analysis.overlaps import ByteRange, TensorMemory
from relax_lint.analysis.paths import Paths
from relax_lint.model.operations import FunctionCall, KernelCall, Op, ValueId, View

By: TypeAlias = "tuple[ValueId, int | None] | None"
"""What is read and by which operation, (None) the return; None where that makes no difference."""
IsShown: TypeAlias = "Callable[[Op | None, ValueId, Write | None, Op | None], bool]"
"""Whether every run shows what an operation, or (None) the return, reads of a value that does not hold what
it should behind a write, as far as that reaches, or where it is read.
"""


class Reported:
    """What was found so far. What a write has certainly made good is not kept."""

    def __init__(
        self,
        aliases: Aliases,
        paths: Paths,
        memory: TensorMemory,
        left_out: Callable[[], frozenset[int]],
        is_shown: IsShown,
    ) -> None:
        self._left_out = left_out
        self._is_shown = is_shown
        self._aliases = aliases
        self._paths = paths
        self._memory = memory
        self.unwritten: dict[tuple[ValueId, By], UnwrittenRead] = {}
        self.overwritings: dict[tuple[int, ValueId, ValueId, ByteRange, By], Overwriting] = {}
        self.stale: dict[tuple[int, ValueId, ValueId, By], StaleRead] = {}
        self.overwritings_at_return: dict[tuple[int, ValueId, ValueId, ByteRange, By], Overwriting] = {}
        self.stale_at_return: dict[tuple[int, ValueId, ValueId, By], StaleRead] = {}
        self._readers: dict[object, list[Op | None]] = defaultdict(list)
        """By damage: the operations that certainly read it, as far as they are reached."""

    def is_left_out(self, reading: Reading) -> bool:
        """Whether TVM may leave out what reads."""
        return reading.op is not None and reading.op.place.index in self._left_out()

    def counts(self, reading: Reading, damage: Write | None, unwritten: ValueId | None = None) -> bool:
        """Whether every run shows what is computed from what is read, and TVM leaves in what reads: of what
        was damaged, or of the root that nobody has written.
        """
        made = None if unwritten is None else self._made(unwritten)
        return not self.is_left_out(reading) and self._is_shown(reading.op, reading.value, damage, made)

    def _made(self, root: ValueId) -> Op:
        return self._paths.definitions[self._aliases.roots.value_of(root)]

    def read_unwritten(
        self,
        root: ValueId,
        reading: Reading,
        damage: Damage,
        left: Iterable[ValueId],
        by_others: bool = False,
    ) -> None:
        """What was not written is read."""
        if self._is_good_again(damage, reading):
            return
        tensor = self._made(root)
        mended = tuple(
            m
            for m in damage.mended
            if self._paths.always_with(m.op, reading.op) or self._paths.always_with(m.op, tensor)
        )
        found = UnwrittenRead(
            tensor, reading, damage.certainty, tuple(dict.fromkeys(left)), mended, by_others=by_others
        )
        if damage.mended and not found.mended:
            found = replace(found, certainty=Certainty.MAY, mended=())
        key = root, _by(reading)
        known = self.unwritten.get(key)
        if known is None or (known.reading.unsure and not reading.unsure):
            self.unwritten[key] = found

    def read_overwritten(
        self, root: ValueId, write: Op, written: ValueId, reading: Reading, damage: Damage
    ) -> None:
        """What was overwritten is read."""
        if self._is_as_written(root, write, written, reading.value) or self._is_good_again(damage, reading):
            return
        about = (write.place.index, written, root, self._memory.range(reading.value))
        certainty = self._certainty((*about, damage.harmless), (write, written), reading, damage)
        tensor = self._made(root)
        mended = self._counting(damage, reading)
        # Of what was written again some may read a part that is good, and kernels read parts.
        by_itself = mended or isinstance(reading.op, KernelCall)
        key = (*about, _by(reading) if by_itself else None)
        found = Overwriting(tensor, write, written, reading, certainty, mended, damage.harmless)
        events = self.overwritings if reading.op is not None else self.overwritings_at_return
        known = events.get(key)
        if known is None or weighs_more(found, known):
            events[key] = found

    def read_stale(self, call: Op, argument: ValueId, reading: Reading, damage: Damage) -> None:
        """An older name of what was overwritten in place is read."""
        if self._is_good_again(damage, reading):
            return
        assert isinstance(call, KernelCall | FunctionCall)
        about = (call.place.index, argument, reading.value)
        certainty = self._certainty((*about, damage.harmless), (call, argument), reading, damage)
        mended = self._counting(damage, reading)
        key = (*about, _by(reading) if mended else None)
        found = StaleRead(call, argument, reading, certainty, mended, damage.harmless)
        events = self.stale if reading.op is not None else self.stale_at_return
        known = events.get(key)
        if known is None or says_more(found, known):
            events[key] = found

    def _is_as_written(self, root: ValueId, write: Op, written: ValueId, read: ValueId) -> bool:
        """Whether a write over one of the tensors that a value may be is read by the name of that value, or
        as what a function returns that has the memory by no other name.
        """
        roots, name = self._aliases.roots_of(written), self._viewed(read)
        if root not in roots or name == self._viewed(written):
            return root in roots
        if not isinstance(write, FunctionCall) or name != write.result or "." in (write.target or "."):
            return False
        others = (argument for argument in write.arguments if argument != written)
        return roots == self._aliases.roots_of(name) and all(
            roots.isdisjoint(self._aliases.roots_of(other)) for other in others
        )

    def _viewed(self, value: ValueId) -> ValueId:
        """The value of which another one is a view, and a view of a view."""
        name = self._aliases.identity(value)
        op = self._paths.definitions.get(name)
        while isinstance(op, View):
            name = self._aliases.identity(op.source)
            op = self._paths.definitions.get(name)
        return name

    def _certainty(self, key: object, write: Write, reading: Reading, damage: Damage) -> Certainty:
        """How certain it is that damage which a write did is read, here or in another branch."""
        if damage.certainty is not Certainty.MUST or damage.mended:
            return Certainty.MAY
        if not self.counts(reading, write):
            return Certainty.MAY
        readers = self._readers[key]
        readers.append(reading.op)
        return must_if(self._paths.one_always_with(readers, write[0]))

    def _counting(self, damage: Damage, reading: Reading) -> tuple[Mending, ...]:
        """The writes in between that happen whenever the read does."""
        return tuple(m for m in damage.mended if self._paths.always_with(m.op, reading.op))

    def _is_good_again(self, damage: Damage, reading: Reading) -> bool:
        """Whether all that is read was certainly written by the name by which it is read."""
        name = self._aliases.identity(reading.value)
        return any(self._is_whole(m, name) for m in self._counting(damage, reading))

    def _is_whole(self, mending: Mending, name: ValueId) -> bool:
        """Whether a write certainly fills what has a name, whatever the branch."""
        if mending.branches:
            return all(any(self._is_whole(m, name) for m in branch) for branch in mending.branches)
        return mending.whole and self._aliases.identity(mending.value) == name


def _by(reading: Reading) -> By:
    return reading.value, None if reading.op is None else reading.op.place.index


def weighs_more(found: Overwriting, known: Overwriting) -> bool:
    """Whether one write over a tensor is to be told rather than the other."""
    return _weight(found) > _weight(known)


def _weight(event: Overwriting) -> int:
    """What is certain counts more than what may be, and that more than what is taken not to be."""
    if event.harmless is not None:
        return 0
    return 1 + (event.certainty is Certainty.MUST) + (not event.mended)


def says_more(found: StaleRead, known: StaleRead) -> bool:
    """Whether one read of an older name is to be told rather than the other."""
    if found.harmless == known.harmless:
        return found.certainty is Certainty.MUST is not known.certainty
    return found.harmless is None and known.harmless is not None
