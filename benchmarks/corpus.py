"""Measure the reading of real TVMScript files, over folders of public sources that are kept elsewhere.

    python benchmarks/corpus.py parse FOLDER...      share of units that parse, as they stand and rewritten
    python benchmarks/corpus.py positions FOLDER...  whether the place of every allocation is its statement's
    python benchmarks/corpus.py dumps FOLDER...      whether TVM's own output parses, by stage of its pipeline
    python benchmarks/corpus.py equal OLD NEW        old units, rewritten, against today's of the same name
    python benchmarks/corpus.py time FOLDER          the whole command against TVM's own parse of those units

For example the `tests/python/relax` folders of apache/tvm at several releases and of mlc-ai/relax. Each file
is read in a process of its own: TVM may crash. `--every 5` takes every fifth file of the sorted list. Each
folder's figures are printed when it is done; interrupted, the figures so far.
"""

from __future__ import annotations

import argparse
import ast
import multiprocessing
import os
import re
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Tally = Counter[tuple[str, str]]
SHOWN = 12


def units_of(path: Path) -> Iterator[Any]:
    from relax_lint.sources.reading import read_units

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
    from relax_lint.sources.parsing import parse_unit
    from relax_lint.sources.unit import ParsedUnit

    tally: Tally = Counter()
    expected = expected_failures(path)
    for unit in units_of(path):
        for dialect in ("current", "auto"):
            parsed = parse_unit(unit, dialect)
            tally[dialect, "units"] += 1
            if isinstance(parsed, ParsedUnit):
                tally[dialect, "parsed"] += 1
                tally[dialect, "well-formed"] += parsed.ill_formed is None
            elif unit.node.lineno in expected:
                tally[dialect, "refused inside pytest.raises"] += 1
            elif dialect == "auto":
                tally["reason", f"{parsed.rule} {parsed.message[:100]}"] += 1
        if isinstance(parsed, ParsedUnit):
            for note in parsed.notes:
                rules = note.split("(")[-1].rstrip(")") if note.startswith("read as") else ""
                tally.update(("rule", rule) for rule in rules.split(", ") if rule)
    return tally


def bindings(expression: Any) -> Iterator[Any]:
    for block in getattr(expression, "blocks", ()):
        for binding in block.bindings:
            value: Any = getattr(binding, "value", None)
            if type(value).__name__ == "If":
                yield from bindings(value.true_branch)
                yield from bindings(value.false_branch)
            if type(value).__name__ == "Function":
                yield from bindings(value.body)
            yield binding


_ALLOCATIONS = re.compile(r"(builtin|memory|vm)\.(alloc_\w+|kill_\w+|view)$")


def position_file(path: Path) -> Tally:
    """An allocation's place is right when a call of its operator spans exactly these lines and columns and,
    where that call is the whole value of an assignment, the name that is assigned is the binding's.
    """
    from relax_lint.sources.parsing import parse_unit
    from relax_lint.sources.unit import ParsedUnit

    tally: Tally = Counter()
    tree = ast.parse(path.read_bytes())
    text = path.read_text(encoding="utf-8")
    lines = ["", *re.split(r"\r\n|\r|\n", text)]
    targets: dict[ast.expr, str] = {}
    calls: dict[tuple[int, int, int, int], list[ast.Call]] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=assigned):
                targets[assigned] = name
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as annotated):
                targets[annotated] = name
        if isinstance(node, ast.Call):
            calls.setdefault(extent(node, lines), []).append(node)
    for unit in units_of(path):
        parsed = parse_unit(unit)
        if not isinstance(parsed, ParsedUnit) or unit.text.content != text:
            continue
        for function in parsed.ir_module.functions.values():
            for binding in bindings(getattr(function, "body", None)):
                value = getattr(binding, "value", None)
                operator = str(getattr(getattr(value, "op", None), "name", ""))
                kind = "allocation" if _ALLOCATIONS.search(operator) else "other"
                place = parsed.positions.binding(binding.var, value)
                tally[kind, "bindings"] += 1
                tally[kind, "with a place"] += place is not None
                if kind == "other":
                    continue
                where = place and (place.line, place.column, place.end_line, place.end_column)
                found = [c for c in calls.get(where or (0, 0, 0, 0), []) if is_call_of(c, operator)]
                named = [targets.get(call, str(binding.var.name)) for call in found]
                right = str(binding.var.name) in named
                tally[kind, "line and both columns right"] += right
                if not right:
                    tally["wrong", f"{path}:{unit.line} {binding.var.name} {operator} at {where}"] += 1
    return tally


def extent(node: ast.expr, lines: list[str]) -> tuple[int, int, int, int]:
    """Line, column, end line, end column: from 1, columns in characters, the end exclusive."""

    def column(line: int, offset: int) -> int:
        return len(lines[line].encode()[:offset].decode()) + 1

    end_line, end_offset = node.end_lineno or 0, node.end_col_offset or 0
    return node.lineno, column(node.lineno, node.col_offset), end_line, column(end_line, end_offset)


def is_call_of(call: ast.Call, operator: str) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    return name == operator.rsplit(".", 1)[-1] or name in ("emit_with_ty", "emit_with_type")


def dumps_file(path: Path) -> Tally:
    import tvm
    from tvm.relax import transform as t

    from relax_lint.sources.parsing import parse_unit
    from relax_lint.sources.reading import read_units
    from relax_lint.sources.unit import ParsedUnit

    stages: list[tuple[str, list[Any]]] = [
        ("0 as parsed", []),
        ("1 LegalizeOps", [t.LegalizeOps(), t.RewriteDataflowReshape()]),
        ("2 CallTIRRewrite", [t.ToNonDataflow(), t.RemovePurityChecking(), t.CallTIRRewrite()]),
        ("3 StaticPlanBlockMemory", [t.StaticPlanBlockMemory()]),
        ("4 LowerAllocTensor", [t.LowerAllocTensor()]),
        ("5 KillAfterLastUse", [t.KillAfterLastUse()]),
        ("6 VMShapeLower", [t.LowerRuntimeBuiltin(), t.ComputePrimValue(), t.VMShapeLower()]),
    ]
    tally: Tally = Counter()
    for unit in units_of(path):
        parsed = parse_unit(unit)
        if not isinstance(parsed, ParsedUnit) or parsed.ill_formed:
            continue
        module = parsed.ir_module
        for stage, steps in stages:
            try:
                with tvm.target.Target("llvm"), tvm.transform.PassContext(opt_level=3):
                    for step in steps:
                        module = step(module)
                text = module.script()
            except Exception:
                tally[stage, "TVM's pass failed"] += 1
                break
            again = [parse_unit(u) for u in read_units(text.encode(), "dump.py").units]
            problems = [a for a in again if not isinstance(a, ParsedUnit)]
            tally[stage, "units"] += 1
            tally[stage, "parsed"] += bool(again) and not problems
            tally[stage, "well-formed"] += bool(again) and all(
                isinstance(a, ParsedUnit) and a.ill_formed is None for a in again
            )
            for problem in problems:
                tally[f"reason at {stage}", f"{problem.rule} {problem.message[:110]}"] += 1
    return tally


def equal_file(old: Path, new: Path) -> Tally:
    """Every unit that today's file of the same name has under the same name, rewritten or not."""
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
        # Names repeat within a test: the first of a name against the first, and so on.
        todays_unit = candidates.pop(0)
        today, parsed = parse_unit(todays_unit), parse_unit(unit)
        if not isinstance(parsed, ParsedUnit) or not isinstance(today, ParsedUnit):
            continue
        equal = tvm_ffi.structural_equal(parsed.ir_module, today.ir_module)
        if not equal and not equal_to_itself(todays_unit):
            tally["all", "left out: TVM does not find it equal to itself"] += 1
            continue
        for group in ("all", "rewritten" if parsed.notes else "as it stands"):
            tally[group, "units"] += 1
            tally[group, "equal"] += equal
        if not equal:
            tally["differs", f"{old.name}:{unit.line} {unit.name} {parsed.notes[:1]}"] += 1
    return tally


def equal_to_itself(unit: Any) -> bool:
    """Whether two readings of one unit are equal: types of distributed tensors are compared by identity."""
    import tvm_ffi

    from relax_lint.sources.parsing import parse_unit

    one, other = parse_unit(unit), parse_unit(unit)
    equal: bool = tvm_ffi.structural_equal(one.ir_module, other.ir_module)  # type: ignore[union-attr]
    return equal


def name_of(unit: Any) -> tuple[str, ...]:
    """Name, and the enclosing top-level definition as the text has it."""
    above = "\n".join(unit.text.lines[: unit.line])
    around = re.findall(r"^(?:def|class) (\w+)", above, re.MULTILINE)
    return (around[-1] if around else "", unit.name)


def tvm_parse_file(path: Path) -> Tally:
    """Processor time of TVM's own parser, and of ours, for the units that TVM reads as they stand."""
    from tvm.script.ir_builder import IRBuilder
    from tvm.script.parser.core import doc
    from tvm.script.parser.core.parser import Parser

    from relax_lint.sources import parsing
    from relax_lint.sources.recorder import TreeSource
    from relax_lint.sources.unit import ParsedUnit

    tally: Tally = Counter()
    for unit in units_of(path):
        if not isinstance(parsing.parse_unit(unit, "current"), ParsedUnit):
            continue
        names = parsing._names(unit, {})
        module = ast.Module([parsing._stripped(unit.node, unit)], [])
        started = time.process_time()
        parser = Parser(TreeSource(unit.text.path, unit.text.content, doc.to_doc(module)), {})
        with IRBuilder() as builder:
            parser.parse(extra_vars=dict(names))
            builder.get()
        tally["TVM alone", "processor microseconds"] += int(1e6 * (time.process_time() - started))
        started = time.process_time()
        parsing.parse_unit(unit)
        tally["with gate, positions and well-formedness", "processor microseconds"] += int(
            1e6 * (time.process_time() - started)
        )
        tally["TVM alone", "units"] += 1
    return tally


def whole_command(files: list[Path], jobs: int) -> str:
    """Time and outcome of the command over files. Processor time does not depend on what else runs."""
    started, before = time.time(), resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [
        sys.executable,
        "-m",
        "relax_lint.cli",
        "--jobs",
        str(jobs),
        "--quiet",
        "--no-cache",
        "--output-format",
        "json",
    ]
    done = subprocess.run([*command, *map(str, files)], capture_output=True, check=False)
    crashes = done.stdout.count(b'"RLX904"')
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    elapsed = time.time() - started
    outcome = f"exit {done.returncode}, {crashes} RLX904"
    return f"{jobs} worker(s): {elapsed:.1f} s, {used:.1f} s of processor, {outcome}"


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
        whole = tally.get((group, "units"), 0) or tally.get((group, "bindings"), 0)
        shown[group] += 1
        if shown[group] <= SHOWN:
            share = f" ({100 * count / whole:.2f} %)" if whole else ""
            print(f"{count:9} {group}: {name}{share}", flush=True)


def measured(function: Callable[..., Tally], title: str, arguments: list[tuple[Path, ...]]) -> None:
    started, total = time.time(), Counter[tuple[str, str]]()
    try:
        for number, paths in enumerate(arguments, 1):
            total += isolated(function, *paths)
            print(f"\r{number} of {len(arguments)}", end="", file=sys.stderr, flush=True)
    finally:
        print(file=sys.stderr)
        show(title, total, time.time() - started)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("measure", choices=["parse", "positions", "dumps", "equal", "time"])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--every", type=int, default=1, help="take every n-th file only")
    options = parser.parse_args()
    import relax_lint.sources.parsing  # noqa: F401  (once, before the forks)

    def files(folder: Path) -> list[Path]:
        return sorted(folder.rglob("*.py"))[:: options.every]

    if options.measure == "equal":
        old, new = options.folders
        pairs: list[tuple[Path, ...]] = [(path, new / path.relative_to(old)) for path in files(old)]
        measured(equal_file, f"{old} against {new}", pairs)
        return
    functions = {
        "parse": parse_file,
        "positions": position_file,
        "dumps": dumps_file,
        "time": tvm_parse_file,
    }
    for folder in options.folders:
        chosen = files(folder)
        measured(functions[options.measure], str(folder), [(path,) for path in chosen])
        if options.measure == "time":
            for jobs in (1, 2):
                print(whole_command(chosen, jobs), flush=True)


if __name__ == "__main__":
    main()
