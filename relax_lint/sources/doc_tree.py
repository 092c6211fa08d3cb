"""Python's syntax trees as TVM's own kind of nodes.

`tvm.script.parser.core.doc.to_doc` does the same, and asks of every single field whether it is one of several
constants and types first; a file is thousands of fields.
"""

from __future__ import annotations

import ast
from typing import Any

from tvm.script.parser.core import doc

from relax_lint.sources.refusal import RefusedError

# A class of the standard library to TVM's of the same name and the fields that it takes.
_CLASSES: dict[type[ast.AST], tuple[Any, tuple[str, ...]]] = {}


def to_doc(node: Any) -> Any:
    """The node of TVM for a node of `ast`, lists and plain values included."""
    if isinstance(node, ast.AST):
        kind, fields = _CLASSES.get(type(node)) or _class_of(type(node))
        return kind(**{field: to_doc(getattr(node, field, None)) for field in fields})
    return [to_doc(item) for item in node] if isinstance(node, list) else node


def _class_of(kind: type[ast.AST]) -> tuple[Any, tuple[str, ...]]:
    counterpart = getattr(doc, kind.__name__, None)
    if counterpart is None:
        raise RefusedError(f"TVM's parser knows no {kind.__name__}")
    return _CLASSES.setdefault(kind, (counterpart, tuple(counterpart._FIELDS)))
