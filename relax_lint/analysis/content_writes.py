"""What a write does to contents: those of the tensor that is written, and of all that share its memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property

import sympy

from relax_lint.analysis.access_paths import AccessPath, Tree, at, leaves
from relax_lint.analysis.aliases import Aliases
from relax_lint.analysis.certainty import Certainty, must_if, weakest
from relax_lint.analysis.choices import Choices
from relax_lint.analysis.content_state import ContentState, worse
from relax_lint.analysis.effects import Effect
from relax_lint.analysis.events import Damage, Mending
from relax_lint.analysis.older_names import OlderNames
from relax_lint.analysis.overlaps import TensorMemory
from relax_lint.analysis.partial_results import left_out
from relax_lint.analysis.paths import Paths
from relax_lint.analysis.placed import Neighbours
from relax_lint.analysis.presumption import Presumption
from relax_lint.model.operations import AllocStorage, FunctionCall, KernelCall, Op, ValueId
from relax_lint.model.program import Function
from relax_lint.model.types import OpaqueType


class ContentWrites:
    """The writing half of the walk over one function; `captured` are values of outer ones, and the function
    `is_called` by others that may ask what it does to what comes from outside.
    """

    def __init__(
        self,
        function: Function,
        aliases: Aliases,
        paths: Paths,
        memory: TensorMemory,
        captured: frozenset[ValueId],
        left_out: Callable[[], frozenset[int]],
        is_called: bool,
    ) -> None:
        self._function = function
        self._aliases = aliases
        self._roots = aliases.roots
        self._paths = paths
        self._memory = memory
        self._outside = captured.union(function.parameters)
        self._left_out = left_out
        self._is_called = is_called
        self._on: dict[ValueId, list[ValueId]] = defaultdict(list)
        self._written_on: dict[ValueId, list[ValueId]] = defaultdict(list)
        self._last_use: dict[ValueId, int] = {}
        self._names = OlderNames(aliases)
        self._choices = Choices(aliases, paths)
        self._neighbours = Neighbours(function, aliases, memory)
        self._used_by_others: set[ValueId] = set()
        """The storages on which a function that was called may have written."""
        self.places: set[ValueId] = set()
        """The storages from outside on which tensors are written that the function puts there."""
        self._first_write: dict[ValueId, int] = {}
        """The operation that is the first to write each of those, or a tensor from outside."""
        self.outside_writes: list[tuple[int, ValueId]] = []
        """The operations that write tensors from outside, by index."""
        self.believed: set[ValueId] = set()
        """What comes from outside and goes to calls that only say themselves that they do not write it."""
        self.handed_on: set[ValueId] = set()
        """What comes from outside and is given to functions that are not known, or perhaps is written."""
        self._perhaps_on: dict[ValueId, list[tuple[ValueId, Presumption]]] = defaultdict(list)
        """By storage: the results of calls that are only presumed not to lie there."""

    def _tree(self, path: AccessPath) -> Tree[ValueId]:
        return at(self._roots.tree(path.value), path.fields)

    def _unless_left_out(self, op: Op, certainty: Certainty) -> Certainty:
        """How certain the callers may be of what an operation does that does so much, if it is kept.
        What is left out takes a walk: of what nobody here calls nobody asks.
        """
        if certainty is not Certainty.MUST or not self._is_called:
            return certainty
        return must_if(op.place.index not in self._left_out())

    def _fill_results(self, op: KernelCall, effect: Effect, state: ContentState) -> None:
        """The tensors that a call allocates hold nothing where it leaves elements out."""
        fresh = list(leaves(self._roots.tree(op.result)))
        for number, mended in left_out(op, effect, self._function):
            roots = fresh[number] if number < len(fresh) else frozenset()
            for root in roots if len(roots) == 1 else ():
                if root in self._last_use:
                    state.unwritten[root] = Damage(
                        Certainty.MUST, tuple(replace(m, value=root) for m in mended)
                    )

    def _supersede(
        self, op: KernelCall | FunctionCall, path: AccessPath, certainty: Certainty, state: ContentState
    ) -> None:
        """A declared in-place call, here or in a callee, overwrites a value: its names are older ones now."""
        self._names.supersede(op, self._aliases.leaf(path), state, certainty)
        for root in self._roots.of(path):
            self._overwrite_perhaps(root)
            if self._roots.value_of(root) in self._outside:
                found = weakest(certainty, must_if(len(self._roots.of(path)) == 1))
                if state.superseded.get(root) is not Certainty.MUST:
                    state.superseded[root] = self._unless_left_out(op, found)

    def _hand_on_all(self, op: FunctionCall, paths: Iterable[AccessPath], state: ContentState) -> None:
        """Values that a function gets which is not known."""
        presumed = Presumption(
            f"`{op.callee}` overwrites nothing that it is given or holds, and calls nothing that does"
        )
        for path in paths:
            self._hand_on(op, path, presumed, state)
        self._put_perhaps(op)

    def _hand_on(
        self, op: FunctionCall, path: AccessPath, presumed: Presumption, state: ContentState
    ) -> None:
        """A value goes to a function that is not known: it may be overwritten in place, and what is on its
        memory; that it is not is `presumed`.
        """
        for leaf in self._aliases.leaves(self._aliases.leaf(path)):
            roots = self._roots.of(path) if leaf == path.value else self._aliases.roots_of(leaf)
            mending = Mending(op, leaf, presumed=presumed)
            if roots.isdisjoint(state.unwritten):
                self._names.supersede(op, leaf, state, Certainty.MAY, presumed)
            for root in sorted(roots):
                if self._roots.value_of(root) in self._outside:
                    self.handed_on.add(root)
                for storage in sorted({root} | self._storages(root)):
                    self._overwrite(mending, storage, roots, state, harmless=presumed)

    def _believe(self, roots: frozenset[ValueId], state: ContentState) -> None:
        """Somebody gets these who says that he does not write them. Where he does all the same, what they
        hold is as it should be.
        """
        state.doubt(roots)
        self._names.doubt(roots, state)
        self.believed.update(root for root in roots if self._roots.value_of(root) in self._outside)

    def _overwrite_perhaps(self, root: ValueId) -> None:
        """What is written is only presumed not to be what comes from outside: the callers hear of it."""
        if self._roots.has_perhaps:
            for other, _ in self._roots.perhaps_of(root):
                if self._roots.value_of(other) in self._outside:
                    self.handed_on.add(other)

    def _put_perhaps(self, op: FunctionCall | KernelCall) -> None:
        """The result of a call may be a new tensor on a storage of ours."""
        if not self._roots.has_perhaps:
            return
        for root in sorted(self._roots.of(AccessPath(op.result))):
            own = self._roots.value_of(root) == op.result and root in self._last_use
            if own and (isinstance(op, FunctionCall) or not self._is_object(root)):
                for other, presumed in self._roots.perhaps_of(root):
                    if isinstance(op, FunctionCall) or self._is_storage(other):
                        for storage in sorted({other} | self._storages(other)):
                            self._perhaps_on[storage].append((root, presumed))

    def is_used_after(self, value: ValueId, op: Op) -> bool:
        """Whether something after an operation uses the bytes of a value; the callers use what comes from
        outside.
        """
        roots = self._aliases.roots_of(value)
        outside = any(self._roots.value_of(root) in self._outside for root in roots)
        return outside or any(self._last_use.get(root, -1) > op.place.index for root in roots)

    def _is_storage(self, root: ValueId) -> bool:
        """Whether a value is a storage, as far as the function shows that, or a parameter that may be one."""
        if root in self._used_as_storages or isinstance(self._paths.definitions.get(root), AllocStorage):
            return True
        return root in self._function.parameters and self._is_object(root)

    def _is_object(self, root: ValueId) -> bool:
        """Whether a value is no tensor; a field of a tuple may be one."""
        return root in self._function.values and isinstance(self._function.type_of(root), OpaqueType)

    @cached_property
    def _used_as_storages(self) -> frozenset[ValueId]:
        return frozenset[ValueId]().union(*self._roots.storages.values())

    def _write(self, path: AccessPath, mending: Mending, state: ContentState) -> None:
        for leaf in self._aliases.leaves(self._aliases.leaf(path)):
            tree = self._tree(path) if leaf == path.value else self._roots.tree(leaf)
            for roots in leaves(tree):
                own = mending if leaf == mending.value else replace(mending, value=leaf)
                self._write_leaf(own, roots, state)

    def _write_leaf(self, mending: Mending, roots: frozenset[ValueId], state: ContentState) -> None:
        for root in sorted(roots):
            reaches = mending.whole and self._reaches_all(mending.value, root)
            whole = reaches and len(roots) == 1
            if whole:
                state.unwritten.pop(root, None)
                state.overwritten.pop(root, None)
            elif reaches and (where := self._choices.exactly(mending.value, root)) is not None:
                state.mend_where(root, where)
            else:
                state.mend(root, mending)
            self._neighbours.fill(root)
            self._names.write(root, mending, state, whole=whole)
            self._overwrite_perhaps(root)
            if self._roots.value_of(root) in self._outside:
                self._first_write.setdefault(root, mending.op.place.index)
                self.outside_writes.append((mending.op.place.index, root))
                state.written[root] = Certainty.MUST if whole else state.written.get(root, Certainty.MAY)
                if len(roots) == 1 and mending.presumed is None:
                    state.begun.add(root)
                state.write_anew(root)
                if whole:
                    state.replaced.add(root)
            for storage in self._storages(root):
                self._written_on[storage].append(root)
                if self._roots.value_of(storage) in self._outside:
                    self._first_write.setdefault(storage, mending.op.place.index)
                    self.places.add(storage)
                self._overwrite(mending, storage, roots, state, itself=root)
            if not self._roots.has_perhaps:
                continue
            for other, _ in self._roots.perhaps_of(root):
                # It may be the other one: what that holds may be good again.
                state.mend(other, replace(mending, position=None, whole=False, presumed=None))
            done = self._storages(root)
            for storage, presumed in self._perhaps_storages(root):
                if storage not in done:
                    self._overwrite(mending, storage, roots, state, harmless=presumed)
                    done |= {storage}

    def _perhaps_storages(self, root: ValueId) -> Iterator[tuple[ValueId, Presumption]]:
        """The memory that a tensor is only presumed not to lie in."""
        for other, presumed in self._roots.perhaps_of(root):
            yield from ((storage, presumed) for storage in sorted({other} | self._storages(other)))
        for storage in sorted(self._storages(root)):
            yield from self._roots.perhaps_of(storage)

    def _reaches_all(self, value: ValueId, root: ValueId) -> bool:
        """Whether a tensor is certain to have all bytes of what is behind it."""
        if value not in self._aliases.windows:
            return True
        if root not in self._function.values:
            return False
        return self._memory.range(value) == self._memory.range(root)

    def _overwrite(
        self,
        mending: Mending,
        storage: ValueId,
        roots: frozenset[ValueId],
        state: ContentState,
        *,
        harmless: Presumption | None = None,
        itself: ValueId | None = None,
    ) -> None:
        """Everything on the storage that is needed later may be overwritten. Of what is written, which may be
        any of `roots`, `itself` is the one that lies there: the others may be overwritten as well.
        """
        op = mending.op
        needed = [tensor for tensor in self._on[storage] if self._last_use[tensor] > op.place.index]
        self._on[storage] = needed
        where = None if itself is None else self._choices.exactly(mending.value, itself)
        definitely = (mending.whole and mending.kept) or (
            mending.presumed is not None and not _perhaps_full(roots, mending, state)
        )
        for tensor in (*needed, *self._neighbours.hit(op, mending.value, storage, roots)):
            allocation = self._paths.definitions[self._roots.value_of(tensor)]
            damage = state.unwritten.get(tensor)
            # What this write mends it mends where it does not overwrite it.
            own = (op, mending.value)
            mended = damage is not None and any((m.op, m.value) != own for m in damage.mended)
            holds_nothing = damage is not None and not mended and damage.is_certain_where(where)
            if holds_nothing or self._paths.never_with(allocation, op):
                continue
            if tensor in roots and (itself is None or self._lie_apart(itself, tensor)):
                continue
            # A tensor in `unwritten` holds nothing to overwrite on some of the paths.
            always = damage is None and len(roots) == 1 and self._paths.always_with(allocation, op)
            # Either may be on another storage: a branch chooses it.
            one_storage = all(len(self._storages(one)) <= 1 for one in (tensor, *roots))
            found = Damage(
                must_if(always and definitely and one_storage and harmless is None), harmless=harmless
            )
            damages, key = state.overwritten.setdefault(tensor, {}), (op.place.index, mending.value)
            damages[key] = worse(damages.get(key), found)
        for tensor, presumed in self._perhaps_on[storage]:
            later = self._last_use[tensor] > op.place.index
            if later and tensor not in roots and self._roots.value_of(tensor) != op.result:
                damages, key = state.overwritten.setdefault(tensor, {}), (op.place.index, mending.value)
                found = Damage(Certainty.MAY, harmless=harmless or presumed)
                damages[key] = worse(damages.get(key), found)

    def _lie_apart(self, one: ValueId, other: ValueId) -> bool:
        """Whether two tensors on one storage are one, or known to share no byte."""
        if one == other:
            return True
        if not self._function.values.keys() >= {one, other}:
            return False
        return self._memory.range(one).disjoint(self._memory.range(other)) is sympy.true

    def _presumed_written(self, roots: frozenset[ValueId], state: ContentState) -> Presumption | None:
        """What is assumed where calls with unknown effects are taken to write all that a value may be."""
        found: list[Presumption] = []
        for root in sorted(roots & state.unwritten.keys()):
            made = self._paths.definitions[self._roots.value_of(root)]
            mended = state.unwritten[root].mended
            counts = [
                m.presumed
                for m in mended
                if m.presumed and self._paths.always_with(m.op, made) and self._reaches_all(m.value, root)
            ]
            if not counts:
                return None
            found += counts
        return found[0] if found else None

    def _may_be_written_before(self, op: KernelCall, effect: Effect, position: int) -> bool:
        """Whether a kernel may have written what it reads as another argument."""
        count = len(op.arguments)
        if position >= count or effect.writes == {position}:
            return False
        kept, also_kept = effect.elementwise, effect.read_before
        pairs = ((position, p) for p in effect.writes if p != position)
        others = [pair[1] for pair in pairs if pair not in kept and pair not in also_kept]
        roots = self._aliases.roots_of(op.arguments[position])
        return any(p < count and roots & self._aliases.roots_of(op.arguments[p]) for p in others)

    def _storages(self, tensor: ValueId) -> frozenset[ValueId]:
        """The storages that an allocated tensor may be on."""
        return self._roots.storages.get(tensor, frozenset())


def _perhaps_full(roots: frozenset[ValueId], mending: Mending, state: ContentState) -> bool:
    """Whether what a call is presumed to write may have been filled before: then it may only read it."""
    damages = (state.unwritten.get(root) for root in roots)
    return any(damage is None or any(m.op is not mending.op for m in damage.mended) for damage in damages)
