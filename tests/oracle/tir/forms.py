"""Random kernels in the forms that are seldom: any `while`, ways out, buffers declared over others with strides
and offsets, calls of other PrimFuncs, indices that are whole expressions, vectors, threads in three directions.
"""

from __future__ import annotations

import random
from dataclasses import replace
from textwrap import indent

from tests.oracle.kernels.bodies import Do, Inside, Statement, lines
from tests.oracle.tir.writer import Buffer, Kernel, Writer

_CALLEES = ("g", "h")
_COUNTER = Buffer("q", "1", "int64", scope="local")
_LIMITS = Buffer("o", "2", "int64", scope="local")


class Forms(Writer):
    """Writes one kernel."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__(chance, more=True)
        if chance.random() < 0.2:
            # The caller's tensors are compact, which is checked on entry.
            x = self._buffers["x"]
            strides = "[" + ", ".join(f'"e{axis}"' for axis in range(len(x.extents))) + "]"
            self._buffers["x"] = replace(x, declared=f"{x.declared}, strides={strides}")
        self._views = 0
        self._callees = {name: _callee(name, chance) for name in _CALLEES}

    def kernel(self) -> Kernel:
        """A kernel and the functions that it calls."""
        made = super().kernel()
        text = lines(made.statements)
        return replace(made, functions=tuple(f for name, f in self._callees.items() if f"{name}(" in text))

    def _statement(self, depth: int) -> Statement:
        forms = (self._search, self._any_while, self._view, self._called, self._vectors, self._way_out)
        if depth < 4 and self._chance.random() < 0.4:
            return self._chance.choice(forms)(depth)
        if depth == 0 and self._chance.random() < 0.25:
            return self._launched()
        return super()._statement(depth)

    def _group(self, *statements: Statement) -> Statement:
        return Inside("if True:", statements)

    def _any_while(self, depth: int) -> Statement:
        """A counter that goes up or down, by one or more, with a way out."""
        self._buffers["q"] = _COUNTER
        limit, step = self._extent(), self._one("1", "1", "2", "3")
        up = self._chance.random() < 0.6
        start = self._one("0", "0", "1", "n // 2") if up else limit
        condition = self._one(
            *([f"q[0] < {limit}"] * 3 if up else ["q[0] > 0"] * 3),
            "q[0] < n and q[0] >= 0",
            f"0 <= q[0] and q[0] <= {limit}",
        )
        used = Do(f"{self._last_axis(self._one('x', 'y'), 'q[0]')} = T.float32(3)")
        moved = Do(f"q[0] = q[0] {'+' if up else '-'} T.int64({step})")
        body: list[Statement] = [used, moved] if self._chance.random() < 0.6 else [moved, used]
        if self._chance.random() < 0.2:
            body.insert(1, Inside(f"if {self._condition()}:", (Do("break"),)))
        return self._group(Do(f"q[0] = T.int64({start})"), Inside(f"while {condition}:", tuple(body)))

    def _search(self, depth: int) -> Statement:
        """A search by halves."""
        self._buffers["o"] = _LIMITS
        extent = self._one("n", "m", *self._buffers["x"].extents)
        middle = self._one("(o[0] + o[1]) // 2", "o[0] + (o[1] - o[0]) // 2", "(o[0] + o[1] + 1) // 2")
        at = self._last_axis("x", middle)
        halves = Inside(f"if {at} > T.float32(1):", (Do(f"o[1] = {middle}"),))
        other = Inside("else:", (Do(f"o[0] = {middle} + T.int64(1)"),))
        last = self._one("o[0]", "o[1]", "T.min(o[0], {extent} - 1)".replace("{extent}", extent))
        return self._group(
            Do("o[0] = T.int64(0)"),
            Do(f"o[1] = {self._one(extent, extent, f'{extent} - 1')}"),
            Inside("while o[0] < o[1]:", (halves, other)),
            Do(f"{self._last_axis('y', last)} = T.float32(1)"),
        )

    def _last_axis(self, name: str, index: str) -> str:
        """An element of a buffer by its index on the last axis."""
        return f"{name}[{', '.join(['0'] * (len(self._buffers[name].extents) - 1) + [index])}]"

    def _view(self, depth: int) -> Statement:
        """A buffer over the memory of another one, that begins anywhere and may leave gaps."""
        self._views += 1
        name, source = f"v{self._views}_", self._one("x", "y", "z", "s")
        dtype = self._one("float32", "float32", "float32", "float16", "int8")
        shape = self._one("4", "8", "n", "2, 4", "n, 2")
        more = self._one("", "", f", elem_offset={self._tree(1)}", ", elem_offset=2")
        if self._chance.random() < 0.3:
            more += (
                f", strides=[{self._one('4, 1', '1, 2', '2, 2') if ',' in shape else self._one('1', '2')}]"
            )
        element = f"{source}[{', '.join(self._tree(0) for _ in self._buffers[source].extents)}]"
        data = self._one(*[f"{source}.data"] * 4, f"T.address_of({element})")
        made = Do(f'{name} = T.decl_buffer(({shape},), "{dtype}", data={data}{more})')
        indices = ", ".join(self._tree(1) for _ in shape.split(", "))
        value = f"T.{dtype}(1)" if self._chance.random() < 0.6 else f"{name}[{indices}]"
        if self._loops or self._chance.random() < 0.3:
            return self._group(made, Do(f"{name}[{indices}] = {value}"))
        return self._group(
            made, Inside(f"for i in range({self._extent()}):", (Do(f"{name}[{indices}] = {value}"),))
        )

    def _called(self, depth: int) -> Statement:
        source = self._one("x", "y", "z", "s")
        at = ", ".join(self._tree(0) for _ in self._buffers[source].extents)
        pointer = self._one(f"{source}.data", f"{source}.data", f"T.address_of({source}[{at}])")
        return Do(f"Module.{self._one(*_CALLEES)}({pointer}, T.int64(0) + {self._tree(1)})")

    def _vectors(self, depth: int) -> Statement:
        """A load and a store of four elements at once."""
        if any(len(self._buffers[name].extents) != 1 for name in "xy"):
            return self._store()
        to, source = (f"T.Ramp({self._tree(1)}, {self._one('1', '1', '2', '-1', '-3')}, 4)" for _ in range(2))
        return Do(f"y[{to}] = x[{source}]")

    def _way_out(self, depth: int) -> Statement:
        if any(tag in ("parallel", "vectorized") for tag in self._tags) or not self._loops:
            return self._store()
        out = self._one("T.Return(0)", "continue", "break") if not self._tags else "continue"
        return Inside(f"if {self._condition()}:", (Do(out),))

    def _launched(self) -> Statement:
        """Blocks and threads in two directions, and what they share."""
        extents = [self._one("4", "8", "n", "(n + 3) // 4"), self._one("2", "4")]
        tags = ["blockIdx.x", self._one("threadIdx.x", "threadIdx.y", "vthread.x")]
        self._loops += ["i", "j"]
        self._tags += tags
        body: Statement = self._group(*(self._statement(2) for _ in range(self._chance.choice((1, 2)))))
        for loop, extent, tag in reversed(list(zip("ij", extents, tags, strict=True))):
            body = Inside(f'for {loop} in T.thread_binding({extent}, thread="{tag}"):', (body,))
        del self._loops[-2:], self._tags[-2:]
        return body

    def _index(self, extent: str) -> str:
        if self._chance.random() < 0.5:
            return super()._index(extent)
        tree = self._tree(self._chance.choice((1, 2)))
        return self._one(
            tree, tree, f"T.max(T.min({tree}, {extent} - 1), 0)", f"T.floormod({tree}, T.max({extent}, 1))"
        )

    def _tree(self, depth: int) -> str:
        """A whole expression."""
        if depth == 0 or self._chance.random() < 0.2:
            return self._one(*self._loops, *self._loops, "T.int64(0)", "T.int64(1)", "n", "m")
        a, b = self._tree(depth - 1), self._tree(depth - 1)
        number = self._one("1", "2", "3", "4", "8")
        below = self._one("-1", "-2", "-3", "-4")
        loop = self._one(*self._loops, "n")
        return self._one(
            f"{a} + {b}",
            f"{a} - {b}",
            f"({a}) * {number}",
            f"({a}) * {below}",
            f"({a}) // {number}",
            f"({a}) % {number}",
            f"({a}) // {below}",
            f"({a}) % {below}",
            f"T.truncdiv({a}, {number})",
            f"T.truncdiv({a}, {below})",
            f"T.truncmod({a}, {number})",
            f"T.truncmod({a}, {below})",
            f"T.ceildiv({a}, {number})",
            f"T.min({a}, {b})",
            f"T.max({a}, {b})",
            f"T.abs({a})",
            f"T.bitwise_and({a}, {self._one('1', '3', '6', '7')})",
            f"T.bitwise_or({a}, {self._one('1', '4')})",
            f"T.bitwise_xor({a}, 1)",
            f"T.shift_right({a}, {self._one('1', '2')})",
            f"T.shift_left({a}, 1)",
            f"T.Select({self._condition(pure=True)}, {a}, {b})",
            f"T.if_then_else({loop} < {number}, {a}, {b})",
            f'T.Cast("int64", {loop} < {number})',
            f'T.Cast("int64", T.Cast("int8", {a}))',
            f'T.Cast("int64", p[{loop}])',
        )


def _callee(name: str, chance: random.Random) -> str:
    """A PrimFunc that is given a pointer and a number."""
    extent = chance.choice(("8", "8", "4", "k", "k + 1", "64"))
    index = chance.choice(("k", "i", "k + i", "k - 1 - i", "i // 2", "7 - i", "k % 8", "i * 2"))
    store = f"b[{index}] = T.float32({chance.choice((1, 2))})"
    loop = f"for i in range({chance.choice(('k', '4', 'k + 1', 'k // 2'))}):\n    "
    body = loop + chance.choice(("", f"if {chance.choice(('i < 4', 'k < 8', 'i < k', 'k > 0'))}:\n        "))
    before = chance.choice(
        (
            *[""] * 5,
            'assert k < 8, "no"\n',
            "if k >= 8:\n    T.Return(0)\n",
            "T.evaluate(T.assume(k <= 8))\n",
        )
    )
    text = before + f'b = T.decl_buffer(({extent},), "float32", data=p)\n' + body + store
    return f"@T.prim_func(private=True, s_tir=True)\ndef {name}(p: T.handle, k: T.int64):\n" + indent(
        text, "    "
    )
