"""The older names of what an in-place call overwrites: who reads by them gets what was not meant for it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from relax_lint.analysis.access_paths import AccessPath, everything
from relax_lint.analysis.aliases import Aliases
from relax_lint.analysis.certainty import Certainty, must_if, weakest
from relax_lint.analysis.content_state import ContentState
from relax_lint.analysis.events import Damage, Mending
from relax_lint.analysis.presumption import Presumption
from relax_lint.model.operations import (
    Alias,
    FunctionCall,
    GetItem,
    KernelCall,
    MakeTuple,
    MatchCast,
    Op,
    ValueId,
    View,
)


class OlderNames:
    """The names that the tensors of one function have so far."""

    def __init__(self, aliases: Aliases) -> None:
        self._aliases = aliases
        self._names: dict[ValueId, list[ValueId]] = defaultdict(list)

    def add(self, value: ValueId) -> None:
        """A name more."""
        for root in self._aliases.roots_of(value):
            self._names[root].append(value)

    def supersede(
        self,
        call: KernelCall | FunctionCall,
        argument: ValueId,
        state: ContentState,
        certainty: Certainty = Certainty.MUST,
        harmless: Presumption | None = None,
    ) -> None:
        """What an in-place call overwrites is not any more what its names stand for; `certainty`: that it
        does overwrite it, `harmless`: what is assumed where it is treated as harmless.
        """
        for leaf in self._aliases.leaves(argument):
            key = call.place.index, leaf
            roots = self._aliases.roots_of(leaf)
            for root in roots:
                others = self._aliases.roots.perhaps_of(root)
                perhaps = [
                    (name, presumed) for other, presumed in others for name in self._names.get(other, ())
                ]
                for name, presumed in perhaps:
                    state.stale.setdefault(name, {})[key] = Damage(
                        Certainty.MAY, harmless=harmless or presumed
                    )
            for name in (name for root in roots for name in self._names[root]):
                found = weakest(certainty, must_if(self._are_one(name, leaf)))
                damage = Damage(found, harmless=harmless, done=certainty)
                state.stale.setdefault(name, {})[key] = damage

    def write(self, root: ValueId, mending: Mending, state: ContentState, *, whole: bool) -> None:
        """A root was written, all of it or perhaps in part: what in-place calls did to it may be past, not
        what they did to something else that one of its names may stand for as well.
        """
        for name in self._names[root] if state.stale else ():
            damages = state.stale.pop(name, {})
            for key in [key for key in damages if self._aliases.roots_of(key[1]) == {root}]:
                damage = damages.pop(key)
                if not whole:
                    damages[key] = replace(damage, mended=(*damage.mended, mending))
            if damages:
                state.stale[name] = damages

    def _are_one(self, name: ValueId, other: ValueId) -> bool:
        """Whether two values that may share bytes do so on every path."""
        roots, roots_2 = self._aliases.roots_of(name), self._aliases.roots_of(other)
        same_name = self._aliases.identity(name) == self._aliases.identity(other)
        return same_name or len(roots) == len(roots_2) == 1

    def stale(self, value: ValueId, state: ContentState) -> dict[tuple[int, ValueId], Damage]:
        """The in-place calls that superseded a value, or a field of a tuple that is built in the function."""
        names = (value, *self._aliases.leaves(value))
        return {key: damage for name in names for key, damage in state.stale.get(name, {}).items()}

    def pass_on(self, op: Op, state: ContentState, captured: tuple[ValueId, ...] = ()) -> None:
        """Another name for a superseded value is superseded as well; `captured` is what the function that
        `op` calls has of this one without being given it.
        """
        sources: tuple[ValueId, ...] = ()
        if isinstance(op, Alias | MatchCast | View):
            sources = (op.source,)
        elif isinstance(op, MakeTuple):
            sources = op.items
        elif isinstance(op, GetItem):
            sources = (self._aliases.leaf(AccessPath(op.tuple, (op.item,))),)
        elif isinstance(op, FunctionCall) or (isinstance(op, KernelCall) and not op.kind.in_place):
            given = (leaf for argument in op.arguments for leaf in self._aliases.leaves(argument))
            sources = (*given, *captured)
        if not any(source in state.stale for source in sources):
            return
        roots = self._with_perhaps(op.result)
        calls = {
            (call, argument): self._known_as(op, argument, found)
            for source in sources
            for (call, argument), found in state.stale.get(source, {}).items()
            if call != op.place.index and not roots.isdisjoint(self._with_perhaps(argument))
        }
        if calls:
            state.stale[op.result] = calls

    def _known_as(self, op: Op, argument: ValueId, damage: Damage) -> Damage:
        """What the damage to an operand is to the result: a call may return something else, a field of a
        tuple may be another one.
        """
        if isinstance(op, Alias | MatchCast | View | MakeTuple):
            return damage
        roots = self._aliases.roots_of(argument)
        if roots.isdisjoint(self._aliases.roots_of(op.result)):
            presumed = self._presumed_apart(op.result, roots)
            return replace(damage, certainty=Certainty.MAY, harmless=damage.harmless or presumed)
        certainty = damage.certainty
        if isinstance(op, GetItem) and damage.harmless is None:
            certainty = weakest(damage.done, must_if(not self._may_be_another_field(op, roots)))
        return replace(damage, certainty=weakest(certainty, must_if(self._are_one(op.result, argument))))

    def _may_be_another_field(self, op: GetItem, roots: frozenset[ValueId]) -> bool:
        """Whether the damaged name may be another field of the tuple than the one that is taken: of what an
        `If` or a call gives, only the memory of each field is known, not its name.
        """
        if self._aliases.leaf(AccessPath(op.tuple, (op.item,))) != op.tuple:
            return False
        tree = self._aliases.roots.tree(op.tuple)
        if not isinstance(tree, tuple):
            return True
        others = (field for item, field in enumerate(tree) if item != op.item)
        return any(not roots.isdisjoint(everything(field)) for field in others)

    def _presumed_apart(self, value: ValueId, roots: frozenset[ValueId]) -> Presumption | None:
        """By whose leave a value has none of some memory."""
        found = (
            presumed
            for root in self._aliases.roots_of(value)
            for other, presumed in self._aliases.roots.perhaps_of(root)
            if other in roots
        )
        return next(found, None)

    def _with_perhaps(self, value: ValueId) -> frozenset[ValueId]:
        """The memory that a value has, and that which it is only presumed not to have."""
        roots = self._aliases.roots_of(value)
        perhaps = (other for root in roots for other, _ in self._aliases.roots.perhaps_of(root))
        return roots.union(perhaps)
