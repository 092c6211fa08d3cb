"""A call that is read runs or not, or gets one thing or another, by what was not read: it shows nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

from relax_lint.judging.report import check_parsed
from relax_lint.results.check import Check
from relax_lint.results.verdict import Verdict
from relax_lint.settings.config import Config
from relax_lint.sources.unit import ParsedUnit
from tests.sources import test_unread_callers as unread_callers
from tests.sources.test_unread_callers import IMPORTS, UNKNOWN

MODULE = """
@I.ir_module
class M:
    @R.function(private=True)
    def f(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((4,), "float32"):
        q = R.memory.alloc_storage(R.shape([8]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
        s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
        if c:
            t = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
            z = t
        else:
            u = R.memory.alloc_tensor(q, R.prim_value(0), R.shape([4]), R.dtype("float32"))
            z = u
        return z
{between}    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = M
        y = cls.{first}(x, R.const(True, "bool"))
{lines}
        return w
"""
BRANCH = ["if {0}:", '    w = cls.{1}(x, R.const(False, "bool"))', "else:", "    w = x"]


BETWEEN = """\
    @R.function(private=True)
    def between(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((4,), "float32"):
        cls = M
        y = cls.f(x, c)
        return y
"""


def module(*lines: str, first: str = "f") -> str:
    body = "\n".join(f"        {line}" for line in lines)
    between = BETWEEN if "between" in first + body else ""
    return MODULE.format(between=between, first=first, lines=body)


def branch(condition: str, called: str = "f") -> list[str]:
    return [line.format(condition, called) for line in BRANCH]


# The module, and the values of K with which `u` is reached and with which it is not.
DOUBTFUL: Mapping[str, tuple[str, object, object]] = {
    "a condition": (module(*branch("R.const(K, 'bool')")), True, False),
    "a condition with a name": (module("b = R.const(K, 'bool')", *branch("b")), True, False),
    "a condition that is computed": (
        module("b = R.const(K, 'bool')", "c = R.logical_not(b)", *branch("c")),
        False,
        True,
    ),
    "a condition, by another one": (module(*branch("R.const(K, 'bool')", "between")), True, False),
    "an argument": (
        module("b = R.const(K, 'bool')", "c = R.logical_not(b)", "w = cls.f(x, c)"),
        True,
        False,
    ),
    "an assertion": (
        module("_ = R.assert_op(R.const(K, 'bool'), [], format='')", 'w = cls.f(x, R.const(False, "bool"))'),
        True,
        False,
    ),
    "handed on": (module('w = cls.between(x, R.const(K, "bool"))'), False, True),
    "handed on, as at first": (
        module('w = cls.between(x, R.const(K, "bool"))', first="between"),
        False,
        True,
    ),
    "by another name": (module("g = cls.f", 'w = g(x, R.const(K, "bool"))'), False, True),
    "by a name of a name": (module("g = cls.f", "h = g", 'w = h(x, R.const(K, "bool"))'), False, True),
}


def unit_of(text: str, before: str = UNKNOWN) -> ParsedUnit:
    return unread_callers.unit_of(IMPORTS + before + text)


def about(unit: ParsedUnit) -> list[Check]:
    checks = check_parsed(unit, "m.py", Config(select=("RLX101",))).checks
    return [one for one in checks if one.rule == "RLX101" and one.binding == "u"]


@pytest.mark.parametrize("name", DOUBTFUL)
def test_it_is_not_certain_to_fail(name: str) -> None:
    (found,) = about(unit_of(DOUBTFUL[name][0]))
    assert (found.verdict, found.undecided) == (Verdict.NEEDS_RUNTIME_CHECK, True)
    assert any("`K` is unknown" in fact for fact in found.assumes)


@pytest.mark.parametrize("name", ["handed on", "handed on, as at first", "by a name of a name"])
def test_what_is_read_whole_decides(name: str) -> None:
    text, reached, other = DOUBTFUL[name]
    (found,) = about(unit_of(text, f"K = {reached}\n"))
    assert (found.verdict, found.assumes) == (Verdict.ALWAYS_WRONG, ())
    assert about(unit_of(text, f"K = {other}\n")) == []


def test_a_call_that_runs_for_certain_stays_wrong() -> None:
    called = ['v = cls.f(x, R.const(False, "bool"))', *branch("R.const(K, 'bool')")]
    (found,) = about(unit_of(module(*called)))
    assert found.verdict is Verdict.ALWAYS_WRONG


def test_what_does_not_depend_on_it_is_not_told_to() -> None:
    unit = unit_of(module('w = cls.between(x, R.const(True, "bool"))', "v = K(x)"))
    assert set(unit.depends) == {"main"}
    assert about(unit) == []


@pytest.mark.vm
@pytest.mark.parametrize("name", DOUBTFUL)
def test_the_machine_decides_by_what_is_not_read(name: str) -> None:
    text, reached, other = DOUBTFUL[name]
    if name == "an assertion":
        with pytest.raises(AssertionError, match="Assertion Failed"):
            run(text, other)
    else:
        run(text, other)
    with pytest.raises(Exception, match="storage allocation failure"):
        run(text, reached)


def run(text: str, value: object) -> None:
    names: dict[str, Any] = {"I": I, "R": R, "T": T, "K": value}
    built = tvm.script.from_source(text, extra_vars=names, check_well_formed=False)
    machine = relax.VirtualMachine(tvm.compile(built, "llvm"), tvm.cpu(), memory_cfg="naive")
    machine["main"](tvm.runtime.tensor(np.zeros(4, "float32")))
