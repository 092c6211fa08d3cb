"""`python -m tests.attack`: names bound anew, with both layers and with each alone, as a table.

`python -m tests.attack --minutes 10`: changed graphs until the time is over or one is neither refused nor
judged.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.attack import layers
from tests.attack.test_graphs import tried


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=0.0)
    parser.add_argument("--every", type=int, default=1, help="take every so manyth file")
    parser.add_argument("--seed", type=int, default=100)
    options = parser.parse_args()
    if not options.minutes:
        with tempfile.TemporaryDirectory() as folder:
            return layers.main(options.every, Path(folder) / "canary")
    end, seed = time.monotonic() + 60 * options.minutes, options.seed
    counted: Counter[str] = Counter()
    while time.monotonic() < end:
        for outcome in tried(seed, each=5).values():
            counted[" ".join(sorted(outcome.rules)) or outcome.failure or "judged"] += 1
        seed += 1
    for what, times in counted.most_common():
        sys.stdout.write(f"{times:>7}  {what}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
