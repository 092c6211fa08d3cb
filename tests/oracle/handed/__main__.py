"""Search for disagreements: python -m tests.oracle.handed [--minutes N] [--programs N] [--seed N] [--machine-every N].

What is found is made smaller and printed; the exit code is then 1.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

from tests.oracle.clock import Clock
from tests.oracle.handed.compare import compare
from tests.oracle.handed.program import Program, smaller
from tests.oracle.handed.random_programs import some
from tests.oracle.passing import Disagreement, Unusable

SHOWN = 10


def kind(program: Program, *, machine: bool) -> str | None:
    """What disagrees, in one word; None where nothing does."""
    try:
        compare(program, machine=machine)
    except Disagreement as error:
        return " ".join(str(error).split()[:2])
    except Unusable:
        pass
    return None


def smallest(program: Program, why: str, *, machine: bool, tries: int = 400) -> Program:
    """A program that disagrees in the same way, and of which no part can be left out, in so many tries."""
    for candidate in smaller(program):
        tries -= 1
        if tries < 0:
            break
        if kind(candidate, machine=machine) == why:
            return smallest(candidate, why, machine=machine, tries=tries)
    return program


def main() -> int:
    """Compare random programs until the time is over."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--programs", type=int, default=10**9)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--machine-every", type=int, default=4, metavar="N")
    options = parser.parse_args()
    clock, seen, found = Clock(options.minutes), Counter[str](), Counter[str]()
    for number, program in enumerate(some(options.programs, options.seed)):
        if clock.is_over:
            break
        machine = number % options.machine_every == 0
        try:
            seen += compare(program, machine=machine)
        except Unusable as error:
            seen[f"not taken: {str(error).split(':')[0]}"] += 1
        except Disagreement as error:
            why = " ".join(str(error).split()[:2])
            found[why] += 1
            if found[why] <= SHOWN:
                small = smallest(program, why, machine=machine)
                sys.stdout.write(f"{number}: {error}\n{small!r}\n{small.text}\n\n")
                sys.stdout.flush()
        clock.tell(f"{seen['programs']} programs, {sum(found.values())} disagreements")
    sys.stdout.write(f"{dict(found)} disagreements in {clock.minutes:.1f} minutes{clock.ended_by}\n")
    for word, count in sorted(seen.items()):
        sys.stdout.write(f"  {word}: {count:,}\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
