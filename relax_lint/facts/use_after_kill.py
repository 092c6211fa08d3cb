"""RLX201: is every value used before its register is cleared?

Event: a value is used, or returned, after a kill of its register (`KilledUse`, from the walk over kills);
or a kill names a constant, which is in no register. A private function may return what it killed where
nobody uses that. There is no claim: every run that gets there goes
wrong. Verdict: `always-wrong` where every path to the use passes the kill.
"""

from __future__ import annotations

from collections.abc import Iterator

from relax_lint.analysis.certainty import Certainty, must_if
from relax_lint.analysis.flow import FunctionFlow
from relax_lint.analysis.kills import KilledUse
from relax_lint.analysis.presumption import Presumption
from relax_lint.facts.at_return import UNUSED, USED_PERHAPS
from relax_lint.facts.judge import Decided, Judge
from relax_lint.model.operations import Kill
from relax_lint.results.verdict import Verdict
from relax_lint.symbolic.decision import certain

_BYTECODE = Presumption(
    'the module is built as bytecode: `exec_mode="compiled"` refuses to kill a null value'
)


def uses_after_kill(flow: FunctionFlow, judge: Judge) -> Iterator[Decided[KilledUse]]:
    """Every use of a value whose register a kill has cleared."""
    for use in flow.kills.uses:
        certainty, why = use.certainty, use.why
        by_callers = Certainty.MUST if use.op is not None else _use_by_callers(use, flow)
        if by_callers is None:
            yield Decided(use, UNUSED)
            continue
        if by_callers is Certainty.MAY and certainty is Certainty.MUST:
            certainty, why = Certainty.MAY, USED_PERHAPS
        yield Decided(use, judge.harm(use.op, certainty, why))


def _use_by_callers(use: KilledUse, flow: FunctionFlow) -> Certainty | None:
    """How certain it is that callers use what is returned. Of a tuple they may take fields without a use."""
    if flow.function.tensor_type(use.value) is not None:
        return flow.use_at_return(use.value, cleared=True)
    return must_if(flow.is_cleared_result_missed)


def killed_constants(flow: FunctionFlow, judge: Judge) -> Iterator[Decided[Kill]]:
    """Every kill of a constant."""
    for kill in flow.kills.of_constants:
        yield Decided(kill, judge.harm(kill, Certainty.MUST))


def killed_nulls(flow: FunctionFlow) -> Iterator[Decided[Kill]]:
    """Every kill of a null value: bytecode takes it."""
    for kill in flow.kills.of_nulls:
        yield Decided(
            kill, certain(Verdict.ALWAYS_FINE, "the virtual machine clears a register"), (_BYTECODE,)
        )
