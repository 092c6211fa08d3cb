"""Writes that are certain and writes that may be, fields of tuples, results that may be an argument, function
values and arguments on one memory: each with a twin that is fine.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tvm import relax

from relax_lint.replay import Machine, Module, Outcome, Tensor
from tests.rules.checking import checks, findings, parse

KERNELS = """
@T.prim_func(private=True)
def fill(a: T.handle):
    n = T.int64()
    x = T.match_buffer(a, (n,), "float32")
    for i in range(n):
        x[i] = T.float32(7)

@T.prim_func(private=True)
def some(a: T.handle):
    n = T.int64()
    x = T.match_buffer(a, (n,), "float32")
    for i in range(n):
        if i < 2:
            x[i] = T.float32(7)

@T.prim_func(private=True)
def copy(a: T.handle, b: T.handle):
    n = T.int64()
    x = T.match_buffer(a, (n,), "float32")
    y = T.match_buffer(b, (n,), "float32")
    for i in range(n):
        y[i] = x[i]

@T.prim_func(private=True)
def twice(a: T.handle):
    n = T.int64()
    x = T.match_buffer(a, (n,), "float32")
    for i in range(n):
        x[i] = x[i] * T.float32(2)
"""
HEAD = """
@R.function(pure=False)
def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")):
"""
STORAGE = """
    s = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
"""
A = """
    a = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
"""
B = """
    b = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
"""
ONE = HEAD + STORAGE + A
TWO = ONE + B
FILL_IF = """
@R.function(pure=False, private=True)
def put(t: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")):
    if c:
        w = Module.fill(t)
        r = t
    else:
        r = t
    return r
"""
FILL = """
@R.function(pure=False, private=True)
def put(t: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")):
    w = Module.fill(t)
    return t
"""
MAKE = """
@R.function(pure=False, private=True)
def make(s: R.Object, x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    t = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
    w = Module.copy(x, t)
    return t
"""
SHIFT = """
@R.function(pure=False, private=True)
def shift(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
    w = Module.fill(y)
    return R.add(x, y)
"""


def said(body: str) -> set[tuple[str, str]]:
    """Rule and verdict of what is reported about reads, writes and memory that is not used."""
    found = findings(parse(KERNELS + body), "RLX20")
    return {(check.rule, check.verdict.value) for check in found if check.rule != "RLX207"}


MAY = "needs-runtime-check"
WRONG = "always-wrong"
BOTH = """
@T.prim_func(private=True)
def both(a: T.handle, b: T.handle):
    n = T.int64()
    x = T.match_buffer(a, (n,), "float32")
    y = T.match_buffer(b, (n,), "float32")
    for i in range(n):
        x[i] = x[i] * T.float32(2)
        y[i] = y[i] * T.float32(3)
"""
OUTPUTS = (
    BOTH + HEAD + "    a = R.add(x, y)\n    b = R.multiply(x, y)\n"
    '    p = R.call_tir_inplace(Module.both, (a, b), [0, 1], [R.Tensor((4,), "float32"), R.Tensor((4,), "float32")])\n'
    "    q = p[0]\n    r = p[{}]\n"
    '    z = R.call_tir_inplace(Module.twice, ({},), [0], R.Tensor((4,), "float32"))\n'
    "    w = R.add(z, {})\n    return w\n"
)
"""Two results that lie in the arguments; which of them is overwritten, and what is read then."""

CASES = {
    "the other result in place": (OUTPUTS.format(1, "q", "r"), set()),
    "the argument of the other result": (OUTPUTS.format(1, "q", "b"), {("RLX206", "always-wrong")}),
    "the same result in place": (OUTPUTS.format(0, "q", "r"), {("RLX206", "always-wrong")}),
    "a part": (ONE + "    w = Module.some(a)\n    return a\n", {("RLX205", "always-wrong")}),
    "all": (ONE + "    w = Module.fill(a)\n    return a\n", set()),
    "a part, then all": (ONE + "    v = Module.some(a)\n    w = Module.fill(a)\n    return a\n", set()),
    "a branch of a callee": (
        FILL_IF + ONE + "    w = Module.put(a, c)\n    return a\n",
        {("RLX205", MAY)},
    ),
    "every path of a callee": (FILL + ONE + "    w = Module.put(a, c)\n    return a\n", set()),
    "overwritten, then a part written again": (
        TWO + "    w = Module.fill(a)\n    v = Module.copy(x, b)\n    u = Module.some(a)\n    return a\n",
        {("RLX203", MAY)},
    ),
    "overwritten, then all written again": (
        TWO + "    w = Module.fill(a)\n    v = Module.copy(x, b)\n    u = Module.fill(a)\n    return a\n",
        set(),
    ),
    "one of two tensors": (
        TWO + "    if c:\n        r = a\n    else:\n        r = b\n    w = Module.fill(r)\n    return a\n",
        {("RLX205", MAY)},
    ),
    "one of two tensors, read as it was written": (
        TWO + "    if c:\n        r = a\n    else:\n        r = b\n    w = Module.fill(r)\n    return r\n",
        set(),
    ),
    "a tuple of the VM": (
        TWO + "    w = Module.fill(a)\n"
        '    p = R.call_packed("vm.builtin.make_tuple", a, ty_args=R.Tuple(R.Tensor((4,), "float32")))\n'
        "    q = p[0]\n    v = Module.copy(x, b)\n    return q\n",
        {("RLX203", "always-wrong")},
    ),
    "the other field of a tuple of the VM": (
        TWO + "    w = Module.fill(a)\n"
        '    p = R.call_packed("vm.builtin.make_tuple", a, x, ty_args=R.Tuple(R.Tensor((4,), "float32"),'
        ' R.Tensor((4,), "float32")))\n'
        "    q = p[1]\n    v = Module.copy(x, b)\n    return q\n",
        set(),
    ),
    "another name of a function": (
        FILL + TWO + "    f = Module.put\n    w = Module.copy(x, a)\n    v = f(b, c)\n    return a\n",
        {("RLX203", "always-wrong")},
    ),
    "twice on one storage": (
        MAKE
        + HEAD
        + STORAGE
        + "    p = Module.make(s, x)\n    z = R.add(y, y)\n    q = Module.make(s, z)\n    return (p, q)\n",
        {("RLX203", MAY)},
    ),
    "once on a storage": (MAKE + HEAD + STORAGE + "    p = Module.make(s, x)\n    return (p, y)\n", set()),
    "one tensor twice": (
        SHIFT + HEAD + "    a = R.add(x, y)\n    b = Module.shift(a, a)\n    return b\n",
        {("RLX206", MAY)},
    ),
    "two tensors": (
        SHIFT + HEAD + "    a = R.add(x, y)\n    b = Module.shift(x, a)\n    return b\n",
        set(),
    ),
    "nothing in a field of a result": (
        "@R.function(pure=False, private=True)\n"
        'def make(x: R.Tensor((4,), "float32")):\n'
        + STORAGE
        + A
        + "    return (x, (x, a))\n"
        + HEAD
        + "    p = Module.make(x)\n    q = p[1]\n    r = q[1]\n    return r\n",
        {("RLX205", "always-wrong")},
    ),
    "the field beside it": (
        "@R.function(pure=False, private=True)\n"
        'def make(x: R.Tensor((4,), "float32")):\n'
        + STORAGE
        + A
        + "    return (x, (x, a))\n"
        + HEAD
        + "    p = Module.make(x)\n    q = p[1]\n    r = q[0]\n    return r\n",
        set(),
    ),
    "what becomes a view": (
        HEAD + "    with R.dataflow():\n        a = R.add(x, y)\n        f = R.flatten(a)\n        g = f\n"
        "        R.output(a, g)\n"
        '    z = R.call_tir_inplace(Module.twice, (g,), [0], R.Tensor((4,), "float32"))\n    return (z, a)\n',
        {("RLX206", MAY)},
    ),
    "what leaves its dataflow block is copied": (
        HEAD
        + "    with R.dataflow():\n        a = R.add(x, y)\n        f = R.flatten(a)\n        R.output(a, f)\n"
        '    z = R.call_tir_inplace(Module.twice, (f,), [0], R.Tensor((4,), "float32"))\n    return (z, a)\n',
        set(),
    ),
    "what is copied outside of a dataflow block": (
        HEAD + "    a = R.add(x, y)\n    f = R.flatten(a)\n"
        '    z = R.call_tir_inplace(Module.twice, (f,), [0], R.Tensor((4,), "float32"))\n    return (z, a)\n',
        set(),
    ),
    "the other half": (
        '@R.function(pure=False)\ndef main(x: R.Tensor((8,), "float32")):\n'
        "    p = R.split(x, 2)\n    a = p[0]\n    b = p[1]\n"
        '    c = R.call_tir_inplace(Module.twice, (a,), [0], R.Tensor((4,), "float32"))\n'
        "    d = R.add(c, b)\n    return d\n",
        set(),
    ),
    "the same half": (
        '@R.function(pure=False)\ndef main(x: R.Tensor((8,), "float32")):\n'
        "    p = R.split(x, 2)\n    a = p[0]\n    b = p[0]\n"
        '    c = R.call_tir_inplace(Module.twice, (a,), [0], R.Tensor((4,), "float32"))\n'
        "    d = R.add(c, b)\n    return d\n",
        {("RLX206", "always-wrong")},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_reported(name: str) -> None:
    body, expected = CASES[name]
    assert said(body) == expected


def test_what_a_packed_function_returns_is_new_by_assumption_only() -> None:
    body = (
        TWO + "    w = Module.fill(a)\n"
        '    q = R.call_pure_packed("f", a, ty_args=R.Tensor((4,), "float32"))\n'
        "    v = Module.copy(x, b)\n    return q\n"
    )
    (check,) = (c for c in checks(parse(KERNELS + body), "RLX203") if c.binding == "v")
    assert check.verdict.value == "always-fine"
    assert check.assumes == ("`f` returns a new tensor, none that it was given or has kept",)


def test_what_an_unknown_function_is_taken_to_write_is_listed() -> None:
    body = ONE + '    w = R.call_packed("f", a, ty_args=R.Tuple)\n    return a\n'
    (check,) = checks(parse(KERNELS + body), "RLX205")
    assert check.verdict.value == "always-fine"
    assert check.assumes == ("`f` may read and write its arguments, but does not keep them",)


def test_a_storage_that_reaches_an_unknown_caller_is_not_followed() -> None:
    function = """
    @R.function(pure=False, private=True)
    def put(s: R.Object):
        t = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([4]), R.dtype("float32"))
        return t
    """
    call = HEAD + STORAGE + "    r = Module.put(s)\n    return x\n"
    escaping = HEAD + STORAGE + "    r = Module.put(s)\n    return (x, Module.put)\n"
    verdicts = [
        {c.verdict.value for c in checks(parse(KERNELS + function.replace("\n    ", "\n") + main), "RLX101")}
        for main in (call, escaping)
    ]
    assert verdicts == [{"always-fine"}, {MAY}]


def test_an_inner_function_is_not_the_global_one_of_its_name() -> None:
    body = (
        FILL + TWO + "    w = Module.copy(x, a)\n\n    @R.function(pure=False)\n"
        '    def put(t: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")):\n        return t\n\n'
        "    v = Module.put(b, c)\n    return a\n"
    )
    assert ("RLX203", "always-wrong") in said(body)


def test_allocations_that_a_branch_gives_are_used() -> None:
    body = (
        TWO
        + "    if c:\n        r = a\n    else:\n        r = b\n    w = Module.fill(r)\n    return (x, (r, x))\n"
    )
    assert findings(parse(KERNELS + body), "RLX208") == []


def test_what_the_in_place_pass_makes_of_a_split() -> None:
    module = parse(
        """
        @R.function
        def main(x: R.Tensor((8, 4), "float32")) -> R.Tensor((4, 4), "float32"):
            with R.dataflow():
                a = R.add(x, x)
                p = R.split(a, 2)
                l = p[0]
                r = p[1]
                u = R.exp(l)
                v = R.add(u, r)
                R.output(v)
            return v
        """
    )
    made = relax.transform.DataflowUseInplaceCalls()(module)
    assert "call_tir_inplace" in made.script()
    assert findings(made, "RLX206") == []


def test_where_a_callee_begins_to_read_is_said_by_its_callers() -> None:
    """A kernel that was built for offset zero gets a parameter: its only caller gives it half of a tensor, and
    the machine refuses that in every run.
    """
    body = """
@R.function(pure=False, private=True)
def put(t: R.Tensor((2,), "float32")):
    w = Module.fill(t)
    return t
"""
    half = HEAD + '    v = R.memory.view(x, R.shape([2]), R.dtype("float32"), R.prim_value({}))\n'
    half += "    w = Module.put(v)\n    return x\n"
    first, second = (findings(parse(KERNELS + body + half.format(at)), "RLX303") for at in (0, 8))
    assert first == []
    assert [(check.function, check.verdict.value) for check in second] == [("put", WRONG)]


HEADER = "from tvm.script import ir as I, relax as R, tirx as T\n\n\n@I.ir_module\nclass Module:\n"
RUNS = {
    "one tensor twice": (14.0, 14.0, 14.0, 14.0),
    "twice on one storage": (0.0, 2.0, 4.0, 6.0),
    "a tuple of the VM": (0.0, 1.0, 2.0, 3.0),
    "another name of a function": (7.0, 7.0, 7.0, 7.0),
    "the other half": (4.0, 7.0, 10.0, 13.0),
}
"""What is returned first where each tensor comes in with its indices: what was overwritten, but for the last."""


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    """One for all runs: each of them stays in the memory that it has."""
    with Machine() as machine:
        yield machine


@pytest.mark.vm
@pytest.mark.parametrize("name", RUNS)
def test_the_virtual_machine_shows_it(name: str, machine: Machine) -> None:
    text = HEADER + "".join(f"    {line}\n" for line in (KERNELS + CASES[name][0]).splitlines())
    inputs = [Tensor("float32", (4,)), Tensor("float32", (4,)), Tensor("bool", (), 1)]
    if name == "the other half":
        inputs = [Tensor("float32", (8,))]
    run = machine.run(Module(text), "main", inputs, allocator="naive")
    assert run.outcome is Outcome.OK
    assert run.outputs[0].values == RUNS[name]
