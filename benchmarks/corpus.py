"""Measure the reading of real TVMScript files, over folders of public sources that are kept elsewhere.

    python benchmarks/corpus.py parse FOLDER...      share of units that parse, as they stand and rewritten
    python benchmarks/corpus.py positions FOLDER...  whether places are on the statements behind the bindings
    python benchmarks/corpus.py dumps FOLDER...      whether TVM's own output parses, by stage of its pipeline
    python benchmarks/corpus.py equal OLD NEW        old units, rewritten, against today's of the same name

For example the `tests/python/relax` folders of apache/tvm at several releases and of mlc-ai/relax.
Each file is read in a process of its own: TVM may crash.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Tally = Counter[tuple[str, str]]


def units_of(path: Path) -> Iterator[Any]:
    from relax_lint.sources.reading import read_units

    yield from read_units(path.read_bytes(), str(path)).units


def parse_file(path: Path) -> Tally:
    from relax_lint.sources.parsing import parse_unit
    from relax_lint.sources.unit import ParsedUnit

    tally: Tally = Counter()
    for unit in units_of(path):
        for dialect in ("current", "auto"):
            parsed = parse_unit(unit, dialect)
            tally[dialect, "units"] += 1
            if not isinstance(parsed, ParsedUnit):
                tally[dialect, parsed.rule] += 1
                if dialect == "auto":
                    tally["reason", f"{parsed.rule} {parsed.message[:100]}"] += 1
            else:
                tally[dialect, "parsed"] += 1
                tally[dialect, "well-formed"] += parsed.ill_formed is None
                if dialect == "auto":
                    for note in parsed.notes:
                        tally.update(("rule", rule) for rule in note.split("(")[1].rstrip(")").split(", "))
    return tally


def bindings(expression: Any) -> Iterator[Any]:
    for block in getattr(expression, "blocks", ()):
        for binding in block.bindings:
            value = getattr(binding, "value", None)
            for part in ("true_branch", "false_branch"):
                if type(value).__name__ == "If":
                    yield from bindings(getattr(value, part))
            if type(value).__name__ == "Function":
                yield from bindings(value.body)
            yield binding


_ALLOCATIONS = re.compile(r"(builtin|memory|vm)\.(alloc_\w+|kill_\w+|view)$")


def position_file(path: Path) -> Tally:
    """A place is right when the operator's name opens the text there and the target's name precedes it."""
    from relax_lint.sources.parsing import parse_unit
    from relax_lint.sources.unit import ParsedUnit

    tally: Tally = Counter()
    lines = re.split(r"\r\n|\r|\n", path.read_text(encoding="utf-8"))
    for unit in units_of(path):
        parsed = parse_unit(unit)
        if not isinstance(parsed, ParsedUnit):
            continue
        for function in parsed.ir_module.functions.values():
            if type(function).__name__ != "Function":
                continue
            for binding in bindings(function.body):
                value = getattr(binding, "value", None)
                operator = str(getattr(getattr(value, "op", None), "name", ""))
                kind = "allocation" if _ALLOCATIONS.search(operator) else "other"
                tally[kind, "bindings"] += 1
                place = parsed.positions.binding(binding.var, value)
                if place is None:
                    tally[kind, "without place"] += 1
                    tally["missing", f"{path}:{unit.line} {binding.var.name}"] += 1
                    continue
                text = lines[place.line - 1][place.column - 1 :]
                before = (
                    "".join(lines[max(place.line - 9, 0) : place.line - 1])
                    + lines[place.line - 1][: place.column - 1]
                )
                last = operator.rsplit(".", 1)[-1]
                if kind == "allocation":
                    name = str(binding.var.name)
                    right = bool(re.match(rf"[\w.]*\b({last}|emit_with_ty)\(", text))
                    right = right and (
                        name == "_" or re.search(rf"\b{re.escape(name)}\b", before) is not None
                    )
                    if not right and re.match(rf"[\w.]*\b{last}\(", text):
                        # A temporary inside another call or a returned value has no target of its own.
                        right = bool(re.search(r"[(,]\s*$|return\s*$", before))
                    tally[kind, "right"] += right
                    if not right:
                        tally["wrong", f"{path}:{place.line}:{place.column} {name} {operator}"] += 1
                elif operator.startswith("relax.") and re.match(r"[\w.]+\(", text):
                    called = re.match(r"[\w.]+", text)[0].rsplit(".", 1)[-1]  # type: ignore[index]
                    same = called.replace("_", "") in operator.replace("_", "") or called in operator
                    tally["operator", "right" if same else f"differs: {called} / {operator}"] += 1
    return tally


STAGES = (
    "LegalizeOps",
    "CallTIRRewrite",
    "StaticPlanBlockMemory",
    "KillAfterLastUse",
    "LowerAllocTensor",
    "VMShapeLower",
)


def dumps_file(path: Path) -> Tally:
    import tvm
    from tvm import relax

    from relax_lint.sources.parsing import parse_unit
    from relax_lint.sources.reading import read_units
    from relax_lint.sources.unit import ParsedUnit

    passes: list[tuple[str, list[Any]]] = [
        ("as parsed", []),
        ("LegalizeOps", [relax.transform.LegalizeOps(), relax.transform.RewriteDataflowReshape()]),
        (
            "CallTIRRewrite",
            [
                relax.transform.ToNonDataflow(),
                relax.transform.RemovePurityChecking(),
                relax.transform.CallTIRRewrite(),
            ],
        ),
        ("StaticPlanBlockMemory", [relax.transform.StaticPlanBlockMemory()]),
        ("LowerAllocTensor", [relax.transform.LowerAllocTensor()]),
        ("KillAfterLastUse", [relax.transform.KillAfterLastUse()]),
        (
            "VMShapeLower",
            [
                relax.transform.LowerRuntimeBuiltin(),
                relax.transform.ComputePrimValue(),
                relax.transform.VMShapeLower(),
            ],
        ),
    ]
    tally: Tally = Counter()
    for unit in units_of(path):
        parsed = parse_unit(unit)
        if not isinstance(parsed, ParsedUnit) or parsed.ill_formed:
            continue
        module = parsed.ir_module
        for stage, steps in passes:
            try:
                with tvm.target.Target("llvm"), tvm.transform.PassContext(opt_level=3):
                    for step in steps:
                        module = step(module)
            except Exception:
                break
            for options in ({},):
                text = module.script(**options)
                key = stage + (" with metadata" if options else "")
                again = [parse_unit(u) for u in read_units(text.encode(), "dump.py").units]
                tally[key, "dumps"] += 1
                tally[key, "parsed"] += bool(again) and all(isinstance(a, ParsedUnit) for a in again)
                tally[key, "ill-formed"] += any(getattr(a, "ill_formed", None) is not None for a in again)
                for problem in again:
                    if not isinstance(problem, ParsedUnit):
                        tally[f"reason at {stage}", f"{problem.rule} {problem.message[:110]}"] += 1
                    elif problem.ill_formed:
                        tally[f"ill-formed at {stage}", problem.ill_formed[:110]] += 1
    return tally


def equal_file(old: Path, new: Path) -> Tally:
    import tvm_ffi

    from relax_lint.sources.parsing import parse_unit
    from relax_lint.sources.unit import ParsedUnit

    tally: Tally = Counter()
    if not new.exists():
        return tally
    todays: dict[tuple[str, ...], list[Any]] = {}
    for unit in units_of(new):
        todays.setdefault(name_of(unit), []).append(unit)
    for unit in units_of(old):
        candidates = todays.get(name_of(unit), [])
        if not candidates:
            continue
        # Names repeat within a file: the first of a name against the first, and so on.
        today = parse_unit(candidates.pop(0))
        parsed = parse_unit(unit)
        if not isinstance(parsed, ParsedUnit) or not isinstance(today, ParsedUnit) or not parsed.notes:
            continue
        tally["rewritten", "compared"] += 1
        if tvm_ffi.structural_equal(parsed.ir_module, today.ir_module):
            tally["rewritten", "equal"] += 1
        else:
            tally["differs", f"{old.name}:{unit.line} {unit.name} {parsed.notes[0]}"] += 1
    return tally


def name_of(unit: Any) -> tuple[str, ...]:
    """Name, and the enclosing definition as the text has it."""
    around = [
        m[1]
        for m in re.finditer(r"^(?:def|class) (\w+)", "\n".join(unit.text.lines[: unit.line]), re.MULTILINE)
    ]
    return (around[-1] if around else "", unit.name)


def isolated(function: Callable[..., Tally], *arguments: Path) -> Tally:
    """The tally of one file from a child process; a crash is counted."""
    receiving, sending = multiprocessing.Pipe(duplex=False)

    def work() -> None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            sending.send(function(*arguments))
        except Exception as error:
            sending.send(Counter({("error", repr(error)[:100]): 1}))

    process = multiprocessing.get_context("fork").Process(target=work)
    process.start()
    sending.close()
    try:
        result: Tally = receiving.recv()
    except EOFError:
        result = Counter({("crash", str(arguments[0])): 1})
    process.join()
    return result


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("measure", choices=["parse", "positions", "dumps", "equal"])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--every", type=int, default=1, help="take every n-th file only")
    options = parser.parse_args()
    import relax_lint.sources.parsing  # noqa: F401  (once, before the forks)

    started = time.time()
    total: Tally = Counter()
    if options.measure == "equal":
        old, new = options.folders
        for path in sorted(old.rglob("*.py"))[:: options.every]:
            total += isolated(equal_file, path, new / path.relative_to(old))
    else:
        function = {"parse": parse_file, "positions": position_file, "dumps": dumps_file}[options.measure]
        for folder in options.folders:
            for path in sorted(folder.rglob("*.py"))[:: options.every]:
                total += isolated(function, path)
    shown: Counter[str] = Counter()
    for (group, name), count in sorted(total.items(), key=lambda item: (item[0][0], -item[1])):
        shown[group] += 1
        if shown[group] <= 25:
            print(f"{count:7} {group}: {name}")
    print(f"{time.time() - started:.1f} s")


if __name__ == "__main__":
    main()
