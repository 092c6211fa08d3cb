"""RLX505 where a branch chooses the function that is called, and where what is called is none, or returns the empty tuple:
with the VM.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.rules.checking import findings, parse

T4 = 'R.Tensor((4,), "float32")'
TEXT = """
@R.function(private=True, pure=False)
def typed(p: T4):
    return p

@R.function(private=True, pure=False)
def ignores(p: R.Any):
    return p

@R.function(private=True, pure=False)
def looks(p: R.Any):
    u = R.call_packed("vm.builtin.shape_of", p, ty_args=R.Shape)
    return p

@R.function(pure=False)
def known(p: R.Any):
    u = R.call_packed("vm.builtin.shape_of", p, ty_args=R.Shape)
    return p

@R.function(private=True, pure=False)
def nothing(p: T4) -> R.Tuple():
    k = R.tuple()
    return k

@R.function(private=True, pure=False)
def nested(p: T4):
    k = R.tuple()
    return (k,)

@R.function(private=True, pure=False)
def given_back(p: R.Any) -> R.Any:
    return p

@R.function(pure=False)
def main(x: T4, c: R.Tensor((), "bool")):
    n = R.null_value()
    d = R.dtype("float32")
    LINES
    return RESULT
"""
CHOICE = "if c:;     f0 = Module.{};     f = f0; else:;     f0 = Module.{};     f = f0; "
TWICE = (
    "if c:;     if c:;         f1 = Module.{0};         f0 = f1;     else:;         f1 = Module.{0};         f0 = f1;"
    "     f = f0; else:;     f0 = Module.{1};     f = f0; "
)
CLAIM = 'v = R.call_packed("vm.builtin.copy", {}, ty_args=({},)); '
FUNCTION = "R.Callable((T4,), T4, purity=False)"
NO, SOME = "no input passes the call", "not every path passes the call"
BOTH, NEVER, ONE, OTHER = (True, True), (False, False), (True, False), (False, True)
CASES: dict[str, tuple[str, str, list[str], tuple[bool, bool]]] = {
    # What main does and returns, what is said, and whether it fails where the condition holds, and where not.
    "one that looks": (
        CHOICE.format("ignores", "looks") + "r = f(n)",
        "r",
        [f"looks: {NO} `p is a tensor`"],
        OTHER,
    ),
    "one that looks at a tensor": (CHOICE.format("ignores", "looks") + "r = f(x)", "r", [], NEVER),
    "the same one": (
        CHOICE.format("looks", "looks") + "r = f(n)",
        "r",
        [f"looks: {NO} `p is a tensor`"],
        BOTH,
    ),
    "none that looks": (CHOICE.format("ignores", "ignores") + "r = f(n)", "r", [], NEVER),
    "one behind two branches": (
        TWICE.format("looks", "ignores") + "g = f; r = g(n)",
        "r",
        [f"looks: {NO} `p is a tensor`"],
        ONE,
    ),
    "one that is called with a tensor too": (
        CHOICE.format("looks", "ignores") + "q = Module.looks(x); r = f(n)",
        "r",
        [f"looks: {SOME} `p is a tensor`"],
        ONE,
    ),
    "one that others may call": ("r = Module.known(n)", "r", [f"known: {SOME} `p is a tensor`"], BOTH),
    "one that others may call, of a tensor": ("r = Module.known(x)", "r", [], NEVER),
    "one that is handed on": (
        CHOICE.format("looks", "ignores") + "t = (f, x); r = f(n)",
        "r",
        [f"looks: {SOME} `p is a tensor`"],
        ONE,
    ),
    "a dtype that is called": (
        CLAIM.format("d", FUNCTION) + "r = v(x)",
        "r",
        [f"main: {NO} `v is a function`"],
        BOTH,
    ),
    "a number that is called": (
        CLAIM.format("R.prim_value(3)", FUNCTION) + "r = v(x)",
        "r",
        [f"main: {NO} `v is a function`"],
        BOTH,
    ),
    "a function that is called": (CLAIM.format("Module.typed", FUNCTION) + "r = v(x)", "r", [], NEVER),
    "the shape of a function": (
        'u = R.call_packed("vm.builtin.shape_of", Module.typed, ty_args=R.Shape)',
        "u",
        [f"main: {NO} `it is a tensor`"],
        BOTH,
    ),
    "the shape of a constant": (
        'u = R.call_packed("vm.builtin.shape_of", R.const([1.0]), ty_args=R.Shape)',
        "u",
        [],
        NEVER,
    ),
    "the shape of a number": (
        'u = R.call_packed("vm.builtin.shape_of", R.prim_value(3), ty_args=R.Shape)',
        "u",
        [f"main: {NO} `it is a tensor`"],
        BOTH,
    ),
    # The virtual machine gives a call no register for the empty tuple, and returns to that.
    "the empty tuple": (
        "k = Module.nothing(x)",
        "x",
        [f"main: {NO} `nothing returns a tuple with fields`"],
        BOTH,
    ),
    "the empty tuple from one of two": (
        CHOICE.format("nothing", "nothing") + "k = f(x)",
        "k",
        [f"main: {NO} `f returns a tuple with fields`"],
        BOTH,
    ),
    "the empty tuple in a branch": (
        "if c:;     k = Module.nothing(x);     u = x; else:;     u = x",
        "u",
        [f"main: {NO} `nothing returns a tuple with fields`"],
        ONE,
    ),
    "the empty tuple in a cast": (
        "k = R.match_cast(Module.nothing(x), R.Tuple())",
        "x",
        [f"main: {NO} `nothing returns a tuple with fields`"],
        BOTH,
    ),
    "the empty tuple in a tuple": ("k = Module.nested(x)", "k", [], NEVER),
    "the empty tuple as any object": ("e = R.tuple(); k = Module.given_back(e)", "k", [], NEVER),
    "the empty tuple of a closure": (
        "f = R.make_closure(Module.nothing, ()); k = R.invoke_closure(f, (x,), ty_args=R.Tuple())",
        "x",
        [],
        NEVER,
    ),
    "the empty tuple of a kill": ("k = R.vm.kill_object(n)", "k", [], NEVER),
}


def _module(lines: str, result: str) -> Any:
    body = lines.replace("; ", "\n    ").replace(";     ", "\n    ")
    return parse(TEXT.replace("LINES", body.replace(";", "\n")).replace("RESULT", result).replace("T4", T4))


def _fails(module: Any, *, taken: bool) -> bool:
    """Whether a run fails, in a process of its own, which some of these end."""
    executable = relax.build(module, "llvm")
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            machine = relax.VirtualMachine(executable, tvm.cpu())
            machine["main"](*map(tvm.runtime.tensor, (np.ones(4, "float32"), np.array(taken))))
            code = 0
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1] != 0


@pytest.mark.vm
@pytest.mark.parametrize("name", CASES)
def test_what_is_called(name: str) -> None:
    if "dtype" in name and tvm.__version__.startswith("0.26"):
        pytest.skip("TVM 0.26 cannot build a kill of a dtype")
    lines, result, said, fails = CASES[name]
    module = _module(lines, result)
    assert [f"{check.function}: {check.message}" for check in findings(module, "RLX505")] == said
    assert (_fails(module, taken=True), _fails(module, taken=False)) == fails


CHAIN = """
@R.function(private=True, pure=False)
def g{0}(p: R.Any, x: T4) -> T4:
    a = Module.g{1}(p, x)
    b = Module.g{1}(p, a)
    return b
"""
LAST = """
@R.function(private=True, pure=False)
def g{}(p: R.Any, x: T4) -> T4:
    u = R.call_packed("vm.builtin.shape_of", p, ty_args=R.Shape)
    return x

@R.function(pure=False)
def main(x: T4):
    n = R.null_value()
    u = Module.g0({}, x)
    return u
"""


@pytest.mark.parametrize(("given", "count"), [("n", 1), ("x", 0)])
def test_functions_that_call_the_next_one_twice(given: str, count: int) -> None:
    """There are 2 ** 40 ways from the first one to the last one."""
    functions = [CHAIN.format(number, number + 1) for number in range(40)]
    module = parse("".join([*functions, LAST.format(40, given)]).replace("T4", T4))
    assert [check.verdict.value for check in findings(module, "RLX505")] == ["always-wrong"] * count


def test_functions_that_all_call_each_other() -> None:
    names = range(8)
    text = "".join(
        f"\n@R.function(private=True, pure=False)\ndef g{one}(p: R.Any, x: T4) -> T4:\n"
        + "".join(f"    a{other} = Module.g{other}(p, x)\n" for other in names)
        + "    return x\n"
        for one in names
    )
    module = parse((text + LAST.format(99, "n").replace("g0(", "g1(")).replace("T4", T4))
    assert not findings(module, "RLX505")
