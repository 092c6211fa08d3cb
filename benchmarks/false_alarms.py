"""Lint what TVM makes of right modules, after each pass of its default pipeline: every finding is suspect.

python benchmarks/false_alarms.py [--layers N]

Prints for each module what is judged and what is reported, and in the end the sums by rule.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import tvm

from benchmarks.judging import run_apart
from benchmarks.lowering import checks, findings, stages
from benchmarks.operators import operators
from benchmarks.victims import Victim, victims
from relax_lint.config import Config

FIRST = "CallTIRRewrite"
"""Before this pass a module has no memory operations."""


def modules(layers: int) -> Iterator[Victim]:
    """Modules as they are written, with inputs where there are any; the transformer has `layers` layers."""
    from tests.programs import transformer
    from tests.totals.corpus import CASES

    for name, module in operators():
        yield Victim(name, module, "main", ())
    yield from victims(0)
    for case in CASES:
        if "by hand" not in case.name and not case.name.startswith(("decoder", "storage of", "scalar")):
            yield Victim(case.name, case.make(), case.entry, tuple(run.inputs for run in case.runs))
    for bounded in (True, False):
        name = f"transformer, {layers} layers, {'bounded' if bounded else 'unbounded'}"
        yield Victim(name, transformer.exported(layers, bounded=bounded), "forward", ())


def failing_inputs(victim: Victim) -> int:
    """How many of the module's sets of inputs the compiled module does not survive."""
    apart = [replace(victim, inputs=(inputs,)) for inputs in victim.inputs]
    return sum(bool(run_apart(one.module, one, "naive").error) for one in apart)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--layers", type=int, default=2)
    options = parser.parse_args()
    judged: Counter[str] = Counter()
    reported: Counter[tuple[str, str, str]] = Counter()
    where: dict[tuple[str, str, str], set[str]] = {}
    programs = versions = 0
    failures = []
    for victim in modules(options.layers):
        name, found_here = victim.name, set()
        programs += 1
        stage, memory = "as written", False
        try:
            for stage, lowered in stages(victim.module):
                memory = memory or stage == FIRST
                if not memory:
                    continue
                versions += 1
                found = checks(lowered, Config())
                judged.update(check.rule for check in found)
                for check in findings(found):
                    key = (check.rule, check.verdict.value, check.severity.value)
                    reported[key] += 1
                    where.setdefault(key, set()).add(name)
                    found_here.add(check.rule)
        except Exception as error:
            failures.append(f"{name}, after {stage}: {type(error).__name__}: {str(error).strip()[:80]}")
        if victim.inputs and any(rule.startswith("RLX2") for rule in found_here):
            failures.append(
                f"{name}, compiled: {failing_inputs(victim)} of {len(victim.inputs)} sets of inputs fail"
            )
    print(f"TVM {tvm.__version__}: {programs} modules, {versions} of them and their stages,", end=" ")
    print(f"{sum(judged.values())} operations judged, {sum(reported.values())} findings")
    print("\n| rule | judged | findings | verdict | severity | modules |\n|---|---|---|---|---|---|")
    for rule in sorted(judged):
        keys = [key for key in sorted(reported) if key[0] == rule]
        for key in keys:
            names = sorted(where[key])
            shown = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
            print(f"| {rule} | {judged[rule]} | {reported[key]} | {key[1]} | {key[2]} | {shown} |")
        if not keys:
            print(f"| {rule} | {judged[rule]} | 0 | | | |")
    print("\n" + "\n".join(failures))


if __name__ == "__main__":
    main()
