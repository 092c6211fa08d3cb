"""Random functions with assertions, casts and divisions on the way to a tensor: an input that a finding names gets
to the tensor, which the VM then refuses.

python -m tests.oracle.named [--minutes 5] [--programs N] [--seed N]
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import product
from textwrap import indent

from relax_lint.judging.report import check_module
from relax_lint.model.builder import build_program
from relax_lint.replay import Machine, Module, Outcome, describe
from relax_lint.replay.calls import Calls
from relax_lint.replay.cases import Sought
from relax_lint.replay.values import parse_input
from relax_lint.results.check import Check
from relax_lint.settings.config import Config
from tests.oracle.passing import Disagreement, searched
from tests.rules.checking import parse

HEADER = "from tvm.script import ir as I, relax as R, tirx as T\n\n\n@I.ir_module\nclass Module:\n"
REFUSED = "storage allocation failure"
"""What the VM says of a tensor that does not fit."""
_PER_MODULE = 8
_SYMBOLS = ("a", "b")
_STORAGE = 'R.memory.alloc_storage(R.shape([{}]), R.prim_value(0), R.str("global"), R.dtype("uint8"))'
_COMPARED = (
    "{x}",
    "{y}",
    "{x} + {y}",
    "{x} * {y}",
    "{x} + {x}",
    "{x} * {x}",
    "2 * {x} + {c}",
    "{x} - {y}",
    "{c}",
)
_EXTENTS = ("{x}", "{x} + {c}", "{x} + {y}", "{x} * {c}", "T.max({x}, 1)", "T.max({x} - {c}, 0)", "2")
_DIVIDED = (
    "100 // {x}",
    "100 % {x}",
    "({y} + 7) // {x}",
    "100 // ({x} - {c})",
    "{y} % ({x} + {y})",
    "100 // ({x} % 3)",
)
_SIZES = ("16", "16", "32", "4 * {x}", "{x} + {c}", "{d}")
_CASTS = ("{x}", "{y}", "{x} + 1", "{y} + 1", "{x} * 2", "4")


@dataclass(frozen=True)
class Program:
    """A module of several functions."""

    text: str


def some(count: int, seed: int) -> Iterator[Program]:
    """Programs, the same ones for a seed."""
    for number in range(count):
        chance = random.Random(f"{seed} {number}")
        functions = "\n".join(_function(f"f{index}", chance) for index in range(_PER_MODULE))
        yield Program(HEADER + indent(functions, "    "))


def _function(name: str, chance: random.Random) -> str:
    def made(choices: tuple[str, ...]) -> str:
        x, y = chance.sample(_SYMBOLS, k=2)
        text = chance.choice(choices)
        return text.format(x=x, y=y, c=chance.randint(1, 5), d=_some_size(chance))

    lines = []
    for number in range(chance.randint(1, 3)):
        kind = chance.choice(("assert", "assert", "cast", "size"))
        if kind == "assert":
            sign = chance.choice(("<", "<=", ">", ">=", "=="))
            lines.append(f'k{number} = R.assert_op({made(_COMPARED)} {sign} {made(_COMPARED)}, format="no")')
        elif kind == "cast":
            lines.append(f"k{number} = R.match_cast({chance.choice('hg')}, R.Shape([{made(_CASTS)}]))")
        else:
            lines.append(f"k{number} = {_STORAGE.format(_some_size(chance))}")
    lines.append(f"s = {_STORAGE.format(made(_SIZES))}")
    shape = f"R.shape([{made(_EXTENTS)}])"
    lines.append(f't = R.memory.alloc_tensor(s, R.prim_value(0), {shape}, R.dtype("float32"))')
    body = indent("\n".join(("a = T.int64()", "b = T.int64()", *lines, "return t")), "    ")
    return f'@R.function(pure=False)\ndef {name}(h: R.Shape(["a"]), g: R.Shape(["b"])):\n{body}\n'


def _some_size(chance: random.Random) -> str:
    """Something divided, in a size that is never refused itself."""
    x, y = chance.sample(_SYMBOLS, k=2)
    divided = chance.choice(_DIVIDED).format(x=x, y=y, c=chance.randint(1, 5))
    return f"T.max(T.min({divided}, 64), 16)"


def compare(machine: Machine, program: Program) -> Counter[str]:
    """Run what the findings name. Raises `Disagreement`."""
    module, seen = parse(program.text.removeprefix(HEADER)), Counter[str]()
    functions = {function.name: function for function in build_program(module).functions}
    for check in check_module(module, Config(select=("RLX101",))).checks:
        if check.function is None or check.severity.value == "none":
            continue
        seen["findings"] += 1
        calls = Calls(functions[check.function], Config())
        for allocator, at in _named(check):
            case = calls.case(Sought(0, None, check.function, check.binding_index, None, None, at, {}))
            if case.reason:
                seen[case.reason] += 1
                continue
            inputs = [parse_input(text) for text in case.wrong[0]]
            result = machine.run(Module(program.text), check.function, inputs, allocator=allocator)
            if REFUSED not in (result.message or ""):
                if _is_always_killed(machine, program, check.function):
                    # What divides by what a cast says is zero, say, is judged as if it had not failed.
                    seen["nothing gets there"] += 1
                    continue
                raise Disagreement(
                    f"{check.function}, {allocator}, {at}, {case.wrong[0]}: {describe(result)}"
                )
            seen[f"refused by {allocator}"] += 1
    return seen


def _is_always_killed(machine: Machine, program: Program, function: str) -> bool:
    """Whether each of some inputs that nothing refuses before the tensor kills the machine on its way there."""
    given = ([parse_input(f"shape({number})") for number in both] for both in product(range(6), repeat=2))
    results = [machine.run(Module(program.text), function, inputs) for inputs in given]
    passed = {
        one.outcome for one in results if one.outcome is not Outcome.ERROR or REFUSED in str(one.message)
    }
    return passed == {Outcome.SIGNAL}


def _named(check: Check) -> Iterator[tuple[str, dict[str, int]]]:
    if check.wrong:
        yield "naive", dict(check.wrong)
    for allocator, failure in check.allocators.items():
        if failure.first_failure:
            yield allocator, dict(failure.first_failure)


def main() -> int:
    """Search for a while."""
    with ExitStack() as stack:
        machine = stack.enter_context(Machine())
        return searched(__doc__, some, lambda program, _: partial(compare, machine)(program))


if __name__ == "__main__":
    sys.exit(main())
