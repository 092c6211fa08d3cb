"""Bodies in which what is loaded for sure may be of no use: forms that come to one number, the number that is
there already stored again, loops of which data says how often they go round, and conditions between two sizes.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from tests.oracle.kernels.bodies import Body, Do, Inside, Statement
from tests.oracle.kernels.richer import RicherWriter

_SHAPES = (("n", "n"), ("n", "n"), ("n", "m"), ("m", "n"), ("n, m", "n, m"), ("8", "8"), ("n, 4", "n, 4"))
_NUMBER = "T.Cast('int64', {})"


class HidingWriter(RicherWriter):
    """Writes one body."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__(chance)
        self.x, self.y = chance.choice(_SHAPES)
        self._filling = chance.choice(("T.float32(2)", "T.float32(0)"))

    def body(self) -> Body:
        """Mostly all of `y` is stored before anything else."""
        found = super().body()
        if self._chance.random() < 0.3:
            return found
        names = ["i", "j"][: len(self.y.split(", "))]
        whole: Statement = Do(f"y[{', '.join(names)}] = {self._filling}")
        for name, extent in reversed(list(zip(names, self.y.split(", "), strict=True))):
            whole = Inside(f"for {name} in range({extent}):", (whole,))
        return Body(self.x, self.y, (whole, *found.statements))

    def _statement(self, depth: int) -> Statement:
        if depth < 3 and self._chance.random() < 0.1:
            return self._rounds(depth)
        if depth < 3 and self._chance.random() < 0.1:
            return self._compared(depth)
        return super()._statement(depth)

    def _rounds(self, depth: int) -> Statement:
        """A loop with a condition, of a number or of data."""
        end = self._chance.choice(
            ("n", "m", "T.int64(3)", "T.int64(1)", f"{self._integer()} % 3 + 1", f"{self._integer()} % 2")
        )
        begin = Do(f"c[0] = T.int64({self._chance.choice('0012')})")
        step = Do(f"c[0] = c[0] + T.int64({self._chance.choice('112')})")
        loop = Inside(f"while c[0] < {end}:", (self._store(), step))
        return Inside(f"for r{depth}{len(self._loops)} in range(1):", (begin, loop))

    def _compared(self, depth: int) -> Statement:
        """What is done by which of two sizes is larger."""
        number = self._chance.choice("0123")
        if self._chance.random() < 0.5 and len(self._loops) < 3:
            var = "ijkl"[len(self._loops)]
            head = self._chance.choice(
                (
                    "T.max(n - m, 0)",
                    f"T.max(m - n + {number}, 0)",
                    f"T.max(n - m - {number}, 0)",
                    "T.min(n, m)",
                )
            )
            self._loops.append(var)
            body = (self._statement(depth + 1),)
            self._loops.pop()
            return Inside(f"for {var} in range({head}):", body)
        condition = self._chance.choice(
            ("n > m", "m >= n", f"n >= m + {number}", "n == m", f"n < {number} * m")
        )
        return Inside(f"if {condition}:", (self._statement(depth + 1),))

    def _integer(self) -> str:
        return _NUMBER.format(self._element("x"))

    def _condition(self) -> str:
        if self._chance.random() < 0.3:
            one, number = self._element("x"), self._integer()
            return self._chance.choice(
                (
                    f"{one} * T.float32(2) > {one} + {one}",
                    f"{number} % 2 < 2",
                    f"{number} * {number} >= 0",
                    f"T.max({one}, {self._element('x')}) >= {one}",
                    f"{number} % n == 0",
                )
            )
        return super()._condition()

    def _atom(self) -> str:
        if self._chance.random() > 0.2:
            return super()._atom()
        one, number = self._element("x"), self._integer()
        form = self._chance.choice(
            (
                f"({one} * T.float32(2) - {one} - {one})",
                f"T.max(T.min({one}, T.float32(0)), T.float32(0))",
                f"T.if_then_else({one} > T.float32(0), T.float32(2), T.float32(2))",
                f"T.if_then_else({self._condition()}, {one}, {one})",
                f"T.Cast('float32', {number} % n)",
                f"T.Cast('float32', {number} % 2 // 2)",
                f"T.Cast('float32', {number} * 2 % 2)",
                f"T.Cast('float32', T.Cast('int8', {one} * T.float32(256)))",
                f"T.Cast('float32', ({number} % 2) * ({number} % 2 - 1))",
                f"T.Cast('float32', T.min({number} % 4, {self._chance.choice(('0', 'n - 1', '2'))}))",
            )
        )
        return str(form)

    def _store(self) -> Do:
        roll = self._chance.random()
        if roll < 0.15:
            return Do(f"{self._element('y')} = {self._filling}")
        if roll < 0.25 and "," not in self.y:
            index = f"{self._integer()} % {self._chance.choice(('n', self.y, '2', '1'))}"
            return Do(f"y[{index}] = {self._chance.choice((self._filling, 'T.float32(7)', self._value()))}")
        if roll < 0.3:
            return Do(f"s[0] = {self._atom()}")
        return super()._store()


def some(count: int, seed: int) -> Iterator[Body]:
    """Bodies, the same ones for a seed."""
    chance = random.Random(seed)
    for _ in range(count):
        yield HidingWriter(chance).body()
