"""RLX305 and RLX507: is the type of every tensor made true by somebody?

Event: a packed call that claims the type of what it returns (RLX305); the tensor parameters after
`num_input`, which the VM does not check (RLX507). There is no claim: the type is checked by an
`R.match_cast`, or by nobody. Verdict: `needs-runtime-check` where nobody does. What other verdicts rely
on such types for, they list (`Presumption`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from relax_lint.analysis.effects import outputs_of
from relax_lint.analysis.flow import FunctionFlow
from relax_lint.analysis.presumption import Presumption
from relax_lint.facts.judge import Decided
from relax_lint.model.operations import FunctionCall, KernelCall, MatchCast, Op, ValueId
from relax_lint.model.types import TensorType
from relax_lint.results.verdict import Verdict
from relax_lint.symbolic.decision import certain
from relax_lint.vm.calls import CallKind

_CLAIMING = (CallKind.PACKED, CallKind.BUILTIN, CallKind.CALL_INPLACE_PACKED)


class TypeFacts:
    """The types of one function that are declared and never checked."""

    def __init__(self, flow: FunctionFlow) -> None:
        self._flow = flow
        self._function = flow.function

    def claimed(self) -> Iterator[Decided[KernelCall]]:
        """Every packed call that returns tensors: a match_cast makes their claimed type true."""
        cast = {op.source for op in self._flow.function.body.of(MatchCast) if op.checked}
        for call in self._flow.calls:
            if call.kind in _CLAIMING and call.result in self._function.claimed and outputs_of(call.type):
                decision = certain(Verdict.NEEDS_RUNTIME_CHECK, "the type is declared by the call")
                if call.result in cast:
                    decision = certain(Verdict.ALWAYS_FINE, "a match_cast checks the result")
                yield Decided(call, decision)

    def unchecked_parameters(self) -> Decided[tuple[ValueId, ...]] | None:
        """The tensor parameters that the VM does not check, because they come after `num_input`; None where
        there are none.
        """
        checked = self._function.num_input
        after = () if checked is None else self._function.parameters[checked:]
        unchecked = tuple(value for value in after if self._function.tensor_type(value) is not None)
        reason = f"num_input is {checked}"
        return Decided(unchecked, certain(Verdict.NEEDS_RUNTIME_CHECK, reason)) if unchecked else None

    @cached_property
    def presumed(self) -> Mapping[ValueId | None, Presumption]:
        """What a verdict relies on that uses the claimed type of a tensor."""
        parameters = set(self._function.parameters)
        found: dict[ValueId | None, Presumption] = {}
        for value in self._function.claimed:
            if isinstance(self._function.type_of(value), TensorType):
                name = self._function.values[value].name
                definition = self._flow.paths.definitions.get(value)
                why = "a parameter after num_input" if value in parameters else _claimant(definition)
                found[value] = Presumption(f"the type of `{name}` ({why}, not checked)")
        return found


def _claimant(op: Op | None) -> str:
    if isinstance(op, FunctionCall):
        return f"the declared result of `{op.callee}`"
    if isinstance(op, KernelCall):
        return f"declared by the call of `{op.callee}`"
    return "a declared type"
