"""Random bodies of a kernel that reads `x` and writes `y`, as text that TVMScript and Python read alike."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from textwrap import indent
from typing import TypeAlias


@dataclass(frozen=True)
class Do:
    """One line."""

    line: str


@dataclass(frozen=True)
class Inside:
    """Statements behind a line that ends with a colon."""

    head: str
    body: tuple[Statement, ...]


Statement: TypeAlias = "Do | Inside"


@dataclass(frozen=True)
class Body:
    """The shapes of `x` and `y`, and the statements."""

    x: str
    y: str
    statements: tuple[Statement, ...]


def lines(statements: tuple[Statement, ...]) -> str:
    """Statements as text."""
    found = []
    for statement in statements:
        if isinstance(statement, Do):
            found.append(statement.line)
        else:
            found += [statement.head, indent(lines(statement.body) or "T.evaluate(0)", "    ")]
    return "\n".join(found)


_COUNTER = 'c = T.alloc_buffer((1,), "int64")\n'
_LOCAL = """\
s = T.alloc_buffer((1,), "float32")
z = T.alloc_buffer((64,), "float32")
s[0] = T.float32(1)
for q in range(64):
    z[q] = T.float32(2)
"""


def local_text(body: Body) -> str:
    """The statements, with the local buffers that they use."""
    text = lines(body.statements)
    counter = _COUNTER if "c[" in text else ""
    return counter + (_LOCAL if "s[" in text or "z[" in text else "") + text


def script(body: Body) -> str:
    """The kernel as TVMScript."""
    head = f"""\
@T.prim_func{"(s_tir=True)" if "T.sblock" in lines(body.statements) else ""}
def f(a: T.handle, b: T.handle):
    T.func_attr({{"global_symbol": "f"}})
    n = T.int64()
    m = T.int64()
    x = T.match_buffer(a, ({body.x},), "float32")
    y = T.match_buffer(b, ({body.y},), "float32")
"""
    return head + indent(local_text(body), "    ")


SHAPES: tuple[tuple[str, str], ...] = (
    ("n", "n"),
    ("n", "n"),
    ("n", "m"),
    ("n, m", "n, m"),
    ("n, m", "n, m"),
    ("n, m", "n * m"),
    ("n * m", "n, m"),
    ("n, 4", "n, 4"),
    ("8", "8"),
    ("n, m", "n"),
    ("3, 4", "3, 4"),
    ("n, 4", "n * 4"),
)


class Writer:
    """Writes one body."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self.x, self.y = chance.choice(SHAPES)
        self._loops: list[str] = []
        self._blocks = 0

    def body(self) -> Body:
        count = self._chance.choice((1, 1, 1, 2, 2, 3))
        statements = tuple(self._statement(0) for _ in range(count))
        if "," not in self.y and self._chance.random() < 0.1:
            statements = (*self._halves(), *statements[1:])
        return Body(self.x, self.y, statements)

    def _statement(self, depth: int) -> Statement:
        roll = self._chance.random()
        if depth == 0 or (depth < 3 and roll < 0.3):
            return self._loop(depth) if roll < 0.8 or depth else self._store()
        if depth < 4 and roll < 0.42:
            return self._guard(depth)
        if roll < 0.47 and self._loops:
            return Inside(f"if {self._condition()}:", (Do(self._chance.choice(("break", "continue"))),))
        if roll < 0.55 and self._loops and depth < 4:
            return self._block()
        return self._store()

    def _loop(self, depth: int) -> Statement:
        roll = self._chance.random()
        if roll < 0.35:
            return self._elements()
        if roll < 0.5 and not self._loops:
            return self._tiled()
        var = "ijkl"[len(self._loops)]
        extent = self._chance.choice([*self._extents(), "n", "3", "n - 1", "2"])
        head = self._chance.choice(
            [f"range({extent})"] * 4
            + [f"T.serial(0, {extent}, step=2)", f"range(1, {extent})", f"T.serial(1, {extent}, step=3)"]
        )
        self._loops.append(var)
        count = self._chance.choice((1, 1, 2, 2, 3))
        body = tuple(self._statement(depth + 1) for _ in range(count))
        self._loops.pop()
        return Inside(f"for {var} in {head}:", body)

    def _elements(self) -> Statement:
        """Loops over all of a tensor."""
        extents = self._extents()[: 4 - len(self._loops)]
        names = ["ijkl"[len(self._loops) + place] for place in range(len(extents))]
        self._loops += names
        count = self._chance.choice((1, 1, 2))
        body = tuple(self._statement(3) for _ in range(count))
        del self._loops[len(self._loops) - len(names) :]
        for name, extent in reversed(list(zip(names, extents, strict=True))):
            body = (Inside(f"for {name} in range({extent}):", body),)
        return body[0]

    def _tiled(self) -> Statement:
        """A loop over all elements of `y` as two, with a condition for the last ones; or every other one."""
        extents = self.y.split(", ")
        count, width = " * ".join(extents), self._chance.choice("2345")
        least = self._chance.choice((count, count, count, f"{count} - 1", "n", "3"))
        flat = f"i * {width} + j"
        if self._chance.random() < 0.3:
            flat = self._chance.choice((f"j * (({count} + {width} - 1) // {width}) + i", f"{flat} + 1"))
        places = [f"({flat}) // {extents[1]}", f"({flat}) % {extents[1]}"] if len(extents) > 1 else [flat]
        if len(places) > 1 and extents[0] == extents[1] and self._chance.random() < 0.2:
            places.reverse()
        self._loops += ["i", "j"]
        store = Do(f"y[{', '.join(places)}] = {self._value()}")
        del self._loops[-2:]
        heads = [f"for i in range(({count} + {width} - 1) // {width}):", f"for j in range({width}):"]
        guard = self._chance.choice((f"if {flat} < {least}:", f"if {flat} < {least} and j < {width}:"))
        if self._chance.random() < 0.2:
            heads.reverse()
        return Inside(heads[0], (Inside(heads[1], (Inside(guard, (store,)),)),))

    def _halves(self) -> tuple[Statement, ...]:
        """Two loops over the elements of a vector with even and with odd places, or one behind the other."""
        count = self.y
        odd = self._chance.choice((f"{count} // 2", f"{count} // 2", f"({count} + 1) // 2", f"{count} - 1"))
        first, second = "i * 2", f"i * 2 + {self._chance.choice('1112')}"
        if self._chance.random() < 0.4:
            first, second, odd = "0", f"i + {self._chance.choice('112')}", f"{count} - 1"
        head = "for i in range(1):" if first == "0" else f"for i in range(({count} + 1) // 2):"
        stores = [f"y[{place}] = {self._element('x')}" for place in (first, second)]
        return (Inside(head, (Do(stores[0]),)), Inside(f"for i in range({odd}):", (Do(stores[1]),)))

    def _block(self) -> Statement:
        """A block with an axis for each loop, some of them reduced."""
        self._blocks += 1
        names = [f"v{self._blocks}{loop}" for loop in self._loops]
        kinds = [self._chance.choice(("spatial", "spatial", "reduce")) for _ in names]
        head = [
            Do(f"{name} = T.axis.{kind}(64, {loop})")
            for name, kind, loop in zip(names, kinds, self._loops, strict=True)
        ]
        kept, self._loops = self._loops, names
        target = self._element("y")
        init = (Inside("with T.init():", (Do(f"{target} = T.float32(0)"),)),)
        value = f"{target} + {self._element('x')}" if "reduce" in kinds else self._value()
        body = (*head, *(init if "reduce" in kinds else ()), Do(f"{target} = {value}"))
        self._loops = kept
        return Inside(f'with T.sblock("b{self._blocks}"):', body)

    def _guard(self, depth: int) -> Statement:
        then = Inside(f"if {self._condition()}:", (self._statement(depth + 1),))
        if self._chance.random() < 0.6:
            return then
        store = self._store()
        other = self._chance.choice(
            (store, replace(store, line=f"{store.line.split(' = ')[0]} = T.float32(5)"))
        )
        return Inside("if True:", (Inside(then.head, (store,)), Inside("else:", (other,))))

    def _condition(self) -> str:
        if self._loops and self._chance.random() < 0.5:
            loop = self._chance.choice(self._loops)
            return self._chance.choice((f"{loop} < 2", f"{loop} == 1", f"{loop} + 1 < n", f"{loop} > 0"))
        return f"{self._element('x')} > T.float32(0)"

    def _store(self) -> Do:
        roll = self._chance.random()
        if roll < 0.15:
            return Do(f"s[0] = {self._value()}")
        if roll < 0.25 and self._loops:
            return Do(f"z[{self._chance.choice(self._loops)}] = {self._value()}")
        target = self._element("y")
        if roll < 0.4:
            return Do(f"{target} = {target} + {self._value()}")
        if roll < 0.6:
            return Do(f"{target} = {target.replace('y', 'x')}" + self._chance.choice(("", " * T.float32(2)")))
        return Do(f"{target} = {self._value()}")

    def _value(self) -> str:
        one, other = self._atom(), self._atom()
        return self._chance.choice(
            (
                one,
                f"{one} + {other}",
                f"{one} - {other} * T.float32(3)",
                f"T.max({one}, {other})",
                f"T.if_then_else({self._condition()}, {one}, {other})",
            )
        )

    def _atom(self) -> str:
        roll = self._chance.random()
        if roll < 0.6:
            return self._element("x")
        if roll < 0.7:
            return self._element("y")
        if roll < 0.85:
            return "s[0]"
        if roll < 0.93 and self._loops:
            return f"z[{self._chance.choice(self._loops)}]"
        return "T.float32(2)"

    def _element(self, name: str) -> str:
        extents = (self.x if name == "x" else self.y).split(", ")
        own = list(self._loops)
        if len(own) >= 2 and len(extents) == 1 and self._chance.random() < 0.7:
            return f"{name}[{own[-2]} * {self._chance.choice(('m', 'm', '4', '3'))} + {own[-1]}]"
        if own and len(extents) == 2 and self._chance.random() < 0.25:
            width = extents[1]
            return f"{name}[{own[-1]} // {width}, {own[-1]} % {width}]"
        plain = self._chance.random() < 0.6
        chosen = own[-len(extents) :] if plain and len(own) >= len(extents) else None
        found = []
        for place, extent in enumerate(extents):
            loop = chosen[place] if chosen else self._chance.choice([*own, "0"])
            odd = self._chance.choice((f"{extent} - 1 - {loop}", f"{loop} + 1", f"{loop} // 2", "0"))
            found.append(odd if self._chance.random() < 0.15 else loop)
        return f"{name}[{', '.join(found)}]"

    def _extents(self) -> list[str]:
        return self._chance.choice((self.x, self.y, self.y)).split(", ")


def some(count: int, seed: int) -> Iterator[Body]:
    """Bodies, the same ones for a seed."""
    chance = random.Random(seed)
    for _ in range(count):
        yield Writer(chance).body()


def smaller(body: Body) -> Iterator[Body]:
    """The body without one statement, or with what stands inside a statement in its place."""
    for statements in _smaller(body.statements):
        yield replace(body, statements=statements)


def _smaller(statements: tuple[Statement, ...]) -> Iterator[tuple[Statement, ...]]:
    for place, statement in enumerate(statements):
        before, after = statements[:place], statements[place + 1 :]
        yield (*before, *after)
        if isinstance(statement, Inside):
            yield (*before, *statement.body, *after)
            for inner in _smaller(statement.body):
                yield (*before, replace(statement, body=inner), *after)
        elif " = " in statement.line and "axis" not in statement.line:
            target, value = statement.line.split(" = ", 1)
            for shorter in ("T.float32(2)", value.split(" ")[0]):
                if shorter != value:
                    yield (*before, Do(f"{target} = {shorter}"), *after)
