"""The speed guard: efforts as ratios and exponents of growth, compared with what is recorded.

make bench [PARTS="judging exponents"], or python -m benchmarks.bench [--only PART ...] [--record]

The parts are those of `benchmarks.bench_rows`, and `exponents`. Fails where an exponent passes the limit of
`benchmarks.growth` (where the recorded one is above it, that one by a tenth), or where a ratio passes its
recorded value by a tenth. Where instructions cannot be counted, exponents are those of calls and ratios of
processor time, and a ratio may pass its value by a half: other load on the machine changes it. `--record`
writes the values of today to `benchmarks/bench.json`; those of parts that are not measured stay.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import tvm

from benchmarks.bench_rows import PARTS, Row
from benchmarks.common import options, table
from benchmarks.effort import COUNTS_INSTRUCTIONS, UNIT
from benchmarks.growth import LIMIT, measured
from benchmarks.growth_programs import PROGRAMS

RECORDED = Path(__file__).with_suffix(".json")
"""The values of an earlier run."""
MARGIN = 1.1 if COUNTS_INSTRUCTIONS else 1.5
EXPONENTS = "exponents"


def exponents() -> Iterator[tuple[str, float]]:
    """The exponent of each direction."""
    for direction in PROGRAMS:
        yield direction, max(measured(direction)[2], 0.0)


def too_slow(rows: Sequence[Row], grown: dict[str, float], recorded: dict[str, Any]) -> list[str]:
    """What is worse than it may be, in words."""
    told = []
    for row in rows:
        most = recorded["ratios"].get(row.name, row.value) * MARGIN
        if row.guarded and row.value > most:
            told.append(f"{row.name}: {row.value:.3f}, at most {most:.3f}")
    for name, exponent in grown.items():
        most = max(LIMIT, recorded["exponents"].get(name, 0.0) * 1.1)
        if exponent > most:
            told.append(f"{name}: grows with the power {exponent:.2f}, at most {most:.2f}")
    return told


def _told(name: str, measure: Callable[[], Any]) -> Any:
    begin = time.perf_counter()
    print(f"measuring {name}", end="", file=sys.stderr, flush=True)
    found = measure()
    print(f": {time.perf_counter() - begin:.0f} s", file=sys.stderr, flush=True)
    return found


def _cells(row: Row, recorded: dict[str, float]) -> tuple[str, ...]:
    before = recorded.get(row.name)
    shown = "" if before is None else f"{before:.3g}{row.unit}"
    aim = "" if row.aim is None else f"{row.aim:g}{row.unit}"
    return row.name, f"{row.value:.3g}{row.unit}", shown, aim


def _grown(name: str, exponent: float, recorded: dict[str, float]) -> tuple[str, ...]:
    before = recorded.get(name)
    return (
        name,
        f"{exponent:.2f}",
        "" if before is None else f"{before:.2f}",
        "" if exponent <= LIMIT else f"above {LIMIT}",
    )


def main() -> None:
    arguments = options(__doc__, only=[*PARTS, EXPONENTS], record=False)
    if unknown := set(arguments.only) - {*PARTS, EXPONENTS}:
        raise SystemExit(
            f"not a part: {', '.join(sorted(unknown))}; there are {', '.join((*PARTS, EXPONENTS))}"
        )
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    rows: list[Row] = []
    for part, measure in PARTS.items():
        if part in arguments.only:
            rows += _told(part, lambda measure=measure: list(measure()))  # type: ignore[misc]
    grown = _told(EXPONENTS, lambda: dict(exponents())) if EXPONENTS in arguments.only else {}
    print(f"ratios of {UNIT}, TVM {tvm.__version__}\n")
    print(table(("", "now", "recorded", "aim"), [_cells(row, recorded["ratios"]) for row in rows]))
    lines = [_grown(name, exponent, recorded["exponents"]) for name, exponent in grown.items()]
    print("\n" + table(("direction", "exponent", "recorded", ""), lines))
    if arguments.record:
        recorded["ratios"].update({row.name: round(row.value, 3) for row in rows})
        recorded["exponents"].update({name: round(value, 3) for name, value in grown.items()})
        RECORDED.write_text(json.dumps(recorded, indent=2) + "\n", encoding="utf-8")
    elif told := too_slow(rows, grown, recorded):
        raise SystemExit("slower than recorded:\n" + "\n".join(told))


if __name__ == "__main__":
    main()
