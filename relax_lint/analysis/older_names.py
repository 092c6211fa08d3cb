"""The older names of what an in-place call overwrites: who reads by them gets what was not meant for it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from relax_lint.analysis.access_paths import Tree, at, everything
from relax_lint.analysis.aliases import Aliases
from relax_lint.analysis.certainty import Certainty, must_if, weakest
from relax_lint.analysis.content_state import ContentState, Damages, worse
from relax_lint.analysis.events import Damage, Mending
from relax_lint.analysis.field_names import FieldNames
from relax_lint.analysis.presumption import Presumption
from relax_lint.model.operations import (
    Alias,
    FunctionCall,
    GetItem,
    If,
    KernelCall,
    MakeTuple,
    MatchCast,
    Op,
    ValueId,
    View,
)

_MOST = 64
"""How many fields of one joined tuple are followed: a tuple of tuples has twice as many at each level."""


class OlderNames:
    """The names that the tensors of one function have so far, the fields of joined tuples among them."""

    def __init__(self, aliases: Aliases) -> None:
        self._aliases = aliases
        self._fields = FieldNames(aliases)
        self._names: dict[ValueId, list[ValueId]] = defaultdict(list)

    def add(self, value: ValueId) -> None:
        """A name more."""
        for root in self._fields.roots_of(value):
            self._names[root].append(value)

    def add_result(self, op: Op) -> None:
        """The name of what an operation gives."""
        self._fields.follow(op)
        self.add(op.result)

    def join(self, op: If, one: ContentState, other: ContentState) -> dict[ValueId, tuple[Damages, Damages]]:
        """The fields of what an `If` gives are names of their own from here on: what superseded them, and
        it, in each branch.
        """
        found = {op.result: (self.stale(op.then_result, one), self.stale(op.else_result, other))}
        tree: Tree[ValueId] = self._aliases.roots.tree(op.result)
        pending = [(op.result, tree, op.then_result, op.else_result)]
        while pending:
            value, tree, then, else_ = pending.pop()
            if not isinstance(tree, tuple) or len(found) + len(tree) > _MOST:
                continue
            for item, name in enumerate(self._fields.name(value, tree)):
                self.add(name)
                found[name] = self._of_field(then, item, one), self._of_field(else_, item, other)
                inner = self._fields.of(then, item), self._fields.of(else_, item)
                if inner[0] is not None and inner[1] is not None:
                    pending.append((name, tree[item], inner[0], inner[1]))
        return found

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

    def doubt(self, roots: Iterable[ValueId], state: ContentState) -> None:
        """Somebody unknown gets these: he may write what their names are then meant to stand for."""
        for name in {name for root in roots for name in self._names[root] if name in state.stale}:
            for key, damage in state.stale[name].items():
                state.stale[name][key] = damage.at_most(Certainty.MAY)

    def _are_one(self, name: ValueId, other: ValueId) -> bool:
        """Whether two values that may share bytes do so on every path."""
        roots, roots_2 = self._fields.roots_of(name), self._aliases.roots_of(other)
        same_name = self._aliases.identity(name) == self._aliases.identity(other)
        return same_name or len(roots) == len(roots_2) == 1

    def stale(self, value: ValueId, state: ContentState) -> dict[tuple[int, ValueId], Damage]:
        """The in-place calls that superseded a value, or a field of a tuple that is built in the function."""
        names = (value, *self._aliases.leaves(value))
        found: Damages = {}
        for name in dict.fromkeys(names):
            for key, damage in state.stale.get(name, {}).items():
                found[key] = worse(found.get(key), damage)
        return found

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
            found = self._of_field(op.tuple, op.item, state)
            if found:
                state.stale[op.result] = found
        elif isinstance(op, FunctionCall | KernelCall):
            # What an in-place call does not write of its argument is in its result, too.
            given = (leaf for argument in op.arguments for leaf in self._aliases.leaves(argument))
            sources = (*given, *captured)
        if not any(source in state.stale for source in sources):
            return
        roots = self._with_perhaps(op.result)
        # A closure that is called has the memory of what it holds, and is none of its names.
        closure = op.value if isinstance(op, FunctionCall) else None
        is_call = isinstance(op, FunctionCall | KernelCall)
        names = [source for source in sources if source != closure] if is_call else []
        calls: Damages = {}
        for source in dict.fromkeys(sources):
            for (call, argument), damage in state.stale.get(source, {}).items():
                if call != op.place.index and not roots.isdisjoint(self._with_perhaps(argument)):
                    key = call, argument
                    harm = self._known_as(op, argument, damage)
                    if self._is_known_by_another(names, argument, key, state):
                        harm = harm.at_most(Certainty.MAY)
                    calls[key] = worse(calls.get(key), harm)
        if calls:
            state.stale[op.result] = calls

    def _is_known_by_another(
        self, names: Iterable[ValueId], argument: ValueId, key: tuple[int, ValueId], state: ContentState
    ) -> bool:
        """Whether a call has the memory of a superseded value by a name that is not: it may return that."""
        roots = self._aliases.roots_of(argument)
        return any(
            key not in state.stale.get(name, {}) and not roots.isdisjoint(self._aliases.roots_of(name))
            for name in names
        )

    def _known_as(self, op: Op, argument: ValueId, damage: Damage) -> Damage:
        """What the damage to an operand is to the result: a call may return something else."""
        if isinstance(op, Alias | MatchCast | View | MakeTuple):
            return damage
        roots = self._aliases.roots_of(argument)
        if roots.isdisjoint(self._aliases.roots_of(op.result)):
            presumed = self._presumed_apart(self._aliases.roots_of(op.result), roots)
            return replace(damage.at_most(Certainty.MAY), harmless=damage.harmless or presumed)
        return damage.at_most(must_if(self._are_one(op.result, argument)))

    def _of_field(self, value: ValueId, item: int, state: ContentState) -> Damages:
        """What superseded a field of a tuple. Where it has no name, as in what a call gives, only its memory
        is known: it may be another field that has the damaged name.
        """
        name = self._fields.of(value, item)
        if name is not None:
            return self.stale(name, state)
        tree = self._aliases.roots.tree(value)
        mine = everything(at(tree, (item,)))
        fields = enumerate(tree) if isinstance(tree, tuple) else ()
        others = [everything(field) for other, field in fields if other != item]
        found: Damages = {}
        for (call, argument), damage in self.stale(value, state).items():
            roots = self._aliases.roots_of(argument)
            if self._perhaps(mine).isdisjoint(self._perhaps(roots)):
                continue
            if roots.isdisjoint(mine):
                harmless = damage.harmless or self._presumed_apart(mine, roots)
                found[call, argument] = replace(damage.at_most(Certainty.MAY), harmless=harmless)
                continue
            certainty = damage.certainty if damage.harmless is not None else damage.done
            is_other = not isinstance(tree, tuple) or any(not roots.isdisjoint(one) for one in others)
            is_one = len(mine) == len(roots) == 1 and not is_other
            certain = replace(damage, certainty=certainty, sure=weakest(damage.sure, damage.done))
            found[call, argument] = certain.at_most(must_if(is_one))
        return found

    def _presumed_apart(self, mine: frozenset[ValueId], roots: frozenset[ValueId]) -> Presumption | None:
        """By whose leave some memory has none of some other."""
        found = (
            presumed
            for root in mine
            for other, presumed in self._aliases.roots.perhaps_of(root)
            if other in roots
        )
        return next(found, None)

    def _with_perhaps(self, value: ValueId) -> frozenset[ValueId]:
        """The memory that a value has, and that which it is only presumed not to have."""
        return self._perhaps(self._aliases.roots_of(value))

    def _perhaps(self, roots: frozenset[ValueId]) -> frozenset[ValueId]:
        perhaps = (other for root in roots for other, _ in self._aliases.roots.perhaps_of(root))
        return roots.union(perhaps)
