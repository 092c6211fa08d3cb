"""Loads of which nothing is left in what is stored: they are not certain to be asked for."""

from __future__ import annotations

import pytest
import tvm

from relax_lint.model.prim_funcs import read_kernel

TEXT = """
@T.prim_func(private=True, s_tir=True)
def f(x: T.Buffer((4,), "int32"), z: T.Buffer((4,), "int32"), y: T.Buffer((4,), "int32")):
    for i in range(4):
        y[i] = VALUE
"""


@pytest.mark.parametrize(
    ("value", "unsure"),
    [
        ("x[i]", ""),
        ("x[i] - x[i]", "x"),
        ("x[i] - x[3 - i]", ""),
        ("x[i] + x[i]", ""),
        ("x[i] * x[i]", ""),
        ("T.max(x[i], x[i])", ""),
        ("x[i] + z[i] - z[i]", "z"),
        ("z[i] + x[i] - z[i]", "z"),
        ("x[i] - z[i] + z[i]", "z"),
        ("x[i] - (z[i] - z[i])", "z"),
        ("x[i] - (x[i] - z[i])", "x"),
        ("(x[i] + z[i]) - (x[i] - z[i])", "x"),
        ("(x[i] + z[i]) - (x[i] + z[i])", "xz"),
        ('T.Cast("int32", x[i] == x[i])', "x"),
        ('T.Cast("int32", x[i] < x[i])', "x"),
        ('T.Cast("int32", x[i] + z[i] == z[i] + x[i])', "xz"),
        ('T.Cast("int32", x[i] + z[i] < z[i])', "z"),
    ],
)
def test_what_is_taken_away_again_is_not_asked_for(value: str, unsure: str) -> None:
    kernel = read_kernel("f", tvm.script.from_source(TEXT.replace("VALUE", value), check_well_formed=False))
    assert "".join("xz"[place] for place in sorted(kernel.unsure_reads)) == unsure
    assert kernel.reads == {place for place, name in enumerate("xz") if name in value}
