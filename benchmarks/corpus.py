"""Measure the reading of real TVMScript files, over folders of public sources that are kept elsewhere.

python -m benchmarks.corpus parse FOLDER...   share of units that parse, as they stand and rewritten
python -m benchmarks.corpus equal OLD NEW     old units, rewritten, against today's of the same name

For example the `tests/python/relax` folders of apache/tvm at several releases and of mlc-ai/relax. Each file
is read in a process of its own: TVM may crash. `--every 5` takes every fifth file of the sorted list. Each
folder's figures are printed when it is done; interrupted, the figures so far.
"""

from __future__ import annotations

import ast
import multiprocessing
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import tvm_ffi

from benchmarks.common import options
from relax_lint.sources.parsing import parse_unit
from relax_lint.sources.reading import read_units
from relax_lint.sources.unit import ParsedUnit

Tally = Counter[tuple[str, str]]
SHOWN = 12


def _units(path: Path) -> Iterator[Any]:
    yield from read_units(path.read_bytes(), str(path)).units


def expected_failures(path: Path) -> set[int]:
    """Lines of definitions inside `with pytest.raises(...)`: most of them are meant not to parse."""
    lines: set[int] = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.With) and any("raises" in ast.unparse(i.context_expr) for i in node.items):
            inside = (n for n in ast.walk(node) if isinstance(n, ast.ClassDef | ast.FunctionDef))
            lines |= {definition.lineno for definition in inside}
    return lines


def parse_file(path: Path) -> Tally:
    """How many units parse in either dialect, which rewrites were used, and why the others do not."""
    tally: Tally = Counter()
    expected = expected_failures(path)
    for unit in _units(path):
        for dialect in ("current", "auto"):
            parsed = parse_unit(unit, dialect)
            tally[dialect, "units"] += 1
            if isinstance(parsed, ParsedUnit):
                tally[dialect, "parsed"] += 1
                tally[dialect, "well-formed"] += parsed.ill_formed is None
            elif unit.node.lineno in expected:
                tally[dialect, "refused inside pytest.raises"] += 1
            elif dialect == "auto":
                tally["reason", f"{parsed.kind.value} {parsed.message[:100]}"] += 1
        if isinstance(parsed, ParsedUnit):
            for note in parsed.notes:
                rules = note.split("(")[-1].rstrip(")") if note.startswith("read as") else ""
                tally.update(("rule", rule) for rule in rules.split(", ") if rule)
    return tally


def equal_file(old: Path, new: Path) -> Tally:
    """Every unit that today's file of the same name has under the same name, rewritten or not."""
    tally: Tally = Counter()
    todays: dict[tuple[str, ...], list[Any]] = {}
    for unit in _units(new) if new.exists() else ():
        todays.setdefault(_name(unit), []).append(unit)
    for unit in _units(old):
        # Names repeat within a test: the first of a name against the first, and so on.
        if not todays.get(_name(unit)):
            continue
        todays_unit = todays[_name(unit)].pop(0)
        today, parsed = parse_unit(todays_unit), parse_unit(unit)
        if not isinstance(parsed, ParsedUnit) or not isinstance(today, ParsedUnit):
            continue
        equal = tvm_ffi.structural_equal(parsed.ir_module, today.ir_module)
        again = parse_unit(todays_unit)
        assert isinstance(again, ParsedUnit)
        # Types of distributed tensors are compared by identity.
        if not equal and not tvm_ffi.structural_equal(today.ir_module, again.ir_module):
            tally["all", "left out: TVM does not find it equal to itself"] += 1
            continue
        for group in ("all", "rewritten" if parsed.notes else "as it stands"):
            tally[group, "units"] += 1
            tally[group, "equal"] += equal
        if not equal:
            tally["differs", f"{old.name}:{unit.line} {unit.name} {parsed.notes[:1]}"] += 1
    return tally


def _name(unit: Any) -> tuple[str, ...]:
    """Name, and the enclosing top-level definition as the text has it."""
    around = re.findall(r"^(?:def|class) (\w+)", "\n".join(unit.text.lines[: unit.line]), re.MULTILINE)
    return (around[-1] if around else "", unit.name)


def isolated(function: Callable[..., Tally], *arguments: Path) -> Tally:
    """The tally of one file from a child process; a crash is counted."""
    receiving, sending = multiprocessing.Pipe(duplex=False)

    def work() -> None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            sending.send(function(*arguments))
        except Exception as error:
            sending.send(Counter({("error", f"{arguments[0]} {error!r}"[:200]): 1}))

    process = multiprocessing.get_context("fork").Process(target=work)
    process.start()
    sending.close()
    try:
        result: Tally = receiving.recv()
    except EOFError:
        result = Counter({("crash", str(arguments[0])): 1})
    process.join()
    return result


def show(title: str, tally: Tally, seconds: float) -> None:
    """Groups with a number of units as shares of it, the others as the most frequent lines."""
    print(f"== {title} ({seconds:.0f} s)")
    shown: Counter[str] = Counter()
    for (group, name), count in sorted(tally.items(), key=lambda item: (item[0][0], -item[1])):
        whole = tally.get((group, "units"), 0)
        shown[group] += 1
        if shown[group] <= SHOWN:
            share = f" ({100 * count / whole:.2f} %)" if whole else ""
            print(f"{count:9} {group}: {name}{share}", flush=True)


def measured(function: Callable[..., Tally], title: str, arguments: list[tuple[Path, ...]]) -> None:
    """The tally of many files, shown at the end."""
    started, total = time.time(), Counter[tuple[str, str]]()
    try:
        for number, paths in enumerate(arguments, 1):
            total += isolated(function, *paths)
            print(f"\r{number} of {len(arguments)}", end="", file=sys.stderr, flush=True)
    finally:
        print(file=sys.stderr)
        show(title, total, time.time() - started)


def main() -> None:
    arguments = options(__doc__, "what", every=1)
    what, *folders = arguments.what

    def files(folder: str) -> list[Path]:
        return sorted(Path(folder).rglob("*.py"))[:: arguments.every]

    if what == "equal":
        old, new = folders
        pairs: list[tuple[Path, ...]] = [(path, Path(new) / path.relative_to(old)) for path in files(old)]
        measured(equal_file, f"{old} against {new}", pairs)
    elif what == "parse":
        for folder in folders:
            measured(parse_file, folder, [(path,) for path in files(folder)])
    else:
        raise SystemExit(f"neither `parse` nor `equal`: {what}")


if __name__ == "__main__":
    main()
