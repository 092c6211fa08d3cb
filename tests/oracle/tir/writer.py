"""Random kernels in every form that people and TVM write, as TVMScript, and smaller ones of the same kind."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from textwrap import indent

from tests.oracle.kernels.bodies import Do, Inside, Statement, lines
from tests.oracle.kernels.bodies import _smaller as smaller_statements

SHAPES = (
    "n",
    "n",
    "n, m",
    "n, m",
    "n * m",
    "n, 4",
    "n * 4",
    "8",
    "3, 4",
    "(n + 3) // 4 * 4",
    "n + 1",
    "n - 1",
)
LOOPS = "ijlu"
SCALARS = {"k": "int64", "ku": "uint64", "kw": "uint32", "ki": "int32", "kb": "int8"}


@dataclass(frozen=True)
class Buffer:
    """A buffer: a parameter, or one that the kernel makes (`scope` is then given)."""

    name: str
    shape: str
    dtype: str = "float32"
    scope: str | None = None
    declared: str = ""
    """What stands behind the shape and the dtype where the kernel declares it."""

    @property
    def extents(self) -> list[str]:
        """The extents."""
        return self.shape.split(", ")


@dataclass(frozen=True)
class Kernel:
    """The buffers, the names of scalars, and the statements."""

    buffers: tuple[Buffer, ...]
    scalars: tuple[str, ...]
    statements: tuple[Statement, ...]
    functions: tuple[str, ...] = ()
    """Those that it calls."""


def script(kernel: Kernel) -> str:
    """The kernel as TVMScript; where it calls others, in a module with these."""
    if not kernel.functions:
        return _script(kernel)
    text = "\n".join((*kernel.functions, _script(kernel)))
    return "@I.ir_module\nclass Module:\n" + indent(text, "    ")


def _script(kernel: Kernel) -> str:
    text = lines(kernel.statements)
    own = [
        buffer
        for buffer in kernel.buffers
        if buffer.scope is not None and re.search(rf"\b{buffer.name}(\[|\.data)", text)
    ]
    parameters = [buffer for buffer in kernel.buffers if buffer.scope is None]
    handles = [f"{buffer.name}_: T.handle" for buffer in parameters] + [
        f"{name}: T.{SCALARS[name]}" for name in kernel.scalars
    ]
    head = [
        "@T.prim_func(s_tir=True)",
        f"def f({', '.join(handles)}):",
        "    n = T.int64()",
        "    m = T.int64()",
    ]
    head += [
        f'    {one.name} = T.match_buffer({one.name}_, ({one.shape},), "{one.dtype}"{one.declared})'
        for one in parameters
    ]
    head += [_made(one) for one in own]
    return "\n".join([*head, indent(text or "T.evaluate(0)", "    ")])


def _made(one: Buffer) -> str:
    if one.scope == "over x":
        return f'    {one.name} = T.decl_buffer(({one.shape},), "{one.dtype}", data=x.data)'
    return f'    {one.name} = T.alloc_buffer(({one.shape},), "{one.dtype}", scope="{one.scope}")'


def smaller(kernel: Kernel) -> Iterator[Kernel]:
    """The kernel without one of its statements."""
    for statements in smaller_statements(kernel.statements):
        yield replace(kernel, statements=statements)


def some(count: int, seed: int, *, more: bool = True) -> Iterator[Kernel]:
    """Kernels, the same ones for a seed. `more`: with assertions, and loads right of an `and` or `or`."""
    chance = random.Random(seed)
    for _ in range(count):
        yield Writer(chance, more=more).kernel()


class Writer:
    """Writes one kernel."""

    def __init__(self, chance: random.Random, *, more: bool) -> None:
        self._chance = chance
        self._more = more
        self._loops: list[str] = []
        self._tags: list[str] = []
        self._blocks = 0
        self._vector = False
        x, y = chance.choice(SHAPES), chance.choice(SHAPES)
        offset = chance.choice(["", "", "", "", ", elem_offset=T.int64()", ", offset_factor=1"])
        buffers = [Buffer("x", x, declared=offset), Buffer("y", y)]
        buffers.append(Buffer("p", chance.choice(("n", "8")), "int32"))
        buffers.append(Buffer("s", chance.choice(("8", "n", "4, 4", "n, 4")), scope="global"))
        buffers.append(Buffer("z", "64", scope=chance.choice(("local", "shared", "global"))))
        if chance.random() < 0.2:
            flat = x.replace(", ", " * ") if "//" not in x else "4"
            buffers.append(Buffer("w", chance.choice((flat, flat, f"{flat} + 1")), scope="over x"))
        self._buffers = {buffer.name: buffer for buffer in buffers}
        self._scalar = chance.random() < 0.25

    def kernel(self) -> Kernel:
        """A kernel."""
        count = self._chance.choice((1, 1, 1, 2, 2))
        # What is read must have been written: every element of the internal buffers.
        statements = tuple(self._statement(0) for _ in range(count))
        text = lines(statements)
        unused = [name for name in ("p", "w") if f"{name}[" not in text]
        kept = tuple(buffer for name, buffer in self._buffers.items() if name not in unused)
        told = {extent for one in kept if one.scope is None for extent in one.extents}
        if not {"n", "m"} <= told:
            # A tensor that is not used tells the sizes.
            kept = (*kept, Buffer("e", "n, m", "int8"))
        scalars = tuple(name for name in SCALARS if re.search(rf"\b{name}\b", text))
        return Kernel(kept, scalars, statements)

    def _one(self, *words: str) -> str:
        return self._chance.choice(words)

    def _statement(self, depth: int) -> Statement:
        roll = self._chance.random()
        if depth == 0 or (depth < 3 and roll < 0.38):
            return self._loop(depth)
        if depth < 5 and roll < 0.52:
            return self._guard(depth)
        if roll < 0.56 and self._loops and not self._tags:
            return Inside(f"if {self._condition()}:", (Do(self._one("break", "continue")),))
        if roll < 0.66 and self._loops and depth < 5:
            return self._block(depth)
        if roll < 0.69:
            return Inside(
                "if True:", (Do(f"T.evaluate(T.assume({self._condition(pure=True)}))"), self._store())
            )
        if roll < 0.73 and self._more:
            return Do(f'assert {self._condition(pure=True)}, "no"')
        return self._store()

    # -- loops ---------------------------------------------------------------------------------

    def _loop(self, depth: int) -> Statement:
        if len(self._loops) >= 3:
            return self._store()
        if self._chance.random() < 0.3:
            return self._nest()
        var = LOOPS[len(self._loops)]
        extent = self._extent()
        roll = self._chance.random()
        if roll < 0.08 and depth == 0:
            return self._while(extent)
        head, tag = f"range({extent})", None
        if roll < 0.14:
            head = f"T.serial({self._one('0', '1', '2')}, {extent})"
        elif roll < 0.2:
            head = f"T.serial(0, {extent}, step={self._one('2', '3')})"
        elif roll < 0.3:
            head, tag = f"T.parallel({extent})", "parallel"
        elif roll < 0.36:
            head, tag = f"T.vectorized({self._one('4', '8')})", "vectorized"
        elif roll < 0.42:
            head = f"T.unroll({self._one('2', '3', '4')})"
        elif roll < 0.56 and "blockIdx.x" not in self._tags and not self._tags:
            head, tag = f'T.thread_binding({extent}, thread="blockIdx.x")', "blockIdx.x"
        elif roll < 0.66 and "threadIdx.x" not in self._tags and self._tags in ([], ["blockIdx.x"]):
            head, tag = (
                f'T.thread_binding({self._one("4", "8", extent)}, thread="threadIdx.x")',
                "threadIdx.x",
            )
        self._loops.append(var)
        self._tags += [tag] if tag else []
        count = self._chance.choice((1, 1, 2))
        body = tuple(self._statement(depth + 1) for _ in range(count))
        if tag:
            self._tags.pop()
        self._loops.pop()
        return Inside(f"for {var} in {head}:", body)

    def _nest(self) -> Statement:
        """Loops over all of a tensor."""
        buffer = self._buffers[self._one("x", "y", "y", "s")]
        extents = buffer.extents[: 4 - len(self._loops)]
        names = [LOOPS[len(self._loops) + place] for place in range(len(extents))]
        self._loops += names
        count = self._chance.choice((1, 1, 2))
        body = tuple(self._statement(3) for _ in range(count))
        del self._loops[len(self._loops) - len(names) :]
        for name, extent in reversed(list(zip(names, extents, strict=True))):
            body = (Inside(f"for {name} in range({extent}):", body),)
        return body[0]

    def _while(self, extent: str) -> Statement:
        counter = "z[63]"
        self._buffers["q"] = Buffer("q", "1", "int64", scope="local")
        before = Do("q[0] = T.int64(0)")
        step = Do("q[0] = q[0] + T.int64(1)")
        at = self._one("x[q[0]]", "z[q[0]]") if len(self._buffers["x"].extents) == 1 else "z[q[0]]"
        body = (Do(f"{at} = T.float32(3)"), step)
        return Inside("if True:", (before, Inside(f"while q[0] < {extent}:", body))) if counter else before

    def _extent(self) -> str:
        some = [*self._buffers["x"].extents, *self._buffers["y"].extents, "n", "m", "3", "n - 1", "n // 2"]
        some += ["(n + 3) // 4", "T.min(n, m)", "T.max(n, 1)", *(["k"] if self._scalar else [])]
        return self._chance.choice(some)

    # -- blocks and guards ---------------------------------------------------------------------

    def _block(self, depth: int) -> Statement:
        self._blocks += 1
        names = [f"v{self._blocks}{loop}" for loop in self._loops]
        kinds = [self._one("spatial", "spatial", "reduce") for _ in names]
        values = [self._one(loop, loop, loop, f"{loop} + 1", f"n - 1 - {loop}") for loop in self._loops]
        head = [
            Do(f"{name} = T.axis.{kind}(64, {at})")
            for name, kind, at in zip(names, kinds, values, strict=True)
        ]
        if self._chance.random() < 0.3:
            head.append(Do(f"T.where({self._condition(pure=True)})"))
        kept, self._loops = self._loops, names
        target = self._element("y")
        init = (Inside("with T.init():", (Do(f"{target} = T.float32(0)"),)),)
        value = f"{target} + {self._element('x')}" if "reduce" in kinds else self._value()
        body: tuple[Statement, ...] = (Do(f"{target} = {value}"),)
        if "reduce" not in kinds and self._chance.random() < 0.4:
            body = (self._statement(max(depth, 3) + 1),)
        if "reduce" not in kinds and self._chance.random() < 0.25:
            body = self._region()
        self._loops = kept
        return Inside(
            f'with T.sblock("b{self._blocks}"):', (*head, *(init if "reduce" in kinds else ()), *body)
        )

    def _region(self) -> tuple[Statement, ...]:
        """A buffer that is a region of another one."""
        name = f"g{self._blocks}"
        buffer = self._buffers[self._one("x", "y")]
        starts = [self._index(extent) for extent in buffer.extents]
        parts = [*starts[:-1], f"{starts[-1]} : {starts[-1]} + 2"]
        shape = "2" if len(parts) == 1 else f"{', '.join('1' for _ in starts[:-1])}, 2"
        match = f'{name} = T.match_buffer({buffer.name}[{", ".join(parts)}], ({shape},), "float32", offset_factor=1'
        match += ", strides=[" + ", ".join(f'"t{self._blocks}{axis}"' for axis in range(len(parts))) + "])"
        at = ", ".join(["0"] * (len(parts) - 1) + [self._one("0", "1", "1", "2")])
        return (Do(match), Do(f"{name}[{at}] = T.float32(4)"))

    def _guard(self, depth: int) -> Statement:
        then = Inside(f"if {self._condition()}:", (self._statement(depth + 1),))
        if self._chance.random() < 0.6:
            return then
        return Inside("if True:", (then, Inside("else:", (self._store(),))))

    def _condition(self, pure: bool = False) -> str:
        roll = self._chance.random()
        if not pure and roll < 0.15:
            load = f"{self._element('x')} > T.float32(0)"
            if not self._more:
                return load
            first = self._condition(pure=True)
            return self._one(load, load, f"{first} and {load}", f"{first} or {load}")
        if self._loops and roll < 0.75:
            loop = self._chance.choice(self._loops)
            limit = self._one(
                "n", "m", "4", "n - 1", *self._buffers["x"].extents, *self._buffers["y"].extents
            )
            shift = self._one("", "", " + 1", " * 4", " * 2 + 1")
            plain = f"{loop}{shift} {self._one('<', '<', '<=', '>', '>=')} {limit}"
            if roll < 0.3 and len(self._loops) > 1:
                return f"{self._loops[-2]} * 4 + {self._loops[-1]} < {limit}"
            return self._one(plain, plain, f"{plain} and {loop} > 0", f"not {loop} == 1", f"{loop} % 2 == 0")
        return self._one("n > 2", "m > n", "n == m", "n <= 4", "n % 4 == 0", "n > 0", "m >= 3")

    # -- values --------------------------------------------------------------------------------

    def _store(self) -> Do:
        roll = self._chance.random()
        name = "y" if roll < 0.6 else self._one("s", "z", "x", *(["w"] if "w" in self._buffers else []))
        if roll > 0.94 and self._loops:
            base = self._chance.choice(self._loops)
            return (
                Do(f"y[{self._vector_index(base)}] = T.Broadcast(T.float32(2), 4)")
                if len(self._buffers["y"].extents) == 1
                else Do(f"{self._element('y')} = T.float32(1)")
            )
        target = self._element(name)
        if roll < 0.15:
            return Do(f"{target} = {target} + {self._value()}")
        return Do(f"{target} = {self._value()}")

    def _vector_index(self, base: str) -> str:
        return self._one(
            f"T.Ramp({base} * 4, 1, 4)", f"T.Ramp({base}, 1, 4)", f"T.Ramp({base} * 4 + 3, -1, 4)"
        )

    def _value(self) -> str:
        one, other = self._atom(), self._atom()
        choice = f"T.if_then_else({self._condition(pure=True)}, {one}, {other})"
        select = f"T.Select({self._condition(pure=True)}, {one}, {other})"
        return self._one(one, one, f"{one} + {other}", choice, choice, select)

    def _atom(self) -> str:
        roll = self._chance.random()
        if roll < 0.6:
            return self._element("x")
        if roll < 0.7:
            return self._element("y")
        return self._one("T.float32(2)", self._element("s"), self._element("z"))

    def _element(self, name: str) -> str:
        extents = self._buffers[name].extents
        own = self._loops
        if len(own) >= 2 and len(extents) == 1 and self._chance.random() < 0.6:
            width = self._one("m", "m", "4", "4", "3")
            flat = f"{own[-2]} * {width} + {own[-1]}"
            return f"{name}[{self._one(flat, flat, f'T.min({flat}, {extents[0]} - 1)')}]"
        if own and len(extents) == 2 and self._chance.random() < 0.3:
            width, loop = extents[1], own[-1]
            return f"{name}[{loop} // {width}, {loop} % {width}]"
        if len(own) >= len(extents) and self._chance.random() < 0.5:
            return f"{name}[{', '.join(own[-len(extents) :])}]"
        return f"{name}[{', '.join(self._index(extent) for extent in extents)}]"

    def _index(self, extent: str) -> str:
        loop = self._chance.choice([*self._loops, "0"])
        other = self._chance.choice([*self._loops, "1"])
        odd = (
            f"{extent} - 1 - {loop}",
            f"{loop} + 1",
            f"{loop} - 1",
            f"{loop} // 2",
            f"{loop} % 4",
            f"{loop} * 2",
            f"{loop} + {other}",
            f"T.min({loop}, {extent} - 1)",
            f"T.max({loop} - 1, 0)",
            f"T.max(T.min({loop}, {extent} - 1), 0)",
            f"T.truncmod({loop} - 2, 4)",
            f"({loop} * 4 + {other}) // 4",
            f'T.Cast("int64", T.Cast("int32", {loop}) * 65536 * 65536)',
            f'T.Cast("int64", T.Cast("int8", {loop} * 100))',
            f"T.if_then_else({loop} < {extent}, {loop}, 0)",
            "k" if self._scalar else "0",
            f'T.max(T.min(T.Cast("int64", p[{loop}]), {extent} - 1), 0)',
            "n",
        )
        return self._chance.choice(odd) if self._chance.random() < 0.55 else loop
