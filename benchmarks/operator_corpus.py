"""Every operator of Relax on random shapes, fixed and symbolic: one module for each call of a table."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.bugs.bug import written_out
from relax_lint.replay.modules import UnreadableModuleError, load_module

_TABLE = Path(__file__).with_name("operator_calls.txt")
_FIXED = (1, 2, 3, 4, 5, 7, 8, 16, 17, 32, 33, 64, 100)
_SYMBOLS = ("n", "m", "k", "l", "p")
_DTYPES = {"f32": "float32", "f16": "float16", "i64": "int64", "i32": "int32", "i8": "int8", "bool": "bool"}
_PARAMETER = re.compile(r"(\w+): (\w+)\[([^\]]*)\]")
_EXTENT = re.compile(r"\b[A-F]\b")


def calls() -> Iterator[tuple[str, str]]:
    """The parameters and the expression of each call in the table."""
    for line in _TABLE.read_text(encoding="utf-8").splitlines():
        parameters, bar, expressions = line.partition(" | ")
        if not bar or line.startswith("#"):
            continue
        names = ", ".join(re.findall(r"(\w+):", parameters))
        for expression in expressions.split("; " if "(" in expressions else " "):
            yield parameters, expression if "(" in expression else f"R.{expression}({names})"


def random_operators(seed: int = 1) -> Iterator[tuple[str, Any]]:
    """Each call with fixed extents, with symbolic ones, and with some of each; names and modules. What this
    version of TVM does not take is left out.
    """
    chance = random.Random(seed)
    for parameters, expression in calls():
        letters = sorted(set(_EXTENT.findall(parameters + expression)))
        for kind in ("fixed", "symbolic", "mixed"):
            extents = {letter: _extent(kind, place, chance) for place, letter in enumerate(letters)}
            try:
                module = load_module(_text(parameters, expression, extents), "script")
            except UnreadableModuleError:
                continue
            yield f"{expression} {kind} {','.join(extents.values())}", module


def _extent(kind: str, place: int, chance: random.Random) -> str:
    is_fixed = kind == "fixed" or (kind == "mixed" and chance.random() < 0.5)
    return str(chance.choice(_FIXED)) if is_fixed else _SYMBOLS[place]


def _text(parameters: str, expression: str, extents: dict[str, str]) -> str:
    def put(text: str) -> str:
        return _EXTENT.sub(lambda match: extents[match[0]], text)

    types = [
        f'{name}: R.Tensor(({_quoted(put(shape))}), "{_DTYPES[dtype]}")'
        for name, dtype, shape in _PARAMETER.findall(parameters)
    ]
    symbols = sorted({extent for extent in extents.values() if not extent.isdigit()})
    # A symbol that stands in the expression alone is given by a parameter of its own.
    head = f"symbols: R.Shape([{', '.join(repr(symbol) for symbol in symbols)}]), " if symbols else ""
    lines = ["@R.function", f"def main({head}{', '.join(types)}):"]
    lines += [f"    {symbol} = T.int64()" for symbol in symbols]
    return written_out("\n".join([*lines, f"    z = {put(expression)}", "    return z"]))


def _quoted(shape: str) -> str:
    return "".join(f"{extent}, " if extent.isdigit() else f'"{extent}", ' for extent in shape.split(", "))
