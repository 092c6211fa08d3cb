"""What a value keeps alive, followed through tuples and through builtins that pass their arguments on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from relax_lint.model.operations import KernelCall, ValueId
from relax_lint.model.program import Function
from relax_lint.totals.frame import Reference
from relax_lint.vm.builtins import BUILTINS, GET_ITEM, MAKE_TUPLE, Returns
from relax_lint.vm.calls import CallKind

PASS_ON = (CallKind.PACKED, CallKind.BUILTIN)
"""The calls whose result may be or hold an argument."""


def tuple_of(items: Sequence[Reference]) -> Reference:
    """That of a tuple."""
    return tuple(items) if any(item is not None for item in items) else None


def field_of(reference: Reference, item: int) -> Reference:
    """That of a field. Where it is not told apart it is that of the whole."""
    if not isinstance(reference, tuple):
        return reference
    return reference[item] if 0 <= item < len(reference) else None


def passed_on(op: KernelCall, of: Callable[[ValueId], Reference], function: Function) -> Reference:
    """That of the result of a call, where the result is or holds an argument; `of` gives that of a value."""
    builtin = BUILTINS.get(op.callee)
    if builtin is None or op.kind not in PASS_ON or not op.arguments:
        return None
    arguments = [of(value) for value in op.arguments]
    if builtin.name == MAKE_TUPLE:
        return tuple_of(arguments)
    if builtin.name == GET_ITEM:
        item = getattr(function.type_of(op.arguments[-1]), "value", None)
        # A field whose number only a run tells is any of them.
        return field_of(arguments[0], int(item)) if item is not None and item.is_Integer else arguments[0]
    return arguments[0] if builtin.returns in (Returns.ARGUMENT, Returns.VIEW) else None
