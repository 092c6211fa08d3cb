"""Lowered functions with a shape heap as plain data, their TVMScript, and random ones.

`main(x: float32[n], z: float32[m], s: shape(k), c: bool)`; the shapes of `x` and `z` are not declared.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

SLOTS = 4
PUT = "relax_lint.oracle.heap.put"
"""A packed function that finds the heap in what it is given, and puts `PUTS` into a slot."""
PUTS = 5
WAYS = ("alone", "tuple", "nested", "named", "field", "branch", "function", "function of a tuple")
"""How it is given the heap."""
STORE, SKIP, SAME, CONSTANT = 1, 2, 3, 0
"""The codes of `match_shape`."""

KERNELS = """
    @T.prim_func(private=True, s_tir=True)
    def twice(H: T.Buffer((T.int64(4),), "int64")):
        H[{a}] = H[{b}] * T.int64(2)
        H[{b}] = H[{a}] + T.int64(1)

    @T.prim_func(private=True, s_tir=True)
    def eight(H: T.Buffer((T.int64(4),), "int64")):
        H[{a}] = H[{b}] * T.int64(8)

    @T.prim_func(private=True, s_tir=True)
    def maybe(H: T.Buffer((T.int64(4),), "int64")):
        if H[{b}] > T.int64(2):
            H[{a}] = T.int64(7)

    @T.prim_func(private=True, s_tir=True)
    def all(H: T.Buffer((T.int64(4),), "int64")):
        for i in range(4):
            H[i] = T.int64(6)
"""


@dataclass(frozen=True)
class Match:
    """`match_shape` of x or z with one code, or `match_prim_value` of k; `operand` is a slot or a number."""

    name: str
    source: str
    code: int
    operand: int


@dataclass(frozen=True)
class Compute:
    """A call of one of `KERNELS`; all but `all` use the slots `a` and `b`."""

    name: str
    kernel: str
    a: int
    b: int


@dataclass(frozen=True)
class Allocate:
    """A storage of as many bytes as one slot says, and a tensor on it with four bytes for each of another."""

    name: str
    size: int
    extent: int


@dataclass(frozen=True)
class Rename:
    """Another name of the heap."""

    name: str


@dataclass(frozen=True)
class Escape:
    """A call of `PUT` that is given the heap in one of `WAYS`."""

    name: str
    way: str
    slot: int


@dataclass(frozen=True)
class Branch:
    """`if c:`."""

    name: str
    then: tuple[Step, ...]
    other: tuple[Step, ...]


Step: TypeAlias = Match | Compute | Allocate | Rename | Escape | Branch
Program: TypeAlias = tuple[Step, ...]


def walk(steps: Sequence[Step]) -> Iterator[Step]:
    """Every step, branches included."""
    for step in steps:
        yield step
        if isinstance(step, Branch):
            yield from walk(step.then)
            yield from walk(step.other)


def smaller(program: Program) -> Iterator[Program]:
    """The program without one step, or with one branch for both."""
    for at, step in enumerate(program):
        yield (*program[:at], *program[at + 1 :])
        if isinstance(step, Branch):
            for then in smaller(step.then):
                yield (*program[:at], replace(step, then=then), *program[at + 1 :])
            for other in smaller(step.other):
                yield (*program[:at], replace(step, other=other), *program[at + 1 :])
        elif isinstance(step, Escape) and step.way != WAYS[0]:
            yield (*program[:at], replace(step, way=WAYS[0]), *program[at + 1 :])


# -- text -------------------------------------------------------------------------------------


def text(program: Program) -> str:
    """The program as a TVMScript file."""
    kernels = "".join(kernel(step) for step in walk(program) if isinstance(step, Compute))
    lines = [
        "from tvm.script import ir as I, relax as R, tirx as T\n\n\n@I.ir_module\nclass Module:",
        kernels,
        *[_HANDED for step in walk(program) if isinstance(step, Escape)][:1],
        "    @R.function(pure=False)",
        '    def main(x: R.Tensor("float32", ndim=1), z: R.Tensor("float32", ndim=1), s: R.Shape(["k"]),'
        ' c: R.Tensor((), "bool")) -> R.Shape(ndim=1):',
        "        k = T.int64()",
        f'        heap = R.call_builtin_with_ctx("vm.builtin.alloc_shape_heap", (R.prim_value({SLOTS}),),'
        ' ty_args=[R.Tensor("int64", ndim=1)])',
        *_block(program, "        ", "heap"),
        "        return s",
    ]
    return "\n".join(lines) + "\n"


def kernel(step: Compute) -> str:
    """The PrimFunc that a step calls."""
    one = next(part for part in KERNELS.split("\n\n") if f"def {step.kernel}(" in part)
    return one.replace(f"def {step.kernel}(", f"def {step.name}(").format(a=step.a, b=step.b) + "\n"


def _block(steps: Sequence[Step], margin: str, heap: str) -> list[str]:
    lines: list[str] = []
    for step in steps:
        if isinstance(step, Branch):
            for head, body in (("if c:", step.then), ("else:", step.other)):
                lines += [margin + head, *_block(body, margin + "    ", heap), f"{margin}    {step.name} = x"]
        elif isinstance(step, Rename):
            lines.append(f"{margin}{step.name} = {heap}")
            heap = step.name
        else:
            lines += [margin + line for line in lines_of(step, heap)]
    return lines


def lines_of(step: Match | Compute | Allocate | Escape, heap: str) -> list[str]:
    """What a step is in TVMScript."""
    if isinstance(step, Escape):
        return _escape(step.name, step.way, heap, f"R.prim_value({step.slot})")
    if isinstance(step, Compute):
        return [f"{step.name}_v = Module.{step.name}({heap})"]
    if isinstance(step, Match):
        codes = f'R.prim_value({step.code}), R.prim_value({step.operand}), R.str("")'
        if step.source == "k":
            call = f'"vm.builtin.match_prim_value", R.prim_value(k), {heap}, {codes}'
        else:
            call = f'"vm.builtin.match_shape", {step.source}, {heap}, R.prim_value(1), {codes}'
        return [f"{step.name} = R.call_packed({call}, ty_args=[R.Tuple])"]
    made = [
        f'{step.name}_{part} = R.call_packed("vm.builtin.make_shape", {heap}, R.prim_value(1), R.prim_value(1),'
        f" R.prim_value({slot}), ty_args=[R.Shape(ndim=1)])"
        for part, slot in (("s", step.size), ("e", step.extent))
    ]
    return [
        *made,
        f'{step.name}_m = R.vm.alloc_storage({step.name}_s, R.prim_value(0), R.dtype("uint8"), R.str("global"))',
        f'{step.name} = R.vm.alloc_tensor({step.name}_m, R.prim_value(0), {step.name}_e, R.dtype("float32"))',
    ]


_HEAP = 'R.Tensor("int64", ndim=1)'
_HANDED = f"""
    @R.function(pure=False, private=True)
    def handed(h: {_HEAP}, i: R.Prim("int64")) -> {_HEAP}:
        v = R.call_packed("{PUT}", h, i, ty_args=[R.Tuple])
        return h

    @R.function(pure=False, private=True)
    def handed_pair(t: R.Tuple({_HEAP}, R.Tensor("float32", ndim=1)), i: R.Prim("int64")) -> {_HEAP}:
        h = t[0]
        v = R.call_packed("{PUT}", h, i, ty_args=[R.Tuple])
        return h
"""


def _escape(name: str, way: str, heap: str, slot: str) -> list[str]:
    before: dict[str, list[str]] = {
        "named": [f"{name}_t = (x, {heap})"],
        "field": [f"{name}_t = (x, {heap})", f"{name}_f = {name}_t[1]"],
        "branch": ["if c:", f"    {name}_b = {heap}", "else:", f"    {name}_b = {heap}"],
    }
    if way.startswith("function"):
        given = heap if way == "function" else f"({heap}, x)"
        return [f"{name} = Module.handed{'' if way == 'function' else '_pair'}({given}, {slot})"]
    given = {
        "tuple": f"({heap}, x)",
        "nested": f"(x, (x, {heap}))",
        "named": f"{name}_t",
        "field": f"{name}_f",
        "branch": f"{name}_b",
    }.get(way, heap)
    return [*before.get(way, []), f'{name} = R.call_packed("{PUT}", {given}, {slot}, ty_args=[R.Tuple])']


# -- random programs ---------------------------------------------------------------------------


def random_program(seed: int, *, escapes: bool = False) -> Program:
    """A program, the same for the same seed. Most begin with the slots that the rest uses. `escapes`: a packed function
    gets the heap, too.
    """
    rng = random.Random(seed)
    first = tuple(
        Match(f"f{slot}", rng.choice("xxzk"), STORE, slot)
        for slot in range(SLOTS)
        if rng.random() < (0.5 if escapes else 0.85)
    )
    return (*first, *_Generator(rng, escapes=escapes).steps(8, 2))


class _Generator:
    def __init__(self, rng: random.Random, *, escapes: bool) -> None:
        self._rng = rng
        # With one way in a program, what is known of the others is not hidden.
        self._way = rng.choice(WAYS) if escapes else None
        self._count = 0

    def steps(self, most: int, depth: int) -> Program:
        """Some steps."""
        return tuple(self._step(depth) for _ in range(self._rng.randint(1, most)))

    def _step(self, depth: int) -> Step:
        self._count += 1
        name, rng = f"v{self._count}", self._rng
        kind = rng.choices(
            ("match", "compute", "allocate", "rename", "escape", "branch"),
            (10, 4, 5, 1, 0, 3 * (depth > 0)) if self._way is None else (4, 2, 6, 1, 5, 2 * (depth > 0)),
        )[0]
        if kind == "match":
            code = rng.choices((STORE, SKIP, SAME, CONSTANT), (8, 1, 3, 1))[0]
            operand = rng.choice((2, 4, 8)) if code == CONSTANT else self._slot()
            return Match(name, rng.choice("xzk"), code, operand)
        if kind == "compute":
            return Compute(name, rng.choice(("twice", "twice", "maybe", "all")), *rng.sample(range(SLOTS), 2))
        if kind == "allocate":
            return Allocate(name, self._slot(), self._slot())
        if kind == "rename":
            return Rename(name)
        if kind == "escape":
            return Escape(name, self._way or WAYS[0], rng.randrange(SLOTS))
        return Branch(name, self.steps(3, depth - 1), self.steps(3, depth - 1))

    def _slot(self) -> int:
        # Mostly one of three, so that slots are written again; seldom one that the heap does not have.
        return self._rng.choices((0, 1, 2, 3, SLOTS, -1), (9, 6, 4, 2, 0.2, 0.2))[0]
