"""Random kernels with buffers of their own that are written in part and read afterwards, in any part or not at all."""

from __future__ import annotations

import random
from collections.abc import Iterator

from tests.oracle.kernels.bodies import Do, Inside, Statement
from tests.oracle.tir.writer import Buffer, Kernel

_EXTENTS = ("n", "n", "n", "m", "8", "n + 1", "n * 2", "n, 4", "4, n")


def some(count: int, seed: int) -> Iterator[Kernel]:
    """Kernels, the same ones for a seed."""
    chance = random.Random(seed)
    for _ in range(count):
        yield _Writer(chance).kernel()


class _Writer:
    """Writes one kernel, which reads `x` and `p` and writes `y`; `s` and `t` are its own."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._blocks = 0
        # So that each symbol has a value.
        self._shapes = {"x": "n", "p": "m", "y": self._one("n", "n", "n", "m", "n + 1")}
        self._shapes |= {"s": self._one(*_EXTENTS), "t": self._one(*_EXTENTS)}

    def _one(self, *words: str) -> str:
        return self._chance.choice(words)

    def _is(self, share: float) -> bool:
        return self._chance.random() < share

    def kernel(self) -> Kernel:
        """The kernel."""
        statements = [*self._writes("s"), *(self._writes("s") if self._is(0.3) else ())]
        last = "s"
        if self._is(0.35):
            last = "t"
            statements += [self._copied("s", "t")] if self._is(0.6) else self._writes("t")
        reads = [self._read(last)] if self._is(0.95) else []
        reads += [self._read("s")] if self._is(0.2) else []
        if self._is(0.06):
            statements, reads = reads, statements
        if self._is(0.15):
            statements.insert(0, self._loop(self._shapes["y"], "i", Do("y[i] = T.float32(0)")))
        own = [Buffer(name, self._shapes[name], scope=self._one("global", "local")) for name in "st"]
        given = [Buffer(name, self._shapes[name]) for name in "xpy"]
        return Kernel((*given, *own), (), (*statements, *reads))

    # -- places --------------------------------------------------------------------------------

    def _count(self, name: str) -> str:
        """How many elements a buffer has."""
        return " * ".join(self._shapes[name].split(", "))

    def _at(self, name: str, index: str) -> str:
        """The element at a flat position."""
        if ", " not in self._shapes[name]:
            return f"{name}[{index}]"
        width = self._shapes[name].split(", ")[1]
        return f"{name}[({index}) // {width}, ({index}) % {width}]"

    def _some_of(self, count: str) -> str:
        """So many, or fewer."""
        return self._one(
            *[count] * 3,
            f"({count}) // 2",
            f"({count} + 1) // 2",
            f"{count} - 1",
            f"T.max({count} - 2, 0)",
            f"T.min(m, {count})",
            "m",
            "4",
        )

    def _index(self, count: str, loop: str = "i") -> str:
        return self._one(
            *[loop] * 5,
            f"{loop} + 1",
            f"{count} - 1 - {loop}",
            f"{loop} * 2",
            f"{loop} * 2 + 1",
            f"{loop} // 2",
            f"{loop} % 4",
            f"T.max({loop} - 1, 0)",
        )

    def _value(self, loop: str = "i") -> str:
        return self._one(
            f"x[{loop}]",
            f"x[T.min({loop}, n - 1)]",
            f"x[T.min({loop}, n - 1)]",
            "T.float32(2)",
            "p[0]",
            f'T.Cast("float32", {loop})',
        )

    # -- loops and guards ----------------------------------------------------------------------

    def _loop(self, extent: str, loop: str, *body: Statement) -> Statement:
        return Inside(f"for {loop} in range({extent}):", body)

    def _guarded(self, index: str, count: str, statement: Statement) -> Statement:
        """The statement where it is inside and, perhaps, under another condition."""
        conditions = [f"0 <= {index} and {index} < {count}"] if index != "i" or self._is(0.6) else []
        conditions += [self._condition()] if self._is(0.25) else []
        for condition in conditions:
            statement = Inside(f"if {condition}:", (statement,))
        return statement

    def _condition(self) -> str:
        return self._one(
            "i < m",
            "i % 2 == 0",
            "i > 0",
            "n > 2",
            "m < n",
            "i != 2",
            "x[T.min(i, n - 1)] > T.float32(0)",
        )

    def _around(self, statement: Statement) -> Statement:
        """The statement, perhaps repeated or under a condition on sizes."""
        if self._is(0.12):
            return self._loop(self._one("m", "2", "n"), "r", statement)
        if self._is(0.1):
            return Inside(f"if {self._one('n > 2', 'm > 1', 'm < n')}:", (statement,))
        return statement

    # -- stores --------------------------------------------------------------------------------

    def _writes(self, name: str) -> list[Statement]:
        count = self._count(name)
        forms = (
            *(self._plain, self._plain, self._plain, self._halves, self._tiles),
            *(self._block, self._reduced, self._carried, self._point),
        )
        return self._chance.choice(forms)(name, count)

    def _plain(self, name: str, count: str) -> list[Statement]:
        index = self._index(count)
        made = self._guarded(index, count, Do(f"{self._at(name, index)} = {self._value()}"))
        kind = self._one("range", "range", "range", "T.parallel")
        body: tuple[Statement, ...] = (made,)
        if kind == "range" and self._is(0.1):
            body = (Inside(f"if i == {self._one('m', '3', 'n - 1')}:", (Do("break"),)), made)
        return [self._around(Inside(f"for i in {kind}({self._some_of(count)}):", body))]

    def _halves(self, name: str, count: str) -> list[Statement]:
        """Two parts that together are all of it, or nearly."""
        first = self._one(f"({count}) // 2", f"T.min(m, {count})", "1")
        start = self._one(first, first, f"({first} + 1)", f"({count} + 1) // 2")
        index = f"i + {start}"
        parts = [
            self._loop(first, "i", Do(f"{self._at(name, 'i')} = {self._value()}")),
            self._loop(f"{count} - {start}", "i", Do(f"{self._at(name, index)} = {self._value()}")),
        ]
        if self._is(0.3):
            parts.reverse()
        return parts

    def _tiles(self, name: str, count: str) -> list[Statement]:
        width, used = self._one("2", "4"), self._one("4", "4", "3", "2")
        index = f"i * {width} + j"
        store = Do(f"{self._at(name, index)} = {self._value()}")
        inside = Inside(f"if {index} < {count}:", (store,))
        tiles = self._one(f"({count} + {width} - 1) // {width}", f"({count}) // {width}")
        return [self._loop(tiles, "i", self._loop(used, "j", inside))]

    def _block(self, name: str, count: str) -> list[Statement]:
        self._blocks += 1
        extent = self._some_of(count)
        where = [Do(f"T.where({self._one('i < m', 'i > 0', 'i % 2 == 0')})")] if self._is(0.3) else []
        axis = Do(f"v = T.axis.spatial({extent}, i)")
        store = Do(f"{self._at(name, self._one('v', 'v', f'{count} - 1 - v'))} = {self._value('v')}")
        block = Inside(f'with T.sblock("b{self._blocks}"):', (*where, axis, store))
        return [self._loop(extent, "i", block)]

    def _reduced(self, name: str, count: str) -> list[Statement]:
        """A sum of so many steps: of none of them where there are none."""
        self._blocks += 1
        extent, steps = self._some_of(count), self._one("m", "3", "n", "1")
        element = self._at(name, "vi")
        start = Do(f"{element} = T.float32(0)")
        body: tuple[Statement, ...] = (
            Do(f"vi = T.axis.spatial({extent}, i)"),
            Do(f"vj = T.axis.reduce({steps}, j)"),
            *((Inside("with T.init():", (start,)),) if self._is(0.85) else ()),
            Do(f"{element} = {element} + {self._value('vj')}"),
        )
        block = Inside(f'with T.sblock("b{self._blocks}"):', body)
        return [self._loop(extent, "i", self._loop(steps, "j", block))]

    def _carried(self, name: str, count: str) -> list[Statement]:
        """A step takes what an earlier one has stored."""
        before, here = self._at(name, "i"), self._at(name, "i + 1")
        steps = self._loop(f"{self._some_of(count)} - 1", "i", Do(f"{here} = {before} + {self._value()}"))
        first = Do(f"{self._at(name, self._one('0', '0', '0', '1'))} = T.float32(1)")
        return [Inside(f"if {count} > 1:", (first, steps))]

    def _point(self, name: str, count: str) -> list[Statement]:
        index = self._one("0", "0", "1", f"{count} - 1")
        store = Inside(f"if {index} < {count}:", (Do(f"{self._at(name, index)} = T.float32(3)"),))
        return [self._around(store)]

    def _copied(self, source: str, target: str) -> Statement:
        count = self._count(target)
        index = self._index(self._count(source))
        made = Do(f"{self._at(target, 'i')} = {self._used(self._at(source, index))}")
        return self._loop(self._some_of(count), "i", self._guarded(index, self._count(source), made))

    # -- loads ---------------------------------------------------------------------------------

    def _used(self, load: str) -> str:
        return self._one(
            *[load] * 4,
            f"{load} + x[T.min(i, n - 1)]",
            f"{load} * x[T.min(i, n - 1)]",
            f"{load} * T.float32(0)",
            f"({load} - {load})",
            f"T.max({load}, T.float32(0))",
            f"T.if_then_else(i < {self._one('m', '4', 'n // 2')}, {load}, T.float32(1))",
            f"T.Select(i < {self._one('m', '4', 'n // 2')}, {load}, T.float32(1))",
        )

    def _read(self, name: str) -> Statement:
        count = self._count(name)
        if self._is(0.12):
            return self._window(name)
        index, extent = self._index(count), self._some_of(self._shapes["y"])
        target = self._one("y[i]", "y[i]", "y[i]", "y[0]", "y[i // 2]")
        value = self._used(self._at(name, index))
        value = f"{target} + {value}" if self._is(0.2) else value
        made: Statement = Do(f"{target} = {value}")
        if self._is(0.15):
            self._blocks += 1
            axis = Do(f"v = T.axis.spatial({extent}, i)")
            made = Inside(f'with T.sblock("b{self._blocks}"):', (axis, Do(f"y[v] = {self._at(name, 'v')}")))
            return self._loop(extent, "i", Inside(f"if i < {count}:", (made,)))
        return self._around(self._loop(extent, "i", self._guarded(index, count, made)))

    def _window(self, name: str) -> Statement:
        """Two elements by turns: what one step stores the next one reads."""
        load, store = self._one("i % 2", "(i + 1) % 2", "0"), self._one("i % 2", "(i + 1) % 2", "0")
        steps = [Do(f"{self._at(name, store)} = {self._value()}"), Do(f"y[i] = {self._at(name, load)}")]
        if self._is(0.5):
            steps.reverse()
        return self._loop(
            self._some_of(self._shapes["y"]), "i", Inside(f"if {self._count(name)} > 1:", tuple(steps))
        )
