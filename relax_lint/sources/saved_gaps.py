"""Parts of a saved graph that are missing: TVM loads it without them, and fails where it meets one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_ARRAY, _MAP, _NOTHING = "ffi.Array", "ffi.Map", "None"
# Fields that no node of IR is without, whatever class has them.
_WORDS = """
    a args b base bindings block blocks body buffer cond condition extent false_branch false_value
    fields functions indices iter_values iter_vars loop_var min op reads region seq source stride then_case
    true_branch true_value tuple_value var vectors writes
"""
_NEEDED = frozenset(_WORDS.split())
# The same of a few classes: in others the field may be empty.
_NEEDED_OF: Mapping[str, frozenset[str]] = {
    "Bind": frozenset({"value"}),
    "BufferStore": frozenset({"value"}),
    "Cast": frozenset({"value"}),
    "Evaluate": frozenset({"value"}),
    "Function": frozenset({"params"}),
    "Let": frozenset({"value"}),
    "LetStmt": frozenset({"value"}),
    "MatchCast": frozenset({"value", "ty", "struct_info"}),
    "PrimFunc": frozenset({"params"}),
    "PrimValue": frozenset({"value"}),
    "ShapeExpr": frozenset({"values"}),
    "TensorStore": frozenset({"value"}),
    "VarBinding": frozenset({"value"}),
}
_NONE_NEEDED: frozenset[str] = frozenset()
# Their fields have other meanings, and numbers that are no nodes.
_OTHERS = ("Attrs", "Axis", "Iter", "Layout")


def missing_part(graph: Mapping[str, Any]) -> str | None:
    """What is missing in a saved graph, in words; None if nothing is."""
    nodes = graph["nodes"]
    kinds = [node.get("type") if isinstance(node, dict) else None for node in nodes]
    for node, kind in zip(nodes, kinds, strict=True):
        if not isinstance(kind, str):
            continue
        data = node.get("data")
        if kind == _MAP and isinstance(data, list) and any(_is(_NOTHING, at, kinds) for at in data[::2]):
            return "the key of a `ffi.Map`"
        if isinstance(data, dict) and not kind.endswith(_OTHERS):
            for name in _missing(kind, data, nodes, kinds):
                return f"the `{name}` of a `{kind[:60]}`"
    return None


def _missing(
    kind: str, fields: Mapping[str, Any], nodes: Sequence[Any], kinds: Sequence[Any]
) -> Iterator[str]:
    more = _NEEDED_OF.get(kind.rpartition(".")[2], _NONE_NEEDED)
    for name, at in fields.items():
        if name not in _NEEDED and name not in more:
            continue
        if _is(_NOTHING, at, kinds):
            yield name
        elif _is(_ARRAY, at, kinds) or (name == "functions" and _is(_MAP, at, kinds)):
            items = nodes[at].get("data")
            if isinstance(items, list) and any(_is(_NOTHING, item, kinds) for item in items):
                yield name


def _is(kind: str, index: object, kinds: Sequence[Any]) -> bool:
    """Whether the node of a number is of a kind."""
    return type(index) is int and 0 <= index < len(kinds) and kinds[index] == kind
