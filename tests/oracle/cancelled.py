"""Random computations of a damaged tensor, most of which come to the same whatever it holds, cut at random into
private functions that are called once or more: by what they read, by what they give back, one inside of another. Some
branch on what they are given.

python -m tests.oracle.cancelled [--minutes 10] [--programs N] [--seed N]

What a function should return its twin tells, in which nothing damages that tensor. What is `always-wrong` has to
return something else than its twin for some of the inputs, what is fine the same for all of them.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import indent
from typing import Any

import numpy as np
import tvm
from tvm import relax

from relax_lint.judging.report import check_module
from relax_lint.results.verdict import Verdict
from tests.oracle.for_nobody import RULES
from tests.oracle.passing import Disagreement, Unusable, searched

_COUNT = 6
"""So many functions are compiled together."""
_T = 'R.Tensor((4,), "float32")'
_KERNELS = """
@T.prim_func(private=True, s_tir=True)
def scale(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        y[i] = x[i] * T.float32(2)

@T.prim_func(private=True, s_tir=True)
def twice(x: T.Buffer((4,), "float32")):
    for i in range(4):
        x[i] = x[i] * T.float32(2)

@T.prim_func(private=True, s_tir=True)
def low(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for i in range(4):
        if i < 2:
            y[i] = x[i]
        else:
            y[i] = T.float32(1)
"""
_BRANCHES = "".join(
    f"""
@R.function(private=True, pure=False)
def {name}(p: {_T}, q: {_T}) -> {_T}:
    m = R.max(p)
    g = R.greater(m, R.const(0.0, "float32"))
    if g:
        i = {then}
        c = i
    else:
        j = {otherwise}
        c = j
    return c
"""
    for name, then, otherwise in (
        ("either", "R.add(p, q)", "R.negative(p)"),
        ("same", "R.add(q, q)", 'R.multiply(q, R.const(2.0, "float32"))'),
    )
)
_STORAGE = 'R.memory.alloc_storage(R.shape([16]), R.prim_value(0), R.str("global"), R.dtype("uint8"))'
_ALLOC = 'R.memory.alloc_tensor({}, R.prim_value(0), R.shape([4]), R.dtype("float32"))'
_OVERWRITTEN = ("s = S", "t = A(s)", "k0 = Module.scale(y, t)", "q = S", "v = A(DAMAGED ? s : q)")
_DAMAGE = {
    "overwritten": (*_OVERWRITTEN, "k1 = Module.scale(x, v)", "k2 = Module.twice(v)"),
    "the same is written": (*_OVERWRITTEN, "k1 = Module.scale(y, v)"),
    "unwritten": ("s = S", "t = A(s)", "DAMAGED ? : k0 = Module.scale(y, t)"),
    "older name": (
        f"t = R.call_tir(Module.scale, (y,), {_T})",
        "DAMAGED ? w = IN_PLACE(t) : w = IN_PLACE(y)",
    ),
}
_ONE = (
    "R.negative({})",
    "R.nn.relu({})",
    "R.abs({})",
    f"R.call_tir(Module.low, ({{}},), {_T})",
    "R.nn.softmax({})",
)
_TWO = (
    "Module.either({}, {})",
    "Module.same({}, {})",
    "R.add({}, {})",
    "R.subtract({}, {})",
    "R.multiply({}, {})",
    "R.maximum({}, {})",
    "R.minimum({}, {})",
)
_SUMS = ("R.add({}, {})", "R.subtract({}, {})")


@dataclass(frozen=True)
class Line:
    """A binding: its name, the text that computes it, and which values that reads."""

    name: str
    text: str
    reads: tuple[str, ...]


@dataclass(frozen=True)
class Program:
    """A module as it is, and with nothing damaged."""

    text: str
    twin: str


def some(count: int, seed: int) -> Iterator[Program]:
    """Programs, the same ones for a seed."""
    chance = random.Random(seed)
    for _ in range(count):
        parts = [_function(chance, number) for number in range(_COUNT)]
        text, twin = ("".join(one) for one in zip(*parts, strict=True))
        yield Program(
            *(
                "@I.ir_module\nclass Module:\n" + indent(_KERNELS + _BRANCHES + one, "    ")
                for one in (text, twin)
            )
        )


def _function(chance: random.Random, number: int) -> tuple[str, str]:
    damage = chance.choice(list(_DAMAGE))
    lines = list(_lines(chance))
    inside = chance.random() < 0.5
    found = []
    state = chance.getstate()
    for damaged in (True, False):
        chance.setstate(state)
        first = "".join(f"{one}\n" for one in (_of(one, damaged) for one in _DAMAGE[damage]) if one)
        made: list[str] = []
        body = _cut(chance, lines, number, made)
        if inside:
            made.append(_private(f"damaged_{number}", ("x", "y"), first + "m = R.negative(t)\n", "m"))
            first = f"t = Module.damaged_{number}(x, y)\n"
        head = f"\n@R.function(pure=False)\ndef main_{number}(x: {_T}, y: {_T}):\n"
        result = chance.choice((lines[-1].name, lines[-1].name, f"({lines[-1].name}, x)"))
        found.append("".join(made) + head + indent(f"{first}{body}return {result}\n", "    "))
    return found[0], found[1]


def _of(line: str, damaged: bool) -> str:
    """A line of the damage, or of the twin."""
    before, asks, choice = line.partition("DAMAGED ?")
    if asks:
        one, _, other = choice.partition(":")
        end = ")" if before else ""
        line = before + (one if damaged else other).strip().removesuffix(end) + end
    line = line.replace("IN_PLACE(", "R.call_tir_inplace(Module.twice, (").replace("(t)", "(t,)")
    if "call_tir_inplace" in line:
        source = line.rsplit("(", 1)[1].rstrip(",)")
        if source == "y":
            return f"w = R.call_tir(Module.scale, (y,), {_T})"
        return f"w = R.call_tir_inplace(Module.twice, (t,), inplace_indices=[0], out_ty={_T})"
    return line.replace("S", _STORAGE) if line.endswith("= S") else _allocated(line)


def _allocated(line: str) -> str:
    name, _, rest = line.partition(" = A(")
    return f"{name} = {_ALLOC.format(rest.rstrip(')').strip())}" if rest else line


def _lines(chance: random.Random) -> Iterator[Line]:
    """What is computed of `t`: often twice the same, and one taken from the other."""
    values, number = ["t", "x", "t"], iter(range(1000))

    def line(text: str, reads: Sequence[str]) -> Line:
        made = Line(f"a{next(number)}", text, tuple(reads))
        values.append(made.name)
        return made

    for _ in range(chance.randint(1, 4)):
        reads = [chance.choice(values[-3:]), chance.choice(values)]
        form = chance.random()
        if form < 0.45:
            text = chance.choice(_TWO)
            both = [line(text.format(*reads), reads) for _ in range(2)]
            yield from both
            names = [one.name for one in both]
            yield line(chance.choice(_SUMS).format(*names), names)
        elif form < 0.6:
            zero = chance.choice(("0.0", "0.0", "1.0"))
            yield line(f'R.multiply({reads[0]}, R.const({zero}, "float32"))', reads[:1])
        elif form < 0.8:
            yield line(chance.choice(_ONE).format(reads[0]), reads[:1])
        else:
            yield line(chance.choice(_TWO).format(*reads), reads)


def _cut(chance: random.Random, lines: Sequence[Line], number: int, made: list[str], depth: int = 0) -> str:
    """The lines, some of them in functions of their own."""
    body, at = "", 0
    while at < len(lines):
        count = chance.randint(1, 3) if chance.random() < 0.5 and depth < 3 else 0
        part = lines[at : at + count]
        if not part:
            body += f"{lines[at].name} = {lines[at].text}\n"
            at += 1
            continue
        at += count
        own = {one.name for one in part}
        reads = tuple(dict.fromkeys(name for one in part for name in one.reads if name not in own))
        inside = _cut(chance, part, number, made, depth + 1)
        name, results = f"f_{number}_{len(made)}", [one.name for one in part]
        made.append(_private(name, reads, inside, ", ".join(results)))
        call = f"Module.{name}({', '.join(reads)})"
        if len(results) == 1:
            body += f"{results[0]} = {call}\n"
        elif chance.random() < 0.3:
            # Each result by a call of its own.
            for item, result in enumerate(results):
                body += f"p_{result} = {call}\n{result} = p_{result}[{item}]\n"
        else:
            body += f"p_{results[0]} = {call}\n"
            body += "".join(f"{result} = p_{results[0]}[{item}]\n" for item, result in enumerate(results))
    return body


def _private(name: str, parameters: Sequence[str], body: str, results: str) -> str:
    given = ", ".join(f"{one}: {_T}" for one in parameters)
    several = results.count(",")
    type_ = f"R.Tuple({', '.join([_T] * (several + 1))})" if several else _T
    result = f"({results})" if several else results
    head = f"\n@R.function(private=True, pure=False)\ndef {name}({given}) -> {type_}:\n"
    return head + indent(f"{body}return {result}\n", "    ")


def compare(program: Program) -> Counter[str]:
    """Lint one program and run its functions and their twins. Raises `Disagreement` or `Unusable`."""
    try:
        module = tvm.script.from_source(program.text)
        machines = [
            relax.VirtualMachine(tvm.compile(one, "llvm"), tvm.cpu(), memory_cfg="naive")
            for one in (module, tvm.script.from_source(program.twin))
        ]
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        raise Unusable(str(error)) from None
    checks, seen = check_module(module, RULES).checks, Counter[str]()
    for number in range(_COUNT):
        differs = any(
            not _alike(*(_run(one, f"main_{number}", trial) for one in machines)) for trial in range(4)
        )
        names = (f"main_{number}", f"damaged_{number}")
        said = {one.verdict for one in checks if (one.function or "").startswith((*names, f"f_{number}_"))}
        said.discard(Verdict.ALWAYS_FINE)
        if Verdict.ALWAYS_WRONG in said and not differs:
            raise Disagreement(f"main_{number} is wrong, and it returns what its twin returns")
        if not said and differs:
            raise Disagreement(f"main_{number} is fine, and it returns something else")
        word = "wrong" if Verdict.ALWAYS_WRONG in said else "perhaps" if said else "fine"
        seen[f"{word}, {'another one' if differs else 'the same'}"] += 1
    return seen


def _run(machine: Any, name: str, trial: int) -> list[Any]:
    chance = np.random.default_rng(trial)
    # What was freed is given again: an unwritten tensor holds something then that nothing else does.
    dirt = [tvm.runtime.tensor(np.full(4, 77.5 + trial, "float32")) for _ in range(8)]
    del dirt
    x, y = (tvm.runtime.tensor(chance.uniform(-4, 4, 4).astype("float32")) for _ in range(2))
    found = machine[name](x, y)
    results = found if isinstance(found, (list, tuple, tvm.ir.Array)) else [found]
    return [one.numpy() for one in results]


def _alike(one: list[Any], other: list[Any]) -> bool:
    return all(np.allclose(a, b, equal_nan=True, rtol=1e-3) for a, b in zip(one, other, strict=True))


def main() -> int:
    """Until the time is over."""
    return searched(__doc__, some, lambda program, _: compare(program))


if __name__ == "__main__":
    sys.exit(main())
