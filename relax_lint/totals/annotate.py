"""Writing memory figures into a module, as TVM Relay's AnnotateUsedMemory did."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, TypeAlias

import tvm

from relax_lint.model.builder import build_program
from relax_lint.model.program import Function
from relax_lint.symbolic.printing import expr_text
from relax_lint.symbolic.quantity import Unknown
from relax_lint.totals.compute import measure
from relax_lint.totals.quantities import Quantity

Figure: TypeAlias = "int | str"
"""Bytes: an int, or where symbols remain a formula; `unknown` where a shape on the way is not known."""

PRIMITIVE = "Primitive"
"""The attribute of a function that counts as one kernel: its body is not analysed."""


def annotate_used_memory(module: Any) -> Any:
    """The module with memory figures as function attributes, in bytes.

    Every Relax function gets `io_used_memory`: its parameters and results. Every function that another one
    calls, Relax function or PrimFunc, gets `used_memory`: for each call, in program order, its inputs, its
    output and everything else that is alive at that moment. A primitive function gets only the latter.
    """
    calls: dict[str, list[Figure]] = defaultdict(list)
    attributes: dict[str, dict[str, Any]] = defaultdict(dict)
    program = build_program(module)
    for function in program.functions:
        if _is_primitive(function):
            continue
        totals = measure(program, function)
        attributes[function.name]["io_used_memory"] = _figure(totals.io_used_memory)
        for call in totals.calls:
            calls[call.op.callee].append(_figure(call.size))
    for name, figures in calls.items():
        attributes[name]["used_memory"] = figures
    annotated = module.clone()
    for var in module.get_global_vars():
        for key, value in attributes[str(var.name_hint)].items():
            annotated[var] = annotated[var].with_attr(key, value)
    return annotated


@tvm.transform.module_pass(opt_level=0, name="AnnotateUsedMemory")
class AnnotateUsedMemory:
    """`annotate_used_memory` as a TVM pass, for use in a `tvm.transform.Sequential`."""

    def transform_module(self, module: Any, context: Any) -> Any:
        """The annotated module."""
        return annotate_used_memory(module)


def _is_primitive(function: Function) -> bool:
    attributes = function.node.attrs
    return attributes is not None and PRIMITIVE in attributes and bool(attributes[PRIMITIVE])


def _figure(size: Quantity | Unknown) -> Figure:
    if isinstance(size, Unknown):
        return "unknown"
    return size if isinstance(size, int) else expr_text(size)
