"""Kernels in other languages, which TVM's parser compiles while it reads the text that launches them."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping
from dataclasses import replace

from relax_lint.sources.dialects.rule import Context, calls
from relax_lint.sources.unit import Unit

# Compiled kernels are called like this at run time, under names that only compiling them tells.
_NAME = "compiled_kernel"
NOTE = "kernels in other languages (`T.call_kernel`) are treated as unknown functions"


def with_kernels_called(unit: Unit, imports: Mapping[str, str]) -> Unit:
    """The unit with a packed call in place of every `T.call_kernel(source, launch, ...)`, so that nothing is
    compiled; the same unit if there is none.
    """
    if "call_kernel" not in unit.text.content:
        return unit
    if not any(Context(imports, unit.node).tir(call.func) == "call_kernel" for call in calls(unit.node)):
        return unit
    tree = copy.deepcopy(unit.node)
    context = Context(imports, tree)
    for call in calls(tree):
        if context.tir(call.func) == "call_kernel" and isinstance(call.func, ast.Attribute) and call.args:
            call.func.attr = "call_packed"
            call.args = [ast.copy_location(ast.Constant(_NAME), call.args[0]), *call.args[2:]]
            call.keywords = []
    return replace(unit, node=tree)
