"""What a read does: it meets what tensors hold, and what does not hold what it should is an event."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import sympy

from relax_lint.analysis.access_paths import Tree, leaves
from relax_lint.analysis.aliases import Aliases
from relax_lint.analysis.certainty import Asked, Certainty, must_if, perhaps, surely, weakest
from relax_lint.analysis.content_state import ContentState
from relax_lint.analysis.content_writes import ContentWrites
from relax_lint.analysis.events import Damage, Reading
from relax_lint.analysis.last_uses import END
from relax_lint.analysis.overlaps import TensorMemory
from relax_lint.analysis.paths import Paths
from relax_lint.analysis.reported import IsShown, Reported
from relax_lint.model.operations import AllocStorage, Op, ValueId
from relax_lint.model.program import Function
from relax_lint.symbolic.quantity import Unknown


class ContentReads(ContentWrites):
    """The reading half of the walk over one function."""

    def __init__(
        self,
        function: Function,
        aliases: Aliases,
        paths: Paths,
        memory: TensorMemory,
        captured: frozenset[ValueId],
        left_out: Callable[[], frozenset[int]],
        is_called: bool,
        is_shown: IsShown,
    ) -> None:
        super().__init__(function, aliases, paths, memory, captured, left_out, is_called)
        self._ops: dict[int, Op] = {}
        self.reported = Reported(aliases, paths, memory, left_out, is_shown)
        self.passed: set[ValueId] = set()
        """The tensors from outside that are passed, still unmodified, to calls with unknown effects."""
        self._last_read: dict[ValueId, int] = {}
        """The last operation that reads each tensor from outside."""

    def _read_all(
        self,
        op: Op | None,
        values: Iterable[ValueId],
        state: ContentState,
        *,
        first: Asked = surely,
        unsure: bool = False,
    ) -> None:
        """An `unsure` read is of what the call may have written itself."""
        for value in values:
            for leaf, held in self._aliases.leaves_and_held(value):
                reading = Reading(op, leaf, unsure=unsure)
                self._read(reading, self._roots.tree(leaf), state, first=perhaps if held else first)

    def _read(
        self,
        reading: Reading,
        tree: Tree[ValueId],
        state: ContentState,
        *,
        first: Asked = surely,
        certainty: Certainty = Certainty.MUST,
    ) -> None:
        """`certainty`: how certain it is that the call reads at all, `first`: that it has written nothing
        there yet.
        """
        as_it_was = perhaps if reading.unsure or certainty is Certainty.MAY else first
        for several in leaves(tree):
            roots = self._choices.possible(reading.value, several, state.known)
            only = as_it_was if len(roots) == 1 else perhaps
            for root in sorted(roots):
                self._read_unwritten(root, reading, only, state)
                for other, _ in self._roots.perhaps_of(root):
                    # It is presumed to be another one, and that one to be written by now: both are told.
                    if other in state.unwritten and state.unwritten[other].mended:
                        self._read_unwritten(other, reading, perhaps, state)
                self._read_overwritten(root, reading, only, state)
                if self._roots.value_of(root) in self._outside:
                    self._last_read[root] = END if reading.op is None else reading.op.place.index
                    if root not in state.replaced:
                        self._read_outside(root, reading, only, state)
        for (index, argument), damage in state.stale.get(reading.value, {}).items():
            found = replace(damage, certainty=weakest(damage.certainty, as_it_was()))
            self.reported.read_stale(self._ops[index], argument, reading, found)

    def _unwritten(self, value: ValueId, root: ValueId, state: ContentState) -> Damage | None:
        """That a root was not written, as far as a value may be it where that is so."""
        damage = state.unwritten.get(root)
        return None if damage is None else damage.where(self._choices.when(value, root))

    def _read_unwritten(self, root: ValueId, reading: Reading, only: Asked, state: ContentState) -> None:
        damage = self._unwritten(reading.value, root, state)
        if damage is None:
            return
        counts = self.reported.counts(reading, None, root)
        if counts and not (damage.mended or reading.unsure or self._may_be_empty_part(reading.value, root)):
            # The first use of what was never written is the one to mend.
            del state.unwritten[root]
            self._neighbours.fill(root)
        left = [
            self._roots.value_of(other)
            for storage in self._storages(root)
            for other in self._written_on[storage]
            if other != root
        ]
        # Of what may be left out more is told than that nobody needs it.
        certainty = weakest(damage.certainty, only(), must_if(counts or self.reported.is_left_out(reading)))
        by_others = any(map(self._may_be_used_by_others, self._storages(root)))
        self.reported.read_unwritten(root, reading, replace(damage, certainty=certainty), left, by_others)

    def _may_be_used_by_others(self, storage: ValueId) -> bool:
        """Whether another function may have written on a storage: one that got it, or gave it."""
        made = self._paths.definitions.get(self._roots.value_of(storage))
        return storage in self._used_by_others or not isinstance(made, AllocStorage)

    def _may_be_empty_part(self, value: ValueId, root: ValueId) -> bool:
        """Whether a value may have no elements where the tensor that it is a view of has some."""
        if value not in self._aliases.windows:
            return False
        ours = self._memory.range(value).length
        tensor = self._memory.range(self._roots.value_of(root)).length
        return ours != tensor and (isinstance(ours, Unknown) or (ours > 0) != sympy.true)

    def _read_overwritten(self, root: ValueId, reading: Reading, only: Asked, state: ContentState) -> None:
        if not state.overwritten:
            return
        for tensor, harmless in ((root, None), *self._roots.perhaps_of(root)):
            for (index, written), done in state.overwritten.get(tensor, {}).items():
                damage = done.where(self._choices.when(reading.value, tensor))
                if damage is not None:
                    found = replace(damage.at_most(only()), harmless=damage.harmless or harmless)
                    self.reported.read_overwritten(tensor, self._ops[index], written, reading, found)

    def _read_outside(self, root: ValueId, reading: Reading, only: Asked, state: ContentState) -> None:
        if reading.op is None:
            # What is only passed back is read, if at all, by the caller.
            return
        if reading.presumed is not None:
            self.passed.add(root)
            # It may hold anything by now.
            state.replaced.add(root)
        else:
            # Only who calls the function asks how certain that is.
            certainty = only() if self._is_called else Certainty.MAY
            state.read_outside(root, self._unless_left_out(reading.op, certainty), unsure=reading.unsure)
