"""What is known about the contents of tensors at one point of a function."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias, TypeVar

from relax_lint.analysis.certainty import Certainty, must_if, weakest
from relax_lint.analysis.conditions import Branched, Literal
from relax_lint.analysis.events import Damage, Mending
from relax_lint.analysis.presumption import Presumption, together
from relax_lint.model.operations import If, ValueId

Damages: TypeAlias = dict[tuple[int, ValueId], Damage]
"""By the operation that did it, and the value that it did it to."""

_Key = TypeVar("_Key")


@dataclass
class ContentState:
    """What holds on the paths to one operation, on every path or on some."""

    unwritten: dict[ValueId, Damage] = field(default_factory=dict)
    overwritten: dict[ValueId, Damages] = field(default_factory=dict)
    """By tensor: the writes (operation, value) into its storage since it was written itself."""
    stale: dict[ValueId, Damages] = field(default_factory=dict)
    """By value: the in-place calls (operation, argument) since it got its name."""
    replaced: set[ValueId] = field(default_factory=set)
    """Tensors from outside that no longer hold what they came in with."""
    read: dict[ValueId, Certainty] = field(default_factory=dict)
    """The tensors from outside that are read as they come in."""
    written: dict[ValueId, Certainty] = field(default_factory=dict)
    """The tensors from outside that are written; `MUST`: all of each."""
    begun: set[ValueId] = field(default_factory=set)
    """Those of them that are written on every path, each perhaps in part only."""
    rests: set[ValueId] = field(default_factory=set)
    """Those of them that are read only behind such a write."""
    superseded: dict[ValueId, Certainty] = field(default_factory=dict)
    """The tensors from outside that declared in-place calls overwrite."""
    known: tuple[Literal, ...] = ()
    """What is known of conditions."""

    def copy(self) -> ContentState:
        """The same state, to be changed apart."""
        return ContentState(
            dict(self.unwritten),
            {value: dict(writes) for value, writes in self.overwritten.items()},
            {value: dict(calls) for value, calls in self.stale.items()},
            set(self.replaced),
            dict(self.read),
            dict(self.written),
            set(self.begun),
            set(self.rests),
            dict(self.superseded),
            self.known,
        )

    def mend(self, root: ValueId, mending: Mending) -> None:
        """A write may have made a tensor good."""
        if root in self.unwritten:
            self.unwritten[root] = _mended(self.unwritten[root], mending)
        damages = self.overwritten.get(root, {})
        for key, damage in damages.items():
            damages[key] = _mended(damage, mending)

    def mend_where(self, root: ValueId, literal: Literal) -> None:
        """A write has made all of a tensor good where something is so, and not touched it elsewhere."""
        known = self.unwritten.pop(root, None)
        left = known and known.only_where(literal.negated)
        if left is not None:
            self.unwritten[root] = left
        damages = self.overwritten.pop(root, {})
        rest = ((key, damage.only_where(literal.negated)) for key, damage in damages.items())
        if damages:
            self.overwritten[root] = {key: damage for key, damage in rest if damage is not None}

    def write_anew(self, root: ValueId) -> None:
        """A tensor from outside is written: what in-place calls did to it before may be past."""
        if root in self.superseded:
            self.superseded[root] = Certainty.MAY

    def doubt(self, roots: Iterable[ValueId]) -> None:
        """Somebody may have made tensors good who says that he does not write them."""
        for root in roots:
            if root in self.unwritten:
                self.unwritten[root] = self.unwritten[root].at_most(Certainty.MAY)
            damages = self.overwritten.get(root, {})
            for key, damage in damages.items():
                damages[key] = damage.at_most(Certainty.MAY)

    def know(self, literals: tuple[Literal, ...]) -> None:
        """Leave out the damages that there are not where something is known of conditions."""
        if not literals:
            return
        self.known = tuple(dict.fromkeys((*self.known, *literals)))
        self.unwritten = _where(self.unwritten, literals)
        for several in (self.overwritten, self.stale):
            for value, damages in several.items():
                several[value] = _where(damages, literals)

    def read_outside(self, root: ValueId, certainty: Certainty, *, unsure: bool) -> None:
        """A tensor from outside is read; by an `unsure` kernel perhaps only after it has written it."""
        if not unsure and root not in self.begun:
            self.rests.discard(root)
        elif root not in self.read:
            self.rests.add(root)
        if root in self.written:
            # Of what was written in part, the rest may be read.
            self.read.setdefault(root, Certainty.MAY)
            return
        must = certainty is Certainty.MUST
        self.read[root] = Certainty.MUST if must else self.read.get(root, certainty)

    def merge(self, other: ContentState, branched: Branched) -> None:
        """Both states meet behind an `If`."""
        for value in self.unwritten.keys() | other.unwritten.keys():
            one, two = (state.unwritten.get(value) for state in (self, other))
            self.unwritten[value] = _both(one, two, branched, value, inside=False)
        _merge(self.overwritten, other.overwritten, branched)
        _merge(self.stale, other.stale, branched)
        self.known = tuple(one for one in self.known if one in other.known)
        self.replaced &= other.replaced
        self.begun &= other.begun
        mixed = (self.read.keys() - self.rests) | (other.read.keys() - other.rests)
        self.rests = (self.rests | other.rests) - mixed
        self.read = _certain_in_both(self.read, other.read)
        self.written = _certain_in_both(self.written, other.written)
        self.superseded = _certain_in_both(self.superseded, other.superseded)


def joined_damages(one: Damages, other: Damages, branched: Branched) -> Damages:
    """What two branches of an `If` say of one value. What happened inside a branch stays as certain as it
    was; what only one branch undid, or of what only one has the damaged name, does not.
    """
    index = branched.op.place.index
    return {
        key: _both(one.get(key), other.get(key), branched, key[1], inside=key[0] > index)
        for key in (*one, *(key for key in other if key not in one))
    }


def _mended(damage: Damage, mending: Mending) -> Damage:
    return replace(damage, mended=(*damage.mended, mending))


def _both(
    one: Damage | None, other: Damage | None, branched: Branched, value: ValueId, *, inside: bool
) -> Damage:
    """A damage that one branch at least knows; the other one has undone it, or (`inside`) not done it."""
    known = [damage for damage in (one, other) if damage is not None]
    elsewhere = must_if(inside) if len(known) == 1 else Certainty.MUST
    mended, left_out = _mended_in_both([damage.mended for damage in known], branched.op, value)
    kept = must_if(not left_out)
    asked = () if len(known) > 1 else (branched.then if other is None else branched.otherwise)[:1]
    when = tuple(literal for literal in known[0].when if all(literal in damage.when for damage in known))
    is_same = all(len(damage.when) == len(when) for damage in known)
    sure = weakest(kept, must_if(is_same), *(damage.where_it_is for damage in known))
    return Damage(
        weakest(elsewhere, kept, *(damage.certainty for damage in known)),
        mended,
        _harmless(known),
        weakest(elsewhere, *(damage.done for damage in known)),
        tuple(dict.fromkeys((*when, *asked))),
        sure if asked else weakest(elsewhere, sure),
    )


def worse(known: Damage | None, found: Damage) -> Damage:
    """One damage of two that one operation does to one value: it is harmless only where both are."""
    if known is None:
        return found
    if known.when != found.when:
        # One of them there may be where the other is not.
        known, found = (replace(damage, when=()) for damage in (known, found))
    if found.harmless is None and known.harmless is not None:
        return found
    if found.harmless is not None and known.harmless is None:
        return known
    return replace(found, harmless=_harmless((known, found)))


def _where(damages: dict[_Key, Damage], literals: tuple[Literal, ...]) -> dict[_Key, Damage]:
    if not any(damage.when for damage in damages.values()):
        return damages
    left = ((key, damage.where(literals)) for key, damage in damages.items())
    return {key: damage for key, damage in left if damage is not None}


def _harmless(damages: Sequence[Damage]) -> Presumption | None:
    """What has to be so for several damages to be harmless; None where one is not."""
    found = [damage.harmless for damage in damages if damage.harmless is not None]
    if len(found) < len(damages):
        return None
    return found[0] if len(set(found)) == 1 else together(one.text for one in found)


def _mended_in_both(
    branches: list[tuple[Mending, ...]], branched: If, value: ValueId
) -> tuple[tuple[Mending, ...], bool]:
    """The writes that mend whatever the branch, and whether others were left out."""
    index = branched.place.index
    before = tuple(dict.fromkeys(m for mended in branches for m in mended if m.op.place.index < index))
    inside = tuple(tuple(m for m in mended if m.op.place.index > index) for mended in branches)
    if all(inside):
        return (*before, Mending(branched, value, branches=inside)), False
    return before, any(inside)


def _certain_in_both(one: dict[_Key, Certainty], other: dict[_Key, Certainty]) -> dict[_Key, Certainty]:
    return {
        key: weakest(one.get(key, Certainty.MAY), other.get(key, Certainty.MAY))
        for key in (*one, *(key for key in other if key not in one))
    }


def _merge(into: dict[ValueId, Damages], other: dict[ValueId, Damages], branched: Branched) -> None:
    for value in into.keys() | other.keys():
        into[value] = joined_damages(into.get(value, {}), other.get(value, {}), branched)
