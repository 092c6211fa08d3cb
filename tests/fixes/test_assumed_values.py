"""A text that was read with one value of several: what is right for that one may be wrong for the others."""

from __future__ import annotations

import textwrap

import pytest

from relax_lint.replay import Machine, Module, Outcome, Tensor
from relax_lint.settings.config import Config
from tests.fixes.fixing import findings, fixed

HEADER = "from tvm.script import ir as I, relax as R, tirx as T\n"
MODULE = """
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor(("m",), "float32")):
        m = T.int64()
        {statements}
"""
ROOM = """s = R.memory.alloc_storage(R.shape([{size}]), 0, "global", "uint8")
        a = R.memory.alloc_tensor(s, 0, R.shape([m]), "float32")
        return a"""
ASSERT = """R.assert_op(m * {size} >= m, [m], format="m = {{}}")
        return x"""
EARLY = """s = R.memory.alloc_storage(R.shape([{size}]), 0, "global", "uint8")
        a = R.memory.alloc_tensor(s, 0, R.shape([4]), "float32")
        R.memory.kill_tensor(a)
        b = R.call_packed("look", a, ty_args=R.Tuple)
        return b"""
SELECTED = ("RLX101", "RLX201", "RLX504")


def several(statements: str, values: str) -> str:
    """A test of a module for each of some values of `size`."""
    made = MODULE.format(statements=statements.format(size="size"))
    parametrized = f'@pytest.mark.parametrize("size", {values})\ndef test(size):'
    return f"import pytest\n{HEADER}\n{parametrized}{textwrap.indent(made, '    ')}    assert Module\n"


def single(statements: str, value: int) -> str:
    """The module for one value, which the file says itself."""
    return f"{HEADER}SIZE = {value}\n{MODULE.format(statements=statements.format(size='SIZE'))}"


def config(strategy: str = "auto") -> Config:
    return Config(fix_strategy=strategy, select=SELECTED)


@pytest.mark.parametrize("strategy", ["auto", "assert", "dynamic"])
def test_numbers_of_the_first_value_are_not_safe_for_the_others(strategy: str) -> None:
    text = several(ROOM, "[16, 32]")
    (found,) = findings(text, config(strategy))
    assert {fix.applicability for fix in found.fixes} == {"unsafe"}
    assert fixed(text, config(strategy)).text == text
    after = fixed(text, config(strategy), unsafe=True)
    assert after.text != text
    assert not findings(after.text, config(strategy))


def test_a_condition_that_one_value_makes_needless_is_needed_for_others() -> None:
    text = several(ASSERT, "[1, -1]")
    assert [found.rule for found in findings(text, config())] == ["RLX504"]
    assert fixed(text, config()).text == text
    one = single(ASSERT, 1)
    assert "assert_op" not in fixed(one, config()).text


@pytest.mark.parametrize("statements", [ROOM, EARLY])
def test_what_the_file_says_itself_is_no_assumption(statements: str) -> None:
    text = single(statements, 16)
    after = fixed(text, config())
    assert after.fixed == 1
    assert not findings(after.text, config())


def test_the_place_of_a_kill_depends_on_no_value() -> None:
    text = several(EARLY, "[16, 32]")
    after = fixed(text, config()).text
    assert after.index("kill_tensor") > after.index('"look"')


@pytest.mark.vm
def test_another_value_runs_right_what_a_check_for_the_first_refuses() -> None:
    text = MODULE.format(statements=ROOM.format(size=32))
    check = 'R.assert_op(m <= 4, [m], format="m = {}")\n        s = '
    with Machine() as machine:
        for written, outcome in ((text, Outcome.OK), (text.replace("s = ", check), Outcome.ERROR)):
            module = Module(f"{HEADER}{written}", "script")
            for allocator in ("naive", "pooled"):
                run = machine.run(module, "main", (Tensor("float32", (8,)),), allocator=allocator)
                assert run.outcome is outcome
