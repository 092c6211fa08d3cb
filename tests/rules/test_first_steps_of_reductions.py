"""RLX307: a reduction is initialised where each reduced axis is at its least number, if that step comes."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest
import tvm

from relax_lint.replay import Input, Machine, Module, Shape, Tensor
from tests.rules.checking import checks, parse, verdicts

HEAD = """
@T.prim_func(private=True, s_tir=True)
def kernel(a: T.handle, b: T.handle):
    n = T.int64()
    m = T.int64()
    x = T.match_buffer(a, (n,), "float32")
    y = T.match_buffer(b, (m,), "float32")
"""
BLOCK = """\
with T.sblock("sum"):
    w = T.axis.spatial(m, {kept})
    v = T.axis.reduce({extent}, {reduced})
    {where}
    with T.init():
        y[w] = T.float32(0)
    y[w] = y[w] + x[v]
"""
CALL = """
@R.function
def main(x: R.Tensor(("n",), "float32"), s: R.Shape(["m"])) -> R.Tensor(("m",), "float32"):
    n = T.int64()
    m = T.int64()
    y = R.call_tir(Module.kernel, (x,), R.Tensor((m,), "float32"))
    return y
"""
LOOPS = "for j, i in T.grid(m, n):"


def _body(
    loops: str, reduced: str = "i", *, kept: str = "j", extent: str = "n", where: str = "", guard: str = ""
) -> str:
    block = BLOCK.format(kept=kept, extent=extent, reduced=reduced, where=where)
    inside = f"{guard}\n{indent(block, '    ')}" if guard else block
    return f"{loops}\n{indent(inside, '    ')}"


def _module(body: str) -> tvm.IRModule:
    return parse(HEAD + indent(dedent(body), "    ") + CALL)


WHOLE = "m <= 0 or n >= 1"
COMES = {
    "in order": _body(LOOPS),
    "from the end": _body(LOOPS, "n - 1 - i"),
    "tiles": _body("for j, i, t in T.grid(m, (n + 3) // 4, 4):", "i * 4 + t", where="T.where(i * 4 + t < n)"),
    "tiles of both": _body(
        "for i, j, s, t in T.grid((n + 3) // 4, (m + 3) // 4, 4, 4):",
        "i * 4 + t",
        kept="j * 4 + s",
        where="T.where(j * 4 + s < m and i * 4 + t < n)",
    ),
    "one loop": _body("for f in range(m * n):", "f % n", kept="f // n"),
    "tiles of one loop": _body(
        "for f, t in T.grid((m * n + 7) // 8, 8):",
        "(f * 8 + t) % n",
        kept="(f * 8 + t) // n",
        where="T.where(f * 8 + t < m * n)",
    ),
    "where other elements are kept": _body(LOOPS, where="T.where(j >= 1)"),
    "where data says so": "if x[0] > T.float32(0):\n" + indent(_body(LOOPS), "    "),
    "a loop that may be empty": _body(LOOPS, extent="3"),
}
"""The step comes wherever the loops have one."""
LEFT_OUT = {
    "all but the first": _body(LOOPS, where="T.where(i >= 1)"),
    "odd steps": _body(LOOPS, where="T.where(i % 2 == 1)"),
    "a condition around the block": _body(LOOPS, guard="if i >= 1:"),
    "a condition on data in the loop": _body(LOOPS, guard="if x[i] > T.float32(2):"),
    "one later": _body("for j, i in T.grid(m, 2):", "i + 1", extent="3"),
    "none at first": _body("for j in range(m):\n  for i in range(j):", extent="m"),
    "two axes in one": _body("for f in range(m):", "f", kept="f", extent="m"),
    "parts that overlap": _body("for f in range(m * n):", "f % n", kept="f % m"),
}
"""It does not, or not for every element."""


@pytest.mark.parametrize("name", COMES)
def test_a_reduction_is_initialised_where_its_loops_have_a_step(name: str) -> None:
    found = verdicts(checks(_module(COMES[name]), "RLX307"))
    assert found == [("RLX307", "needs-runtime-check", WHOLE)]


@pytest.mark.parametrize(
    ("extent", "has_step"),
    [
        ("n", "n >= 1"),
        ("(n + 3) // 4", "n >= 1"),
        ("n // 4", "n//4 >= 1"),
        ("(n - 5) // -4", "(n - 5)//(-4) >= 1 and n >= 1"),
    ],
)
def test_tiles_have_a_step_where_each_axis_has_a_number_or_that_is_asked(extent: str, has_step: str) -> None:
    """Of 2 there are -3 // -4 tiles: none."""
    body = _body(f"for j, i in T.grid(m, {extent}):")
    region = f"m <= 0 or {has_step}" if " and " not in has_step else f"m <= 0 or ({has_step})"
    assert verdicts(checks(_module(body), "RLX307")) == [("RLX307", "needs-runtime-check", region)]


@pytest.mark.parametrize("name", LEFT_OUT)
def test_what_may_leave_the_first_step_out_is_not_fine(name: str) -> None:
    (check,) = checks(_module(LEFT_OUT[name]), "RLX307")
    assert (check.verdict.value, check.severity.value, check.undecided) == (
        "needs-runtime-check",
        "note",
        True,
    )
    assert "leave out the step" in check.proof


def test_an_axis_without_a_number_is_wrong_whatever_the_loops_do() -> None:
    call = (
        CALL.replace('"n",', "4,").replace('"m"]', '"k"]').replace('("m",)', "(4,)").replace("(m,)", "(4,)")
    )
    body = _body("for j, i in T.grid(m, 0):", "i + 1", extent="0")
    module = parse(HEAD + indent(body, "    ") + call.replace("    m = T.int64()\n", "    k = T.int64()\n"))
    assert verdicts(checks(module, "RLX307")) == [("RLX307", "always-wrong", None)]


@pytest.mark.vm
def test_what_is_left_out_shows_what_was_in_memory() -> None:
    bodies = {name: COMES[name] for name in ("from the end", "tiles of one loop")} | LEFT_OUT
    text = ""
    for number, body in enumerate(bodies.values()):
        one = HEAD + indent(dedent(body), "    ") + CALL
        text += one.replace("kernel", f"kernel{number}").replace("def main", f"def main{number}")
    module = Module(tvm.ir.save_json(parse(text)), "json")
    shown = set()
    with Machine() as machine:
        for number, name in enumerate(bodies):
            inputs: list[Input] = [Tensor("float32", (9,), 1), Shape((3,))]
            runs = [
                machine.run(module, f"main{number}", inputs, allocator="naive", fill=fill)
                for fill in (0, 0x7F)
            ]
            if runs[0].digest != runs[1].digest:
                shown.add(name)
    assert shown == LEFT_OUT.keys()
