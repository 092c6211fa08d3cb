"""How a call would look that allocates its own output."""

from __future__ import annotations

from collections.abc import Callable

from relax_lint.analysis.effects import Effect
from relax_lint.fixes.text.tvmscript import NotWritableError, script_expr
from relax_lint.model.operations import AllocTensor, KernelCall
from relax_lint.model.program import Function
from relax_lint.symbolic.quantity import Unknown
from relax_lint.vm.calls import CallKind

_LEADS = {
    CallKind.PRIM_FUNC: "R.call_tir(cls.{}",
    CallKind.CALL_TIR_DYN: "R.call_tir(cls.{}",
    CallKind.PACKED: 'R.call_dps_packed("{}"',
}


def call_with_output(
    function: Function, tensor: AllocTensor, effect_of: Callable[[KernelCall], Effect]
) -> str | None:
    """The code that makes `tensor` the result of the kernel which writes it; None where there is no such
    kernel, where it writes something else too, or where TVMScript has no words for the shape.
    """
    for call in function.body.of(KernelCall):
        if call.kind not in _LEADS or tensor.result not in call.arguments:
            continue
        written = {call.arguments[i] for i in effect_of(call).writes if i < len(call.arguments)}
        names = [function.values[value].name for value in call.arguments if value != tensor.result]
        if written != {tensor.result} or isinstance(tensor.shape, Unknown) or not all(names):
            return None
        try:
            shape = ", ".join(script_expr(extent) for extent in tensor.shape)
        except NotWritableError:
            return None
        lead = _LEADS[call.kind].format(call.callee)
        comma = "," if len(tensor.shape) == 1 else ""
        inputs = ", ".join(names) + ("," if len(names) == 1 else "")
        return f'{lead}, ({inputs}), out_ty=R.Tensor(({shape}{comma}), dtype="{tensor.dtype.name}"))'
    return None
