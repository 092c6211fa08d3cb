"""Search for disagreements about shape heaps: python -m tests.oracle.heap [--minutes N] [--programs N] [--seed N]."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

from relax_lint.replay import Machine

from .compare import Disagreement, compare
from .program import Program, random_program, smaller
from .several import Several
from .several import smaller as fewer
from .several_random import random_several
from .several_run import compare_several

Drawn = Program | Several


def drawn(seed: int) -> Drawn:
    """The program of a seed: half of them have several heaps, and half of each give heaps to a packed function."""
    if seed % 4 < 2:
        return random_program(seed, escapes=seed % 2 == 0)
    return random_several(seed, escapes=seed % 2 == 0)


def compared(program: Drawn, machine: Machine | None) -> Counter[str]:
    """What the comparison of a program saw. Raises Disagreement."""
    if isinstance(program, Several):
        seen = compare_several(program, machine)
        return Counter({f"several heaps, {word}": count for word, count in seen.items()})
    return compare(program, machine)


def minimal(program: Drawn, machine: Machine) -> Drawn:
    """A program that disagrees as well, and of which no part can be left out."""
    for candidate in fewer(program) if isinstance(program, Several) else smaller(program):
        try:
            compared(candidate, machine)
        except Disagreement:
            return minimal(candidate, machine)
        except Exception:
            continue
    return program


def main() -> int:
    """Compare random programs until the time is over."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--programs", type=int, default=10**9)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--machine-every", type=int, default=3, metavar="N")
    options = parser.parse_args()
    started, found, seen = time.monotonic(), 0, Counter[str]()
    with Machine() as machine:
        for seed in range(options.seed, options.seed + options.programs):
            if time.monotonic() - started > options.minutes * 60:
                break
            program = drawn(seed)
            seen["several heaps, programs" if isinstance(program, Several) else "programs"] += 1
            try:
                seen += compared(program, machine if seed % options.machine_every == 0 else None)
            except Disagreement as error:
                found += 1
                print(f"seed {seed}: {error}\n  {minimal(program, machine)!r}")
    print(
        f"{found} disagreements; " + ", ".join(f"{word}: {count:,}" for word, count in sorted(seen.items()))
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
