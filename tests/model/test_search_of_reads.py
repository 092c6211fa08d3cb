"""Of which parameters the search backwards asks whether their contents from before the call are used."""

from __future__ import annotations

from typing import Any

import pytest
from tvm.script import tirx as T

from relax_lint.model.kernel_body import confirmed
from relax_lint.model.prim_funcs import read_kernel

A_PARAMETER, ITS_OUTPUT = 0, 1


@T.prim_func(s_tir=True)  # type: ignore[untyped-decorator]
def row_sums(a: T.handle, b: T.handle) -> None:
    n = T.int64()
    A = T.match_buffer(a, (n, T.int64(64)), "float32")
    B = T.match_buffer(b, (n,), "float32")
    for i, k in T.grid(n, T.int64(64)):
        with T.sblock("sum"):
            v_i, v_k = T.axis.remap("SR", [i, k])
            with T.init():
                B[v_i] = T.float32(0)
            B[v_i] = B[v_i] + A[v_i, v_k]


def test_a_sum_that_the_kernel_begins_itself_is_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    """It holds nothing from before the call, and to find nothing takes all the work that is allowed."""
    asked: list[int] = []
    search = confirmed._Kernel.comes_from

    def counted(kernel: Any, position: int, *limits: Any) -> bool:
        asked.append(position)
        return search(kernel, position, *limits)

    monkeypatch.setattr(confirmed._Kernel, "comes_from", counted)
    kernel = read_kernel("row_sums", row_sums)
    assert A_PARAMETER not in kernel.unsure_reads
    assert A_PARAMETER in asked
    assert ITS_OUTPUT not in asked
