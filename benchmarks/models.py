"""What five image classifiers, a decoder and many small programs need, predicted and measured on the VM.

    make models && .venv/bin/python benchmarks/models.py [--small-only]

Compiled for the CPU by TVM's default pipeline; the classifiers with weights as parameters and as constants,
one image or several. The small programs run in both exec modes, the others in bytecode. The allocators are
watched by an interposer that sees each call for memory. Needs Linux, gcc and torch (not for the small ones).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.totals.interposer import measured

COLUMNS = ("parameters", "constants", "unplanned", "planned", "lower bound")


def table(rows: Iterable[dict[str, Any]]) -> list[str]:
    """One line for each prediction, in bytes."""
    lines = [
        f"{'model':<46} {'allocator':<9} {'predicted':>12} {'measured':>12} {'over two calls':>14} "
        f"{'measured':>12} " + " ".join(f"{column:>12}" for column in COLUMNS)
    ]
    for row in rows:
        binding = ", ".join(f"{name} = {value}" for name, value in row["binding"].items())
        name = f"{row['case']} {binding}".strip()
        lines.append(
            f"{name:<46} {row['allocator']:<9} {row['predicted']:>12,} {row['measured']:>12,} "
            f"{row['predicted again']:>14,} {row['measured again']:>12,} "
            + " ".join(f"{row[column]:>12,}" for column in COLUMNS)
        )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small-only", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = measured(Path(folder), "tests.totals.corpus", "bytecode", "compiled")
        shown = [row for row in rows if "decoder" in row["case"] and row["exec_mode"] == "bytecode"]
        if not options.small_only:
            vision = measured(Path(folder), "tests.totals.corpus_vision", "bytecode")
            rows += vision
            shown += vision
    print("\n".join(table(shown)))
    equal = sum(
        row["predicted"] == row["measured"] and row["predicted again"] == row["measured again"]
        for row in rows
    )
    programs = len({row["case"] for row in rows})
    print(f"\n{equal} of {len(rows)} predictions on {programs} programs equal to the byte, one call and two")


if __name__ == "__main__":
    main()
