"""RLX206: the calls of packed functions that say of themselves which arguments they leave alone, and those of
kernels that give addresses away to be read only.

Nothing makes that true, and what they write or keep all the same is neither new to anybody nor planned for.
"""

from __future__ import annotations

from collections.abc import Iterator

from relax_lint.analysis.certainty import Certainty
from relax_lint.analysis.flow import FunctionFlow
from relax_lint.analysis.presumption import Presumption
from relax_lint.facts.judge import Decided, Judge
from relax_lint.model.operations import KernelCall
from relax_lint.model.types import may_hold_memory
from relax_lint.results.verdict import Verdict
from relax_lint.symbolic.decision import certain
from relax_lint.vm.builtins import BUILTINS
from relax_lint.vm.calls import CallKind

_BELIEVED = certain(Verdict.ALWAYS_FINE, "it writes nothing but what it says, by all that is assumed")


def believed_calls(flow: FunctionFlow, judge: Judge) -> Iterator[Decided[KernelCall]]:
    """Each such call that is given memory and that some input reaches."""
    for call in flow.calls:
        kernel = flow.effects.kernel_of(call)
        if kernel is not None and any(kernel.lent.values()) and judge.harm(call, Certainty.MAY).reachable:
            what = f"who gets addresses of `{call.callee}` to read writes nothing there, and keeps none"
            yield Decided(call, _BELIEVED, (Presumption(what),))
        if not _is_believed(call):
            continue
        if not any(may_hold_memory(flow.function.type_of(argument)) for argument in call.arguments):
            continue
        what = (
            "writes no argument but those that it names"
            if call.kind.in_place
            else "writes none of its arguments"
        )
        if judge.harm(call, Certainty.MAY).reachable:
            yield Decided(call, _BELIEVED, (Presumption(f"`{call.callee}` {what}, and keeps none"),))


def _is_believed(call: KernelCall) -> bool:
    if call.kind is CallKind.PACKED:
        return call.pure and call.callee not in BUILTINS
    return call.kind in (CallKind.CALL_DPS_PACKED, CallKind.CALL_INPLACE_PACKED)
