"""Look for random programs of which something else is said when they are written in another way.

python -m tests.metamorphic [--minutes 10] [--seed N]

Each is printed with the differences; the exit code is then 1.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator

from tests.metamorphic.comparing import OF_MODULE, OF_TEXT, Unprintable, before, of_module, of_text
from tests.metamorphic.programs import Text, random_programs, read
from tests.oracle.clock import Clock

ROUND = 50


def differences(program: Text, seen: Counter[str]) -> Iterator[str]:
    """What each change makes of what is said, where that is not nothing."""
    seen["programs"] += 1
    seen["sayings"] += sum(before(program).values())
    for of_the_text in OF_TEXT:
        seen[of_the_text.__name__] += 1
        yield _headed(of_the_text.__name__, of_text(program, of_the_text))
    for of_the_module in OF_MODULE:
        try:
            found = of_module(program, of_the_module)
        except Unprintable:
            seen["not read by TVM"] += 1
            continue
        seen[of_the_module.__name__] += 1
        yield _headed(of_the_module.__name__, found)


def _headed(change: str, found: str) -> str:
    return f"{change}\n{found}\n" if found else ""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    clock, seed, failed = Clock(options.minutes), options.seed, 0
    seen: Counter[str] = Counter()
    while not clock.is_over:
        for program in random_programs(ROUND, seed):
            if clock.is_over:
                break
            if read(program) is None:
                continue
            for found in filter(None, differences(program, seen)):
                failed += 1
                sys.stdout.write(f"{program.name}: {found}\n")
        seed += 1
        clock.tell(f"{seen['programs']} programs, {failed} differences")
    sys.stdout.write(
        f"seeds {options.seed} to {seed - 1}, {clock.minutes:.1f} minutes{clock.ended_by}: {failed} differences\n"
    )
    for word, count in seen.items():
        sys.stdout.write(f"  {word}: {count:,}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
