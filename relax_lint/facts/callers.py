"""Does a claim about a function hold in each call of it that the module shows?

The symbols of a function stand for what its callers pass: those that are extents of a parameter are replaced
by what the argument has there, and the claim is judged where the call is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.model.operations import FunctionCall
from relax_lint.model.program import Function
from relax_lint.model.types import extents_of
from relax_lint.results.verdict import Verdict
from relax_lint.symbolic.decision import Decision, Proof


def in_each_call(
    condition: Boolean,
    function: Function,
    calls: Iterable[tuple[Function, FunctionCall]],
    at_call: Callable[[Function, FunctionCall, Boolean], Decision],
) -> Decision | None:
    """`always-fine` where the condition holds in every call, with all that this takes; None otherwise, and
    where there is no call. `at_call` gives the verdict on a condition at a call.
    """
    decisions = []
    for caller, call in calls:
        passed: dict[sympy.Symbol, sympy.Expr] = {}
        for symbol, value in _passed(function, caller, call):
            # What is passed first defines the symbol; the rest is compared with it, or believed.
            passed.setdefault(symbol, value)
        if not condition.free_symbols <= passed.keys():
            return None
        decision = at_call(caller, call, condition.xreplace(passed))
        if decision.verdict is not Verdict.ALWAYS_FINE:
            return None
        decisions.append(decision)
    if not decisions:
        return None
    number = f"{len(decisions)} call{'' if len(decisions) == 1 else 's'}"
    proof = Proof(decisions[0].proof.by, f"holds in the {number} of `{function.name}`")
    assumed = dict.fromkeys(fact for one in decisions for fact in one.assumptions)
    return Decision(Verdict.ALWAYS_FINE, proof, assumptions=tuple(assumed))


def _passed(
    function: Function, caller: Function, call: FunctionCall
) -> Iterator[tuple[sympy.Symbol, sympy.Expr]]:
    for parameter, argument in zip(function.parameters, call.arguments, strict=False):
        if argument in caller.claimed:
            continue
        inside, outside = extents_of(function.type_of(parameter)), extents_of(caller.type_of(argument))
        if len(inside) == len(outside):
            yield from ((a, b) for a, b in zip(inside, outside, strict=True) if a.is_Symbol)
