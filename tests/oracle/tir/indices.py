"""Random kernels that compute integers, and what the linter knows of these against the interpreter.

python -m tests.oracle.tir.indices [--minutes 10] [--kernels N] [--seed N]

Each kernel stores to `q` what it makes of `p`, of loops and of buffers of its own: clamped, divided, cast,
chosen, reduced, stored in part only. At each size of a grid every element of `q` that was stored has to lie
in the range that the linter states for it, unless it says that something wraps around or is not stored.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from textwrap import indent
from typing import Any

import sympy
import tvm

from relax_lint.model.kernel_access.accesses import KernelAccesses
from relax_lint.model.kernel_access.polynomials import Poly
from relax_lint.model.kernel_access.stored import StoredValues
from relax_lint.model.prim_funcs import read_kernel
from relax_lint.symbolic.evaluation import compile_expr
from tests.oracle.tir.compare import Disagreement, Unusable
from tests.oracle.tir.expressions import Declined
from tests.oracle.tir.machine import Machine, Outcome

SIZES = [(n, m) for n in (0, 1, 2, 5) for m in (0, 1, 3)]
DTYPES = ("int32", "int64", "int64", "int8", "uint8", "int16")
_MARK = 101
"""What `q` holds before; an element that still does counts as not stored."""
_SPANS = {"int8": 7, "uint8": 8, "int16": 15, "int32": 31, "int64": 63}


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
        )
        head = f"""\
@T.prim_func(s_tir=True)
def f(p_: T.handle, q_: T.handle, e_: T.handle):
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


# -- the comparison --------------------------------------------------------------------------------


def contents_of(dtype: str, count: int, chance: random.Random) -> list[int]:
    """Elements of a dtype: small ones, or any."""
    bits = _SPANS[dtype]
    low = 0 if dtype.startswith("u") else -(2**bits)
    wide = chance.random() < 0.3
    return [
        chance.choice((low, 2**bits - 1, 0, 9)) if wide else chance.randint(max(low, -4), 6)
        for _ in range(count)
    ]


def compare(text: str, seed: int = 1) -> Counter[str]:
    """What is known of the elements of `q` at each size. Raises `Disagreement` and `Unusable`."""
    try:
        prim_func: Any = tvm.script.from_source(text)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        raise Unusable(f"TVM: {error}") from None
    accesses = read_kernel("f", prim_func).accesses
    values = accesses.values.get(1)
    seen: Counter[str] = Counter({"kernels": 1, "stated": int(values is not None)})
    if values is None:
        return seen
    chance = random.Random(seed)
    for n, m in SIZES:
        p = contents_of(str(prim_func.params[0].dtype), n, chance)
        known = {"n": n, "m": m, **({"min(p)": min(p), "max(p)": max(p)} if p else {})}
        for unwritten in (120, -100) if p else ():
            outcome = _run(prim_func, n, m, p, unwritten)
            if outcome is None:
                seen["undefined"] += 1
            else:
                _compare(accesses, values, known, outcome, seen)
    return seen


def _run(prim_func: Any, n: int, m: int, p: Sequence[int], unwritten: int) -> Outcome | None:
    try:
        given = {0: p, 1: [_MARK] * n, 2: [0] * m}
        outcome = Machine(prim_func).run({"n": n, "m": m}, given, unwritten)
    except Declined as error:
        raise Unusable(f"declined: {error}") from None
    report = outcome.report
    return None if report.undefined or report.failed_assert or report.outside else outcome


def _compare(
    accesses: KernelAccesses,
    values: StoredValues,
    known: Mapping[str, int],
    outcome: Outcome,
    seen: Counter[str],
) -> None:
    def number(p: Poly) -> int:
        return _number(accesses.terms.expression(p), known)

    wraps = any(all(number(p) >= 0 for p in group) for group in values.wraps)
    if wraps or any(number(p) < 0 for p in (*values.steps, *values.reductions)):
        seen["said not to be known"] += 1
        return
    stored = [element for element in outcome.contents[1] if element != _MARK]
    ranges = [(number(low), number(high)) for low, high in values.ranges]
    low, high = min(one for one, _ in ranges), max(one for _, one in ranges)
    outside = [element for element in stored if not low <= element <= high]
    if outside:
        raise Disagreement(f"stored outside, {outside} is not within {low}..{high}, at {known}")
    if values.reached and stored and (min(stored), max(stored)) != (low, high):
        raise Disagreement(f"not reached, {low}..{high} of {stored}, at {known}")
    seen["compared"] += 1
    seen["reached"] += values.reached


def _number(expr: sympy.Expr, known: Mapping[str, int]) -> int:
    names = tuple(sorted(expr.free_symbols, key=str))
    return int(compile_expr(expr, names)(*(known[str(name)] for name in names)))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--kernels", type=int, default=10**9)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    started, seen, wrong = time.monotonic(), Counter[str](), Counter[str]()
    for text in some(options.kernels, options.seed):
        if time.monotonic() - started > options.minutes * 60:
            break
        try:
            seen += compare(text)
        except Unusable as error:
            seen[f"not taken: {str(error).split(':')[0]}"] += 1
        except Exception as error:
            why = str(error).split(",")[0]
            wrong[why] += 1
            if wrong[why] <= 5:
                sys.stdout.write(f"{type(error).__name__}: {error}\n{text}\n\n")
    sys.stdout.write(f"seed {options.seed}: {sum(wrong.values())} disagreements {dict(wrong)}\n")
    for word, count in sorted(seen.items()):
        sys.stdout.write(f"  {word}: {count:,}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
