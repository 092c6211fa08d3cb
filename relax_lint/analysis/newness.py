"""What the results of calls are only presumed not to be: memory that the calls were given, or that somebody
may have kept.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from relax_lint.analysis.presumption import Presumption
from relax_lint.model.operations import ValueId
from relax_lint.support.lazy_dataclass import record


@record(frozen=True)
class Presumed:
    """Something new by what is `presumed`: it is none of those `given`, nor of the first `kept` that somebody
    kept.
    """

    given: frozenset[ValueId]
    kept: int
    presumed: Presumption


class Newness:
    """The roots of one function that are presumed to be new, and those that calls with unknown effects were
    given so far and may have kept. Any two that are presumed to be new may be the same.
    """

    def __init__(self) -> None:
        self._presumed: dict[ValueId, Presumed] = {}
        self._kept: dict[ValueId, int] = {}
        """In order; the number is that of those before."""
        self._given_to: dict[ValueId, list[ValueId]] = defaultdict(list)
        """By root: the roots that are presumed not to be it because a call was given it."""

    def keep(self, roots: Iterable[ValueId]) -> None:
        """From here on somebody may return one of these."""
        for root in sorted(self._known(roots)):
            self._kept.setdefault(root, len(self._kept))

    def presume(self, root: ValueId, given: Iterable[ValueId], presumed: Presumption) -> None:
        """A root is presumed to be none of those `given`, nor of what was kept."""
        own = self._known(given) - self._kept.keys() - {root}
        for other in own:
            self._given_to[other].append(root)
        self._presumed[root] = Presumed(own, len(self._kept), presumed)

    def of(self, root: ValueId) -> Presumed | None:
        """What is presumed of a root; None where it is known to be nothing else."""
        return self._presumed.get(root)

    def is_kept(self, root: ValueId) -> bool:
        """Whether somebody may have kept a root."""
        return root in self._kept

    @property
    def is_used(self) -> bool:
        """Whether anything is presumed at all."""
        return bool(self._presumed)

    def apart(self, root: ValueId) -> Iterator[tuple[ValueId, Presumption]]:
        """The roots that a root is presumed not to be, or that are presumed not to be the root; and by whose
        leave.
        """
        mine = self._presumed.get(root)
        if mine is None:
            for other in self._newer(root):
                yield other, self._presumed[other].presumed
            return
        for other in sorted({*mine.given, *self._presumed, *self._kept_before(mine)} - {root}):
            yield other, mine.presumed

    def _known(self, roots: Iterable[ValueId]) -> frozenset[ValueId]:
        """Those that are known to be what they are, instead of those that may be one of them."""
        found = frozenset(roots)
        given = (self._presumed[root].given for root in found if root in self._presumed)
        return (found - self._presumed.keys()).union(*given)

    def _kept_before(self, one: Presumed) -> Iterator[ValueId]:
        return (root for root, number in self._kept.items() if number < one.kept)

    def _newer(self, root: ValueId) -> Iterable[ValueId]:
        number = self._kept.get(root)
        given_to = self._given_to.get(root, ())
        if number is None:
            return dict.fromkeys(given_to)
        later = [other for other, one in self._presumed.items() if number < one.kept]
        return dict.fromkeys((*given_to, *later))
