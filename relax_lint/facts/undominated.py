"""RLX204: does the definition of every value dominate its uses?

Event: a use of a value that is not defined on every path to it (`UndominatedUse`, from the walk over
definitions). There is no claim. Verdict: `always-wrong` where no path to the use passes the definition.
"""

from __future__ import annotations

from collections.abc import Iterator

from relax_lint.analysis.dominance import UndominatedUse
from relax_lint.analysis.flow import FunctionFlow
from relax_lint.facts.judge import Decided, Judge


def undominated_uses(flow: FunctionFlow, judge: Judge) -> Iterator[Decided[UndominatedUse]]:
    """Every use of a value that not every path to the use has defined."""
    for use in flow.undominated_uses:
        yield Decided(use, judge.harm(use.op, use.certainty, "defined only on some paths"))
