"""Several `If`s that ask for the same condition take the same branch: what RLX205 makes of that."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import product
from textwrap import indent

import numpy as np
import pytest
import tvm
from tvm import relax

from relax_lint.judging.report import check_module
from relax_lint.results.verdict import Verdict
from relax_lint.settings.config import Config
from tests.rules.checking import checks, parse

KERNELS = """
@T.prim_func(private=True)
def fill(x: T.Buffer((4,), "float32")):
    for i in range(4):
        x[i] = T.float32(2)

@T.prim_func(private=True)
def copy(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[i]

@T.prim_func(private=True)
def double(x: T.Buffer((4,), "float32")):
    for i in range(4):
        x[i] = x[i] * T.float32(2)

@T.prim_func(private=True)
def turn(k: T.Buffer((), "bool")):
    k[()] = not k[()]
"""
NAMES = ("c", "d", "not_c", "k", "n < 3")
"""Conditions: two parameters, the negation of one, a tensor that is overwritten, and a comparison."""


def _allocated(name: str, shape: str = "[4]", dtype: str = "float32") -> str:
    return (
        f's_{name} = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))\n'
        f"{name} = R.memory.alloc_tensor(s_{name}, R.prim_value(0), R.shape({shape}), "
        f'R.dtype("{dtype}"), R.prim_value(0))'
    )


def _module(body: str, kernels: str = KERNELS) -> str:
    main = (
        '@R.function(pure=False)\ndef main(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool"), '
        'd: R.Tensor((), "bool"), z: R.Tensor(("n",), "float32")):\n    n = T.int64()\n'
    )
    return "@I.ir_module\nclass Module:\n" + indent(kernels + "\n" + main + indent(body, "    "), "    ")


@dataclass
class Walk:
    """One run: what is written, and each read of a tensor that was not."""

    values: dict[str, bool]
    written: set[str] = field(default_factory=set)
    chosen: dict[str, str] = field(default_factory=dict)
    reads: set[tuple[str, str]] = field(default_factory=set)
    reached: set[str] = field(default_factory=set)


@dataclass
class Step:
    """A line, or an `If` around more."""

    kind: str
    name: str
    tensor: str = ""
    other: str = ""
    branches: tuple[list[Step], list[Step]] = ((), ())  # type: ignore[assignment]

    def text(self) -> str:
        if self.kind == "fill":
            return f"{self.name} = Module.fill({self.tensor})"
        if self.kind == "read":
            return f"{self.name} = Module.copy({self.tensor}, o)"
        if self.kind == "turn":
            return f"{self.name} = Module.turn(k)"
        then, other = (
            "".join(f"{step.text()}\n" for step in branch) + f"{self.name} = {given}"
            for branch, given in zip(self.branches, (self.tensor, self.other), strict=True)
        )
        return f"if {self.kind}:\n{indent(then, '    ')}\nelse:\n{indent(other, '    ')}"

    def run(self, walk: Walk) -> None:
        tensor = walk.chosen.get(self.tensor, self.tensor)
        if self.kind == "fill":
            walk.written.add(tensor)
        elif self.kind == "read":
            walk.reached.add(self.name)
            if tensor not in walk.written:
                walk.reads.add((self.name, tensor))
        elif self.kind == "turn":
            walk.values["k"] = not walk.values["k"]
        else:
            holds = not walk.values["c"] if self.kind == "not_c" else walk.values[self.kind]
            for step in self.branches[not holds]:
                step.run(walk)
            given = self.tensor if holds else self.other
            walk.chosen[self.name] = walk.chosen.get(given, given)


def _some(seed: int) -> list[Step]:
    chance, number = random.Random(seed), iter(range(1000))

    def steps(count: int, depth: int, inside: tuple[str, ...]) -> Iterator[Step]:
        for _ in range(count):
            roll, name = chance.random(), f"v{next(number)}"
            tensor = chance.choice(("a", "b", *inside))
            if roll < 0.3:
                yield Step("fill", name, tensor)
            elif roll < 0.5:
                yield Step("read", name, tensor)
            elif roll < 0.55:
                yield Step("turn", name)
            elif depth < 2:
                condition = chance.choice(NAMES)
                branches = tuple(list(steps(chance.randint(0, 2), depth + 1, inside)) for _ in range(2))
                yield Step(condition, name, tensor, chance.choice(("a", "b")), branches)  # type: ignore[arg-type]
                if depth == 0:
                    inside = (*inside, name)

    return list(steps(chance.randint(3, 6), 0, ()))


def _text(steps: list[Step]) -> str:
    head = [
        "not_c = R.logical_not(c)",
        _allocated("k", "[]", "bool"),
        "start = Module.same(d, k)",
        *map(_allocated, ("a", "b", "o")),
        "first = Module.fill(o)",
    ]
    same = '\n@T.prim_func(private=True)\ndef same(x: T.Buffer((), "bool"), y: T.Buffer((), "bool")):\n    y[()] = x[()]\n'
    body = [*head, *(step.text() for step in steps), "return o"]
    return _module("\n".join(body), KERNELS + same)


def _all(steps: Iterable[Step]) -> Iterator[Step]:
    for step in steps:
        yield step
        for branch in step.branches:
            yield from _all(branch)


def _walks(steps: list[Step]) -> Iterator[Walk]:
    for c, d, small in product((True, False), repeat=3):
        walk = Walk({"c": c, "d": d, "k": d, "n < 3": small}, {"o"})
        for step in steps:
            step.run(walk)
        yield walk


@pytest.mark.parametrize("seed", range(40))
def test_unwritten_tensors_are_those_of_some_run(seed: int) -> None:
    steps = _some(seed)
    walks = list(_walks(steps))
    checks = check_module(tvm.script.from_source(_text(steps)), Config(select=("RLX205",))).checks
    told = [check for check in checks if check.verdict is not Verdict.ALWAYS_FINE]
    for tensor in ("a", "b"):
        is_bad = any(one == tensor for walk in walks for _, one in walk.reads)
        mine = [check for check in told if f"`{tensor}`" in check.message]
        assert bool(mine) or not is_bad
        assert is_bad or not mine or any(step.kind == "turn" for step in _all(steps))
    certain = [check for check in told if check.verdict is Verdict.ALWAYS_WRONG]
    for check in certain:
        reached = [walk for walk in walks if check.binding in walk.reached]
        assert all(any(name == check.binding for name, _ in walk.reads) for walk in reached)


FIRST = """
if {first}:
    one = Module.{write}
    u = x
else:
    two = x
    u = two
"""
SECOND = """
if {second}:
    three = Module.copy({then}, o)
    v = x
else:
    four = Module.copy({otherwise}, o)
    v = x
return o
"""
FINE, WRONG, OPEN = Verdict.ALWAYS_FINE, Verdict.ALWAYS_WRONG, Verdict.NEEDS_RUNTIME_CHECK


def _of_two_ifs(write: str, condition: str, second: str, between: str = "", *, then: bool) -> tvm.IRModule:
    start = [*map(_allocated, ("a", "o", "k")), "nothing = Module.fill(k)", "all_of_o = Module.fill(o)"]
    first = FIRST.format(first=condition, write=write)
    last = SECOND.format(second=second, then="a" if then else "x", otherwise="x" if then else "a")
    lines = [*start, "not_c = R.logical_not(c)", first.strip(), *([between] if between else []), last.strip()]
    return tvm.script.from_source(_module("\n".join(lines)))


@pytest.mark.parametrize(
    ("first", "second", "between", "then", "said"),
    [
        ("c", "c", "", True, FINE),
        ("c", "c", "", False, WRONG),
        ("c", "not_c", "", True, WRONG),
        ("c", "not_c", "", False, FINE),
        ("n < 3", "n < 3", "", True, FINE),
        ("n < 3", "n < 3", "", False, WRONG),
        ("n < 3", "n >= 3", "", True, WRONG),
        ("c", "d", "", True, OPEN),
        ("c", "d", "", False, OPEN),
        ("n < 3", "n < 4", "", True, OPEN),
        # Nobody says that the parameters share no memory.
        ("c", "c", "p = Module.fill(x)", True, OPEN),
        ("c", "c", "p = Module.fill(k)", True, FINE),
        ("c", "c", "p = Module.turn(c)", True, OPEN),
        ("c", "c", 'p = R.call_packed("some.thing", c, ty_args=R.Object)', True, OPEN),
        # An assertion asks for the same.
        ("c", "d", 'p = R.assert_op(c, [], format="")', True, FINE),
        ("not_c", "d", 'p = R.assert_op(c, [], format="")', True, WRONG),
        ("n < 3", "d", 'p = R.assert_op(n < 3, [], format="")', True, FINE),
    ],
)
def test_a_tensor_that_one_of_two_branches_writes(
    first: str, second: str, between: str, then: bool, said: Verdict
) -> None:
    module = _of_two_ifs("fill(a)", first, second, between, then=then)
    checks = check_module(module, Config(select=("RLX205",))).checks
    mine = {check.verdict for check in checks if "`a`" in check.message} - {FINE}
    assert mine == {said} - {FINE}


@pytest.mark.parametrize("c", [True, False])
def test_the_machine_agrees(c: bool) -> None:
    module = _of_two_ifs("fill(a)", "c", "c", then=True)
    machine = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu(), memory_cfg="naive")
    x = np.full(4, 7, "float32")
    given = (tvm.runtime.tensor(one) for one in (x, np.array(c), np.array(True), x))
    assert np.all(machine["main"](*given).numpy() == (2 if c else 7))


@pytest.mark.parametrize(
    ("condition", "read", "said"),
    [
        ("c", "a", {FINE}),
        ("not_c", "b", {FINE}),
        ("c", "b", {WRONG}),
        ("d", "a", {OPEN}),
        ("c", "e", {FINE}),
    ],
)
def test_what_is_written_by_the_name_that_a_branch_gives(
    condition: str, read: str, said: set[Verdict]
) -> None:
    lines = [
        *map(_allocated, ("a", "b", "o")),
        "all_of_o = Module.fill(o)",
        "not_c = R.logical_not(c)",
        "if c:\n    e = a\nelse:\n    e = b",
        "filled = Module.fill(e)",
        f"if {condition}:\n    t = Module.copy({read}, o)\n    v = x\nelse:\n    t = x\n    v = t",
        "return o",
    ]
    checks = check_module(
        tvm.script.from_source(_module("\n".join(lines))), Config(select=("RLX205",))
    ).checks
    mine = {check.verdict for check in checks if "`a`" in check.message or "`b`" in check.message}
    assert mine - {FINE} == said - {FINE}


def test_a_part_that_is_written_by_such_a_name_is_not_all() -> None:
    lines = [
        *map(_allocated, ("a", "b")),
        'if c:\n    e = R.memory.view(a, R.shape([2]), R.dtype("float32"), 0)',
        'else:\n    e = R.memory.view(b, R.shape([2]), R.dtype("float32"), 0)',
        "filled = Module.fill2(e)",
        "if c:\n    t = Module.copy(a, b)\n    v = x\nelse:\n    t = x\n    v = t",
        "return x",
    ]
    kernel = """
@T.prim_func(private=True)
def fill2(x: T.Buffer((2,), "float32")):
    for i in range(2):
        x[i] = T.float32(2)
"""
    module = tvm.script.from_source(_module("\n".join(lines), KERNELS + kernel))
    checks = check_module(module, Config(select=("RLX205",))).checks
    assert any(check.verdict is not FINE and "`a`" in check.message for check in checks)


GIVEN_BACK = (
    KERNELS
    + """
@T.prim_func(private=True)
def yes(k: T.Buffer((), "bool")):
    k[()] = T.bool(True)

@T.prim_func(private=True)
def no(k: T.Buffer((), "bool")):
    k[()] = T.bool(False)

@R.function(pure=False)
def main(o: R.Tensor((4,), "float32")):
    s = R.memory.alloc_storage(R.shape([1]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    k = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([]), R.dtype("bool"))
    k1 = Module.FIRST(k)
    sa = R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
    a = R.memory.alloc_tensor(sa, R.prim_value(0), R.shape([4]), R.dtype("float32"))
    r = ASKED
    if r:
        f = Module.fill(a)
        u = o
    else:
        u = o
    k2 = Module.SECOND(k)
    if r:
        c = THEN
        v = o
    else:
        d = OTHERWISE
        v = o
    return o
"""
)
COPY = "Module.copy(a, o)"


@pytest.mark.parametrize(
    "asked",
    [
        'R.call_packed("identity", k, ty_args=R.Tensor((), "bool"))',
        'R.call_pure_packed("identity", k, ty_args=R.Tensor((), "bool"))',
        'R.match_cast(R.call_packed("identity", k, ty_args=R.Any), R.Tensor((), "bool"))',
    ],
)
@pytest.mark.parametrize(("first", "then", "otherwise"), [("no", COPY, "o"), ("yes", "o", COPY)])
def test_what_a_call_gives_may_be_what_is_written_between(
    asked: str, first: str, then: str, otherwise: str
) -> None:
    # `r` may be `k`: it is another truth in the second branch then, and `a` is not what it is said to be.
    second = "yes" if first == "no" else "no"
    text = GIVEN_BACK.replace("FIRST", first).replace("SECOND", second).replace("ASKED", asked)
    found = checks(parse(text.replace("THEN", then).replace("OTHERWISE", otherwise)), "RLX205")
    assert {check.verdict for check in found if check.binding in ("c", "d")} == {Verdict.NEEDS_RUNTIME_CHECK}
