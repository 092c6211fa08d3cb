"""What is left of what the parts of a kernel store in memory where later ones may store again."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, TypeAlias

from relax_lint.model.kernel_body.in_order import Reach

_REMEMBERED = 16
"""Of so many parts that store in one memory it is known what is left; of more of them nothing is."""
_Edge: TypeAlias = "tuple[int, int, Any]"
"""An axis, the direction along it (-1 or 1), and the last element in that direction."""


class Left:
    """Which parts have stored something that is there still. Parts are numbered in their order."""

    def __init__(self) -> None:
        self._edges: dict[Hashable, dict[int, list[list[_Edge]]]] = {}
        """By memory and part, for each store the edges that no later part has stored to."""

    def come(
        self, part: int, reached: Mapping[Hashable, Sequence[Reach]], hides: AbstractSet[Hashable]
    ) -> None:
        """The next part has `reached` these elements; it `hides` what was in this memory before."""
        for memory, reaches in reached.items():
            known = self._edges.setdefault(memory, {})
            if memory in hides:
                for before in list(known):
                    known[before] = [
                        [edge for edge in edges if all(_is_beyond(edge, reach) for reach in reaches)]
                        for edges in known[before]
                    ]
                    if not all(known[before]):
                        del known[before]
            known[part] = [_edges(reach) for reach in reaches]
            if len(known) > _REMEMBERED:
                del known[next(iter(known))]

    def of(self, memory: Hashable) -> AbstractSet[int]:
        """The parts of which something is left there."""
        return self._edges.get(memory, {}).keys()


def _edges(reach: Reach) -> list[_Edge]:
    known = [(axis, ends) for axis, ends in enumerate(reach or ()) if ends is not None]
    return [(axis, way, ends[way > 0]) for axis, ends in known for way in (-1, 1)]


def _is_beyond(edge: _Edge, reach: Reach) -> bool:
    """Whether a store does not come as far as there."""
    axis, way, last = edge
    ends = None if reach is None or axis >= len(reach) else reach[axis]
    return ends is not None and bool((way * (last - ends[way > 0])).is_positive)
