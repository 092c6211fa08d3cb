"""Rewrite the TVMScript of a folder into the dialect of the release after 0.27, and count what is lost.

python -m benchmarks.migration FOLDER...   for example `tests/python/relax` of apache/tvm

Each file is rewritten twice: its symbols are declared by `n = T.dynamic("n", "int64")` in front of the
definitions, and by type parameters. A unit is lost where today's text can be read and the rewritten one
cannot; it is changed where both can and TVM finds that the modules differ. `--every 5` takes every
fifth file.
"""

from __future__ import annotations

import ast
import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import tvm_ffi

from benchmarks.common import options
from benchmarks.corpus import Tally, isolated
from relax_lint.sources.parsing import parse_unit
from relax_lint.sources.reading import read_units
from relax_lint.sources.unit import ParsedUnit

WAYS = ("dynamic", "parameters")
_KERNEL_NAMES = {
    "Buffer": "Tensor",
    "alloc_buffer": "alloc_tensor",
    "sblock_alloc_buffer": "sblock_alloc_tensor",
}
# Start and end in the text, and what stands there instead.
_Edit = tuple[int, int, str]


def migrated(text: str, way: str) -> str:
    """A text in the next dialect."""
    tree = ast.parse(text)
    starts = [0]
    for line in text.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    edits = [*_names(tree, starts), *_decorators(tree, starts)]
    symbols, more = _symbols(tree, starts, way)
    data = text.encode()
    for start, end, new in sorted({*edits, *more}, reverse=True):
        data = data[:start] + new.encode() + data[end:]
    lines = "".join(f'{name} = T.dynamic("{name}", "int64")\n' for name in sorted(symbols))
    heading = "from tvm.script import s_tir as Ts, tirx as T\n" + lines
    future = re.search(rb"^from __future__ .*\n", data, re.MULTILINE)
    at = future.end() if future else 0
    return (data[:at] + heading.encode() + data[at:]).decode()


def _extent(node: ast.AST, starts: list[int]) -> tuple[int, int]:
    line, end = node.lineno, node.end_lineno  # type: ignore[attr-defined]
    return starts[line - 1] + node.col_offset, starts[end - 1] + node.end_col_offset  # type: ignore[attr-defined]


def _names(tree: ast.AST, starts: list[int]) -> Iterator[_Edit]:
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id="T"), attr=name) if name in _KERNEL_NAMES:
                yield (*_extent(node, starts), f"T.{_KERNEL_NAMES[name]}")


def _decorators(tree: ast.AST, starts: list[int]) -> Iterator[_Edit]:
    for node in ast.walk(tree):
        for decorator in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
            match decorator:
                case ast.Attribute(value=ast.Name(id="T"), attr="prim_func"):
                    yield (*_extent(decorator, starts), "T.function")
                case ast.Call(func=ast.Attribute(value=ast.Name(id="T"), attr="prim_func")):
                    flags = [word for word in decorator.keywords if word.arg != "s_tir"]
                    script = "T" if len(flags) == len(decorator.keywords) else "Ts"
                    words = ", ".join(ast.unparse(word) for word in flags)
                    yield (
                        *_extent(decorator, starts),
                        f"{script}.function" + (f"({words})" if words else ""),
                    )


def _symbols(tree: ast.Module, starts: list[int], way: str) -> tuple[set[str], list[_Edit]]:
    """The symbols of the file that are to be declared in front, and the edits that take their strings."""
    bound = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    bound |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    declared, edits = set(), []
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef) or not _is_relax(function):
            continue
        texts = [t for a in function.args.args if a.annotation is not None for t in _extents(a.annotation)]
        texts += _extents(function.returns) if function.returns is not None else []
        own = {str(text.value) for text in texts} - {a.arg for a in function.args.args}
        preludes = {n: s for s in function.body if (n := _prelude(s)) in own}
        if way == "dynamic":
            # What the file binds to something else is no symbol of the file.
            own -= bound - preludes.keys()
            own = {name for name in own if name not in bound}
        edits += [(*_extent(text, starts), str(text.value)) for text in texts if text.value in own]
        if way == "parameters" and own:
            name = starts[function.lineno - 1] + function.col_offset + len("def ") + len(function.name)
            edits.append((name, name, f"[{', '.join(sorted(own))}]"))
        declared |= own
    return (declared if way == "dynamic" else set()), edits


def _is_relax(function: ast.FunctionDef) -> bool:
    return any(ast.unparse(d).startswith("R.function") for d in function.decorator_list)


def _extents(annotation: ast.expr) -> list[ast.Constant]:
    """The extents of a type that are the name of a symbol."""
    found = []
    for node in ast.walk(annotation):
        if isinstance(node, ast.Tuple | ast.List):
            found += [e for e in node.elts if isinstance(e, ast.Constant) and str(e.value).isidentifier()]
    return [text for text in found if isinstance(text.value, str)]


def _prelude(statement: ast.stmt) -> str | None:
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=func, args=[], keywords=[])):
            return name if ast.unparse(func) == "T.int64" else None
    return None


def compare_file(path: Path) -> Tally:
    """How many units of a file are lost or changed, for each way to declare symbols."""
    tally: Tally = Counter()
    text = path.read_text(encoding="utf-8")
    today = read_units(text.encode(), str(path)).units
    for way in WAYS:
        found = read_units(migrated(text, way).encode(), str(path))
        tally.update((way, f"file: {problem.message[:80]}") for problem in found.problems)
        for number, unit in enumerate(today):
            old = parse_unit(unit)
            if not isinstance(old, ParsedUnit):
                continue
            new = parse_unit(found.units[number]) if number < len(found.units) else None
            tally[way, "units"] += 1
            if not isinstance(new, ParsedUnit):
                tally[way, "lost"] += 1
                why = "not found" if new is None else new.message
                tally[f"{way} lost", f"{path.name}:{unit.line} {why[:90]}"] += 1
            elif not tvm_ffi.structural_equal(old.ir_module, new.ir_module, map_free_vars=True):
                tally[way, "changed"] += 1
                tally[f"{way} changed", f"{path.name}:{unit.line}"] += 1
    return tally


def main() -> None:
    arguments = options(__doc__, "folders", every=1)
    for folder in arguments.folders:
        started, total = time.time(), Counter[tuple[str, str]]()
        for path in sorted(Path(folder).rglob("*.py"))[:: arguments.every]:
            total += isolated(compare_file, path)
        print(f"== {folder} ({time.time() - started:.0f} s)")
        for (group, name), count in sorted(total.items()):
            print(f"{count:9} {group}: {name}", flush=True)


if __name__ == "__main__":
    main()
