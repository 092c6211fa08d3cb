"""What five image classifiers, a decoder and many small programs need, predicted and measured on the VM.

make models && .venv/bin/python -m benchmarks.models [--small-only]

Compiled for the CPU by TVM's default pipeline; the classifiers with weights as parameters and as constants,
one image or several. The small programs run in both exec modes, the others in bytecode. The allocators are
watched by an interposer that sees each call for memory. Needs Linux, gcc and torch (not for the small ones).
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.common import options, table
from tests.totals.interposer import measured

BYTES = ("predicted", "measured", "predicted again", "measured again")
COLUMNS = ("parameters", "constants", "unplanned", "planned", "lower bound")


def main() -> None:
    with_vision = not options(__doc__, small_only=False).small_only
    with tempfile.TemporaryDirectory() as folder:
        rows = measured(Path(folder), "tests.totals.corpus", "bytecode", "compiled")
        shown = [row for row in rows if "decoder" in row["case"] and row["exec_mode"] == "bytecode"]
        if with_vision:
            vision = measured(Path(folder), "tests.totals.corpus_vision", "bytecode")
            rows, shown = rows + vision, shown + vision
    cells = []
    for row in shown:
        binding = ", ".join(f"{name} = {value}" for name, value in row["binding"].items())
        numbers = (f"{row[column]:,}" for column in (*BYTES, *COLUMNS))
        cells.append((f"{row['case']} {binding}".strip(), row["allocator"], *numbers))
    print(table(("model", "allocator", *BYTES, *COLUMNS), cells))
    equal = sum(
        row["predicted"] == row["measured"] and row["predicted again"] == row["measured again"]
        for row in rows
    )
    programs = len({row["case"] for row in rows})
    print(f"\n{equal} of {len(rows)} predictions on {programs} programs equal to the byte, one call and two")


if __name__ == "__main__":
    main()
