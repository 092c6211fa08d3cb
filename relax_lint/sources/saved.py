"""Modules saved with `tvm.ir.save_json`. Importing this module imports TVM."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import tvm

from relax_lint.model.positions import NoPositions
from relax_lint.results.problem import Problem, ProblemKind
from relax_lint.sources.literal import LONG_NUMBER
from relax_lint.sources.reasons import without_addresses
from relax_lint.sources.saved_gaps import missing_part
from relax_lint.sources.text import SourceText
from relax_lint.sources.unit import ParsedUnit
from relax_lint.vm import nodes, versions


def parse_json(text: str, path: str) -> ParsedUnit | Problem:
    """The module in a saved graph, or RLX901. Functions are wrapped in a module; nothing has a position."""
    try:
        graph = json.loads(text)
    except json.JSONDecodeError as error:
        return _problem(text, path, f"not complete JSON: {error.msg}", error.lineno, error.colno)
    except RecursionError:
        return _problem(text, path, "JSON nested too deeply to be read")
    except ValueError:
        return _problem(text, path, LONG_NUMBER)
    if not is_saved_ir(graph):
        return _problem(text, path, "JSON, but not what `tvm.ir.save_json` writes")
    refused = refused_node(graph)
    if refused is not None:
        return _problem(
            text,
            path,
            f"the saved graph contains {refused}: it is not loaded",
            kind=ProblemKind.UNSAFE_SOURCE,
        )
    if (missing := missing_part(graph)) is not None:
        return _problem(text, path, f"the saved graph is incomplete: {missing} is missing")
    try:
        loaded = _load(graph)
    except MemoryError:
        raise
    except Exception as error:
        lines = [line for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
        version = graph.get("metadata", graph.get("attrs", {})) or {}
        written = version.get("tvm_version") if isinstance(version, dict) else None
        by = f" (written by TVM {written}, read by {versions.VERSION})" if written else ""
        return _problem(text, path, f"TVM cannot load this graph{by}: {without_addresses(lines[-1].strip())}")
    module = versions.as_module(loaded)
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
    if not is_saved_ir(graph) or refused_node(graph) is not None or missing_part(graph) is not None:
        raise ValueError("not saved constants")
    loaded = _load(graph)
    if not isinstance(loaded, Mapping):
        raise ValueError("not saved constants")
    if not all(nodes.is_saved_constant(item) for group in loaded.values() for item in group):
        raise ValueError("not saved constants")
    return loaded


def is_saved_ir(graph: Any) -> bool:
    """Whether decoded JSON looks like a saved TVM graph: a root index into a list of typed nodes."""
    if not isinstance(graph, dict):
        return False
    return isinstance(graph.get("nodes"), list) and ("root_index" in graph or "root" in graph)


def refused_node(graph: Mapping[str, Any]) -> str | None:
    """What in a saved graph is not IR, in words; None if all of it is."""
    for node in graph["nodes"]:
        kind = node.get("type") if isinstance(node, dict) else None
        if kind is None:
            continue
        if not isinstance(kind, str) or not _is_ir(kind):
            return f"`{str(kind)[:60]}`, which is not IR"
        if kind == _NAMED_FUNCTION and node.get("data") not in _DERIVE_FUNCTIONS:
            return f"the name of a function that TVM would call (`{str(node.get('data'))[:60]}`)"
    return None


_NAMED_FUNCTION = "ir.EnvFunc"
# What `R.call_packed` and `R.memory.view` name for the inference of a result's type.
_DERIVE_FUNCTIONS = ("tvm.relax.type.infer_by_ty_args", "tvm.relax.type.infer_view_ty")
_PLAIN = frozenset({"None", "bool", "int", "float", "DataType", "Device"})
_CONTAINERS = frozenset(
    f"ffi.{name}" for name in ("Array", "Bytes", "Dict", "List", "Map", "Shape", "String", "Tensor")
)
_NAMESPACES = ("ir.", "relax.", "prim.", "tirx.", "tir.", "s_tir.", "sym.", "arith.", "target.")
# Tuning records, and objects of Python that pose as nodes.
_NEVER = re.compile(r"meta_schedule|\.Py[A-Z]|Builder|(?<!\.IR)Module$")


def _is_ir(kind: str) -> bool:
    if kind in _PLAIN or kind in _CONTAINERS:
        return True
    return kind.startswith(_NAMESPACES) and _NEVER.search(kind) is None


def _load(graph: Mapping[str, Any]) -> Any:
    # Written anew: of two keys of one name, say, Python and TVM might each have taken another.
    return tvm.ir.load_json(json.dumps(graph))


def _problem(
    text: str,
    path: str,
    message: str,
    line: int = 1,
    column: int = 1,
    kind: ProblemKind = ProblemKind.PARSE_ERROR,
) -> Problem:
    return Problem(kind, message, SourceText(path, text).point(line, column - 1))
