"""Which memory a branch depends on, where it was handed over inside of tuples."""

from __future__ import annotations

import pytest

from relax_lint.results.memory_figures import Amount
from tests.totals.test_decisions import KERNELS, MAIN, totals

MADE = """
@R.function(private=True, pure=False)
def made() -> R.Tuple(R.Tuple(R.Tensor((), "bool"), R.Tensor((), "bool")), R.Tensor((), "bool")):
    s = R.memory.alloc_storage(R.shape([100]), 0, "global", "uint8")
    t = R.memory.alloc_tensor(s, 0, R.shape([]), "bool")
    s1 = R.memory.alloc_storage(R.shape([100]), 0, "global", "uint8")
    u = R.memory.alloc_tensor(s1, 0, R.shape([]), "bool")
    return ((t, u), t)

@R.function(pure=False)
def inside(w: R.Tuple(R.Tuple(R.Tensor((), "bool"), R.Tensor((), "bool")), R.Tensor((), "bool"))):
    z = w[0]
    q = z[0]
    Module.flip(q)
    return R.tuple()
"""
TAKEN = '"float32")):\n    r = Module.made()\n    p = r[0]\n    e = p[0]\n'
SAME, OTHER = 8200 + 200, 4096 + 8192 + 200
"""The most where both branches go the same way, and where the second may go the other one."""


@pytest.mark.parametrize(
    ("between", "most"),
    [
        ("", SAME),
        ("Module.look(e, d)", SAME),
        ('_ = R.call_packed("anything", d, ty_args=R.Tuple)', SAME),
        # By who knows whom: as it is, in a tuple, in a tuple of tuples.
        ('_ = R.call_packed("anything", e, ty_args=R.Tuple)', OTHER),
        ('_ = R.call_packed("anything", p, ty_args=R.Tuple)', OTHER),
        ('_ = R.call_packed("anything", r, ty_args=R.Tuple)', OTHER),
        ("Module.inside(r)", OTHER),
        ("Module.flip(r[1])", OTHER),
        ("Module.flip(p[1])", SAME),
    ],
)
def test_what_is_overwritten_in_a_tuple_is_overwritten(between: str, most: int) -> None:
    main = MAIN.replace("if c:", "if e:").replace('"float32")):\n', TAKEN)
    found = totals(KERNELS + MADE + main.format(between=between))
    assert found.peak_live == Amount(str(most), most)
