"""Look for disagreements for a while.

python -m tests.oracle [--minutes 10] [--programs N] [--seed N] [--machine-every 5]

Programs are compared in rounds of fifty; every so many programs are also run on the virtual machine. A
program on which the three disagree is shrunk and written to tests/oracle/regressions; the exit code is then 1.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

from relax_lint.replay import Machine
from tests.oracle import program as program_module
from tests.oracle import regressions
from tests.oracle.compare import compare_first_failures, compare_machine, compare_verdicts
from tests.oracle.program import Program
from tests.oracle.shrinking import smallest
from tests.oracle.strategies import programs

ROUND = 50


class Search:
    """What was compared so far, and the programs that failed."""

    def __init__(self, machine: Machine, machine_every: int) -> None:
        self._machine = machine
        self._machine_every = machine_every
        self.counts: Counter[str] = Counter()
        self.failed: list[Path] = []

    def round(self, number: int) -> None:
        """Fifty programs; the first disagreement ends the round."""
        last: list[Program] = []

        @seed(number)
        @settings(
            max_examples=ROUND,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(programs())
        def search(program: Program) -> None:
            last[:] = [program]
            self._compare(program)

        try:
            search()
        except Exception as error:
            kind = type(error)
            program = smallest(last[0], lambda candidate: self._fails_like(candidate, kind))
            self.failed.append(_save(program, f"{type(error).__name__}: {error}"))

    def _fails_like(self, program: Program, kind: type[Exception]) -> bool:
        try:
            self._compare(program, always_run=True)
        except Exception as other:
            return type(other) is kind
        return False

    def _compare(self, program: Program, *, always_run: bool = False) -> None:
        self.counts["programs"] += 1
        self.counts += compare_verdicts(program)
        self.counts += compare_first_failures(program)
        if always_run or self.counts["programs"] % self._machine_every == 0:
            for allocator in ("naive", "pooled"):
                seen = compare_machine([program], self._machine, allocator)
                self.counts["calls on the machine"] += sum(
                    n for word, n in seen.items() if "not run" not in word
                )


def _save(program: Program, message: str) -> Path:
    """Write the program as a regression case."""
    name = f"case_{hashlib.sha256(repr(program).encode()).hexdigest()[:12]}"
    path = Path(regressions.__path__[0], f"{name}.py")
    head = "\n".join(line for line in message.splitlines()[:1])[:300].replace('"""', "")
    names = sorted(word for word in vars(program_module) if f"{word}(" in repr(program))
    path.write_text(
        f'"""{head}"""\n\n# fmt: off\nfrom tests.oracle.program import {", ".join(names)}\n\nPROGRAM = {program!r}\n',
        encoding="utf-8",
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
    started, number = time.monotonic(), options.seed
    with Machine() as machine:
        search = Search(machine, options.machine_every)
        while (
            time.monotonic() - started < options.minutes * 60 and search.counts["programs"] < options.programs
        ):
            search.round(number)
            number += 1
    minutes = (time.monotonic() - started) / 60
    verdicts = sum(count for word, count in search.counts.items() if word.startswith("RLX"))
    found = {
        "programs": search.counts["programs"],
        "verdicts at calls": verdicts,
        "first failures": search.counts["naive"] + search.counts["pooled"],
        "calls on the machine": search.counts["calls on the machine"],
        "disagreements": len(search.failed),
        "programs per minute": round(search.counts["programs"] / minutes),
    }
    if options.json:
        print(json.dumps(found))
    else:
        print(f"seeds {options.seed} to {number - 1}, {minutes:.1f} minutes")
        for word, value in found.items():
            print(f"  {word}: {value:,}")
        for path in search.failed:
            print(f"  {path}")
    return 1 if search.failed else 0


if __name__ == "__main__":
    sys.exit(main())
