"""RLX206 for a call with one output in the memory of an argument and another one of its own."""

from __future__ import annotations

import pytest

from tests.rules.checking import checks, parse

PROGRAM = """
@T.prim_func(private=True, s_tir=True)
def both(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32"), z: T.Buffer((4,), "float32")):
    for i in range(4):
        {first}[i] = x[i] + y[i]
        z[i] = y[i]

@R.function(pure=False)
def main(p: R.Tensor((4,), "float32")):
    cls = Module
    a = R.add(p, p)
    b = R.multiply(p, p)
    r = R.call_tir_inplace(
        cls.both, (a, b), inplace_indices=[{indices}],
        out_ty=[R.Tensor((4,), "float32"), R.Tensor((4,), "float32")],
    )
    c = R.add({read}, p)
    return (r, c)
"""


@pytest.mark.parametrize(
    ("first", "indices", "read", "overwritten"),
    [
        ("x", "0, -1", "a", ["a"]),
        ("x", "0, -1", "b", []),
        ("x", "0, -1", "p", []),
        ("y", "1, -1", "a", []),
        ("y", "1, -1", "b", ["b"]),
        ("y", "1, -1", "p", []),
    ],
)
def test_what_is_new_overwrites_no_argument(
    first: str, indices: str, read: str, overwritten: list[str]
) -> None:
    module = parse(PROGRAM.format(first=first, indices=indices, read=read))
    found = [(check.verdict.value, check.message) for check in checks(module, "RLX206")]
    said = "`both` overwrites `{}` in place, which `relax.add` still reads"
    assert found == [("always-wrong", said.format(name)) for name in overwritten]
