"""A total that divides by a size of which a value is given: none of them is lost where that is 0."""

from __future__ import annotations

import pytest

from tests.memory.conftest import Memory
from tests.memory.programs import HEADER

DIVIDED = (
    HEADER
    + """@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("m",), "float32")):
        n = T.int64()
        m = T.int64()
        s = R.memory.alloc_storage(R.shape([1000 // n * 4 + m]), 0, "global", "uint8")
        t = R.memory.alloc_tensor(s, 0, R.shape([1000 // n]), "float32")
        return t
"""
)


@pytest.mark.parametrize("options", [("n=0",), ("n=0", "m=3"), ("n=0", "m=1..5"), ("n=0..0", "m=0..3")])
def test_where_the_size_is_0_the_maximum_is_unknown(memory: Memory, options: tuple[str, ...]) -> None:
    found = memory(DIVIDED, *(word for one in options for word in ("--bind", one)))
    assert found.code == 0
    assert "planned                 m + 4*(1000//n) bytes in 1 storage" in found.out
    assert "divides by zero" in found.out


def test_elsewhere_it_is_the_greatest(memory: Memory) -> None:
    found = memory(DIVIDED, "--bind", "n=0..3", "--bind", "m=0..3")
    assert "at most 4,003 bytes (3.909 KiB), at m = 3, n = 1" in found.out
