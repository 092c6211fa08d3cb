"""RLX306: kernels whose indices are inside for most inputs, and end the run for one. None of them is called fine."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import indent

import pytest

from relax_lint.replay import Machine, Module, Outcome, Tensor
from tests.rules.checking import checks, parse

IMPORTS = "from tvm.script import ir as I, relax as R, tirx as T\n"
HEAD = """
@T.prim_func(private=True, s_tir=True)
def kernel(a: T.handle, b: T.handle):
    n = T.int64()
    k = T.int64()
    x = T.match_buffer(a, (n,), "float32")
    p = T.match_buffer(b, ({extents},), "{dtype}")
{body}
"""
MAIN = """
@R.function(pure=False)
def main(x: R.Tensor(("n",), "float32"), p: R.Tensor(({given},), "{dtype}"), z: R.Tensor((4096,), "int64")):
{before}
    _ = Module.kernel(x, p)
    return x
"""
# 46341 is the smallest number whose square 32 bits do not hold.
SQUARE = """\
h: T.let[T.int32] = {}
if n < 100000 and h < T.Cast("int32", n):
    x[h] = T.float32(1)
"""
FILL = """
@T.prim_func(private=True, s_tir=True)
def fill(z: T.Buffer((4096,), "int64")):
    u = T.alloc_buffer((4096,), "int64")
    for i in range(4096):
        u[i] = T.int64(100000000000)
    for i in range(4096):
        z[i] = u[4095 - i]
"""
FIRST = """\
s = T.alloc_buffer((4096,), "int64")
for i in range(4096):
    for j in range(k):
        if j == 0:
            s[i] = T.int64(3)
for i in range(4096):
    if n > 3:
        x[s[4095 - i]] = T.float32(1)
"""
FORMS = {
    "a bit of a square": ("1", "int32", SQUARE.format("(p[0] * p[0]) | 1"), 2, 46341),
    "another bit of a square": ("1", "int32", SQUARE.format("(p[0] * p[0]) ^ 1"), 2, 46341),
    "one of two": ("1", "int32", SQUARE.format("T.if_then_else(p[0] > 1, p[0] * p[0], 1)"), 2, 46341),
    "without a sign": (
        "1",
        "uint64",
        'h: T.let[T.int64] = T.Cast("int64", p[0])\nif h < n:\n    x[h] = T.float32(1)',
        2,
        2**63 + 2**40,
    ),
}


def text(extents: str, dtype: str, body: str, *, before: str = "pass", more: str = "") -> str:
    given = f'"{extents}"' if extents.isidentifier() else extents
    main = MAIN.format(given=given, dtype=dtype, before=before and f"    {before}")
    return more + HEAD.format(extents=extents, dtype=dtype, body=indent(body, "    ")) + main


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    with Machine() as found:
        yield found


def ends(machine: Machine, program: str, *given: Tensor) -> Outcome:
    module = Module(f"{IMPORTS}@I.ir_module\nclass Module:\n{indent(program, '    ')}")
    arguments = [Tensor("float32", (8,)), *given, Tensor("int64", (4096,))]
    return machine.run(module, "main", arguments, allocator="naive").outcome


@pytest.mark.vm
@pytest.mark.parametrize("form", FORMS)
def test_a_number_that_wraps_around_is_no_index(form: str, machine: Machine) -> None:
    extents, dtype, body, fine, wrong = FORMS[form]
    program = text(extents, dtype, body, before="")
    (check,) = checks(parse(program), "RLX306")
    assert check.verdict.value == "needs-runtime-check" or check.assumes
    assert ends(machine, program, Tensor(dtype, (1,), fine)) is Outcome.OK
    assert ends(machine, program, Tensor(dtype, (1,), wrong)) is Outcome.SIGNAL


@pytest.mark.vm
def test_what_no_step_has_stored_is_no_index(machine: Machine) -> None:
    program = text("k", "float32", FIRST, before="_1 = Module.fill(z)", more=FILL)
    found = [check for check in checks(parse(program), "RLX306") if "`kernel`" in check.message]
    assert [check.verdict.value for check in found] == ["needs-runtime-check"]
    assert ends(machine, program, Tensor("float32", (1,))) is Outcome.OK
    assert ends(machine, program, Tensor("float32", (0,))) is Outcome.SIGNAL
