"""Random functions that can be fixed, in the dialects in which people and TVM write them: storages that are too small,
kills that come too early or twice, views, calls of kernels with other sizes, asserts and allocations without need, in
functions and in branches, with comments and line ends of every kind.

python -m tests.oracle.fixed [--minutes 10] [--programs N] [--seed N]

What a program should return its twin tells, in which every tensor has memory of its own and nothing is killed. A run
that was right has to return the same after the fix; every other one has to be right then, or stopped by a check, where
nothing is reported any more. The fixed text says the same as the fixed module, and differs only where it was to.
"""

from __future__ import annotations

import difflib
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import indent
from typing import Any

import tvm

import relax_lint
from relax_lint.replay import Input, Machine, Module, Outcome, RunResult, Shape, Tensor
from relax_lint.replay.modules import UnreadableModuleError, load_module
from relax_lint.results.check import is_finding
from relax_lint.rule import load_rules
from relax_lint.settings.config import Config
from tests.fixes.fixing import fixed, judged_once
from tests.fixes.round_trips import is_same
from tests.oracle.passing import Disagreement, Unusable, searched

_KERNELS = """
@T.prim_func(private=True)
def fill(y_: T.handle):
    n = T.int64()
    y = T.match_buffer(y_, (n,), "float32")
    for i in range(n):
        y[i] = T.cast(i + 1, "float32")

@T.prim_func(private=True)
def double(x_: T.handle, y_: T.handle):
    n = T.int64()
    x = T.match_buffer(x_, (n,), "float32")
    y = T.match_buffer(y_, (n,), "float32")
    for i in range(n):
        y[i] = x[i] * T.float32(2)

@T.prim_func(private=True)
def twice(y_: T.handle):
    n = T.int64()
    y = T.match_buffer(y_, (n,), "float32")
    for i in range(n):
        y[i] = y[i] * T.float32(2)
"""
_EXTENTS = ("m", "n", "k", "4", "m + 1", "n * 2", "k * 2", "m + n", "m // 2", "n - 2")
_SIZES = ("16", "32", "64", "4 * m", "4 * m + 16", "8 * n", "T.max(m, 4) * 4", "4 * k", "0")
_OFFSETS = ("0", "0", "0", "8", "m * 4", "k")
_HEADS = (
    "from tvm.script import ir as I, relax as R, tirx as T\n\n\n@I.ir_module\nclass Module:\n",
    "from tvm.script import ir as I, relax as R, tirx as T\n\n\n@I.ir_module(s_tir=True)\nclass Other:\n",
    "import tvm\nfrom tvm.script import relax as R, tir as T\n\n\n@tvm.script.ir_module\nclass Module:\n",
    "from tvm.script import ir, relax, tirx\n\nR, T = relax, tirx\n\n\n@ir.ir_module\nclass Module:\n",
)
_PRINTED = len(_HEADS)
"""The style of what TVM prints."""
_CHANGED = re.compile(
    r"@R\.function|R\.func_attr|alloc_storage|alloc_tensor|kill_|R\.assert_op|match_shape|^import |^from "
)
_COMMENT = re.compile(r"# note \d+")
CALLS = 20
"""Of each program: to build it takes longer."""
_STOPPED = re.compile(r"is needed")


@dataclass(frozen=True)
class Program:
    """The lines of the function, with what stands in their place in the twin; how it is written."""

    lines: tuple[tuple[str, str], ...]
    head: str
    decorator: str
    style: int
    line_end: str
    noted: int
    strategy: str

    @property
    def text(self) -> str:
        """The file."""
        text = self._module([line for line, _ in self.lines])
        if self.style == _PRINTED:
            printed: str = load_module(text, "script").script()
            return f"{printed}\n"
        chance = random.Random(self.noted)
        lines = text.split("\n")
        noted = [
            f"{line}  # note {number}" if line.strip() and chance.random() < 0.3 else line
            for number, line in enumerate(lines)
        ]
        return self.line_end.join(noted)

    @property
    def twin(self) -> str:
        """The module in which every tensor has memory of its own, and nothing is killed."""
        return self._module([line for _, line in self.lines if line])

    def is_beyond(self, inputs: tuple[Input, ...]) -> bool:
        """Whether an input is longer than what is declared."""
        x, y = inputs[:2]
        assert isinstance(x, Tensor)
        assert isinstance(y, Tensor)
        lengths = {"m": x.extents[0], "n": y.extents[0]}
        return any(
            lengths[name] > int(limit)
            for line, _ in self.lines
            for name, limit in re.findall(r'upper_bound": \{"(.)": (\d+)', line)
        )

    def _module(self, lines: list[str]) -> str:
        body = indent("\n".join(lines), "    ")
        class_name = _HEADS[self.style % _PRINTED].split("class ")[1].rstrip(":\n")
        whole = f"{_KERNELS}\n{self.decorator}\n{self.head}\n{body}\n".replace("Module.", f"{class_name}.")
        return _HEADS[self.style % _PRINTED] + indent(whole, "    ")


def some(count: int, seed: int) -> Iterator[Program]:
    """Programs, the same ones for a seed."""
    chance = random.Random(seed)
    for _ in range(count):
        yield _program(chance)


def _program(chance: random.Random) -> Program:
    writer = _Writer(chance)
    vectors = '(x: R.Tensor(("m",), "float32"), y: R.Tensor(("n",), "float32"), s: R.Shape(["k"])'
    head = f'def main{vectors}, c: R.Tensor((), "bool")):'
    pure = chance.choice(("@R.function(pure=False)", "@R.function(pure=False)", "@R.function"))
    attributes = {"relax.force_pure": "True"} if pure == "@R.function" else {}
    if chance.random() < 0.3:
        attributes["tir_var_upper_bound"] = f'{{"{chance.choice("mn")}": {chance.choice((4, 8))}}}'
    pairs = ", ".join(f'"{name}": {value}' for name, value in attributes.items())
    first = [f"R.func_attr({{{pairs}}})"] if pairs else []
    body = writer.body(chance.randint(2, 6))
    lines = [(line, line) for line in (*first, "m = T.int64()", "n = T.int64()", "k = T.int64()")] + body
    return Program(
        tuple(lines),
        head,
        pure,
        chance.randint(0, _PRINTED),
        chance.choice(("\n", "\n", "\r\n")),
        chance.getrandbits(30),
        chance.choice(("auto", "assert", "dynamic")),
    )


class _Writer:
    """Writes lines, each with its twin, and knows what there is."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._numbers = iter(range(1000))
        self._storages: list[tuple[str, str]] = []
        self._live = [("x", "m"), ("y", "n")]
        self._killed: set[str] = set()

    def body(self, count: int) -> list[tuple[str, str]]:
        lines: list[tuple[str, str]] = []
        for _ in range(count):
            lines += self._step()
        names = self._chance.sample([name for name, _ in self._live], min(len(self._live), 2))
        result = f"return ({names[0]}, {names[1]})"
        return [*lines, (result, result)]

    def _step(self, *, deep: bool = False) -> list[tuple[str, str]]:
        step = self._chance.choice(
            (self._tensor, self._tensor, self._tensor, self._kill, self._alias, self._view, self._spare)
        )
        if not deep and self._chance.random() < 0.15:
            return self._branch()
        return step()

    def _name(self, letter: str) -> str:
        return f"{letter}{next(self._numbers)}"

    def _tensor(self) -> list[tuple[str, str]]:
        """A tensor that is written, on a storage of its own or one that is there."""
        chance, name, extent = self._chance, self._name("t"), self._chance.choice(_EXTENTS)
        lines = []
        if not self._storages or chance.random() < 0.7:
            storage, of_vm = self._name("s"), chance.random() < 0.3
            size = chance.choice(_SIZES)
            if of_vm:
                call = f'R.vm.alloc_storage(R.shape([{size}]), R.prim_value(0), R.dtype("float16"))'
            else:
                call = f'R.memory.alloc_storage(R.shape([{size}]), 0, "global", "uint8")'
            self._storages.append((storage, "vm" if of_vm else "memory"))
            lines.append((f"{storage} = {call}", ""))
        else:
            storage, level = chance.choice(self._storages)
            of_vm = level == "vm"
        offset = chance.choice(_OFFSETS)
        if of_vm:
            call = f'R.vm.alloc_tensor({storage}, R.prim_value({offset}), R.shape([{extent}]), R.dtype("float32"))'
        else:
            call = f'R.memory.alloc_tensor({storage}, {offset}, R.shape([{extent}]), "float32")'
        own = f'{name} = R.builtin.alloc_tensor(R.shape([{extent}]), "float32", 0)'
        lines.append((f"{name} = {call}", own))
        same = [one for one, other in self._live if other == extent or chance.random() < 0.1]
        kernel = (
            f"double({chance.choice(same)}, {name})" if same and chance.random() < 0.6 else f"fill({name})"
        )
        line = f"{self._name('k')} = Module.{kernel}"
        self._live.append((name, extent))
        return [*lines, (line, line)]

    def _kill(self) -> list[tuple[str, str]]:
        own = [name for name, _ in self._live if name[0] == "t"]
        if not own:
            return self._spare()
        name = self._chance.choice(own)
        again = self._chance.random() < 0.3
        kills = [(f"{self._name('d')} = R.memory.kill_tensor({name})", "")] * (1 + again)
        of_memory = [storage for storage, level in self._storages if level == "memory"]
        if of_memory and self._chance.random() < 0.2:
            storage = self._chance.choice(of_memory)
            kills.insert(0, (f"{self._name('d')} = R.memory.kill_storage({storage})", ""))
        return kills

    def _alias(self) -> list[tuple[str, str]]:
        name, (source, extent) = self._name("a"), self._chance.choice(self._live)
        line = f"{name} = {source}"
        self._live.append((name, extent))
        return [(line, line)]

    def _view(self) -> list[tuple[str, str]]:
        name, (source, _) = self._name("v"), self._chance.choice(self._live)
        extent = self._chance.choice(_EXTENTS)
        line = (
            f'{name} = R.memory.view({source}, R.shape([{extent}]), R.dtype("float32"), '
            f"R.prim_value({self._chance.choice(('0', '4'))}))"
        )
        self._live.append((name, extent))
        return [(line, line)]

    def _spare(self) -> list[tuple[str, str]]:
        """Something without need: an assertion, or an allocation that nobody uses."""
        if self._chance.random() < 0.6:
            bound = self._chance.choice(("m >= 0", "n <= 6", "k <= 8", "m + n <= 20", "k >= 0"))
            symbols = ", ".join(s for s in "mnk" if s in bound)
            line = f'{self._name("e")} = R.assert_op({bound}, [{symbols}], format="own")'
            return [(line, line)]
        storage = self._name("u")
        return [
            (f'{storage} = R.memory.alloc_storage(R.shape([64]), 0, "global", "uint8")', ""),
            (f'{self._name("w")} = R.memory.alloc_tensor({storage}, 0, R.shape([4]), "float32")', ""),
        ]

    def _branch(self) -> list[tuple[str, str]]:
        """A tensor that is made anew on one way, and an older one on the other."""
        storages, live = list(self._storages), list(self._live)
        inside = [line for _ in range(self._chance.randint(1, 2)) for line in self._step(deep=True)]
        result, number = self._live[-1], next(self._numbers)
        self._storages, self._live = storages, live
        others = [name for name, extent in live if extent == result[1]]
        if not others:
            return []
        beside = self._kill() if self._chance.random() < 0.3 else []
        inside += [line for line in beside if "kill_" in line[0]]
        lines = [("if c:", "if c:"), *_indented(inside)]
        last = f"    r{number} = {result[0]}"
        way = f"    r{number} = {self._chance.choice(others)}"
        self._live.append((f"r{number}", result[1]))
        return [*lines, (last, last), ("else:", "else:"), *_indented(beside), (way, way)]


def _indented(lines: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(f"    {one}", f"    {two}" if two else "") for one, two in lines]


def compare(program: Program, machine: Machine, seed: int) -> Counter[str]:
    """Fix one program in both ways, run all: what came about. Raises `Disagreement` or `Unusable`."""
    config = Config(fix_strategy=program.strategy)
    try:
        text = program.text
        module, twin = load_module(text, "script"), load_module(program.twin, "script")
    except (UnreadableModuleError, tvm.error.DiagnosticError) as error:
        raise Unusable(str(error)) from None
    after = fixed(text, config).text
    if after == text:
        return Counter({"nothing to fix": 1})
    _require_small_changes(text, after, program)
    if fixed(after, config).text != after:
        raise Disagreement(f"not all at once\n{after}")
    by_text, by_module = load_module(after, "script"), relax_lint.fix(module, config)
    if not is_same(relax_lint.fix(by_module, config), by_module):
        raise Disagreement("not all at once in the module")
    left = _wrong(after, config)
    if sorted(left) != sorted(_wrong_of(relax_lint.check(by_module, config).checks)):
        raise Disagreement(f"the module is left with other findings than the text\n{after}")
    seen = Counter({"fixed": 1})
    modules = [Module(tvm.ir.save_json(one), "json") for one in (module, twin, by_text, by_module)]
    for inputs in _inputs(random.Random(seed)):
        before, wanted, *results = (
            machine.run(one, "main", inputs, allocator="naive", fill=0x5A) for one in modules
        )
        if wanted.stage == "build" or before.stage == "build":
            raise Unusable(str(wanted.message or before.message))
        if wanted.outcome is not Outcome.OK and program.is_beyond(inputs):
            # The memory of the twin is made for what is declared.
            seen["beyond what is declared"] += 1
            continue
        called = f"main({', '.join(map(str, inputs))})"
        for way, result in zip(("text", "module"), results, strict=True):
            outcome = _outcome(before, wanted, result, is_beyond=program.is_beyond(inputs))
            if outcome == "other" and not left:
                raise Disagreement(f"{called} by {way}: {before}\n{wanted}\n{result}\n{after}")
            if outcome.startswith("right before, ") and outcome != "right before, the same after":
                raise Disagreement(f"{called} by {way}: {outcome}: {result}\n{after}")
            seen[outcome] += 1
        if _kind(results[0]) != _kind(results[1]):
            raise Disagreement(f"{called}: {results[0]} by text, {results[1]} by module\n{after}")
    return seen


def _wrong(text: str, config: Config) -> list[tuple[str, str | None]]:
    return _wrong_of(judged_once(text, config).checks)


def _wrong_of(checks: Any) -> list[tuple[str, str | None]]:
    """What is still said to be wrong."""
    return [(one.rule, one.binding) for one in checks if is_finding(one) and load_rules()[one.rule].symptoms]


def _kind(result: RunResult) -> tuple[str, str]:
    """How a run ended."""
    if result.outcome is Outcome.OK:
        return "ok", result.digest
    return ("stopped", "") if _STOPPED.search(str(result.message)) else (str(result.error_type), "")


def _outcome(before: RunResult, wanted: RunResult, after: RunResult, *, is_beyond: bool) -> str:
    kind, digest = _kind(after)
    if wanted.outcome is Outcome.OK and _kind(before) == _kind(wanted):
        if (kind, digest) == _kind(wanted):
            return "right before, the same after"
        # A check of a declared bound refuses what is beyond it, also where it would fit.
        return "beyond a bound" if is_beyond and kind == "stopped" else f"right before, {kind} after"
    if kind == "stopped":
        return "wrong before, stopped after"
    if (kind, digest) == _kind(wanted):
        return "wrong before, as its twin after"
    return "other"


def _inputs(chance: random.Random) -> Iterator[tuple[Input, ...]]:
    for number in range(CALLS):
        top = (3, 6, 12)[number % 3]
        m, n, k = (chance.randint(0, top) for _ in range(3))
        if number == CALLS - 1:
            k = -1
        vectors = (Tensor("float32", (m,)), Tensor("float32", (n,)))
        yield (*vectors, Shape((k,)), Tensor("bool", (), number % 2))


def _require_small_changes(before: str, after: str, program: Program) -> None:
    """Only lines of fixes are changed, no comment is lost but with its line, and all lines end as they did."""
    changes = [
        line
        for line in difflib.ndiff(before.splitlines(), after.splitlines())
        if line.startswith(("- ", "+ "))
    ]
    # Of two neighbours that change places either may be told to have moved.
    moved = {line[2:] for line in changes if line.startswith("- ")} & {
        line[2:] for line in changes if line.startswith("+ ")
    }
    if strange := [
        line for line in changes if line[2:] not in moved and not _CHANGED.search(line[2:].strip())
    ]:
        raise Disagreement(f"changed: {strange}")
    lost = set(_COMMENT.findall(before)) - set(_COMMENT.findall(after))
    gone = {note for line in changes if line.startswith("- ") for note in _COMMENT.findall(line)}
    if lost - gone or len(_COMMENT.findall(after)) != len(set(_COMMENT.findall(after))):
        raise Disagreement(f"comments: {sorted(lost - gone)}")
    if program.style != _PRINTED and after.count("\n") != after.count(program.line_end):
        raise Disagreement("other line ends")


def main() -> int:
    """Until the time is over."""
    with Machine() as machine:
        return searched(__doc__, some, lambda program, number: compare(program, machine, number))


if __name__ == "__main__":
    sys.exit(main())
