"""What the allocators of the machine obtain, measured, against our totals. It needs the interposer of
`tests.totals`, which is loaded before everything else. Importing this module imports TVM.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from typing import Any

from relax_lint.model.builder import build_program
from relax_lint.totals.compute import measure
from relax_lint.totals.walk import ExecMode
from relax_lint.vm.allocators import Allocator
from tests.totals.cases import Run
from tests.totals.metering import Meter

VARIABLE = "RELAX_LINT_HUNT_METER"
"""Set where the interposer is loaded."""


@cache
def meter() -> Meter | None:
    """What measures; None where the interposer is not loaded."""
    return Meter() if os.environ.get(VARIABLE) else None


def differences(
    lowered: Any, executable: Any, exec_mode: str, calls: dict[int, list[list[Any]]]
) -> Iterator[dict[str, Any]]:
    """A row for each extent and allocator: what one call obtained at most, and what the totals
    say. The calls for one extent are alternatives.
    """
    measuring = meter()
    if measuring is None:
        return
    program = build_program(lowered)
    main = next(function for function in program.functions if function.name == "main")
    for extent, alternatives in calls.items():
        totals = measure(program, main, exec_mode=ExecMode(exec_mode), binding={"n": extent})
        for allocator in Allocator:
            runs = [Run(tuple(arguments)) for arguments in alternatives]
            obtained = [measuring.most_obtained(executable, "main", [run], allocator)[0] for run in runs]
            said = totals.reserved[allocator]
            yield {
                "allocator": allocator.value,
                "measured": max(obtained),
                "predicted": said if isinstance(said, int) else None,
            }
