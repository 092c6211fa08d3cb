"""What packed functions of TVM's runtime store to the tensors that they fill, where that is indices.

From TVM's `src/runtime/extra/contrib/sort/sort.cc`. `argsort_nms` is not here: how many elements it sorts is
data that it does not check.
"""

from __future__ import annotations

from dataclasses import dataclass

from relax_lint.vm.packed_memory import ARGSORT


@dataclass(frozen=True)
class IndexResults:
    """The places of the arguments of a function that stores nothing to `target` but indices of an axis of
    `source`, both tensors, and only reads the latter. `axis` is the place of the number of the axis.
    """

    source: int
    target: int
    axis: int


_INDEX_RESULTS = {ARGSORT: IndexResults(source=0, target=1, axis=2)}


def index_results(name: str) -> IndexResults | None:
    """What a packed function leaves, if that is indices."""
    return _INDEX_RESULTS.get(name)
