"""What a private function returns is read where a caller uses it, and nothing by what TVM leaves out."""

from __future__ import annotations

from relax_lint.analysis.certainty import Certainty
from relax_lint.analysis.events import Reading
from relax_lint.analysis.flow import FunctionFlow
from relax_lint.results.verdict import Verdict
from relax_lint.symbolic.decision import certain

UNUSED = certain(Verdict.ALWAYS_FINE, "no caller uses it")
"""The verdict on what is returned to nobody who uses it."""
USED_PERHAPS = "a call does not use what the function returns"
"""Why it is not certain that what is returned does harm."""
LEFT_OUT = "nothing uses what it returns: `FoldConstant` leaves such operations out"
"""Why it is not certain that an operation does harm that TVM may leave out."""


def why_not_read(reading: Reading, flow: FunctionFlow) -> str:
    """Why a reading may not happen where only some paths pass it, or what reads may be left out."""
    return LEFT_OUT if flow.is_left_out(reading.op) else "read later only on some paths"


def use_by_callers(reading: Reading, flow: FunctionFlow) -> Certainty | None:
    """How certain a reading is as far as that is up to callers; None where they do not read."""
    return Certainty.MUST if reading.op is not None else flow.use_at_return(reading.value)
