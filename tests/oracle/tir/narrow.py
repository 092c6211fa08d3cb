"""Random kernels whose indices are computed in other types than 64-bit integers with a sign: scalars, loops,
what tensors hold and what the kernel's own buffers hold, which it may fill in part only.
"""

from __future__ import annotations

import random

from tests.oracle.kernels.bodies import Do, Inside, Statement
from tests.oracle.tir.forms import Forms
from tests.oracle.tir.writer import SCALARS, Buffer

_DTYPES = ("int32", "int32", "int32", "uint64", "uint32", "int8", "uint8", "int64")
_OWN = {"c": "int32", "d": "uint64", "b": "int8", "a": "int64"}
"""Buffers of the kernel's own, with eight elements each."""


class Narrow(Forms):
    """Writes one kernel."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__(chance)
        for name, dtype in _OWN.items():
            self._buffers[name] = Buffer(name, "8", dtype, scope=chance.choice(("local", "global")))
        self._buffers["f"] = Buffer("f", "8", scope="local")
        # A grid of several would be large.
        self._few = chance.choice([name for name in SCALARS if name != "k"])
        self._scalar = False

    def _statement(self, depth: int) -> Statement:
        roll = self._chance.random()
        if roll < 0.3:
            return self._filled(depth)
        if roll < 0.36:
            return self._let(depth)
        if roll < 0.6:
            return self._used()
        return super()._statement(depth)

    def _filled(self, depth: int) -> Statement:
        """Something is stored to a buffer of the kernel's own."""
        name = self._one(*_OWN)
        store: Statement = self._put(name)
        if self._loops or depth > 2:
            guard = f"if {self._condition()}:"
            return store if self._chance.random() < 0.6 else Inside(guard, (store,))
        self._loops.append("i")
        store = self._put(name)
        if self._chance.random() < 0.3:
            store = Inside(f"if {self._one('i == 0', 'i > 0', 'i < n', 'i % 2 == 0')}:", (store,))
        self._loops.pop()
        return Inside(f"for i in range({self._one('8', '8', '8', '4', 'n', 'T.min(n, 8)')}):", (store,))

    def _put(self, name: str) -> Do:
        dtype = _OWN[name]
        at = self._one(*self._loops, *self._loops, "0") if self._loops else self._one("0", "0", "1")
        value = self._small(dtype) if self._chance.random() < 0.7 else self._number(dtype, 2)
        return Do(f"{name}[{at}] = {value}")

    def _let(self, depth: int) -> Statement:
        """A number with a name, which indices use."""
        if not self._loops:
            return self._store()
        dtype = self._one(*_DTYPES)
        name = f"r{len(self._loops)}_{self._chance.randint(0, 99)}"
        made = Do(f"{name}: T.{dtype} = {self._number(dtype, 2)}")
        index = self._wide(dtype, name)
        at = self._one(index, f"T.max(T.min({index}, 7), 0)", f"{index} % 8")
        return self._group(made, Do(f"z[{at}] = T.float32(1)"))

    def _used(self) -> Statement:
        """A number that is small unless something wraps, or was not stored, is an index."""
        own = self._one(*_OWN)
        at = self._one(*self._loops, "0", "0", "1") if self._loops else self._one("0", "1")
        dtype = self._one(*_DTYPES)
        choices = [self._wide(_OWN[own], f"{own}[{at}]")] * 3 + [self._wide(dtype, self._small(dtype))] * 2
        index = self._chance.choice(choices)
        number = self._wide(dtype, self._number(dtype, 2))
        if self._chance.random() < 0.2:
            return Inside(f"if {number} >= 0 and {number} < 8:", (Do(f"f[{number}] = T.float32(1)"),))
        return Do(f"f[{index}] = T.float32(1)")

    def _small(self, dtype: str) -> str:
        """A number from 0 to 7, as it looks."""
        a, b = self._number(dtype, 2), self._number(dtype, 1)
        one = f"T.{dtype}({self._one('0', '1', '3', '7')})"
        loop = f'T.Cast("{dtype}", {self._one(*self._loops)})' if self._loops else one
        inside = f"{a} >= T.{dtype}(0) and {a} < T.{dtype}(8)"
        return self._one(
            one,
            f"{loop} % T.{dtype}(8)",
            f"({a}) % T.{dtype}(8)",
            f"T.max(T.min({a}, T.{dtype}(7)), T.{dtype}(0))",
            f"T.min(T.max({a}, T.{dtype}(0)), T.{dtype}(7))",
            f"T.if_then_else({inside}, {a}, {one})",
            f"T.Select({inside}, {a}, {one})",
            f"T.bitwise_and({a}, T.{dtype}(7))",
            f"T.min(T.if_then_else({b} < {one}, {a}, {b}) % T.{dtype}(8), T.{dtype}(7))",
            f"T.max(T.bitwise_or({a}, T.{dtype}(1)) % T.{dtype}(4), T.{dtype}(0))",
            f"T.min(T.max({a} * {a}, T.{dtype}(0)), T.{dtype}(7))",
            f"({a} * {a}) // (({a} * {a}) + T.{dtype}(1))",
        )

    def _index(self, extent: str) -> str:
        if self._chance.random() < 0.4:
            return super()._index(extent)
        dtype = self._one(*_DTYPES)
        plain = self._wide(dtype, self._number(dtype, self._chance.choice((1, 2, 3))))
        low = self._wide(dtype, f"T.max({self._number(dtype, 2)}, T.{dtype}(0))")
        both = self._wide(dtype, f"T.max(T.min({self._number(dtype, 2)}, T.{dtype}(3)), T.{dtype}(0))")
        rest = self._wide(dtype, f"({self._number(dtype, 2)}) % T.{dtype}({self._one('2', '4', '8')})")
        guarded = self._number("int64", 1)
        return self._one(
            plain,
            both,
            rest,
            f"T.min({low}, {extent} - 1)",
            f"T.max(T.min({plain}, {extent} - 1), 0)",
            f"{plain} % T.max({extent}, 1)",
            f"T.if_then_else({guarded} >= 0 and {guarded} < {extent}, {guarded}, 0)",
        )

    def _wide(self, dtype: str, number: str) -> str:
        return number if dtype == "int64" else f'T.Cast("int64", {number})'

    def _number(self, dtype: str, depth: int) -> str:
        """An expression of a dtype."""
        if depth <= 0 or self._chance.random() < 0.15:
            return self._leaf(dtype)
        a, b = self._number(dtype, depth - 1), self._number(dtype, depth - 1)
        number = f"T.{dtype}({self._one('1', '2', '3', '4', '7', '8')})"
        large = f"T.{dtype}({self._one('100', '127') if dtype.endswith('8') else self._one('100', '65536', '1000000000')})"
        test = f"{a} {self._one('<', '<=', '>', '==')} {b}"
        unsigned = dtype.startswith("u")
        other = self._one(*(one for one in _DTYPES if one != dtype))
        return self._one(
            f"({a} + {b})",
            f"({a} - {b})",
            f"({a} * {number})",
            f"({a} * {b})" if self._chance.random() < 0.5 else f"({a} * {large})",
            f"({a} + {large})",
            f"({a}) // {number}",
            f"({a}) % {number}",
            f"T.truncdiv({a}, {number})",
            f"T.truncmod({a}, {number})",
            f"T.min({a}, {b})",
            f"T.max({a}, {b})",
            f"T.min({a}, {number})",
            f"T.max({a}, {number})",
            f"T.max(T.min({a}, {number}), T.{dtype}(0))",
            f"T.Select({test}, {a}, {b})",
            f"T.if_then_else({test}, {a}, {b})",
            f"T.if_then_else({a} < {number}, {a}, {number})",
            f"T.bitwise_and({a}, {number})",
            f"T.bitwise_or({a}, {number})",
            f"T.bitwise_xor({a}, {number})",
            f"T.shift_right({a}, T.{dtype}({self._one('1', '2', '3')}))",
            f"T.shift_left({a}, T.{dtype}({self._one('1', '2', '3')}))",
            a if unsigned else f"T.abs({a})",
            f'T.Cast("{dtype}", {self._number(other, depth - 1)})',
            f'T.Cast("{dtype}", {self._number(other, depth - 1)})',
        )

    def _leaf(self, dtype: str) -> str:
        loop = self._one(*self._loops, *self._loops, "n", "m")
        own = self._one(*_OWN)
        at = self._one(*self._loops, "0", "0", "1", "7")
        scalar = self._few
        made = self._one(
            *[f"int64:{loop}"] * 4,
            f"{_OWN[own]}:{own}[{at}]",
            f"{_OWN[own]}:{own}[{at}]",
            f"{SCALARS[scalar]}:{scalar}",
            f"int32:p[{at}]",
            f"{dtype}:T.{dtype}({self._one('0', '1', '2', '5', '7')})",
        )
        kind, _, text = made.partition(":")
        return text if kind == dtype else f'T.Cast("{dtype}", {text})'
