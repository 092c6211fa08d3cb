"""What is killed early more than once: all the findings go, not all but one."""

from __future__ import annotations

from textwrap import indent

import pytest

import relax_lint
from relax_lint.replay import Machine, Module, Outcome, Scalar, Tensor
from relax_lint.replay.modules import load_module
from relax_lint.settings.config import Config
from tests.fixes.fixing import findings, fixed
from tests.rules.checking import DOUBLE

KILLS = Config(select=("RLX201", "RLX202"))
HEAD = f"""
from tvm.script import ir as I, relax as R, tirx as T


@I.ir_module
class Module:
{indent(DOUBLE, "    ")}
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32"), c: R.Prim("bool")):
        cls = Module
        s = R.memory.alloc_storage(R.shape([16]), 0, "global", "uint8")
        a = R.memory.alloc_tensor(s, 0, R.shape([4]), "float32")
        b = R.builtin.alloc_tensor(R.shape([4]), "float32", 0)
        _ = cls.double(x, a)
"""
KILL, USE = "R.memory.kill_tensor(a)", "cls.double(a, b)"
SHAPES = {
    "used between": (KILL, USE, KILL, "return a"),
    "used between each": (KILL, USE, KILL, USE, KILL, "return a"),
    "three at once": (KILL, KILL, KILL, "return a"),
    "by another name": ("e = a", KILL, "cls.double(e, b)", "R.memory.kill_tensor(e)", "return a"),
    "in a branch": (
        "if c:",
        f"    {KILL}",
        f"    {USE}",
        "    r = b",
        "else:",
        "    r = x",
        KILL,
        "return a",
    ),
}


def program(*lines: str) -> str:
    return HEAD + "".join(f"        {line}\n" for line in lines)


@pytest.mark.vm
@pytest.mark.parametrize("name", SHAPES)
def test_all_kills_of_what_is_returned_go(name: str) -> None:
    text = program(*SHAPES[name])
    after = fixed(text, KILLS)
    assert not findings(after.text, KILLS)
    assert after.text == program(*(line for line in SHAPES[name] if "kill_tensor" not in line))
    module = relax_lint.fix(load_module(text, "script"), KILLS)
    assert not relax_lint.check(module, KILLS).findings
    with Machine() as machine:
        run = machine.run(Module(after.text, "script"), "main", (Tensor("float32", (4,)), Scalar(True)))
    assert run.outcome is Outcome.OK
    assert run.outputs[0].text != "None"


def test_kills_of_what_is_only_used_stay_but_for_one() -> None:
    text = program(KILL, USE, KILL, USE, KILL, "return b")
    after = fixed(text, KILLS).text
    assert not findings(after, KILLS)
    assert after == program(USE, USE, KILL, "return b")


def test_a_kill_of_something_else_stays() -> None:
    lines = (KILL, "R.memory.kill_tensor(b)", "return a")
    assert fixed(program(*lines), KILLS).text == program(*lines[1:])
