"""A storage that others get keeps its size: what they put on it is not seen."""

from __future__ import annotations

import pytest
from tvm import relax

import relax_lint
from tests.rules.checking import parse

PROGRAM = """
@R.function(pure=False)
def main(x: R.Tensor(("n",), "float32"), c: R.Tensor((), "bool")):
    n = T.int64()
    s = R.memory.alloc_storage(R.shape([64]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    a = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([n]), R.dtype("float32"))
    {lines}
"""
IN_A_BRANCH = "if c:\n        v = (a, s)\n    else:\n        v = (a, s)\n    return v"
INSIDE = """@R.function(pure=False)
    def f(y: R.Tensor((4,), "float32")) -> R.Object:
        return (y, s)
    r = f(x)
    return r"""


@pytest.mark.parametrize("canonical", [False, True])
@pytest.mark.parametrize(
    ("lines", "is_resized"),
    [
        ("return a", True),
        ("return (a, (x, a))", True),
        ("return s", False),
        ("return (a, s)", False),
        ("return (a, (x, s))", False),
        ("q = (a, (s, a))\n    return q", False),
        (IN_A_BRANCH, False),
        (INSIDE, False),
    ],
)
def test_a_storage_that_is_given_back_is_not_resized(lines: str, is_resized: bool, canonical: bool) -> None:
    """The tensor takes `4*n` of 64 bytes: where nobody else has the storage, it takes as much as is needed."""
    module = parse(PROGRAM.format(lines=lines))
    if canonical:
        module = relax.transform.CanonicalizeBindings()(module)
    text = relax_lint.fix(module).script()
    assert ("alloc_storage(R.shape([64])" not in text) == is_resized
