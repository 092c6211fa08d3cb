"""Bodies in which something changes at a size: constants in conditions, extents, indices and choices."""

from __future__ import annotations

import random
from collections.abc import Iterator

from tests.oracle.kernels.bodies import Body, Do, Inside, Statement
from tests.oracle.kernels.richer import RicherWriter

_SHAPES = (("n", "n"), ("n", "n"), ("n", "n"), ("n", "m"), ("n, 4", "n, 4"), ("n, m", "n"), ("16", "16"))


class LimitWriter(RicherWriter):
    """Writes one body."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__(chance)
        self.x, self.y = chance.choice(_SHAPES)

    def body(self) -> Body:
        """All of `y` is stored, and then some of it again, in one order or the other."""
        found = super().body()
        if "," in self.y or self._chance.random() < 0.3:
            return found
        value = self._chance.choice(("T.float32(2)", "x[0]", "x[i]" if "," not in self.x else "x[i, 0]"))
        whole = Inside(f"for i in range({self.y}):", (Do(f"y[i] = {value}"),))
        parts = [whole, *found.statements]
        if self._chance.random() < 0.4:
            parts.append(parts.pop(0))
        return Body(self.x, self.y, tuple(parts))

    def _loop(self, depth: int) -> Statement:
        if len(self._loops) > 2 or self._chance.random() < 0.4:
            return super()._loop(depth)
        var, number = "ijkl"[len(self._loops)], self._number()
        head = self._chance.choice(
            (
                f"range(T.max(n - {number}, 0))",
                f"range(T.min(n, {number}))",
                f"range(n // {number + 1})",
                f"range((n + {number}) // {number + 1})",
                f"range(n % {number + 1})",
                f"T.serial(0, n, step={number + 1})",
                f"T.serial({number}, T.max(n, {number}), step={self._chance.choice((1, 2, 5))})",
            )
        )
        self._loops.append(var)
        body = tuple(self._statement(depth + 1) for _ in range(self._chance.choice((1, 1, 2))))
        self._loops.pop()
        return Inside(f"for {var} in {head}:", body)

    def _condition(self) -> str:
        if self._chance.random() < 0.3:
            return super()._condition()
        number = self._number()
        parts = ["n", "n", f"n % {number + 2}", f"n // {number + 1}", "n * n"]
        if self._loops:
            loop = self._loops[-1]
            parts += [loop, loop, f"{loop} + {number}", f"n - {loop}", f"{loop} % {number + 1}"]
        compare = self._chance.choice(("<", "<=", ">", ">=", "==", "!="))
        other = self._chance.choice((str(number), str(number), "n", f"n - {number}", f"n // {number + 1}"))
        return f"{self._chance.choice(parts)} {compare} {other}"

    def _element(self, name: str) -> str:
        extents = (self.x if name == "x" else self.y).split(", ")
        if len(extents) > 1 or not self._loops or self._chance.random() < 0.5:
            return super()._element(name)
        loop, extent, number = self._loops[-1], extents[0], self._number()
        index = self._chance.choice(
            (
                f"({loop} + {number}) % {extent}",
                f"{extent} - 1 - {loop}",
                f"T.min({loop}, {extent} - 1)",
                f"T.min({number}, {extent} - 1)",
                f"T.max({extent} - 1 - {number}, 0)",
                f"({loop} * {number}) % {extent}",
            )
        )
        return f"{name}[{index}]"

    def _number(self) -> int:
        return self._chance.randint(0, 15)


def some(count: int, seed: int) -> Iterator[Body]:
    """Bodies, the same ones for a seed."""
    chance = random.Random(seed)
    for _ in range(count):
        yield LimitWriter(chance).body()
