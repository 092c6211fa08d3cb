"""RLX201: is every value used before its register is cleared?

Event: a value is used, or returned, after a kill of its register (`KilledUse`, from the walk over kills);
or a kill names a constant, which is in no register. There is no claim: every run that gets there goes
wrong. Verdict: `always-wrong` where every path to the use passes the kill.
"""

from __future__ import annotations

from collections.abc import Iterator

from relax_lint.analysis.certainty import Certainty
from relax_lint.analysis.flow import FunctionFlow
from relax_lint.analysis.kills import KilledUse
from relax_lint.facts.judge import Decided, Judge
from relax_lint.model.operations import Kill


def uses_after_kill(flow: FunctionFlow, judge: Judge) -> Iterator[Decided[KilledUse]]:
    """Every use of a value whose register a kill has cleared."""
    for use in flow.kills.uses:
        yield Decided(use, judge.harm(use.op, use.certainty, use.why))


def killed_constants(flow: FunctionFlow, judge: Judge) -> Iterator[Decided[Kill]]:
    """Every kill of a constant."""
    for kill in flow.kills.of_constants:
        yield Decided(kill, judge.harm(kill, Certainty.MUST))
