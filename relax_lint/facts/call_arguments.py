"""RLX301 for calls of Relax functions: are the extents those that the parameters declare?

Event: a call of a function of the module that compares some extent. Claim: all comparisons hold which the
machine makes where the function is entered, in the symbols of the caller. Verdict: that of the provers. Where
the caller does not know what is compared, nothing is said of a call that is not wrong by the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import zip_longest

import sympy

from relax_lint.analysis.flow import FunctionFlow
from relax_lint.analysis.presumption import Presumption
from relax_lint.facts.asking import equalities
from relax_lint.facts.claims import all_of, any_empty, equal
from relax_lint.facts.judge import Decided, Judge
from relax_lint.model.operations import FunctionCall, ValueId
from relax_lint.model.program import Function
from relax_lint.model.types import OpaqueType, PrimType, TupleType, ValueType, extents_of
from relax_lint.results.verdict import Verdict
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.decision import Decision, Proof
from relax_lint.symbolic.printing import expr_text

_NOT_KNOWN = OpaqueType()


@record(frozen=True)
class Comparison:
    """What is compared of the argument at `position`: `have` is what it has there, `want` what the parameter
    declares, in the symbols of the caller. `axis`: of a tensor.
    """

    position: int
    fields: tuple[int, ...]
    axis: int
    have: sympy.Expr
    want: sympy.Expr


@record(frozen=True)
class CallArguments:
    """A call of a Relax function, and the first of the `comparisons` at its entry that may fail."""

    call: FunctionCall
    function: str
    comparisons: tuple[Comparison, ...]
    unmet: str = ""


def accepted_calls(
    flow: FunctionFlow, judge: Judge, presumed: Mapping[ValueId | None, Presumption]
) -> Iterator[Decided[CallArguments]]:
    """Every call of a Relax function that compares extents: its parameters take them."""
    for call in flow.function_calls:
        callee = flow.callees.of(call)
        if callee is None:
            continue
        given = flow.arguments_of(call, callee)
        comparisons, complete = compared(flow.function, given, callee)
        if not comparisons:
            continue
        condition = all_of(equal(one.have, one.want) for one in comparisons)
        asked = partial(equalities, [(one.have, one.want) for one in comparisons])
        claim = judge.claim_at(condition, call, asked)
        decision = judge.judge(claim)
        fine = decision.verdict is Verdict.ALWAYS_FINE
        if fine and not complete:
            continue
        if decision.verdict is Verdict.NEEDS_RUNTIME_CHECK and not complete:
            # What is fine by what is known may fail by the rest.
            proof = Proof(decision.proof.by, "not all that the function compares is known")
            decision = Decision(decision.verdict, proof, wrong=decision.wrong, reaches=decision.reaches)
        unmet = "" if fine else _first_unmet(comparisons, flow, callee, call, judge)
        believed = tuple(presumed[value] for value in given if value in presumed)
        types = [flow.function.type_of(value) for value in given]
        only_empty = judge.safe_only_if(decision, claim, partial(any_empty, types))
        event = CallArguments(call, callee.name, comparisons, unmet)
        yield Decided(event, decision, believed, only_empty)


def compared(
    caller: Function, given: Sequence[ValueId], callee: Function
) -> tuple[tuple[Comparison, ...], bool]:
    """The comparisons at the entry of a function that is `given` values of its caller, and whether these are
    all: the first parameter that mentions a symbol defines it, every other extent is compared.
    """
    checked = callee.parameters if callee.num_input is None else callee.parameters[: callee.num_input]
    pairs = [
        pair
        for position, (parameter, argument) in enumerate(zip(checked, given, strict=False))
        for pair in _pairs(callee.type_of(parameter), caller.type_of(argument), position, ())
    ]
    values: dict[sympy.Symbol, sympy.Expr | None] = {}
    left: list[tuple[int, tuple[int, ...], int, sympy.Expr | None, sympy.Expr]] = []
    for position, fields, axis, want, have in pairs:
        if want.is_Symbol and want not in values:
            values[want] = have
        else:
            left.append((position, fields, axis, have, want))
    known = {symbol: value for symbol, value in values.items() if value is not None}
    found = [
        Comparison(position, fields, axis, have, want.xreplace(known))
        for position, fields, axis, have, want in left
        if have is not None and want.free_symbols <= known.keys()
    ]
    return tuple(found), len(found) == len(left)


def _pairs(
    want: ValueType, have: ValueType, position: int, fields: tuple[int, ...]
) -> Iterator[tuple[int, tuple[int, ...], int, sympy.Expr, sympy.Expr | None]]:
    """What a parameter declares, and what an argument has there; None where that is unknown."""
    if isinstance(want, TupleType):
        given = have.fields if isinstance(have, TupleType) else ()
        for index, (inner, field) in enumerate(zip_longest(want.fields, given, fillvalue=_NOT_KNOWN)):
            yield from _pairs(inner, field, position, (*fields, index))
        return
    declared, own = extents_of(want), extents_of(have)
    same_rank = len(own) == len(declared)
    for axis, extent in enumerate(declared):
        yield position, fields, axis, extent, own[axis] if same_rank else None


def _first_unmet(
    comparisons: Sequence[Comparison], flow: FunctionFlow, callee: Function, call: FunctionCall, judge: Judge
) -> str:
    """The first comparison that does not always hold, in words."""
    *others, last = comparisons
    decided = ((one, judge.judge(judge.claim_at(equal(one.have, one.want), call))) for one in others)
    unmet = next((one for one, found in decided if found.verdict is not Verdict.ALWAYS_FINE), last)
    return _described(unmet, flow.function, flow.arguments_of(call, callee))


def _described(one: Comparison, caller: Function, given: Sequence[ValueId]) -> str:
    value = given[one.position]
    name = caller.values[value].name
    whole = f"`{name}`" if name else f"argument {one.position}"
    what = "".join(f"field {field} of " for field in reversed(one.fields)) + whole
    type_ = caller.type_of(value)
    extent = what if isinstance(type_, PrimType) else f"extent {one.axis} of {what}"
    return f"{extent} is `{expr_text(one.have)}`, the function expects `{expr_text(one.want)}`"
