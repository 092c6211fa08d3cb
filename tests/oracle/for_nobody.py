"""Random functions that read damaged memory for something or for nobody: calls whose result is not used, is written
over before anybody reads it, or is used on one branch only; in functions and in those that they call.

python -m tests.oracle.for_nobody [--minutes 10] [--programs N] [--seed N]

What a program should return its twin tells, in which nothing damages that memory: what is `always-wrong` has to
return something else than its twin in each run, what is fine the same. What it gives away counts as well.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import indent
from typing import Any

import numpy as np
import tvm
from tvm import relax

from relax_lint.judging.report import check_module
from relax_lint.results.verdict import Verdict
from relax_lint.settings.config import Config
from tests.oracle.passing import Disagreement, Unusable, searched

GIVE = "relax_lint.oracle.give"
"""The name of a packed function that notes what it is given."""
RULES = Config(select=("RLX203", "RLX205", "RLX206"))
_T, _C = 'R.Tensor((4,), "float32")', 'R.Tensor((), "bool")'
_X, _Y, _Z = (f'{name}: T.Buffer((4,), "float32")' for name in "xyz")
_KERNELS = {
    f"reverse({_X}, {_Y})": "y[i] = x[3 - i]",
    f"scale({_X}, {_Y})": "y[i] = x[i] * T.float32(2)",
    f"add({_X}, {_Y}, {_Z})": "z[i] = x[i] + y[i] * T.float32(3)",
    f"apart({_X}, {_Y}, {_Z})": "y[i] = x[i] + T.float32(1)\n        z[i] = T.float32(5)",
    f"more({_X}, {_Y})": "y[i] = y[i] + x[i]",
    f"twice({_X})": "x[i] = x[i] * T.float32(2)",
    f"low({_X}, {_Y})": "if i < 2:\n            y[i] = x[i]",
    f"high({_X}, {_Y})": "if i >= 2:\n            y[i] = x[i]",
}
_HEAD = "".join(
    f"\n@T.prim_func(private=True, s_tir=True)\ndef {head}:\n    for i in range(4):\n        {body}\n"
    for head, body in _KERNELS.items()
) + "".join(
    f"\n@R.function(private=True, pure=False)\ndef {head}:\n    {body}\n    return {result}\n"
    for head, body, result in (
        (f"turned(p: {_T}, q: {_T})", "k = Module.reverse(p, q)", "q"),
        (f"dropped(p: {_T}, q: {_T})", "k = Module.reverse(p, q)\n    k0 = Module.scale(q, q)", "p"),
        (f"summed(p: {_T}, q: {_T})", "w = R.add(p, q)", "w"),
        (f"given(p: {_T}, q: {_T})", f'k = R.call_packed("{GIVE}", p, ty_args=R.Tuple)', "q"),
    )
)
_STORAGE = 'R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))'
_ALLOC = 'R.memory.alloc_tensor({}, R.prim_value(0), R.shape([4]), R.dtype("float32"))'
_OWN = ("r", "q", "u")
"""The tensors that are written, each on its own storage."""


@dataclass(frozen=True)
class Program:
    """The lines behind the damage, and whether nothing wrote `t` or something else overwrote it."""

    lines: str
    unwritten: bool

    @property
    def text(self) -> str:
        """The module."""
        return self.module(damaged=True)

    def module(self, *, damaged: bool) -> str:
        """The module, or its twin in which `t` holds what it should."""
        head = f"@R.function(pure=False)\ndef main(x: {_T}, y: {_T}, c: {_C}):\n"
        body = "".join(f"s_{one} = {_STORAGE}\n{one} = {_ALLOC.format(f's_{one}')}\n" for one in ("t", *_OWN))
        body += "".join(f"k_{one} = Module.scale(x, {one})\n" for one in _OWN)
        if self.unwritten:
            body += "" if damaged else "k_t = Module.scale(y, t)\n"
        else:
            storage = "s_t" if damaged else "s_v"
            body += f"k_t = Module.scale(y, t)\ns_v = {_STORAGE}\nv = {_ALLOC.format(storage)}\n"
            body += "k_v = Module.scale(x, v)\nk_w = Module.twice(v)\n"
        return "@I.ir_module\nclass Module:\n" + indent(
            _HEAD + head + indent(body + self.lines, "    "), "    "
        )


def some(count: int, seed: int) -> Iterator[Program]:
    """Programs, the same ones for a seed."""
    chance = random.Random(seed)
    for _ in range(count):
        numbers = iter(range(1000))
        lines = "".join(f"{_line(chance, numbers, 't')}\n" for _ in range(chance.randint(1, 2)))
        lines += "".join(f"{_any(chance, numbers)}\n" for _ in range(chance.randint(1, 5)))
        results = chance.sample((*_OWN, "x"), chance.randint(1, 4))
        returned = results[0] if len(results) == 1 else f"({', '.join(results)})"
        yield Program(f"{lines}return {returned}\n", chance.random() < 0.5)


def _line(chance: random.Random, numbers: Iterator[int], source: str | None = None) -> str:
    """A call that reads one tensor and writes others."""
    one = source or chance.choice((*_OWN, "x", "x"))
    to, other = chance.sample([name for name in _OWN if name != one], 2)
    call = chance.choice(
        (
            f"reverse({one}, {to})",
            f"scale({one}, {to})",
            f"scale({one}, {to})",
            f"add({one}, y, {to})",
            f"apart({one}, {to}, {other})",
            f"more({one}, {to})",
            f"low({one}, {to})",
            f"high({one}, {to})",
            f"turned({one}, {to})",
            f"dropped({one}, {to})",
            f"summed({one}, {to})",
            f"given({to}, x)",
        )
    )
    return f"k{next(numbers)} = Module.{call}"


def _any(chance: random.Random, numbers: Iterator[int]) -> str:
    if chance.random() < 0.75:
        return _line(chance, numbers)
    blocks = [
        indent(f"{_line(chance, numbers)}\na{number} = {chance.choice((*_OWN, 'x'))}\n", "    ")
        for number in [next(numbers)] * 2
    ]
    number = blocks[0].rsplit(" = ", 1)[0].rsplit("a", 1)[1]
    used = (
        f"\nk{next(numbers)} = Module.scale(a{number}, {chance.choice(_OWN)})"
        if chance.random() < 0.5
        else ""
    )
    return f"if c:\n{blocks[0]}else:\n{blocks[1].rstrip()}{used}"


def compare(program: Program) -> str:
    """Lint one program and run it and its twin: what was found. Raises `Disagreement` or `Unusable`."""
    noted: list[Any] = []
    tvm.register_global_func(GIVE, lambda one: noted.append(one.numpy().tolist()), override=True)
    try:
        module = tvm.script.from_source(program.text)
        built = [
            tvm.compile(one, "llvm")
            for one in (module, tvm.script.from_source(program.module(damaged=False)))
        ]
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        raise Unusable(str(error)) from None
    differs = [
        _outcome(built[0], condition, noted) != _outcome(built[1], condition, noted)
        for condition in (False, True)
    ]
    said = {check.verdict for check in check_module(module, RULES).checks} - {Verdict.ALWAYS_FINE}
    if Verdict.ALWAYS_WRONG in said and not all(differs):
        raise Disagreement("wrong, and it shows what its twin shows")
    if not said and any(differs):
        raise Disagreement("fine, and it shows something else")
    word = "wrong" if Verdict.ALWAYS_WRONG in said else "perhaps" if said else "fine"
    return f"{word}, {sum(differs)} of 2 differ"


def _outcome(built: Any, condition: bool, noted: list[Any]) -> list[Any]:
    """What a run returns and gives away, where nothing that is equal is so by chance."""
    noted.clear()
    machine = relax.VirtualMachine(built, tvm.cpu(), memory_cfg="naive")
    x, y = np.array([1, 2, 4, 8], "float32") + 0.5, np.array([3, 5, 7, 11], "float32") * 100
    found = machine["main"](*(tvm.runtime.tensor(one) for one in (x, y, np.array(condition))))
    results = found if isinstance(found, (list, tuple, tvm.ir.Array)) else [found]
    return [*(one.numpy().tolist() for one in results), *noted]


def main() -> int:
    """Until the time is over."""
    return searched(__doc__, some, lambda program, _: Counter([compare(program)]))


if __name__ == "__main__":
    sys.exit(main())
