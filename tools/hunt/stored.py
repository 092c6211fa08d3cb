"""Programs as text that can be kept and read again."""

from __future__ import annotations

from typing import Any

from tools.hunt import program as names
from tools.hunt.program import Program


def write(program: Program) -> str:
    """The program as one line."""
    return repr(program)


def read(line: str) -> Program:
    """The program of a line that `write` made; it is the campaign's own."""
    known: dict[str, Any] = {
        name: getattr(names, name)
        for name in ("Program", "Function", "Statement", "Branches", "Closure", "Tensor", "Pair", "Lambda")
    }
    found = eval(line, {"__builtins__": {}}, known)
    assert isinstance(found, Program)
    return found
