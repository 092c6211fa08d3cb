"""RLX202: is every register cleared only once on a path?

Event: a kill of a register that an earlier kill has cleared (`KilledUse`, from the walk over kills).
There is no claim. Verdict: `always-wrong` where every path to the second kill passes the first, and both
names share a register for sure.
"""

from __future__ import annotations

from collections.abc import Iterator

from relax_lint.analysis.flow import FunctionFlow
from relax_lint.analysis.kills import KilledUse
from relax_lint.facts.judge import Decided, Judge


def double_kills(flow: FunctionFlow, judge: Judge) -> Iterator[Decided[KilledUse]]:
    """Every kill of what was killed before."""
    for again in flow.kills.again:
        yield Decided(again, judge.harm(again.op, again.certainty, again.why))
