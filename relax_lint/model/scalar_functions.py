"""PrimFuncs from scalars to a scalar: `ComputePrimValue` moves expressions of symbols into such functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy

from relax_lint.symbolic.translate import Translator, Untranslatable
from relax_lint.vm import versions


def returned_value(translator: Translator, prim_func: Any, arguments: Sequence[Any]) -> sympy.Basic | None:
    """What a call of the function returns: an integer expression, or a condition where its type is bool. None
    for a function that does anything but return what it computes from integers.
    """
    returned = versions.returned_expression(prim_func)
    if returned is None or len(arguments) != len(prim_func.params):
        return None
    try:
        values = {
            parameter: translator.expr(argument)
            for parameter, argument in zip(prim_func.params, arguments, strict=True)
        }
        inside = Translator(
            lambda var: values[var],
            fits=translator.fits,
            range_of=translator.range_of,
            held_range_of=translator.held_range_of,
        )
        is_condition = str(returned.ty.dtype) == "bool"
        return inside.condition(returned) if is_condition else inside.expr(returned)
    except Untranslatable:
        return None
