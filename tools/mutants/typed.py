"""Whether the type checker notices a fault that no test does: `make lint` refuses it as the tests would."""

from __future__ import annotations

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

from tools.mutants.generating import ROOT, Mutant

_PLACE = re.compile(r"^[^:]*:\d+(:\d+)?: error: ")
_OPTIONS = ("--no-error-summary", "--no-warn-unreachable", "--no-warn-unused-ignores", "--no-pretty")
"""What cannot be reached is no error of types: a fault that drops a branch makes it so."""


def complaint(mutant: Mutant, folder: Path) -> str:
    """What the type checker says of the mutant and not of the file, if it says something."""
    more = Counter(_errors(mutant.key.file, mutant.text(), folder))
    more.subtract(_usual(mutant.key.file, folder))
    return next(iter(sorted((+more).elements())), "")


@cache
def _usual(file: str, folder: Path) -> tuple[str, ...]:
    """What it says of a file without its comments, by which some lines are not checked."""
    return _errors(file, ast.unparse(ast.parse((ROOT / file).read_text(encoding="utf-8"))), folder)


def _errors(file: str, text: str, folder: Path) -> tuple[str, ...]:
    """The errors in a file that has another text."""
    from mypy import api

    other = folder / "other.py"
    other.write_text(text, encoding="utf-8")
    cache = str(ROOT / "build" / "mutants" / "types")
    shown, _, _ = api.run([*_OPTIONS, "--cache-dir", cache, "--shadow-file", file, str(other), file])
    lines = (line for line in shown.splitlines() if line.startswith(f"{file}:") and _PLACE.match(line))
    return tuple(_PLACE.sub("", line) for line in lines)
