"""Random kernels that store integers to `q`, as TVMScript."""

from __future__ import annotations

import random
from collections.abc import Iterator
from textwrap import indent

DTYPES = ("int32", "int64", "int64", "int8", "uint8", "int16")


def some(count: int, seed: int) -> Iterator[str]:
    """Kernels as TVMScript, the same ones for a seed."""
    chance = random.Random(seed)
    for _ in range(count):
        yield _Writer(chance).text()


class _Writer:
    """Writes one kernel."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._p, self._q, self._s = (chance.choice(DTYPES) for _ in range(3))
        self._loops: list[str] = []

    def _one(self, *words: str) -> str:
        return self._chance.choice(words)

    def text(self) -> str:
        """The kernel."""
        body = self._one(
            self._plain(),
            self._plain(),
            self._own(),
            self._own(),
            self._reduced(),
            self._twice(),
            self._carried(),
            self._chosen(),
            self._nested(),
        )
        head = f"""\
@T.prim_func(s_tir=True)
def f(p_: T.handle, e_: T.handle, q_: T.handle):
    n = T.int64()
    m = T.int64()
    p = T.match_buffer(p_, (n,), "{self._p}")
    q = T.match_buffer(q_, (n,), "{self._q}")
    e = T.match_buffer(e_, (m,), "int8")
    s = T.alloc_buffer((n,), "{self._s}")
    t = T.alloc_buffer((n,), "int64")
"""
        return head + indent(body, "    ")

    def _cast(self, dtype: str, value: str) -> str:
        return f'T.Cast("{dtype}", {value})'

    def _value(self, dtype: str, depth: int = 0, load: str = "") -> str:
        """An expression of a dtype."""
        roll = self._chance.random()
        if depth > 2 or roll < 0.3:
            return self._leaf(dtype, load)
        a, b = self._value(dtype, depth + 1, load), self._value(dtype, depth + 1, load)
        number = f"T.{dtype}({self._chance.choice((1, 2, 3, 4, 7))})"
        if roll < 0.6:
            return self._one(
                f"{a} + {b}",
                f"{a} - {b}",
                f"{a} * {number}",
                f"({a}) // {number}",
                f"({a}) % {number}",
                f"T.truncmod({a}, {number})",
                f"T.truncdiv({a}, {number})",
                f"T.bitwise_and({a}, T.{dtype}(7))",
                f"T.shift_right({a}, T.{dtype}(1))",
                f"{a} * {b}",
            )
        if roll < 0.8:
            return self._one(
                f"T.min({a}, {b})",
                f"T.max({a}, {b})",
                f"T.max(T.min({a}, {number}), T.{dtype}(0))",
                f"T.min(T.max({a}, T.{dtype}(0)), {number})",
            )
        if roll < 0.9:
            form = self._one("T.if_then_else", "T.Select")
            return f"{form}({self._condition()}, {a}, {b})"
        other = self._chance.choice(DTYPES)
        return self._cast(dtype, self._value(other, depth + 1, load))

    def _leaf(self, dtype: str, load: str) -> str:
        loop = self._chance.choice(self._loops)
        made = [f"T.{dtype}({self._chance.choice((0, 1, 3, 5))})", self._cast(dtype, loop), f"{dtype}:p"]
        made += [f"{dtype}:{load}"] * 2 if load else []
        made += [self._cast(dtype, self._one("n - 1", "m", "n"))]
        found = self._chance.choice(made)
        if ":" not in found:
            return found
        name = found.rpartition(":")[2]
        at, own = ("p[i]", self._p) if name == "p" else (name, self._s if name[0] == "s" else "int64")
        return at if own == dtype else self._cast(dtype, at)

    def _condition(self) -> str:
        loop = self._chance.choice(self._loops)
        return self._one(
            "p[i] > {}".format(self._cast(self._p, "1")), f"{loop} < m", f"{loop} == 0", f"{loop} % 2 == 0"
        )

    def _plain(self) -> str:
        self._loops = ["i"]
        guard = self._one("", "", "", "if i < m:\n    ")
        return (
            f"for i in range(n):\n    {guard.replace(chr(10), chr(10) + '    ')}q[i] = {self._value(self._q)}"
        )

    def _own(self) -> str:
        """Through a buffer of the kernel's own, which may be filled in part only."""
        self._loops = ["i"]
        extent = self._one("n", "n", "n", "m", "n // 2", "n - 1", "8")
        guard = self._one(
            "", "", "if i < m:\n        ", "if p[i] > {}:\n        ".format(self._cast(self._p, "0"))
        )
        filled = f"for i in range({extent}):\n    {guard}s[i] = {self._value(self._s)}"
        at = self._one("s[i]", "s[i]", "s[n - 1 - i]", "s[0]", "s[T.max(i - 1, 0)]")
        repeated = filled
        if self._chance.random() < 0.3:
            around = self._one("m", "2", "n")
            repeated = f"for j in range({around}):\n" + indent(filled, "    ")
        used = f"for i in range(n):\n    q[i] = {self._value(self._q, 0, at)}"
        if self._chance.random() < 0.2:
            used = f"for i in range(n):\n    q[i] = {self._cast(self._q, at)}"
        parts = [repeated, used]
        if self._chance.random() < 0.1:
            parts.reverse()
        return "\n".join(parts)

    def _reduced(self) -> str:
        """A reduction, as of argmax or of the greatest element."""
        self._loops = ["i", "j"]
        start = self._one("-1", "0", "7")
        target, dtype = self._chance.choice((("s[vi]", self._s), ("q[vi]", self._q), ("t[vi]", "int64")))
        start = start if not dtype.startswith("u") else "0"
        kept = self._loops
        self._loops = ["vi", "vj"]
        condition = self._one(
            "p[vi] > {}".format(self._cast(self._p, "1")), "vj < m", f"{target} < {self._cast(dtype, 'vj')}"
        )
        new = self._one(self._cast(dtype, "vj"), self._value(dtype).replace("[i]", "[vi]"))
        step = self._one(
            f"T.Select({condition}, {target}, {new})",
            f"T.max({target}, {new})",
            f"T.min({target}, {new})",
            f"{target} + {self._cast(dtype, 'T.int64(1)')}",
        )
        self._loops = kept
        extent = self._one("m", "m", "3", "n")
        body = f"""\
for i, j in T.grid(n, {extent}):
    with T.sblock("r"):
        vi = T.axis.spatial(n, i)
        vj = T.axis.reduce({extent}, j)
        with T.init():
            {target} = T.{dtype}({start})
        {target} = {step}"""
        if target == "q[vi]":
            return body
        name = target[0]
        return body + f"\nfor i in range(n):\n    q[i] = {self._cast(self._q, f'{name}[i]')}"

    def _twice(self) -> str:
        """Two stores to what is returned."""
        self._loops = ["i"]
        one, other = self._value(self._q), self._value(self._q)
        return self._one(
            f"for i in range(n):\n    if {self._condition()}:\n        q[i] = {one}\n    else:\n        q[i] = {other}",
            f"for i in range(n):\n    q[i] = {one}\nfor i in range(m):\n    if i < n:\n        q[i] = {other}",
            f"for i in range(n):\n    q[i] = {one}\n    q[i] = T.max(q[i], {other})",
            f"for i in range(n):\n    q[i] = {one}\nfor i in range(n):\n    q[i] = q[i] + {other}",
        )

    def _carried(self) -> str:
        """A step takes what the one before has stored."""
        self._loops = ["i"]
        value = self._value(self._s, 1)
        more = self._one(
            f"s[i - 1] + {self._cast(self._s, 'T.int64(1)')}", "s[i - 1]", f"T.max(s[i - 1], {value})"
        )
        return (
            f"for i in range(n):\n    if i == 0:\n        s[i] = {value}\n    else:\n        s[i] = {more}\n"
            f"for i in range(n):\n    q[i] = {self._cast(self._q, 's[i]')}"
        )

    def _chosen(self) -> str:
        """An element of the kernel's own is stored on one way of a branch, or on both."""
        self._loops = ["i"]
        one, other = self._value(self._s, 1), self._value(self._s, 1)
        branch = f"if {self._condition()}:\n    s[i] = {one}"
        last = self._one("", f"\nelse:\n    s[i] = {other}", f"\nelse:\n    s[i] = {other}")
        if self._chance.random() < 0.2:
            last = f"\nelse:\n    s[n - 1 - i] = {other}"
        extent = self._one("n", "n", "n", "n // 2", "m")
        guard = "" if extent == "n" else "if i < n:\n"
        stored = indent(branch + last, "    " * (1 + bool(guard)))
        used = f"q[i] = {self._value(self._q, 0, self._one('s[i]', 's[i]', 's[n - 1 - i]'))}"
        if self._chance.random() < 0.5:
            return f"for i in range(n):\n{indent(branch + last, '    ')}\n    {used}"
        return f"for i in range({extent}):\n{indent(guard, '    ')}{stored}\nfor i in range(n):\n    {used}"

    def _nested(self) -> str:
        """What is stored under a condition is loaded under one, in the same step or in a later one."""
        self._loops = ["i", "j"]
        first = self._one("", "", "if j == 0:\n    ", "if j == m - 1:\n    ", "if i == 0:\n    ")
        store = f"{first}s[i] = {self._value(self._s, 1)}"
        use = f"q[i] = {self._value(self._q, 0, 's[i]')}"
        outer, inner = self._condition(), self._condition()
        parts = self._one(
            f"if {outer}:\n{indent(store, '    ')}\n    {use}",
            f"if {outer}:\n{indent(store, '    ')}\n    if {inner}:\n        {use}",
            f"if {outer}:\n{indent(store, '    ')}\nif {inner}:\n    {use}",
            f"if {outer}:\n{indent(store, '    ')}\nelse:\n    {use}",
            f"if {outer}:\n    if {inner}:\n{indent(store, '        ')}\n    {use}",
        )
        loops = self._one("for i, j in T.grid(n, m):", "for j, i in T.grid(m, n):")
        return f"{loops}\n{indent(parts, '    ')}"
