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
    if function.name not in _resting(program):
        return None
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


def _resting(program: Program) -> frozenset[str]:
    """The functions that are not planned, and those from which calls lead to one; found out once."""
    if _resting not in program.kept:
        callers: dict[str, list[str]] = {}
        for function in program.functions:
            for name in dict.fromkeys(_callees(function)):
                callers.setdefault(name, []).append(function.name)
        waiting = list(unplanned_functions(program))
        found = set(waiting)
        for name in waiting:
            new = [caller for caller in callers.get(name, ()) if caller not in found]
            found.update(new)
            waiting += new
        program.kept[_resting] = frozenset(found)
    resting: frozenset[str] = program.kept[_resting]
    return resting


def _is_unplanned(function: Function) -> bool:
    if function.body.of(AllocStorage, AllocTensor):
        return False
    return any(fresh_outputs(call) > 0 for call in function.body.of(KernelCall))


def _callees(function: Function) -> Iterator[str]:
    for op in function.body.of(FunctionCall):
        if op.target is not None:
            yield op.target
