"""Who fails at an object, a storage or a tuple say, that a function returns behind a kill of its register.

It is a null value: one that only gets other names, or is put into a tuple that nobody looks at, harms nobody.
"""

from __future__ import annotations

from relax_lint.analysis.callees import Callees
from relax_lint.analysis.liveness import leaves
from relax_lint.analysis.paths import Paths
from relax_lint.model.operations import Alias, AllocTensor, FunctionCall, GetItem, MatchCast, Op, ValueId
from relax_lint.model.program import Function
from relax_lint.model.types import TupleType


def is_always_missed(callees: Callees, function: Function, asked: frozenset[str] = frozenset()) -> bool:
    """Whether whoever calls a function certainly fails at such a result, or hands it out; `asked` are the
    functions that return it.
    """
    if not function.private:
        return True
    if not callees.knows_callers(function) or function.name in asked:
        return False
    calls, more = callees.calls_of(function), asked | {function.name}
    return all(_misses(callees, caller, call, more) for caller, call in calls)


def _misses(callees: Callees, caller: Function, call: FunctionCall, asked: frozenset[str]) -> bool:
    names = {call.result}
    for op in caller.body.of(Alias, MatchCast):
        if op.source in names:
            names.add(op.result)
    places: list[Op | None] = [op for op in caller.body.walk() if _fails(callees, op, names)]
    if not names.isdisjoint(leaves((caller.result,), caller)) and is_always_missed(callees, caller, asked):
        places.append(None)
    return Paths(caller).one_always_with(places, call)


def _fails(callees: Callees, op: Op, names: set[ValueId]) -> bool:
    """Whether an operation cannot do with a null value; a function looks at the fields of its parameters."""
    if isinstance(op, GetItem):
        return op.tuple in names
    if isinstance(op, AllocTensor):
        return op.storage in names
    callee = callees.of(op) if isinstance(op, FunctionCall) else None
    if callee is None or not isinstance(op, FunctionCall):
        return False
    given = zip(callee.parameters, op.arguments, strict=False)
    return any(value in names and isinstance(callee.type_of(own), TupleType) for own, value in given)
