"""Random modules whose functions call each other, with tuples, branches and kills."""

from __future__ import annotations

import random

from benchmarks.growth_programs import COPY, HEAD

_TENSOR = 'R.Tensor((4,), "float32")'
_PARAMETERS = f'x: {_TENSOR}, y: {_TENSOR}, c: R.Tensor((), "bool"), z: R.Tensor(("n",), "float32")'
_SIZES = (16, 16, 5000, "4*n", "4*n + 4096")


def module(chance: random.Random) -> str:
    """The text of a module; a function calls those with smaller numbers, each twice or not at all."""
    functions = [_Body(chance, number).text() for number in range(chance.randint(2, 5))]
    chance.shuffle(functions)
    return f"{HEAD}@I.ir_module\nclass Module:\n{COPY}{''.join(functions)}"


def _returns_a_tuple(number: int) -> bool:
    return number % 3 == 2


class _Body:
    """One function, written line by line; `tensors` are the names that may be used."""

    def __init__(self, chance: random.Random, number: int) -> None:
        self._chance = chance
        self._number = number
        self._tensors = ["x", "y"]
        self._lines: list[str] = []
        self._names = 0

    def text(self) -> str:
        for _ in range(self._chance.randint(1, 7)):
            self._step("")
        result, type_ = self._any(), _TENSOR
        if _returns_a_tuple(self._number):
            result, type_ = f"({result}, {self._any()})", f"R.Tuple({_TENSOR}, {_TENSOR})"
        lines = ["n = T.int64()", "cls = Module", *self._lines, f"return {result}"]
        head = f"    @R.function(pure=False)\n    def f{self._number}({_PARAMETERS}) -> {type_}:\n"
        return head + "".join(f"        {line}\n" for line in lines)

    def _any(self) -> str:
        return self._chance.choice(self._tensors)

    def _name(self) -> str:
        self._names += 1
        return f"v{self._names}"

    def _bind(self, indent: str, value: str) -> str:
        name = self._name()
        self._lines.append(f"{indent}{name} = {value}")
        return name

    def _step(self, indent: str) -> None:
        kind = self._chance.random()
        if kind < 0.3:
            self._allocate(indent)
        elif kind < 0.7 and self._number:
            self._call(indent)
        elif kind < 0.8:
            pair = self._bind(indent, f"({self._any()}, {self._any()})")
            self._tensors.append(self._bind(indent, f"{pair}[1]"))
        elif kind < 0.86 and not indent:
            self._branch()
        else:
            self._bind(indent, f"cls.copy({self._any()}, {self._any()})")

    def _allocate(self, indent: str) -> None:
        size, scope = self._chance.choice(_SIZES), self._chance.choice(("global", "ipc_memory"))
        storage = self._bind(indent, f'R.memory.alloc_storage(R.shape([{size}]), 0, "{scope}", "uint8")')
        tensor = self._bind(indent, f'R.memory.alloc_tensor({storage}, 0, R.shape([4]), "float32")')
        self._bind(indent, f"cls.copy({self._any()}, {tensor})")
        if self._chance.random() < 0.2 and not indent:
            self._bind(indent, f"R.memory.kill_tensor({tensor})")
            self._bind(indent, f"R.memory.kill_storage({storage})")
        else:
            self._tensors.append(tensor)

    def _call(self, indent: str) -> None:
        callee = self._chance.randrange(self._number)
        result = self._bind(indent, f"cls.f{callee}({self._any()}, {self._any()}, c, z)")
        if _returns_a_tuple(callee):
            result = self._bind(indent, f"{result}[{self._chance.randrange(2)}]")
        self._tensors.append(result)

    def _branch(self) -> None:
        outside, result = list(self._tensors), self._name()
        for word in ("if c", "else"):
            self._lines.append(f"{word}:")
            self._step("    ")
            self._lines.append(f"    {result} = {self._any()}")
            self._tensors = list(outside)
        self._tensors.append(result)
