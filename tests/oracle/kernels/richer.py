"""More forms of bodies: what is computed in buffers of their own, stored where data says, and stored anew."""

from __future__ import annotations

import random
from collections.abc import Iterator

from tests.oracle.kernels.bodies import Body, Do, Inside, Statement, Writer


class RicherWriter(Writer):
    """Writes one body."""

    def _statement(self, depth: int) -> Statement:
        if len(self._loops) < 4 and self._chance.random() < 0.12:
            return self._sum()
        return super()._statement(depth)

    def _sum(self) -> Statement:
        """An own number that is begun, added to and used."""
        var = "ijkl"[len(self._loops)]
        begin, use = Do(f"s[0] = T.float32({self._chance.choice('01')})"), self._store()
        extent = self._chance.choice([*self._extents(), "3", "n"])
        self._loops.append(var)
        add = Do(f"s[0] = s[0] + {self._element('x')}")
        self._loops.pop()
        loop = Inside(f"for {var} in range({extent}):", (add,))
        return Inside(f"for q{len(self._loops)} in range(1):", (begin, loop, use))

    def _atom(self) -> str:
        roll = self._chance.random()
        if roll < 0.06:
            return f"T.Cast('float32', T.Cast('int8', {self._element('x')}))"
        return super()._atom()

    def _store(self) -> Do:
        roll = self._chance.random()
        if roll < 0.05:
            return Do(f"z[T.Cast('int64', {self._element('x')}) % 4] = {self._value()}")
        if roll < 0.1 and "," not in self.y:
            return Do(f"y[T.Cast('int64', {self._element('x')}) % 4] = {self._value()}")
        if roll < 0.2:
            return Do(f"s[0] = {self._chance.choice(('s[0] + ', ''))}{self._value()}")
        if roll < 0.25:
            return Do(f"{self._element('x')} = {self._value()}")
        if roll < 0.3:
            return Do(f"{self._element('y')} = s[0]")
        return super()._store()


def some(count: int, seed: int) -> Iterator[Body]:
    """Bodies, the same ones for a seed."""
    chance = random.Random(seed)
    for _ in range(count):
        yield RicherWriter(chance).body()
