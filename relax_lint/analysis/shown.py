"""What is certainly shown later, at one place of a function, and what its callers show of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from relax_lint.analysis.access_paths import AccessPath
from relax_lint.model.operations import ValueId
from relax_lint.support.lazy_dataclass import record


@record(frozen=True)
class Sinks:
    """What the callers of a function show of that which it gives back: these fields of its result, and what
    comes from outside (`outside`), as the function left it.
    """

    results: frozenset[tuple[int, ...]]
    outside: frozenset[AccessPath]

    def common(self, other: Sinks) -> Sinks:
        """What both show."""
        return Sinks(self.results & other.results, self.outside & other.outside)


@record(frozen=True)
class Before:
    """What a function shows of that which comes from outside, as it comes in; of the `read` ones it does so
    by what it reads, not only because its caller shows them anyway. Of those in `partly` only some part is
    shown, nobody knows which.
    """

    shown: frozenset[AccessPath]
    read: frozenset[AccessPath]
    partly: frozenset[AccessPath]

    def named(self, names: Mapping[AccessPath, AccessPath]) -> Before:
        """The same by other names."""
        shown, read, partly = (
            frozenset(map(names.__getitem__, paths)) for paths in (self.shown, self.read, self.partly)
        )
        return Before(shown, read, partly)

    def common(self, other: Before) -> Before:
        """What is so by both."""
        return Before(self.shown & other.shown, self.read & other.read, self.partly | other.partly)


class Held:
    """Memory: what is behind `roots`, and of values that branches choose (`chosen`) whichever it is."""

    def __init__(self, roots: Iterable[ValueId] = (), chosen: Iterable[AccessPath] = ()) -> None:
        self.roots = set(roots)
        self.chosen = set(chosen)

    def copy(self) -> Held:
        """The same, to be changed apart."""
        return Held(self.roots, self.chosen)

    def common(self, other: Held) -> Held:
        """What is in both."""
        return Held(self.roots & other.roots, self.chosen & other.chosen)


class Shown:
    """What is shown of that which memory holds at one place: `all` of it, and what somebody in the function
    `read`s for that. Of the roots in `partly` only some part is shown, nobody knows which: something else is
    written later to another one, or only a part is read.
    """

    def __init__(self) -> None:
        self.all = Held()
        self.read = Held()
        self.partly = set[ValueId]()

    def copy(self) -> Shown:
        """The same, to be changed apart."""
        copied = Shown()
        copied.all, copied.read, copied.partly = self.all.copy(), self.read.copy(), set(self.partly)
        return copied

    def become(self, one: Shown, other: Shown) -> None:
        """What is shown whichever of two branches is taken."""
        self.all, self.read = one.all.common(other.all), one.read.common(other.read)
        self.partly = one.partly | other.partly

    def show(self, roots: frozenset[ValueId], *, read: bool, part: bool = False) -> None:
        """All that these hold is shown, or a part."""
        if part:
            self.partly |= roots - self.all.roots
        else:
            self.partly -= roots
        for held in self._held(read=read):
            held.roots |= roots

    def is_partly(self, roots: frozenset[ValueId]) -> bool:
        """Whether only some part of one of these is shown, if anything is."""
        return not roots.isdisjoint(self.partly)

    def leave_part(self, roots: frozenset[ValueId], chosen: Iterable[AccessPath]) -> None:
        """Something else is in some part."""
        self.partly |= roots
        self.hide(frozenset(), chosen)

    def choose(self, paths: Iterable[AccessPath], *, read: bool) -> None:
        """So is what values hold, whichever of several things they are."""
        for held in self._held(read=read):
            held.chosen.update(paths)

    def take(self, value: ValueId) -> list[tuple[tuple[int, ...], bool]]:
        """The fields of a value that are shown, and whether each is read: before it was made they are not."""
        found = sorted(path for path in self.all.chosen if path.value == value) if self.all.chosen else []
        fields = [(path.fields, path in self.read.chosen) for path in found]
        for held in self._held(read=True):
            held.chosen.difference_update(found)
        return fields

    def hide(self, roots: frozenset[ValueId], chosen: Iterable[AccessPath]) -> None:
        """Something else is there."""
        for held in self._held(read=True):
            held.roots -= roots
            held.chosen.difference_update(chosen)

    def _held(self, *, read: bool) -> tuple[Held, ...]:
        return (self.all, self.read) if read else (self.all,)
