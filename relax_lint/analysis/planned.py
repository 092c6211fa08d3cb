"""Which functions are not planned yet: they compute tensors and allocate none of them explicitly."""

from __future__ import annotations

from collections.abc import Iterator

from relax_lint.analysis.effects import fresh_outputs
from relax_lint.model.operations import AllocStorage, AllocTensor, FunctionCall, KernelCall
from relax_lint.model.program import Function, Program


def unplanned_functions(program: Program) -> tuple[str, ...]:
    """The functions of which TVM has still to plan the memory, in the order of the module."""
    return tuple(function.name for function in program.functions if _is_unplanned(function))


def rests_on_unplanned(program: Program, function: Function) -> str | None:
    """The function that is not planned: this one, or one that it calls; None where all are planned."""
    by_name = {one.name: one for one in program.functions}
    waiting, seen = [function], {function.name}
    for one in waiting:
        if _is_unplanned(one):
            return one.name
        for name in _callees(one):
            if name in by_name and name not in seen:
                seen.add(name)
                waiting.append(by_name[name])
    return None


def _is_unplanned(function: Function) -> bool:
    if function.body.of(AllocStorage, AllocTensor):
        return False
    return any(fresh_outputs(call) > 0 for call in function.body.of(KernelCall))


def _callees(function: Function) -> Iterator[str]:
    for op in function.body.of(FunctionCall):
        if op.target is not None:
            yield op.target
