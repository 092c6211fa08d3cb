"""How much is done to judge the accesses of a kernel is counted, and ends."""

from __future__ import annotations

import pytest
import tvm
from tvm import relax

from relax_lint.model.kernel_access import terms
from relax_lint.model.kernel_access.reading import read_accesses

TOO_LARGE = "the kernel is too large for every access to be judged"
ROOM = 500
"""What one system of constraints may take beyond the limit."""


SORT = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        y = R.sort(x, axis=1)
        return y
"""


@pytest.fixture(scope="module")
def merge_sort() -> tvm.tirx.PrimFunc:
    """The sort kernel for GPUs: nested loops over blocks, and searches in two tables."""
    target = tvm.target.Target("nvidia/geforce-rtx-3090")
    with target:
        lowered = relax.backend.DispatchSortScan()(tvm.script.from_source(SORT))
    return next(f for f in lowered.functions.values() if isinstance(f, tvm.tirx.PrimFunc))


def test_a_sort_kernel_needs_less_than_half_of_what_is_allowed(merge_sort: tvm.tirx.PrimFunc) -> None:
    read = read_accesses(merge_sort)
    assert 0 < read.terms.effort < terms.MAX_EFFORT / 2
    assert TOO_LARGE not in {o.why for access in read.accesses for o in access.obligations}


def test_no_more_is_done_than_is_allowed(
    merge_sort: tvm.tirx.PrimFunc, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = read_accesses(merge_sort)
    monkeypatch.setattr(terms, "MAX_EFFORT", 20)
    part = read_accesses(merge_sort)
    assert part.terms.effort < terms.MAX_EFFORT + ROOM
    left = {o.why for access in part.accesses for o in access.obligations}
    assert TOO_LARGE in left
    # What is not judged any more is in doubt, and no access is lost.
    assert len(part.accesses) == len(whole.accesses)
    pairs = zip(part.accesses, whole.accesses, strict=True)
    assert all(one.obligations or not other.obligations for one, other in pairs)
