"""What is known about the contents of tensors at one point of a function."""

from __future__ import annotations

from dataclasses import dataclass, field

from relax_lint.analysis.certainty import Certainty, must_if, weakest
from relax_lint.model.operations import ValueId


@dataclass
class ContentState:
    """What holds on the paths to one operation, on every path or on some."""

    unwritten: dict[ValueId, Certainty] = field(default_factory=dict)
    overwritten: dict[ValueId, dict[tuple[int, ValueId], Certainty]] = field(default_factory=dict)
    """By tensor: the writes (operation, value) into its storage since it was written itself."""
    stale: dict[ValueId, dict[tuple[int, ValueId], Certainty]] = field(default_factory=dict)
    """By value: the in-place calls (operation, argument) since it got its name."""
    replaced: set[ValueId] = field(default_factory=set)
    """Tensors from outside that no longer hold what they came in with."""

    def copy(self) -> ContentState:
        """The same state, to be changed apart."""
        return ContentState(
            dict(self.unwritten),
            {value: dict(writes) for value, writes in self.overwritten.items()},
            {value: dict(calls) for value, calls in self.stale.items()},
            set(self.replaced),
        )

    def merge(self, other: ContentState, branched: int) -> None:
        """Both states merge after the `If` of index `branched`."""
        for value in self.unwritten.keys() | other.unwritten.keys():
            one, two = (state.unwritten.get(value, Certainty.MAY) for state in (self, other))
            self.unwritten[value] = weakest(one, two)
        _merge(self.overwritten, other.overwritten, branched)
        _merge(self.stale, other.stale, branched)
        self.replaced &= other.replaced


def _merge(
    into: dict[ValueId, dict[tuple[int, ValueId], Certainty]],
    other: dict[ValueId, dict[tuple[int, ValueId], Certainty]],
    branched: int,
) -> None:
    """What happened inside a branch stays as certain as it was; what only one branch undid does not."""
    for value in into.keys() | other.keys():
        one, two = into.get(value, {}), other.get(value, {})
        into[value] = {
            key: weakest(*(branch.get(key, must_if(key[0] > branched)) for branch in (one, two)))
            for key in (*one, *(key for key in two if key not in one))
        }
