"""Random kernels with indices that are too large to be written down as sums, products or cases."""

from __future__ import annotations

import random
from collections.abc import Iterator

from tests.oracle.tir.forms import Forms
from tests.oracle.tir.narrow import Narrow
from tests.oracle.tir.writer import Kernel, some

_TIMES = 5


class Large(Forms):
    """Writes one kernel. An index has hundreds of terms, and often is a small number in spite of them."""

    def _index(self, extent: str) -> str:
        if self._chance.random() < 0.5:
            return super()._index(extent)
        return self._large(extent)

    def _large(self, extent: str) -> str:
        loop = self._chance.choice([*self._loops, "n"])
        power = " * ".join([f"(n + m + {loop} + 1)"] * _TIMES)
        square = f"({power}) * ({power})"
        return self._one(
            f"{loop} * ({square}) // ({square})",
            f"{loop} + {square} - {square}",
            f"{loop} + {square} % ({power})",
            f"T.min({loop} * ({square}), {self._one(extent, f'{extent} - 1')})",
            f"{square} % T.max({extent}, 1)",
            f"{loop} * ({square})",
            f"T.if_then_else({square} > {self._one('0', '4', '10000')}, {loop}, {loop} + 1)",
            self._sum(loop),
            self._choices(loop, extent),
        )

    def _sum(self, loop: str) -> str:
        """Hundreds of remainders, of which none is more than the loop variable."""
        count = self._one("210", "260")
        terms = " + ".join(f"({loop} + {number}) % {number + 40}" for number in range(int(count)))
        return f"({terms}) % {self._one('2', '4', '8')} + {loop} // {self._one('2', '4')}"

    def _choices(self, loop: str, extent: str) -> str:
        """A choice inside of a choice, and so on."""
        found = self._one(loop, f"{extent} - 1", f"{loop} + 1")
        for number in range(self._chance.randint(8, 24)):
            kind = self._one("T.Select", "T.if_then_else")
            condition = self._one(f"{loop} == {number}", f"{loop} > {number}", f"m > {number}")
            found = f"{kind}({condition}, {self._one(loop, '0', str(number))}, {found})"
        return found


def every(count: int, seed: int) -> Iterator[Kernel]:
    """Kernels in common and in seldom forms by turns, one of 16 with large indices and three with numbers of
    few bits, the same ones for a seed.
    """
    chance, other, narrow = (
        random.Random(seed),
        random.Random(f"large {seed}"),
        random.Random(f"narrow {seed}"),
    )
    for number, kernel in enumerate(some(count, seed)):
        if number % 16 == 7:
            yield Large(other).kernel()
        elif number % 16 in (3, 10, 14):
            yield Narrow(narrow).kernel()
        else:
            yield Forms(chance).kernel() if number % 2 else kernel
