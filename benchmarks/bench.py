"""The speed guard: efforts as ratios and exponents of growth, compared with what is recorded.

make bench, or python -m benchmarks.bench [--record]

Fails where an exponent passes the limit of `benchmarks.growth` (where the recorded one is above it, that one
by a tenth), or where a ratio passes its recorded value by a tenth. Where instructions cannot be counted,
processor time is taken, and a ratio may pass its value by a half: other load on the machine changes it.
`--record` writes the values of today to `benchmarks/bench.json`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tvm

from benchmarks.common import options, table
from benchmarks.effort import COUNTS_INSTRUCTIONS, UNIT, effort
from benchmarks.growth import LIMIT, measured
from benchmarks.growth_programs import PROGRAMS
from relax_lint.judging.report import check_module
from relax_lint.settings.config import Config
from tests.programs.transformer import lowered

RECORDED = Path(__file__).with_suffix(".json")
"""The values of an earlier run."""
MARGIN = 1.1 if COUNTS_INSTRUCTIONS else 1.5
LAYERS = (2, 8)
"""Of the planned transformers."""


def judging_ratios() -> Iterator[tuple[str, float]]:
    """Judging with all rules in units of TVM's parse of the same text."""
    for layers in LAYERS:
        for bounded in (True, False):
            module = lowered(layers, bounded=bounded, stage="killed")
            text = module.script()
            parse = effort(lambda text=text: tvm.script.from_source(text))  # type: ignore[misc]
            check_module(module, Config())
            judge = effort(lambda module=module: check_module(module, Config()), 2)  # type: ignore[misc]
            shown = "with bounds" if bounded else "without bounds"
            yield f"judging {layers} layers {shown}, over TVM's parse", judge / parse


def exponents() -> Iterator[tuple[str, float]]:
    """The exponent of each direction."""
    for direction in PROGRAMS:
        yield direction, max(measured(direction)[2], 0.0)


def too_slow(found: dict[str, Any], recorded: dict[str, Any]) -> list[str]:
    """What is worse than it may be, in words."""
    told = []
    for name, ratio in found["ratios"].items():
        most = recorded["ratios"].get(name, ratio) * MARGIN
        if ratio > most:
            told.append(f"{name}: {ratio:.3f}, at most {most:.3f}")
    for name, exponent in found["exponents"].items():
        most = max(LIMIT, recorded["exponents"].get(name, 0.0) * 1.1)
        if exponent > most:
            told.append(f"{name}: grows with the power {exponent:.2f}, at most {most:.2f}")
    return told


def main() -> None:
    record = options(__doc__, record=False).record
    found = {"ratios": dict(judging_ratios()), "exponents": dict(exponents())}
    print(f"in {UNIT}, TVM {tvm.__version__}\n")
    print(table(("ratio", ""), [(name, f"{ratio:.3f}") for name, ratio in found["ratios"].items()]))
    rows = [(name, f"{one:.2f}", "" if one <= LIMIT else "known") for name, one in found["exponents"].items()]
    print("\n" + table(("direction", "exponent", f"above {LIMIT}"), rows))
    if record:
        rounded = {kind: {n: round(v, 3) for n, v in values.items()} for kind, values in found.items()}
        RECORDED.write_text(json.dumps(rounded, indent=2) + "\n", encoding="utf-8")
        return
    told = too_slow(found, json.loads(RECORDED.read_text(encoding="utf-8")))
    if told:
        raise SystemExit("slower than recorded:\n" + "\n".join(told))


if __name__ == "__main__":
    main()
