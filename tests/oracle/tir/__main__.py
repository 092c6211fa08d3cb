"""Look for kernels of whose accesses the linter says something that is not so.

python -m tests.oracle.tir [--minutes 10] [--kernels N] [--seed N] [--machine-every 25]

Every so many kernels are also compiled and compared with the interpreter. What is found is made smaller and
printed; the exit code is then 1. Progress goes to standard error.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable

from tests.oracle.tir.compare import Unusable, compare, reason
from tests.oracle.tir.compiled_child import compare_apart
from tests.oracle.tir.large import every
from tests.oracle.tir.writer import Kernel, script, smaller

SHOWN = 12
"""How many disagreements of one kind are made smaller."""
_PAUSE = 30.0
_TRIES = 60


def smallest(kernel: Kernel, check: Callable[[Kernel], Counter[str]], why: str) -> Kernel:
    """Leave out what can be left out, in so many tries."""
    found, tries = kernel, _TRIES
    while tries > 0:
        shorter = None
        for one in smaller(found):
            tries -= 1
            if tries < 0 or reason(one, check) == why:
                shorter = one
                break
        if shorter is None or tries < 0:
            return found
        found = shorter
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--kernels", type=int, default=10**9)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--machine-every", type=int, default=25, metavar="N")
    options = parser.parse_args()
    started = told = time.monotonic()
    seen: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for count, kernel in enumerate(every(options.kernels, options.seed), 1):
        now = time.monotonic()
        if now - started > options.minutes * 60:
            break
        if now - told > _PAUSE:
            told = now
            sys.stderr.write(f"{count - 1:,} kernels, {sum(reasons.values())} disagreements\n")
        for check in (compare, *((compare_apart,) if count % options.machine_every == 0 else ())):
            try:
                seen += check(kernel)
            except Unusable as error:
                seen[f"not taken: {str(error).split(':')[0]}"] += 1
            except Exception:
                why = reason(kernel, check)
                if why is None:
                    continue
                reasons[why] += 1
                if reasons[why] <= SHOWN:
                    sys.stdout.write(_told(smallest(kernel, check, why), check))
                    sys.stdout.flush()
    sys.stdout.write(f"seed {options.seed}: {sum(reasons.values())} disagreements {dict(reasons)}\n")
    for word, number in sorted(seen.items()):
        sys.stdout.write(f"  {word}: {number:,}\n")
    return 1 if reasons else 0


def _told(kernel: Kernel, check: Callable[[Kernel], Counter[str]]) -> str:
    try:
        check(kernel)
    except Exception as error:
        return f"{error}\n{kernel!r}\n{script(kernel)}\n\n"
    return ""


if __name__ == "__main__":
    sys.exit(main())
