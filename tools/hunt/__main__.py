"""The command: `python -m tools.hunt --minutes 60 --seed 1`."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from tools.hunt.campaign import ROOT, Campaign, State
from tools.hunt.signatures import MISSES


def summary(state: State) -> str:
    """The state as text for people."""
    lines = [
        f"{state.programs} programs with {state.statements} statements in {state.seconds / 60:.1f} minutes; "
        f"{state.seconds_since_miss / 60:.1f} minutes since the last new miss; next seed {state.next_seed}",
        f"verdicts on right programs: {listed(state.points)}; memory as measured: {listed(state.memory)}",
        f"{len(relax(state.ran))} passes over Relax ran, {len(relax(+state.changed))} changed a module, with "
        f"{len(state.rewrites)} pairs of a pass and an operator that it made or removed:",
        *(f"  {name}: {state.changed[name]} of {n}" for name, n in sorted(relax(state.ran).items())),
        "compilations:",
        *(f"  {name}: {count}" for name, count in sorted(state.ends.items())),
        "findings that passes introduced:",
        *(f"  {name}: {count}" for name, count in sorted(state.introduced.items())),
        f"{len(state.found)} signatures:",
    ]
    for name, one in sorted(state.found.items()):
        lines.append(f"  {name} ({one['count']} times, first: seed {one['seed']}, {one['pipeline']})")
    return "\n".join(lines)


def relax(passes: Counter[str]) -> Counter[str]:
    """The passes over Relax functions, by their names."""
    others = ("tirx.", "s_tir.", "sequential", "_pipeline")
    return Counter({name: n for name, n in passes.items() if not name.startswith(others)})


def listed(counts: Counter[str]) -> str:
    """Counts in a line."""
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items())) or "none"


def main() -> int:
    """Hunt, and print what was found; 1 where something waits for a look."""
    parser = argparse.ArgumentParser(prog="python -m tools.hunt", description=__doc__)
    parser.add_argument("--minutes", type=float, default=0.0, help="how long to go on")
    parser.add_argument("--programs", type=int, default=0, help="how many programs to try at least")
    parser.add_argument("--seed", type=int, default=0, help="the first seed of a new folder")
    parser.add_argument(
        "--folder", type=Path, default=ROOT / "build" / "hunt", help="where everything is kept"
    )
    parser.add_argument("--show", action="store_true", help="print the smallest programs as well")
    options = parser.parse_args()
    campaign = Campaign(options.folder, options.seed)
    campaign.run(options.minutes, options.programs)
    print(summary(campaign.state))
    if options.show:
        for name, one in sorted(campaign.state.found.items()):
            print(f"\n# {name}\n{one['message']}\n{one['text']}")
    return int(any(name.split(" | ")[0] in MISSES for name in campaign.state.found))


if __name__ == "__main__":
    sys.exit(main())
