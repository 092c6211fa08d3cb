"""RLX505 where something is no tensor, storage or tuple at all, also in the functions that it is handed to: with the VM."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.analysis.flow import FunctionFlow, ProgramFlow
from relax_lint.facts.taken import taken
from relax_lint.model.builder import build_program
from relax_lint.model.operations import AllocTensor
from tests.rules.checking import findings, parse

T4 = 'R.Tensor((4,), "float32")'
TEXT = """
@R.function(private=True, pure=False)
def typed(p: T4):
    return p

@R.function(private=True, pure=False)
def ignores(p: R.Any, x: T4):
    return x

@R.function(private=True, pure=False)
def looks(p: R.Any, x: T4):
    u = R.call_packed("vm.builtin.shape_of", p, ty_args=R.Shape)
    return x

@R.function(private=True, pure=False)
def hands_on(p: R.Any, x: T4):
    u = Module.looks_too(p, x)
    return x

@R.function(private=True, pure=False)
def looks_too(p: R.Any, x: T4):
    u = R.call_packed("vm.builtin.shape_of", p, ty_args=R.Shape)
    return x

@R.function(private=True, pure=False)
def gives(x: T4):
    n = R.null_value()
    t = (n, x)
    return t

@R.function(private=True, pure=False)
def gives_back(p: R.Any, x: T4):
    return p

@R.function(pure=False)
def main(x: T4):
    s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    n = R.null_value()
    p = (x, x)
    LINES
    k = R.memory.kill_storage(s)
    return x
"""
SHAPE = 'R.call_packed("vm.builtin.shape_of", {}, ty_args=R.Shape)'
COPY = 'v = R.call_packed("vm.builtin.copy", {}, ty_args={})'
FIELD = 'w = R.call_packed("vm.builtin.tuple_getitem", v, R.prim_value({}), ty_args=R.Any)'
ON_STORAGE = 'u = R.memory.alloc_tensor({}, R.prim_value(0), R.shape([4]), R.dtype("float32")); l = R.memory.kill_tensor(u)'
BRANCH = "if {}:;     u = x; else:;     u = x"
USE = 'l = R.call_packed("vm.builtin.make_tuple", u, ty_args=R.Tuple)'
NO_INPUT, SOME = "no input passes", "not every path passes"
CASES: dict[str, tuple[str, list[str]]] = {
    # What it is given, and what is said.
    "the shape of nothing": (f"u = {SHAPE.format('n')}", ["the call `n is a tensor`"]),
    "the shape of a tensor": (f"u = {SHAPE.format('x')}", []),
    "a field of nothing": (
        f"{COPY.format('n', 'R.Tuple(T4, T4)')}; u = v[0]; {USE}",
        ["the access `v is a tuple`"],
    ),
    "a field of a tuple": (f"{COPY.format('p', 'R.Tuple(T4, T4)')}; u = v[0]; {USE}", []),
    "a field of a storage": (
        f"{COPY.format('s', 'R.Tuple(T4, T4)')}; u = v[0]; {USE}",
        ["the access `v is a tuple`"],
    ),
    "for who takes a tensor": (
        f"{COPY.format('n', 'T4')}; u = Module.typed(v)",
        ["the call `v is a tensor`"],
    ),
    "a tensor for who takes one": (f"{COPY.format('x', 'T4')}; u = Module.typed(v)", []),
    "for who takes anything": ("u = Module.ignores(n, x)", []),
    "for who looks": ("u = Module.looks(n, x)", ["the call `p is a tensor`"]),
    "a tensor for who looks": ("u = Module.looks(x, x)", []),
    "for who hands it on": ("u = Module.hands_on(n, x)", ["the call `p is a tensor`"]),
    "from who gives it": (
        f"v = Module.gives(x); w = v[0]; u = {SHAPE.format('w')}",
        ["the call `w is a tensor`"],
    ),
    "beside what somebody gives": (f"v = Module.gives(x); w = v[1]; u = {SHAPE.format('w')}", []),
    "given back": (f"v = Module.gives_back(n, x); u = {SHAPE.format('v')}", ["the call `v is a tensor`"]),
    "a tensor given back": (
        f"v = Module.gives_back(x, x); w = Module.gives_back(n, x); u = {SHAPE.format('v')}",
        [],
    ),
    "a view of a storage": (
        'u = R.call_packed("vm.builtin.reshape", s, R.shape([4]), ty_args=T4)',
        ["the view `s is a tensor`"],
    ),
    "the shape of a storage": (f"u = {SHAPE.format('s')}", ["the call `s is a tensor`"]),
    "the shape of a tuple": (f"u = {SHAPE.format('p')}", ["the call `p is a tensor`"]),
    "the shape of a type": (f'd = R.dtype("float32"); u = {SHAPE.format("d")}', ["the call `d is a tensor`"]),
    "the shape of a number": (f"d = R.prim_value(3); u = {SHAPE.format('d')}", ["the call `d is a tensor`"]),
    "on a tensor": (ON_STORAGE.format("x"), ["the allocation `x is a storage`"]),
    "on a tuple": (ON_STORAGE.format("p"), ["the allocation `p is a storage`"]),
    "on a storage": (ON_STORAGE.format("s"), []),
    "a type as a tensor": (
        'd = R.dtype("float32"); u = R.match_cast(d, R.Tensor)',
        ["the match_cast `d is a tensor`"],
    ),
    "a tuple as a tensor": (
        f"{COPY.format('p', 'R.Any')}; u = R.match_cast(v, R.Tensor)",
        ["the match_cast `v is a tensor`"],
    ),
    "a shorter tuple": (
        f"{COPY.format('p', 'R.Any')}; u = R.match_cast(v, R.Tuple(R.Tensor))",
        ["the match_cast `v has 1 field`"],
    ),
    "a field that the machine takes": (
        f'v = R.call_packed("vm.builtin.make_tuple", x, n, ty_args=R.Any); {FIELD.format(1)}; u = Module.looks(w, x)',
        ["the call `p is a tensor`"],
    ),
    "another field that the machine takes": (
        f'v = R.call_packed("vm.builtin.make_tuple", x, n, ty_args=R.Any); {FIELD.format(0)}; u = Module.looks(w, x)',
        [],
    ),
    "a longer tuple": (
        f"{COPY.format('p', 'R.Any')}; u = R.match_cast(v, R.Tuple(R.Tensor, R.Tensor, R.Tensor))",
        ["the match_cast `v has 3 fields`"],
    ),
    "a field of another kind": (
        f"{COPY.format('p', 'R.Any')}; u = R.match_cast(v, R.Tuple(R.Tensor, R.Shape))",
        ["the match_cast `x is a shape`"],
    ),
    "a tuple as it is": (
        f"{COPY.format('p', 'R.Any')}; u = R.match_cast(v, R.Tuple(R.Tensor, R.Tensor))",
        [],
    ),
    "a tuple that the machine makes": (
        'v = R.call_packed("vm.builtin.make_tuple", x, s, ty_args=R.Any); u = R.match_cast(v, R.Tuple(R.Tensor, R.Tensor))',
        ["the match_cast `s is a tensor`"],
    ),
}


def _module(lines: str) -> Any:
    return parse(TEXT.replace("LINES", lines.replace("; ", "\n    ")).replace("T4", T4))


def _runs(module: Any) -> bool:
    """Whether a run survives, in a process of its own, which most of these end."""
    executable = relax.build(module, "llvm")
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            machine = relax.VirtualMachine(executable, tvm.cpu())
            machine["main"](tvm.runtime.tensor(np.ones(4, "float32")))
            code = 0
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1] == 0


@pytest.mark.vm
@pytest.mark.parametrize("name", CASES)
def test_what_something_is_not(name: str) -> None:
    if "a type" in name and tvm.__version__.startswith("0.26"):
        pytest.skip("TVM 0.26 cannot build a kill of a dtype")
    lines, said = CASES[name]
    module = _module(lines)
    found = findings(module, "RLX505")
    assert [check.message for check in found] == [f"{NO_INPUT} {one}" for one in said]
    assert {check.verdict.value for check in found} <= {"always-wrong"}
    assert _runs(module) == (not said)


def test_what_only_one_of_the_callers_hands_over() -> None:
    found = findings(_module("u = Module.looks(n, x); w = Module.looks(x, x)"), "RLX505")
    assert [check.verdict.value for check in found] == ["needs-runtime-check"]
    assert found[0].proof == "it is a null value on some paths"


BY_BRANCH = """
@R.function(pure=False)
def main(x: T4, c: R.Tensor((), "bool")):
    n = R.null_value()
    z = R.call_packed("vm.builtin.shape_of", x, ty_args=R.Any)
    p = R.call_packed("vm.builtin.make_tuple", x, z, ty_args=R.Any)
    if c:
        b = GIVEN
        u = b
    else:
        b = OTHER
        u = b
    LINES
    return q
"""


@pytest.mark.vm
@pytest.mark.parametrize(
    ("other", "lines", "said"),
    [
        # The machine asks what is nothing for its type: that ends the process.
        ("z", "q = R.match_cast(u, R.Shape(ndim=1))", "u is a shape"),
        ("p", "q = R.match_cast(u, R.Tuple(T4, R.Any))", "u is a tuple"),
        ("(x, z)", "w = u[1]; q = R.match_cast(w, R.Shape(ndim=1))", "w is a shape"),
        ("(x, z)", "q = R.match_cast(u, R.Tuple(T4, R.Shape(ndim=1)))", "n is a shape"),
        # That nothing is no tensor is said by the cast itself.
        ("x", "q = R.match_cast(u, T4)", None),
        ("z", "q = u", None),
    ],
)
def test_nothing_from_one_of_the_branches(other: str, lines: str, said: str | None) -> None:
    def module(given: str) -> Any:
        text = BY_BRANCH.replace("GIVEN", given).replace("OTHER", other).replace("T4", T4)
        return parse(text.replace("LINES", lines.replace("; ", "\n    ").replace("T4", T4)))

    null, right = module("(x, n)" if other.startswith("(") else "n"), module(other)
    found = findings(null, "RLX505")
    expected = [] if said is None else [f"{SOME} the match_cast `{said}`"]
    assert [check.message for check in found] == expected
    assert {check.verdict.value for check in found} <= {"needs-runtime-check"}
    assert not findings(right, "RLX505")
    assert _is_killed(null, taken=True) == (said is not None)
    assert not _is_killed(null, taken=False)
    assert not _is_killed(right, taken=True)


def _is_killed(module: Any, *, taken: bool) -> bool:
    """Whether a signal ends a run."""
    executable = relax.build(module, "llvm")
    child = os.fork()
    if child == 0:
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            machine = relax.VirtualMachine(executable, tvm.cpu())
            machine["main"](tvm.runtime.tensor(np.ones(4, "float32")), tvm.runtime.tensor(np.array(taken)))
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def test_a_tensor_that_has_no_storage_of_its_own_yet_takes_none() -> None:
    text = """
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32")):
    a = R.builtin.alloc_tensor(R.shape([4]), R.dtype("float32"), R.prim_value(0), R.str("global"))
    s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    b = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
    return b
"""
    program = build_program(parse(text))
    (function,) = program.functions
    flow = FunctionFlow(ProgramFlow(program), function)
    found = [[words for _, (_, words) in taken(op, flow)] for op in function.body.of(AllocTensor)]
    assert found == [[], ["a storage"]]
