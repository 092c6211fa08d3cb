"""Random kernels whose indices, guards and extents have every operation that TIR has."""

from __future__ import annotations

import random
from textwrap import indent

import tvm

from tests.oracle.tir.compare import Unusable, compare_function

_INTEGERS = ("int64", "int64", "int64", "int32", "int32", "int8", "uint8", "uint32")
_LOOPS = "ijl"
_MORE = 1_000_000
"""Kernels from this number on have also what nothing is known of: calls, pointers, floats, strides."""


def text_of(number: int) -> str:
    """A kernel as TVMScript, the same one for a number; TVM does not take each of them."""
    return _Writer(random.Random(number), more=number >= _MORE).text()


class _Writer:
    """Writes one kernel."""

    def __init__(self, chance: random.Random, *, more: bool) -> None:
        self._chance = chance
        self._more = more
        self._loops: list[str] = []
        self._lets: list[tuple[str, str]] = []
        self._held = chance.choice(_INTEGERS)
        self._wide = "int64" if chance.random() < 0.7 else "int32"

    def text(self) -> str:
        """The kernel."""
        body = "\n".join(self._statement(0) for _ in range(self._chance.choice((1, 1, 2))))
        head = f"""\
@T.prim_func(s_tir=True)
def f(x_: T.handle, y_: T.handle, p_: T.handle, b_: T.handle, e_: T.handle, k: T.{self._wide}):
    n = T.int64()
    m = T.int64()
    x = T.match_buffer(x_, (n,), "float32"{self._layout()})
    y = T.match_buffer(y_, ({self._one("n, m", "n, 4", "8, n", "n + 1, m")}), "float32")
    p = T.match_buffer(p_, ({self._one("n", "m", "8")},), "{self._held}")
    b = T.match_buffer(b_, (n,), "bool")
    e = T.match_buffer(e_, (n, m), "int8")
    s = T.alloc_buffer(({self._one("16", "n", "n")},), "{self._held}", scope="{self._one("local", "global")}")
"""
        return head + indent(body, "    ")

    def _one(self, *words: str) -> str:
        return self._chance.choice(words)

    def _layout(self) -> str:
        """What stands behind the dtype of a buffer."""
        if not self._more:
            return ""
        return self._one("", "", ", elem_offset=T.int64()", ", offset_factor=4", ", strides=[T.int64()]")

    # -- statements ----------------------------------------------------------------------------

    def _statement(self, depth: int) -> str:
        if self._more and self._chance.random() < 0.15:
            return self._unusual(depth)
        roll = self._chance.random()
        if depth < 2 and (depth == 0 or roll < 0.4):
            return self._loop(depth)
        if depth > 3 or roll < 0.6:
            return self._store()
        inner = self._statement(depth + 1)
        if roll < 0.78:
            orelse = f"\nelse:\n{indent(self._store(), '    ')}" if self._chance.random() < 0.3 else ""
            return f"if {self._condition(2)}:\n{indent(inner, '    ')}{orelse}"
        if roll < 0.84:
            return f"T.evaluate(T.assume({self._condition(1)}))\n{inner}"
        if roll < 0.88:
            return f'assert {self._condition(1)}, "no"\n{inner}'
        if roll < 0.94:
            name, dtype = f"v{len(self._lets)}", self._one("int64", "int32")
            value = self._number(dtype, 2)
            self._lets.append((dtype, name))
            inner = self._statement(depth + 1)
            self._lets.pop()
            return f"{name}: T.let[T.{dtype}] = {value}\n{inner}"
        return self._block(depth)

    def _unusual(self, depth: int) -> str:
        """What few kernels do: calls with pointers, views, loops that end early, an element by its address."""
        place, number = self._plain(), self._number("int64", 2)
        leaves = self._one("break", "continue") if self._loops else "T.evaluate(0)"
        return self._one(
            'T.evaluate(T.call_extern("int32", "touch", x.data))',
            f'T.evaluate(T.call_extern("int32", "touch", T.address_of(x[{number}])))',
            f'T.evaluate(T.call_extern("int32", "touch", y.access_ptr("{self._one("r", "w", "rw")}")))',
            f'T.evaluate(T.call_extern("int32", "count", {number}))',
            f"if {self._condition(1)}:\n    {leaves}",
            f"while s[{place}] < {self._number(self._held, 1)}:\n    s[{place}] = s[{place}] + T.{self._held}(1)",
            f'w{depth} = T.decl_buffer(({self._one("n", "m", "4")},), "float32", data=x.data)\n'
            f"w{depth}[{number}] = T.float32(3)",
            f"x[{place}] = x[{number}] * x[{place}]\ny[{place}, 0] = y[{place}, 0] + x[{number}]",
        )

    def _unknown(self, dtype: str, depth: int) -> str:
        """An integer of which little is known."""
        inner = self._number("int64", depth - 1)
        return self._one(
            f'T.call_extern("{dtype}", "some", {inner})',
            f'T.Cast("{dtype}", T.sqrt(x[{self._plain()}]))',
            f'T.Cast("{dtype}", T.ceil(T.log2(T.Cast("float32", {inner}))))',
            f'T.Cast("{dtype}", T.floor(T.Cast("float32", {inner}) * T.float32(0.5)))',
            f'T.Cast("{dtype}", T.popcount({inner}))',
            f'T.Cast("{dtype}", T.Cast("uint16", {inner}))',
        )

    def _loop(self, depth: int) -> str:
        name = _LOOPS[len(self._loops)]
        extent = self._one("n", "n", "m", "8", "n - 1", "n // 2", self._number("int64", 1))
        head = self._one(
            *[f"range({extent})"] * 5,
            f"T.serial({self._one('1', 'n // 2', 'k')}, {extent})",
            f"T.serial(0, {extent}, step={self._one('2', '3')})",
            f"T.parallel({extent})",
            f"T.vectorized({self._one('4', '8')})",
            f"T.unroll({self._one('2', '4')})",
        )
        if not self._loops and self._chance.random() < 0.15:
            head = f'T.thread_binding({extent}, thread="{self._one("blockIdx.x", "threadIdx.x")}")'
        self._loops.append(name)
        body = "\n".join(self._statement(depth + 1) for _ in range(self._chance.choice((1, 1, 2))))
        self._loops.pop()
        return f"for {name} in {head}:\n{indent(body, '    ')}"

    def _block(self, depth: int) -> str:
        kept, names = self._loops, [f"v{loop}" for loop in self._loops]
        lines = [
            f"{name} = T.axis.{self._one('spatial', 'spatial', 'reduce', 'opaque')}"
            f"({self._one('n', '64')}, {self._one(loop, loop, self._number('int64', 1))})"
            for name, loop in zip(names, kept, strict=True)
        ]
        if self._chance.random() < 0.4:
            lines.append(f"T.where({self._condition(1)})")
        self._loops = names
        lines.append(self._statement(max(depth, 3) + 1))
        self._loops = kept
        return f'with T.sblock("b{depth}"):\n' + indent("\n".join(lines), "    ")

    def _store(self) -> str:
        number = self._number("int64", 3)
        load = self._one(f"x[{number}]", f"x[{self._plain()}]", "T.float32(1)")
        loaded = f"T.if_then_else({self._condition(1)}, {load}, T.float32(0))"
        chosen = f"T.Select({self._condition(1)}, {load}, T.float32(2))"
        ramp = f"T.Ramp({self._number('int32', 1)}, {self._one('1', '2', '-1')}, 4)"
        mine = self._number("int64", 2)
        return self._one(
            *[f"y[{self._plain()}, {number}] = {self._one(load, loaded, chosen)}"] * 3,
            f"y[{number}, 0] = {load}",
            f"x[{number}] = {self._one(load, 'x[0] + T.float32(1)')}",
            f"s[{mine}] = {self._number(self._held, 2)}",
            f"x[T.Cast('int64', s[{self._plain()}])] = T.float32(1)",
            f"x[{ramp}] = T.Broadcast(T.float32(2), 4)",
            f"p[{self._plain()}] = {self._number(self._held, 2)}",
        )

    # -- values --------------------------------------------------------------------------------

    def _plain(self) -> str:
        return self._chance.choice(self._loops) if self._loops else "0"

    def _number(self, dtype: str, depth: int) -> str:
        """An integer of a dtype."""
        if self._more and depth > 0 and self._chance.random() < 0.12:
            return self._unknown(dtype, depth)
        roll = self._chance.random()
        if depth == 0 or roll < 0.25:
            return self._leaf(dtype)
        a, b = self._number(dtype, depth - 1), self._number(dtype, depth - 1)
        number = f"T.{dtype}({self._chance.choice((1, 2, 3, 4, 7, 8))})"
        divisor = self._one(number, number, number, b)
        if roll < 0.5:
            return self._one(f"{a} + {b}", f"{a} - {b}", f"({a}) * ({b})", f"({a}) * {number}", f"-({a})")
        if roll < 0.64:
            form = self._one("T.floordiv", "T.floormod", "T.truncdiv", "T.truncmod", "T.ceildiv")
            return f"{form}({a}, {divisor})"
        if roll < 0.76:
            bits = self._one(
                "T.bitwise_and", "T.bitwise_or", "T.bitwise_xor", "T.shift_left", "T.shift_right"
            )
            other = self._one(b, number, number, f"T.{dtype}({self._chance.choice((0, 3, 5, 31, 62))})")
            return self._one(*[f"{bits}({a}, {other})"] * 5, f"T.bitwise_not({a})")
        if roll < 0.87:
            return f"{self._one('T.min', 'T.max')}({a}, {self._one(b, number)})"
        if roll < 0.94:
            return f"{self._one('T.if_then_else', 'T.Select')}({self._condition(depth - 1)}, {a}, {b})"
        return self._one(
            f'T.Cast("{dtype}", {self._number(self._chance.choice(_INTEGERS), depth - 1)})',
            f'T.Cast("{dtype}", {self._condition(depth - 1)})',
            f'T.Cast("{dtype}", x[{self._plain()}])',
            f"T.abs({a})",
        )

    def _leaf(self, dtype: str) -> str:
        found = [("int64", loop) for loop in self._loops * 3]
        found += [("int64", "n"), ("int64", "m"), (self._wide, "k"), *self._lets, *self._lets]
        found += [(self._held, f"{self._one('p', 's')}[{self._plain()}]")]
        own, text = self._chance.choice(found)
        if self._chance.random() < 0.2:
            return f"T.{dtype}({self._chance.choice((0, 1, 2, 5, 127))})"
        return text if own == dtype else f'T.Cast("{dtype}", {text})'

    def _condition(self, depth: int) -> str:
        roll = self._chance.random()
        if depth > 0 and roll < 0.3:
            a, b = self._condition(depth - 1), self._condition(depth - 1)
            return self._one(
                f"({a}) and ({b})",
                f"({a}) or ({b})",
                f"not ({a})",
                f"T.likely({a})",
                f"T.bitwise_and({a}, {b})",
                f"T.bitwise_or({a}, {b})",
                f"({a}) == ({b})",
                f"({a}) != ({b})",
                f"T.if_then_else({a}, {b}, b[{self._plain()}])",
            )
        if roll < 0.4:
            return self._one(
                f"b[{self._plain()}]", "T.bool(True)", f'T.Cast("bool", {self._number("int64", 1)})'
            )
        relation, dtype = self._one("<", "<=", ">", ">=", "==", "!="), self._one("int64", "int64", "int32")
        right = self._one(f"T.{dtype}({self._chance.choice((0, 1, 4, 8))})", self._number(dtype, 1))
        return f"{self._number(dtype, max(depth, 1))} {relation} {right}"


def verify_text(text: str) -> None:
    """Against the interpreter, where that carries the kernel out."""
    try:
        compare_function(tvm.script.from_source(text))
    except Unusable:
        return
