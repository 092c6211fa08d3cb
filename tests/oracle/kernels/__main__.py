"""Look for bodies of kernels of which the linter says something that is not so.

python -m tests.oracle.kernels [--minutes 10] [--bodies N] [--seed N] [--machine-every 10]

What is found is made smaller and printed as it goes into `regressions.py`; the exit code is then 1.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable
from itertools import chain

from tests.oracle.clock import Clock
from tests.oracle.kernels import hiding, limits, richer
from tests.oracle.kernels.bodies import Body, script, smaller, some
from tests.oracle.kernels.compare import Disagreement, Unusable, compare, compare_machine
from tests.oracle.kernels.reads import compare_more_reads, compare_reads

_KINDS = (some, richer.some, limits.some, hiding.some)
_CHECKS = ([compare, compare_reads], [compare_reads], [compare_more_reads], [compare_reads])
"""Those of each kind of body."""


def reason(body: Body, check: Callable[[Body], Counter[str]]) -> str | None:
    """What is not so of a body."""
    try:
        check(body)
    except Disagreement as error:
        return str(error)
    except (Unusable, OverflowError):
        return None
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def smallest(body: Body, check: Callable[[Body], Counter[str]], why: str) -> Body:
    """Leave out what can be left out."""
    found = body
    while True:
        shorter = next((one for one in smaller(found) if _is_usable(one) and reason(one, check) == why), None)
        if shorter is None:
            return found
        found = shorter


def _is_usable(body: Body) -> bool:
    try:
        compile(script(body), "body", "exec")
    except SyntaxError:
        return False
    return True


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--bodies", type=int, default=10**9)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--machine-every", type=int, default=10, metavar="N")
    options = parser.parse_args()
    clock, count, failed = Clock(options.minutes), 0, 0
    seen: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    kinds = [kind(options.bodies, options.seed) for kind in _KINDS]
    for body in chain.from_iterable(zip(*kinds, strict=True)):
        if clock.is_over:
            break
        clock.tell(f"{count} bodies, {failed} disagreements")
        checks = _CHECKS[count % len(_KINDS)]
        count += 1
        runs = (compare_machine,) if count % (len(_KINDS) * options.machine_every) == 1 else ()
        for check in (*checks, *runs):
            try:
                seen += check(body)
            except (Unusable, OverflowError):
                seen["not taken"] += 1
            except Exception:
                why = reason(body, check)
                failed += 1
                reasons[str(why)] += 1
                if why is not None and reasons[why] <= 2:
                    found = smallest(body, check, why)
                    sys.stdout.write(f"{why}\n{found!r}\n{script(found)}\n\n")
                    sys.stdout.flush()
    sys.stdout.write(
        f"seed {options.seed}: {count:,} bodies in {clock.minutes:.1f} minutes{clock.ended_by},"
        f" {failed} disagreements {dict(reasons)}\n"
    )
    for word, number in sorted(seen.items()):
        sys.stdout.write(f"  {word}: {number:,}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
