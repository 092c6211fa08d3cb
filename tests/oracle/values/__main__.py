"""Look for disagreements: `python -m tests.oracle.values [--minutes M] [--programs N] [--seed S]`."""

from __future__ import annotations

import sys

from tests.oracle.passing import searched
from tests.oracle.values.compare import compare
from tests.oracle.values.program import some

if __name__ == "__main__":
    sys.exit(searched(__doc__, some, lambda program, number: compare(program, folded=number % 2 == 1)))
