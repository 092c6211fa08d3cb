"""RLX504 and RLX505: can a run-time check of a function fail, and can it hold?

Event: an `R.assert_op`, an `R.match_cast`, or a check that VMShapeLower put in for a declared type; a branch,
an allocation, a view or a builtin that is given a null value. Claims: what it compares holds over what is
enforced before it (RLX504: then it is redundant), and over all that is believed there (RLX505: refuted, no
input passes). Verdict: `always-wrong` where that is proved, else `always-fine`; `needs-runtime-check` where
it is a null value on some paths.
"""

from __future__ import annotations

from collections.abc import Iterator

import sympy
from sympy.logic.boolalg import And, Boolean

from relax_lint.analysis.certainty import Certainty
from relax_lint.analysis.flow import FunctionFlow
from relax_lint.facts.claims import Claim, all_of
from relax_lint.facts.judge import Decided, Judge
from relax_lint.facts.kernel_entry import kind_of
from relax_lint.model.operations import (
    AllocStorage,
    AllocTensor,
    Assert,
    If,
    KernelCall,
    MatchCast,
    Op,
    ValueId,
    View,
)
from relax_lint.model.types import ShapeType, TensorType, TupleType, ValueType
from relax_lint.results.verdict import Verdict
from relax_lint.support.lazy_dataclass import record
from relax_lint.symbolic.decision import certain
from relax_lint.symbolic.domain import FactKind
from relax_lint.symbolic.printing import condition_text
from relax_lint.symbolic.quantity import Unknown
from relax_lint.vm import versions
from relax_lint.vm.builtins import BUILTINS, NULLS, ViewKind


@record(frozen=True)
class RuntimeCheck:
    """A check whose condition is about symbols, and that condition as text."""

    op: Op
    condition: Boolean | Unknown
    text: str
    certainty: Certainty = Certainty.MUST
    """Whether a value that is no such thing is one in each run."""

    @property
    def kind(self) -> str:
        """What the check is, for a message."""
        if isinstance(self.op, Assert):
            return "assertion" if self.op.written else "check"
        return _KINDS.get(type(self.op), "call")


def redundant_checks(flow: FunctionFlow, judge: Judge) -> Iterator[Decided[RuntimeCheck]]:
    """Every assertion of the program's own: something can make it fail. A check of a declared bound does not
    count as proved by that bound.
    """
    for check in runtime_checks(flow):
        if isinstance(check.op, Assert) and check.op.written:
            enforced = judge.domain_at(check.op.place).without(FactKind.ASSUMED, FactKind.GLOBAL)
            decision = judge.judge(Claim(check.condition, enforced))
            answer = certain(Verdict.ALWAYS_FINE, "not proved from the facts that are enforced before it")
            if decision.verdict is Verdict.ALWAYS_FINE and decision.reachable:
                answer = certain(Verdict.ALWAYS_WRONG, decision.proof.detail or "true for every input")
            yield Decided(check, answer)


def failing_checks(flow: FunctionFlow, judge: Judge) -> Iterator[Decided[RuntimeCheck]]:
    """Every check that is reached: some input passes it."""
    for check in runtime_checks(flow):
        claim = judge.claim_at(check.condition, check.op)
        decision = judge.judge_event(claim, check.certainty, "it is a null value on some paths")
        is_told = decision.verdict is Verdict.ALWAYS_WRONG or check.certainty is Certainty.MAY
        if not is_told and decision.reachable:
            decision = certain(Verdict.ALWAYS_FINE, "not proved to fail for every input")
        if decision.reachable:
            yield Decided(check, decision)


def runtime_checks(flow: FunctionFlow) -> Iterator[RuntimeCheck]:
    """Every check of a function whose condition is about symbols."""
    body = flow.function.body
    has_nulls = any(map(_is_null, body.of(KernelCall)))
    for op in body.of(Assert, MatchCast, *((If, AllocTensor, View, KernelCall) if has_nulls else ())):
        if has_nulls:
            yield from _given_nulls(op, flow)
        if isinstance(op, MatchCast) and (text := _never_of_type(op, flow)):
            yield RuntimeCheck(op, sympy.false, text)
            continue
        if isinstance(op, Assert) and op.fact is not None:
            conditions = [op.fact.condition]
        elif isinstance(op, MatchCast) and op.facts:
            conditions = [fact.condition for fact in op.facts if fact.kind is FactKind.ENFORCED]
        else:
            continue
        yield RuntimeCheck(op, all_of(conditions), condition_text(And(*conditions)))


def _never_of_type(op: MatchCast, flow: FunctionFlow) -> str:
    """What a cast asks of something that is no such thing in any run: a null value or a storage."""
    if versions.is_function_type(versions.type_of(op.place.var)):
        return f"{_name(op.source, flow)} is a function" if _is_nothing(op.source, flow) else ""
    return _unlike(op.source, op.type, flow)


def _unlike(value: ValueId, type_: ValueType, flow: FunctionFlow) -> str:
    if isinstance(type_, TupleType):
        fields = flow.aliases.fields.get(value, ())
        for field, wanted in zip(fields, type_.fields, strict=False):
            if found := _unlike(field, wanted, flow):
                return found
    is_asked = isinstance(type_, TensorType | ShapeType | TupleType) and value not in flow.aliases.fields
    return f"{_name(value, flow)} is {kind_of(type_)}" if is_asked and _is_nothing(value, flow) else ""


def _is_nothing(value: ValueId, flow: FunctionFlow) -> bool:
    made = _made(value, flow)
    return bool(made) and all(isinstance(one, AllocStorage) or _is_null(one) for one in made)


def _given_nulls(op: Op, flow: FunctionFlow) -> Iterator[RuntimeCheck]:
    """What the virtual machine takes for a tensor or a storage, and may be a null value."""
    for value, wanted in _taken(op):
        made = _made(value, flow)
        if any(map(_is_null, made)):
            certainty = Certainty.MUST if all(map(_is_null, made)) else Certainty.MAY
            yield RuntimeCheck(op, sympy.false, f"{_name(value, flow)} is {wanted}", certainty)


def _taken(op: Op) -> Iterator[tuple[ValueId, str]]:
    if isinstance(op, If) and op.condition is not None:
        yield op.condition, "a tensor"
    elif isinstance(op, AllocTensor) and op.storage is not None:
        yield op.storage, "a storage"
    elif isinstance(op, View) and op.kind is not ViewKind.COPY:
        yield op.source, "a tensor"
    elif isinstance(op, KernelCall):
        builtin = BUILTINS.get(op.callee)
        positions = builtin.reads | builtin.writes if builtin is not None else ()
        for position in sorted(positions):
            if position < len(op.arguments):
                yield op.arguments[position], "a tensor"


def _made(value: ValueId, flow: FunctionFlow) -> list[Op | None]:
    return [flow.paths.definitions.get(root) for root in flow.aliases.roots_of(value)]


def _is_null(op: Op | None) -> bool:
    return isinstance(op, KernelCall) and op.callee in NULLS


def _name(value: ValueId, flow: FunctionFlow) -> str:
    return flow.function.values[value].name or "it"


_KINDS: dict[type[Op], str] = {MatchCast: "match_cast", If: "branch", AllocTensor: "allocation", View: "view"}
