"""Random functions in which tensors get other names: packed functions that return an argument, Relax functions
under several names, closures, inner functions, tuples; with calls that overwrite their argument in place.

python -m tests.oracle.passing [--minutes 10] [--programs N] [--seed N]

A program is right if it returns what it would if every call returned something new.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from textwrap import indent
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
import tvm
from tvm import relax
from tvm.relax.backend.cpu_generic import pipeline

from relax_lint.judging.report import check_module
from relax_lint.results.verdict import Verdict
from relax_lint.settings.config import Config

FIRST = "relax_lint.oracle.first"
"""The name of a packed function that returns its first argument."""
KEEP, KEPT = "relax_lint.oracle.keep", "relax_lint.oracle.kept"
"""The names of a packed function that keeps its argument, and of one that returns what was kept last."""
_T = 'R.Tensor((4,), "float32")'
_CONDITION = 'R.Tensor((), "bool")'
_HEAD = f"""
@T.prim_func(private=True)
def double(x: T.Buffer((4,), "float32")):
    for i in range(4):
        x[i] = x[i] * T.float32(2)

@T.prim_func(private=True)
def moved(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[i]
        x[i] = T.float32(0)

@T.prim_func(private=True)
def add(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32"), z: T.Buffer((4,), "float32")):
    for i in range(4):
        z[i] = x[i] + y[i] * T.float32(3)

@R.function(private=True, pure=False)
def same(p: {_T}) -> {_T}:
    return p

@R.function(pure=False)
def second(p: {_T}, q: {_T}) -> {_T}:
    return q

@R.function(private=True, pure=False)
def doubled(p: {_T}) -> {_T}:
    w = R.call_tir_inplace(Module.double, (p,), [0], {_T})
    return w

@R.function(private=True, pure=False)
def both(p: {_T}):
    w = R.call_tir(Module.add, (p, p), {_T})
    return (w, (w, p))

@R.function(private=True, pure=False)
def apply(f: R.Callable(({_T},), {_T}, False), p: {_T}) -> {_T}:
    w = f(p)
    return w

@R.function(private=True, pure=False)
def keep(p: {_T}):
    w = R.call_packed("{KEEP}", p, ty_args=R.Object)
    return w

@R.function(private=True, pure=False)
def kept(p: {_T}) -> {_T}:
    w = R.call_packed("{KEPT}", ty_args={_T})
    return w

@R.function(pure=False)
def summed(p: {_T}, q: {_T}) -> {_T}:
    w = R.call_tir(Module.add, (p, q), {_T})
    return w
"""
RULES = Config(select=("RLX203", "RLX205", "RLX206"))
Value: TypeAlias = "np.ndarray[Any, Any]"


@dataclass
class Program:
    """Lines, and what each of them means when every call returns something new."""

    lines: list[tuple[str, Callable[[dict[str, Value]], None]]] = field(default_factory=list)
    names: list[str] = field(default_factory=lambda: ["x", "y"])

    @property
    def text(self) -> str:
        """The module."""
        body = indent("\n".join(line for line, _ in self.lines), "    ")
        # The last name and all others of the end count, so that each may be read late.
        kept = self.names[-3:]
        last = [f"    s0 = R.call_tir(Module.add, ({kept[0]}, {kept[1]}), {_T})"]
        last += [f"    s1 = R.call_tir(Module.add, (s0, {kept[-1]}), {_T})", "    return s1"]
        head = f"\n@R.function(pure=False)\ndef main(x: {_T}, y: {_T}, c: {_CONDITION}) -> {_T}:\n"
        main = f"{head}{body}\n" + "\n".join(last)
        return "@I.ir_module\nclass Module:\n" + indent(_HEAD + main, "    ")

    def meant(self, x: Value, y: Value, c: Value) -> Value:
        """What it returns when every call returns something new."""
        values = {"x": x, "y": y, "c": c}
        for _, step in self.lines:
            step(values)
        one, two, last = (values[name] for name in (*self.names[-3:-1], self.names[-1]))
        total: Value = one + two * 3 + last * 3
        return total


def some(count: int, seed: int) -> Iterator[Program]:
    """Programs, the same ones for a seed."""
    chance = random.Random(seed)
    for _ in range(count):
        program = Program()
        # Parameters belong to the caller: what is overwritten is a tensor of the function's own.
        _step(program, "a", f"R.call_tir(Module.add, (x, y), {_T})", lambda v: v["x"] + v["y"] * 3)
        for number in range(chance.randint(2, 6)):
            _any(program, chance, f"t{number}")
        yield program


def _step(program: Program, name: str, code: str, value: Callable[[dict[str, Value]], Value]) -> None:
    def run(values: dict[str, Value]) -> None:
        values[name] = value(values)

    program.lines.append((f"{name} = {code}", run))
    program.names.append(name)


def _any(program: Program, chance: random.Random, name: str) -> None:
    own = program.names[2:]
    one, two = chance.choice(own), chance.choice([*own, "x"])
    forms: list[tuple[str, Callable[[dict[str, Value]], Value]]] = [
        (f"R.call_tir_inplace(Module.double, ({one},), [0], {_T})", lambda v: v[one] * 2),
        (f"R.call_tir_inplace(Module.double, ({one},), [0], {_T})", lambda v: v[one] * 2),
        (f"R.call_tir(Module.add, ({one}, {two}), {_T})", lambda v: v[one] + v[two] * 3),
        (f'R.call_packed("{FIRST}", {one}, {two}, ty_args={_T})', lambda v: v[one]),
        (f"R.call_tir(Module.moved, ({one},), {_T})", lambda v: v[one]),
        (f"Module.same({one})", lambda v: v[one]),
        (f"Module.second({two}, {one})", lambda v: v[one]),
        (f"Module.doubled({one})", lambda v: v[one] * 2),
        (f"Module.apply(Module.same, {one})", lambda v: v[one]),
        (f"Module.apply(Module.doubled, {one})", lambda v: v[one] * 2),
        (f"Module.summed({one}, {two})", lambda v: v[one] + v[two] * 3),
        (one, lambda v: v[one]),
        (f"R.memory.view({one}, R.shape([4]))", lambda v: v[one]),
    ]
    roll = chance.random()
    if roll < 0.2:
        _branches(program, chance, name, one, two)
        return
    if roll < 0.3:
        pair, fields = f"p_{name}", chance.choice(("[0]", "[1][0]", "[1][1]"))
        program.lines.append((f"{pair} = Module.both({one})", lambda values: None))
        _step(program, f"{name}_", f"{pair}[0]", lambda v: v[one] * 4)
        _step(program, name, f"{pair}{fields}", lambda v: v[one] if fields == "[1][1]" else v[one] * 4)
        return
    if roll < 0.6:
        _step(program, name, *chance.choice(forms))
        return
    if roll < 0.7:
        _by_packed_functions(program, chance, name, one)
        return
    # What a closure holds comes behind what it is called with.
    callee, form, value = chance.choice(
        [
            ("Module.same", f"f_{name}({one})", lambda v: v[one]),
            ("Module.doubled", f"f_{name}({one})", lambda v: v[one] * 2),
            (f"R.make_closure(Module.second, ({one},))", None, lambda v: v[one]),
            (f"R.make_closure(Module.summed, ({one},))", None, lambda v: v[two] + v[one] * 3),
        ]
    )
    if form is None:
        program.lines.append((f"f_{name} = {callee}", lambda values: None))
        called = f"R.invoke_closure(f_{name}, ({two},), ty_args={_T})"
        program.lines.append((f"c_{name} = {called}", lambda values: None))
        # TVM forgets the type of what a closure returns, also behind a cast.
        _step(program, name, f'R.call_packed("{FIRST}", c_{name}, c_{name}, ty_args={_T})', value)
        return

    if roll < 0.85:
        program.lines.append((f"f_{name} = {callee}", lambda values: None))
        _step(program, name, form, value)
    else:
        pair = f"p_{name}"
        program.lines.append((f"{pair} = ({one}, {two})", lambda values: None))
        _step(program, name, f"{pair}[0]", lambda v: v[one])


def _by_packed_functions(program: Program, chance: random.Random, name: str, one: str) -> None:
    """A tensor that comes back as an object, in a tuple, or from where it was kept."""
    call = chance.choice(("R.call_packed", "R.call_pure_packed"))
    object_, pair = f'{call}("{FIRST}", {one}, {one}, ty_args=R.Object)', f"o_{name}"
    ways = [
        ([f"{pair} = {object_}"], f'{call}("{FIRST}", {pair}, {pair}, ty_args={_T})'),
        (
            [f'k_{name} = R.call_packed("{KEEP}", {one}, ty_args=R.Object)'],
            f'R.call_packed("{KEPT}", ty_args={_T})',
        ),
        ([f"k_{name} = Module.keep({one})"], "Module.kept(x)"),
        (
            [f'{pair} = R.call_packed("{FIRST}", ({one}, {one}), {one}, ty_args=R.Tuple({_T}, {_T}))'],
            f"{pair}[1]",
        ),
    ]
    lines, last = chance.choice(ways)
    program.lines += [(line, lambda values: None) for line in lines]
    _step(program, name, last, lambda v: v[one])


def _branches(program: Program, chance: random.Random, name: str, one: str, two: str) -> None:
    """An `If` of which each branch gives a tensor, or a pair of which one field is used."""

    def branch(side: str) -> tuple[list[str], list[tuple[str, Callable[[dict[str, Value]], Value]]]]:
        new = f"{name}_{side}"
        code, meaning = chance.choice(
            [
                (f"R.call_tir_inplace(Module.double, ({one},), [0], {_T})", lambda v: v[one] * 2),
                (f"R.call_tir(Module.add, ({one}, {two}), {_T})", lambda v: v[one] + v[two] * 3),
                (f"Module.doubled({one})", lambda v: v[one] * 2),
            ]
        )
        return [f"{new} = {code}"], [(new, meaning), (one, lambda v: v[one]), (two, lambda v: v[two])]

    (lines, values), (lines_2, values_2) = branch("t"), branch("e")
    picked, picked_2 = chance.choices(values, k=2), chance.choices(values_2, k=2)
    paired, field = chance.random() < 0.5, chance.randint(0, 1)
    text = [f"({a[0]}, {b[0]})" if paired else a[0] for a, b in (picked, picked_2)]
    result = f"i_{name}"
    block = ["if c:", *lines, f"{result} = {text[0]}", "else:", *lines_2, f"{result} = {text[1]}"]
    code = "\n".join(line if line.endswith(":") else f"    {line}" for line in block)
    program.lines.append((code, lambda values: None))
    taken, taken_2 = (chosen[field if paired else 0][1] for chosen in (picked, picked_2))
    last = f"{result}[{field}]" if paired else result
    _step(program, name, last, lambda v: taken(v) if v["c"] else taken_2(v))


def register() -> None:
    """The packed functions that the programs call."""
    kept: list[Any] = []

    def keep(one: Any) -> Any:
        kept.append(one)
        return one

    tvm.register_global_func(FIRST, lambda one, other: one, override=True)
    tvm.register_global_func(KEEP, keep, override=True)
    tvm.register_global_func(KEPT, lambda: kept[-1], override=True)


class Disagreement(AssertionError):
    """A verdict that a run contradicts."""


class Unusable(Exception):
    """TVM does not take the program."""


def compare(program: Program, *, planned: bool) -> str:
    """Lint and run one program as it is written or with TVM's memory plan: what was found. Raises
    `Disagreement` or `Unusable`.
    """
    register()
    try:
        module = tvm.script.from_source(program.text)
        judged, compiled = _compiled(module, planned=planned)
        machine = relax.VirtualMachine(compiled, tvm.cpu())
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        raise Unusable(str(error)) from None
    numbers = np.random.default_rng(1)
    x, y = numbers.random(4, "float32"), numbers.random(4, "float32")
    right = all(
        np.allclose(_run(machine, x, y, c), program.meant(x, y, c), rtol=1e-4)
        for c in (np.array(True), np.array(False))
    )
    # What a lowered call overwrites on purpose only the module before tells.
    checks = [c for one in (module, judged) for c in check_module(one, RULES).checks]
    said = {check.verdict for check in checks if check.verdict is not Verdict.ALWAYS_FINE}
    certain = {check.verdict for check in checks if not check.assumes}
    relies = any(check.assumes for check in checks if check.verdict is Verdict.ALWAYS_FINE)
    if not right and not said and not relies:
        raise Disagreement("fine, and it returns something else")
    if right and Verdict.ALWAYS_WRONG in certain:
        raise Disagreement("wrong, and it returns what is meant")
    suffix = ", a finding" if said else ", under an assumption" if relies else ", fine"
    return ("right" if right else "wrong") + suffix


def _run(machine: Any, *inputs: Value) -> Value:
    found: Value = machine["main"](*(tvm.runtime.tensor(one.copy()) for one in inputs)).numpy()
    return found


def _compiled(module: Any, *, planned: bool) -> tuple[Any, Any]:
    """The module to judge, and what TVM makes of it."""
    target = tvm.target.Target("llvm")
    judged = module
    with target:
        for step in (
            *pipeline.library_dispatch_passes(target),
            *pipeline.legalize_passes(target),
            *pipeline.dataflow_lower_passes(target),
            *pipeline.finalize_passes(target),
        ):
            plans = step.info.name == "StaticPlanBlockMemory"
            if plans and not planned:
                continue
            module = step(module)
            judged = module if plans else judged
        return judged, relax.build(module, target, relax_pipeline=tvm.transform.Sequential([]))


class Written(Protocol):
    """A program with its text."""

    @property
    def text(self) -> str:
        """TVMScript."""
        ...


P = TypeVar("P", bound=Written)


def searched(
    description: str | None,
    programs: Callable[[int, int], Iterator[P]],
    compared: Callable[[P, int], Counter[str]],
) -> int:
    """Look for disagreements for a while; each is printed, and the exit code is then 1. `programs` takes how
    many and a seed, `compared` a program and its number.
    """
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--programs", type=int, default=10**9)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    started, seen, found = time.monotonic(), Counter[str](), 0
    for number, program in enumerate(programs(options.programs, options.seed)):
        if time.monotonic() - started > options.minutes * 60:
            break
        seen["programs"] += 1
        try:
            seen += compared(program, number)
        except Unusable:
            seen["not taken by TVM"] += 1
        except Disagreement as error:
            found += 1
            sys.stdout.write(f"{error}\n{program.text}\n\n")
    sys.stdout.write(f"{dict(seen)}, disagreements: {found}\n")
    return 1 if found else 0


def main() -> int:
    """Modules with and without the planner, by turns."""
    return searched(
        __doc__, some, lambda program, number: Counter([compare(program, planned=bool(number % 2))])
    )


if __name__ == "__main__":
    sys.exit(main())
