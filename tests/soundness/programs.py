"""Random memory programs of one symbol, and what the linter says of them, point by point."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

import sympy

from relax_lint.results.check import Check
from relax_lint.results.verdict import Verdict
from relax_lint.symbolic.parsing import parse_condition

M = sympy.Symbol("m", integer=True)
POINTS = range(10)

_SIZES = (
    "{a}",
    "{a} * m",
    "{a} * m + {b}",
    "m * m",
    "(m + {b}) // {c} * {a}",
    "T.max(m, {b}) * {a}",
    "m - {c}",
)
_EXTENTS = ("m", "{c}", "m + {c}", "m * {c}", "(m + 1) // 2", "T.min(m, {c})", "T.max(m - {c}, 0)", "m % {d}")
_OFFSETS = ("0", "0", "0", "{b}", "m", "4 * m", "{b} - m")
_DTYPES = ("int8", "float32", "float64", "bool", "int32x4")
HEADER = "from tvm.script import ir as I, relax as R, tirx as T\n\n\n@I.ir_module\nclass Module:\n"


@dataclass(frozen=True)
class Program:
    """One function: a storage and a tensor on it."""

    name: str
    text: str


def programs(count: int, seed: int) -> list[Program]:
    """`count` functions, the same for the same seed."""
    rng = random.Random(seed)
    return [_program(f"f{index}", rng) for index in range(count)]


def module(functions: Iterable[Program]) -> str:
    """The text of one module with all the functions."""
    return HEADER + "\n".join(function.text for function in functions)


def _program(name: str, rng: random.Random) -> Program:
    def fill(choices: tuple[str, ...]) -> str:
        return rng.choice(choices).format(
            a=rng.choice((1, 4, 8, 16, 32)), b=rng.randrange(12), c=rng.randrange(1, 5), d=rng.randrange(1, 6)
        )

    dtype = rng.choice(_DTYPES)
    shape = ", ".join(fill(_EXTENTS) for _ in range(rng.choice((1, 1, 2))))
    size, offset = fill(_SIZES), fill(_OFFSETS)
    if rng.random() < 0.5:
        storage = (
            f'R.memory.alloc_storage(R.shape([{size}]), R.prim_value(0), R.str("global"), R.dtype("float32"))'
        )
        tensor = f'R.memory.alloc_tensor(s, R.prim_value({offset}), R.shape([{shape}]), R.dtype("{dtype}"))'
    else:
        unit = rng.choice(("float32", "int8"))
        storage = (
            f'R.vm.alloc_storage(R.shape([{size}]), R.prim_value(0), R.dtype("{unit}"), R.str("global"))'
        )
        tensor = f'R.vm.alloc_tensor(s, R.prim_value({offset}), R.shape([{shape}]), R.dtype("{dtype}"))'
    guard = ""
    if rng.random() < 0.2:
        guard = f'        R.assert_op(m <= {rng.randrange(1, 9)}, [m], format="m is {{}}")\n'
    text = (
        f'    @R.function(pure=False)\n    def {name}(x: R.Tensor(("m",), "int8")):\n        m = T.int64()\n{guard}'
        f"        s = {storage}\n        a = {tensor}\n        return a\n"
    )
    return Program(name, text)


def predicted(checks: Iterable[Check], rules: tuple[str, ...], m: int) -> bool | None:
    """Whether the checks of some rules say that every operation is safe at `m`; None where one is undecided."""
    for check in checks:
        if check.rule not in rules:
            continue
        if check.verdict is Verdict.ALWAYS_WRONG:
            return False
        if check.verdict is Verdict.NEEDS_RUNTIME_CHECK:
            if check.safe_when is None:
                return None
            if parse_condition(check.safe_when, {"m": M}).subs(M, m) != sympy.true:
                return False
    return True
