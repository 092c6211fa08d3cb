"""The names from the time when types were called structural information."""

from __future__ import annotations

import ast

from relax_lint.sources.dialects.rule import Context, Rule

_KEYWORDS = {"out_sinfo": "out_ty", "sinfo_args": "ty_args", "sinfo": "ty", "struct_info": "ty"}
_FUNCTIONS = {
    "func_ret_struct_info": "func_ret_type",
    "emit_with_sinfo": "emit_with_type",
}


def keywords(context: Context) -> bool:
    """`out_sinfo=`, `sinfo_args=` became `out_ty=`, `ty_args=`."""
    changed = False
    for call in context.calls():
        for argument in call.keywords:
            if argument.arg in _KEYWORDS:
                argument.arg = _KEYWORDS[argument.arg]
                changed = True
    return changed


def attributes(context: Context) -> bool:
    """`x.struct_info` became `x.ty`; functions and classes were renamed with it."""
    changed = False
    for node in context.nodes(context.root):
        if not isinstance(node, ast.Attribute):
            continue
        renamed = _FUNCTIONS.get(node.attr, node.attr)
        if node.attr in ("struct_info", "struct_info_"):
            renamed = "ty"
        elif node.attr.endswith("StructInfo"):
            renamed = node.attr[: -len("StructInfo")].replace("Object", "Any") + "Type"
        if renamed != node.attr:
            node.attr = renamed
            changed = True
    return changed


RULES = (
    Rule("struct-info-keywords", "0.25", keywords, ("out_sinfo", "sinfo_args", "sinfo", "struct_info")),
    Rule("struct-info-attributes", "0.25", attributes),
)
