"""Random functions of conditions: no run reaches what is taken for unreached.

python -m tests.oracle.reached [--minutes 5] [--programs N] [--seed N]

Conditions are parameters, constants, what `R.logical_not` and its like make of others, and may be changed in place;
branches, assertions and calls of a private function ask for them. Each program is followed with both values of each
parameter. The runs that it tells of are compared with those of the VM in the tests.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product
from textwrap import indent
from typing import Any, TypeAlias

from relax_lint.analysis.flow import FunctionFlow, ProgramFlow
from relax_lint.model.builder import build_program
from tests.oracle.passing import Disagreement, searched
from tests.rules.checking import parse

_FLAG, _T = 'R.Tensor((), "bool")', 'R.Tensor((4,), "float32")'
HEAD = """
@T.prim_func(private=True, s_tir=True)
def flip(c: T.Buffer((), "bool")):
    c[()] = not c[()]
"""
Flags: TypeAlias = dict[str, list[bool]]
"""What each condition is, in memory that several of them may share."""
Step: TypeAlias = Callable[[Flags], None]
_OPERATORS: dict[str, Callable[..., bool]] = {
    "logical_not": lambda a: not a,
    "logical_and": lambda a, b: a and b,
    "logical_or": lambda a, b: a or b,
}


class Stop(Exception):
    """An assertion does not hold."""


@dataclass
class Program:
    """A module, and the marks that runs reach: names of bindings."""

    text: str
    steps: list[Step]
    marks: list[str]
    reached: set[str] = field(default_factory=set)

    def run(self, c: bool, d: bool) -> bool:
        """Follow one run; whether it gets to its end."""
        try:
            _follow(self.steps, {"c": [c], "d": [d]})
        except Stop:
            return False
        return True


def _follow(steps: list[Step], flags: Flags) -> None:
    for step in steps:
        step(flags)


class _Writer:
    def __init__(self, chance: random.Random) -> None:
        self._chance, self._count = chance, 0
        self._reached: set[str] = set()
        self._marks: list[str] = []
        self._callee: list[Step] | None = None

    def program(self) -> Program:
        functions = ""
        if self._chance.random() < 0.6:
            lines, self._callee = self._block(["c", "d"], 2)
            functions = _function("f", lines, "private=True, ")
        lines, steps = self._block(["c", "d"], 3)
        text = HEAD + functions + _function("main", lines, "")
        return Program(text, steps, self._marks, self._reached)

    def _fresh(self, letter: str) -> str:
        self._count += 1
        return f"{letter}{self._count}"

    def _block(self, names: list[str], depth: int) -> tuple[list[str], list[Step]]:
        lines, steps, names = list[str](), list[Step](), list(names)
        for _ in range(self._chance.randint(1, 3 + depth)):
            roll = self._chance.random()
            if roll < 0.35 and depth:
                more, step = self._if(names, depth)
            elif roll < 0.5:
                more, step = self._assertion(names)
            elif roll < 0.6 and self._callee is not None:
                more, step = self._call(names)
            elif roll < 0.66:
                more, step = self._flip(names)
            else:
                more, step = self._condition(names)
            mark, marked = self._mark()
            lines += [*more, mark]
            steps += [step, marked]
        return lines, steps

    def _mark(self) -> tuple[str, Step]:
        name = self._fresh("m")
        self._marks.append(name)
        return f"{name} = (x, x)", lambda flags: self._reached.add(name)

    def _if(self, names: list[str], depth: int) -> tuple[list[str], Step]:
        condition, name = self._chance.choice(names), self._fresh("i")
        (lines, steps), (lines_2, steps_2) = (self._block(names, depth - 1) for _ in range(2))
        last = f"    {name} = x"
        text = [f"if {condition}:", *(f"    {line}" for line in lines), last]
        text += ["else:", *(f"    {line}" for line in lines_2), last]

        def step(flags: Flags) -> None:
            _follow(steps if flags[condition][0] else steps_2, dict(flags))

        return text, step

    def _assertion(self, names: list[str]) -> tuple[list[str], Step]:
        condition = self._chance.choice(names)

        def step(flags: Flags) -> None:
            if not flags[condition][0]:
                raise Stop

        return [f'{self._fresh("k")} = R.assert_op({condition}, format="no")'], step

    def _call(self, names: list[str]) -> tuple[list[str], Step]:
        given, callee = self._chance.choices(names, k=2), self._callee or []

        def step(flags: Flags) -> None:
            _follow(callee, {"c": flags[given[0]], "d": flags[given[1]]})

        return [f"{self._fresh('k')} = Module.f(x, {given[0]}, {given[1]})"], step

    def _flip(self, names: list[str]) -> tuple[list[str], Step]:
        # Who overwrites a constant of the module is at fault.
        own = [name for name in names if not name.startswith("n")]
        condition = self._chance.choice(own)

        def step(flags: Flags) -> None:
            flags[condition][0] = not flags[condition][0]

        return [f"{self._fresh('k')} = Module.flip({condition})"], step

    def _condition(self, names: list[str]) -> tuple[list[str], Step]:
        kind = self._chance.choice(("constant", "name", *_OPERATORS, *_OPERATORS))
        one, other = self._chance.choices(names, k=2)
        if kind == "constant":
            name, value = self._fresh("n"), self._chance.random() < 0.5
            names.append(name)
            return [f'{name} = R.const({value}, "bool")'], lambda flags: flags.update({name: [value]})
        if kind == "name":
            name = self._fresh("n" if one.startswith("n") else "o")
            names.append(name)
            return [f"{name} = {one}"], lambda flags: flags.update({name: flags[one]})
        name, operator = self._fresh("o"), _OPERATORS[kind]
        given = [one] if kind == "logical_not" else [one, other]
        names.append(name)
        return (
            [f"{name} = R.{kind}({', '.join(given)})"],
            lambda flags: flags.update({name: [operator(*(flags[each][0] for each in given))]}),
        )


def _function(name: str, lines: list[str], said: str) -> str:
    body = indent("\n".join(lines), "    ")
    head = f"@R.function({said}pure=False)\ndef {name}(x: {_T}, c: {_FLAG}, d: {_FLAG}) -> {_T}:"
    return f"\n{head}\n{body}\n    return x\n"


def some(count: int, seed: int) -> Iterator[Program]:
    """Programs, the same ones for a seed."""
    for number in range(count):
        yield _Writer(random.Random(f"{seed} {number}")).program()


def unreached(module: Any) -> set[str]:
    """The marks that no run reaches, as the linter says."""
    program = build_program(module)
    flow, found = ProgramFlow(program), set[str]()
    for function in program.functions:
        places = FunctionFlow(flow, function).untaken.places
        found |= {op.place.binding or "" for op in function.body.walk() if op.place.index in places}
    return found


def compare(program: Program) -> Counter[str]:
    """What no run reaches, and how much of it is known. Raises `Disagreement`."""
    ends = sum(program.run(c, d) for c, d in product((False, True), repeat=2))
    said = unreached(parse(program.text)) & set(program.marks)
    if said & program.reached:
        raise Disagreement(f"a run reaches {sorted(said & program.reached)}")
    left = len(program.marks) - len(program.reached)
    return Counter({"unreached": left, "of these known": len(said), "runs that end": ends})


def main() -> int:
    """Search for a while."""
    return searched(__doc__, some, lambda program, _: compare(program))


if __name__ == "__main__":
    sys.exit(main())
