"""Modules saved with `tvm.ir.save_json`. Importing this module imports TVM."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import tvm

from relax_lint import tvm_compat
from relax_lint.sources.text import SourceText
from relax_lint.sources.unit import NoPositions, ParsedUnit, Problem


def parse_json(text: str, path: str) -> ParsedUnit | Problem:
    """The module in a saved graph, or RLX901. Functions are wrapped in a module; nothing has a position."""
    try:
        graph = json.loads(text)
    except json.JSONDecodeError as error:
        return _problem(text, path, f"not complete JSON: {error.msg}", error.lineno, error.colno)
    except RecursionError:
        return _problem(text, path, "JSON nested too deeply to be read")
    if not is_saved_ir(graph):
        return _problem(text, path, "JSON, but not what `tvm.ir.save_json` writes")
    compiled = sorted({str(n["type"]) for n in graph["nodes"] if _is_compiled(n)})
    if compiled:
        # TVM would load the machine code in it.
        message = f"the saved graph contains compiled code (`{compiled[0]}`): it is not loaded"
        return _problem(text, path, message, rule="RLX903")
    try:
        loaded = tvm.ir.load_json(text)
    except Exception as error:
        lines = [line for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
        version = graph.get("metadata", graph.get("attrs", {})) or {}
        written = version.get("tvm_version") if isinstance(version, dict) else None
        by = f" (written by TVM {written}, read by {tvm.__version__})" if written else ""
        return _problem(text, path, f"TVM cannot load this graph{by}: {lines[-1].strip()}")
    module = tvm_compat.as_module(loaded)
    if module is None:
        return _problem(text, path, f"a saved `{type(loaded).__name__}`, neither a module nor a function")
    return ParsedUnit(None, module, NoPositions())


def load_constants(text: str) -> Any:
    """The constants that a printed module carries (`metadata = tvm.ir.load_json(...)`), by group.

    Raises ValueError for anything but constants: what is in there gets into the hands of TVM's parser.
    """
    try:
        graph = json.loads(text)
    except RecursionError:
        raise ValueError("JSON nested too deeply to be read") from None
    if not is_saved_ir(graph) or any(_is_compiled(node) for node in graph["nodes"]):
        raise ValueError("not saved constants")
    loaded = tvm.ir.load_json(text)
    if not isinstance(loaded, Mapping):
        raise ValueError("not saved constants")
    if not all(_is_constant(item) for group in loaded.values() for item in group):
        raise ValueError("not saved constants")
    return loaded


def _is_constant(value: Any) -> bool:
    return type(value).__name__ in ("GenericConst", "Constant")


def is_saved_ir(graph: Any) -> bool:
    """Whether decoded JSON looks like a saved TVM graph: a root index into a list of typed nodes."""
    if not isinstance(graph, dict):
        return False
    return isinstance(graph.get("nodes"), list) and ("root_index" in graph or "root" in graph)


def _is_compiled(node: Any) -> bool:
    """A runtime module, as opposed to an `ir.IRModule`."""
    kind = node.get("type") if isinstance(node, dict) else None
    return isinstance(kind, str) and kind != "ir.IRModule" and kind.rsplit(".", 1)[-1].endswith("Module")


def _problem(
    text: str, path: str, message: str, line: int = 1, column: int = 1, rule: str = "RLX901"
) -> Problem:
    return Problem(rule, message, SourceText(path, text).point(line, column - 1))
