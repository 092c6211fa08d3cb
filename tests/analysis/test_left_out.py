"""Which operations TVM leaves out, because nothing needs what they return."""

from __future__ import annotations

import pytest

from relax_lint.analysis.callees import Callees
from relax_lint.analysis.left_out import LeftOut
from relax_lint.model.builder import build_program
from tests.rules.checking import parse

PROGRAM = """
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")):
    {}
"""
IMPURE = 'b = R.call_packed("f", a, ty_args=R.Object)'
PURE = 'b = R.call_pure_packed("f", a, ty_args=R.Object)'
BRANCH = "if c:;     b1 = {};     d = x; else:;     d = x; return x"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("a = R.add(x, x); return a", set()),
        ("a = R.add(x, x); return x", {"a"}),
        ("a = R.add(x, x); b = R.add(a, x); return x", {"a", "b"}),
        ("a = R.add(x, x); b = R.add(a, x); return (b, x)", set()),
        # What has an effect is kept, and so is what it is given.
        (f"a = R.add(x, x); {IMPURE}; return x", set()),
        (f"a = R.add(x, x); {PURE}; return x", {"a", "b"}),
        (f"a = R.add(x, x); e = R.add(x, x); {IMPURE}; return x", {"e"}),
        # In a branch whose result nobody needs.
        (f"a = R.add(x, x); {BRANCH.format('R.add(a, x)')}", {"a", "b1", "d"}),
        (f"a = R.add(x, x); {BRANCH.format(IMPURE.removeprefix('b = '))}", set()),
    ],
)
def test_what_nothing_needs(lines: str, expected: set[str]) -> None:
    program = build_program(
        parse(PROGRAM.format(lines.replace("; ", "\n    ").replace(";     ", "\n        ")))
    )
    (function,) = program.functions
    left = LeftOut(program, Callees(program)).of(function)
    assert {op.place.binding for op in function.body.walk() if op.place.index in left} == expected
