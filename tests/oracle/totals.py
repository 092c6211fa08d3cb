"""Memory totals of random programs against what the allocators of the virtual machine really obtained.

`python -m tests.oracle.totals MODE...` is the subprocess that measures, under the interposer of `tests.totals`: it
reads programs from standard input, one `repr` per line, and prints a line of JSON per prediction.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from relax_lint.replay.modules import load_module
from relax_lint.totals.walk import ExecMode
from tests.oracle import program as program_module
from tests.oracle.compare import Disagreement, points
from tests.oracle.evaluator import Call, Point
from tests.oracle.program import Function, Program, is_planned_across_branches, text
from tests.totals import interposer
from tests.totals.cases import Case, Run
from tests.totals.metering import Meter, measured

BINDINGS = 6
"""Assignments of symbols that are measured of one function, at most."""
FIGURES = (
    ("measured", "predicted", "formula"),
    ("measured again", "predicted again", "formula again"),
)
"""What the allocators obtained over one call and over two; what is said of it at the binding; the formula."""


def compare_totals(programs: Sequence[Program], folder: Path, *modes: ExecMode) -> Counter[str]:
    """Predicted and measured at some bindings; how many of each. `folder` is for the interposer. Raises
    Disagreement.
    """
    seen: Counter[str] = Counter()
    lines = "".join(f"{program!r}\n" for program in programs)
    rows = interposer.run(folder, "tests.oracle.totals", *(mode.value for mode in modes), text=lines)
    for row in rows:
        for real, predicted, formula in FIGURES:
            is_known = isinstance(row[formula], int)
            if row[predicted] != row[real] or (is_known and row[formula] != row[real]):
                raise Disagreement(f"{row}\n{text(programs[int(row['case'])])}")
            seen["totals"] += 1
            seen["formulas"] += is_known
    return seen


def cases(programs: Sequence[Program]) -> Iterator[Case]:
    """Each function of the programs, with calls that run through on both allocators and along both ways; the case
    has the number of the program as its name.
    """
    for number, program in enumerate(programs):
        if is_planned_across_branches(program):
            continue
        for function in program.functions:
            runs = _runs(program, function)
            if runs:
                yield Case(str(number), partial(_loaded, program), runs, function.name)


def _loaded(program: Program) -> Any:
    return load_module(text(program), "script")


def _runs(program: Program, function: Function) -> tuple[Run, ...]:
    found = []
    for _, group in groupby(points(), key=lambda point: (point.m, point.n, point.k)):
        ways = list(group)
        if all(_runs_through(program, function, point) for point in ways):
            found.append(ways)
    some = found[:: max(1, len(found) // BINDINGS)][:BINDINGS]
    return tuple(_run(point) for ways in some for point in ways)


def _runs_through(program: Program, function: Function, point: Point) -> bool:
    # What TVM's planner makes of tensors without a storage relies on declared bounds.
    bounds = (bound for function in program.functions for bound in function.upper)
    return all(getattr(point, name) <= limit for name, limit in bounds) and all(
        Call(program, function, point, allocator, faithful=True).run().ends == "ok"
        for allocator in ("naive", "pooled")
    )


def _run(point: Point) -> Run:
    x, z = np.arange(point.m, dtype="float32"), np.zeros(point.n, "int8")
    return Run((x, z, point.k, np.array(point.c)), {"m": point.m, "n": point.n, "k": point.k})


def main() -> None:
    """Measure the programs of standard input."""
    programs = [eval(line, vars(program_module)) for line in sys.stdin]
    meter = Meter()
    for case in cases(programs):
        for mode in map(ExecMode, sys.argv[1:]):
            for row in measured(meter, case, mode):
                print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
