"""Look for disagreements for a while.

python -m tests.oracle [--minutes 10] [--programs N] [--seed N] [--machine-every 5]

Programs are compared in rounds: fifty for verdicts, of which every so many are also run on the virtual machine, ten
that are fixed, and ten of which the memory totals are measured (Linux with gcc). A program on which there is no
agreement is made smaller and written to tests/oracle/regressions; the exit code is then 1.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from relax_lint.replay import Machine
from relax_lint.replay.modules import load_module
from relax_lint.totals.walk import ExecMode
from tests.oracle import program as program_module
from tests.oracle import regressions
from tests.oracle.answers import NOT_COMPARED
from tests.oracle.clock import Clock
from tests.oracle.compare import compare_first_failures, compare_machine, compare_verdicts
from tests.oracle.fixes import OUTCOMES, STRATEGIES, compare_fixes
from tests.oracle.program import Program, text
from tests.oracle.shrinking import smallest
from tests.oracle.strategies import some
from tests.oracle.totals import compare_totals
from tests.totals import interposer

ROUND = 50
FIXED = 10
MEASURED = 10

Compare: TypeAlias = Callable[[Program], "Counter[str]"]


class Search:
    """What was compared so far, and the programs that failed. `folder` is for what measures memory."""

    def __init__(self, machine: Machine, machine_every: int, folder: Path) -> None:
        self._machine = machine
        self._machine_every = machine_every
        self._folder = folder
        self.counts: Counter[str] = Counter()
        self.failed: list[Path] = []

    def round(self, number: int) -> None:
        """Some programs for each comparison."""
        strategy = STRATEGIES[number % len(STRATEGIES)]
        for program in some(ROUND, number, tidy=False):
            self.counts["programs"] += 1
            self._try(program, self._verdicts)
            if self.counts["programs"] % self._machine_every == 0:
                self._try(program, self._run)
        for program in some(FIXED, number, tidy=True):
            self.counts["programs fixed"] += 1
            self._try(program, lambda program: compare_fixes(program, strategy, self._machine), strategy)
        if interposer.AVAILABLE:
            self._totals(some(MEASURED, number + 1, tidy=number % 2 == 0))

    def _totals(self, some: list[Program]) -> None:
        """Together, which is faster, and one by one where that fails."""
        self.counts["programs measured"] += len(some)
        try:
            self.counts += compare_totals(some, self._folder, *ExecMode)
        except Exception:
            for program in some:
                self._try(program, lambda program: compare_totals([program], self._folder, *ExecMode))

    def _verdicts(self, program: Program) -> Counter[str]:
        return compare_verdicts(program) + compare_first_failures(program)

    def _run(self, program: Program) -> Counter[str]:
        seen: Counter[str] = Counter()
        for allocator in ("naive", "pooled"):
            run = compare_machine([program], self._machine, allocator)
            seen[NOT_COMPARED] += run.pop(NOT_COMPARED, 0)
            seen["calls on the machine"] += sum(n for word, n in run.items() if "not run" not in word)
        return seen

    def _try(self, program: Program, compare: Compare, strategy: str | None = None) -> None:
        """Count, or save what fails as small as it gets."""
        try:
            self.counts += compare(program)
        except Exception as error:
            kind = type(error)
            found = smallest(program, lambda candidate: _fails(candidate, compare, kind))
            self.failed.append(_save(found, f"{kind.__name__}: {error}", strategy))


def _fails(program: Program, compare: Compare, kind: type[Exception]) -> bool:
    """Whether a program that TVM reads fails in the same way."""
    try:
        load_module(text(program), "script")
        compare(program)
    except Exception as other:
        return type(other) is kind
    return False


def _save(program: Program, message: str, strategy: str | None) -> Path:
    """Write the program as a regression case, with the strategy where its fixes are wrong."""
    name = f"case_{hashlib.sha256(repr(program).encode()).hexdigest()[:12]}"
    path = Path(regressions.__path__[0], f"{name}.py")
    head = "\n".join(line for line in message.splitlines()[:1])[:300].replace('"""', "")
    names = sorted(word for word in vars(program_module) if f"{word}(" in repr(program))
    lines = [f"from tests.oracle.program import {', '.join(names)}\n", f"PROGRAM = {program!r}"]
    lines += [] if strategy is None else [f"STRATEGY = {strategy!r}"]
    path.write_text(
        f'"""{head}"""\n\n# fmt: off\n' + "".join(f"{line}\n" for line in lines), encoding="utf-8"
    )
    return path


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--programs", type=int, default=10**9)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--machine-every", type=int, default=5, metavar="N")
    parser.add_argument("--json", action="store_true", help="print the counts as one line of JSON")
    options = parser.parse_args()
    clock, number = Clock(options.minutes), options.seed
    with Machine() as machine, tempfile.TemporaryDirectory() as folder:
        search = Search(machine, options.machine_every, Path(folder))
        while not clock.is_over and search.counts["programs"] < options.programs:
            search.round(number)
            number += 1
            clock.tell(f"{search.counts['programs']} programs, {len(search.failed)} disagreements")
    verdicts = sum(count for word, count in search.counts.items() if word.startswith("RLX"))
    found = {
        "programs": search.counts["programs"],
        "verdicts at calls": verdicts,
        "first failures": search.counts["naive"] + search.counts["pooled"],
        "calls on the machine": search.counts["calls on the machine"],
        "programs fixed": search.counts["programs fixed"],
        "calls of fixed programs": sum(search.counts[outcome] for outcome in OUTCOMES),
        "programs measured": search.counts["programs measured"],
        "totals": search.counts["totals"],
        NOT_COMPARED: search.counts[NOT_COMPARED],
        "disagreements": len(search.failed),
        "programs per minute": round(search.counts["programs"] / clock.minutes),
    }
    if options.json:
        print(json.dumps(found))
    else:
        print(f"seeds {options.seed} to {number - 1}, {clock.minutes:.1f} minutes{clock.ended_by}")
        for word, value in found.items():
            print(f"  {word}: {value:,}")
        for outcome in OUTCOMES:
            print(f"  {outcome}: {search.counts[outcome]:,}")
        for path in search.failed:
            print(f"  {path}")
    return 1 if search.failed else 0


if __name__ == "__main__":
    sys.exit(main())
