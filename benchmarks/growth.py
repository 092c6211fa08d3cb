"""How the effort grows with the size of a program, in one direction after the other.

python -m benchmarks.growth [--only "casts" "kills"]

For each direction three sizes, each twice the one before: the exponent is that of what the second doubling
adds over what the first adds, so that what does not depend on the size does not count. What is measured is
all after parsing, with real positions: rules, totals, fixes as edits, comments; of units the reading, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.common import options, table
from benchmarks.effort import STEADY_UNIT, steady_effort
from benchmarks.growth_programs import PROGRAMS
from relax_lint.judging.report import check_parsed
from relax_lint.results.report import FileResult, InputStatus, UnitResult
from relax_lint.running.file_task import analyse
from relax_lint.running.messages import FileData
from relax_lint.settings.config import Config
from relax_lint.sources.ignore_comment import IgnoreComment
from relax_lint.sources.parsing import parse_unit
from relax_lint.sources.reading import read_units
from relax_lint.sources.unit import ParsedUnit
from relax_lint.suppressions.policy import apply_policy

SMALLEST = {
    "calls twice at each level": 2,
    "chain depth": 16,
    "tensors on a storage": 16,
    "nested Ifs": 8,
    "sequential Ifs": 4,
    "tuple depth": 4,
    "symbols joined": 8,
    "terms of a shape": 8,
    "units": 4,
    "comments": 16,
}
"""The smallest of the three sizes where it is not `USUAL`."""
USUAL = 32
LIMIT = 1.2
"""The largest exponent that is accepted."""


def work(direction: str, size: int) -> Callable[[], Any]:
    """What is measured of a direction at a size."""
    text, config = PROGRAMS[direction](size), Config()
    if direction == "units":
        file = FileData(text.encode(), "program.py", "python", True)
        return lambda: list(analyse(file, config, 0))
    found = read_units(text.encode(), "program.py")
    parsed = parse_unit(found.units[0], "auto")
    if not isinstance(parsed, ParsedUnit):
        raise SystemExit(f"{direction}: {parsed.message}")
    return lambda: _with_comments(check_parsed(parsed, "program.py", config), found.comments, config)


def _with_comments(result: UnitResult, comments: Sequence[IgnoreComment], config: Config) -> Any:
    return apply_policy(FileResult(InputStatus("program.py", 1, "checked"), result.checks), comments, config)


def exponent(first: float, second: float, third: float) -> float:
    """Of what two doublings cost."""
    return math.log2(max(third - second, 1) / max(second - first, 1))


def measured(direction: str) -> tuple[int, list[int], float]:
    """The largest size, the effort at the three sizes, and the exponent."""
    smallest = SMALLEST.get(direction, USUAL)
    efforts = []
    for size in (smallest, 2 * smallest, 4 * smallest):
        what = work(direction, size)
        what()
        efforts.append(steady_effort(what))
    return 4 * smallest, efforts, exponent(*efforts)


def main() -> None:
    arguments = options(__doc__, only=[])
    rows = []
    for direction in arguments.only or PROGRAMS:
        largest, efforts, found = measured(direction)
        cells = [f"{one / 1e6:.1f}" for one in efforts]
        rows.append((direction, largest, *cells, f"{found:.2f}", "too fast" if found > LIMIT else ""))
        print(rows[-1], flush=True)
    print(f"millions of {STEADY_UNIT}\n")
    print(table(("direction", "largest", "at a quarter", "at half", "at the largest", "exponent", ""), rows))


if __name__ == "__main__":
    main()
