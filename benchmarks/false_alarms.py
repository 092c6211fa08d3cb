"""Lint what TVM makes of right modules, after each pass of its default pipeline: every finding is suspect.

python benchmarks/false_alarms.py [--layers N]

Prints by rule what is judged and what is reported, and what the virtual machine showed of it: each module
with a finding is saved, and its findings are run as `relax-lint check --confirm` runs them. Modules of the
ONNX and the torch importer are there where these libraries are installed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import tvm

from benchmarks.importers import imported
from benchmarks.lowering import checks, findings, stages
from benchmarks.operators import operators
from benchmarks.victims import victims
from relax_lint import check
from relax_lint.replay.confirm import confirm
from relax_lint.results.check import Check, is_finding
from relax_lint.settings.config import Config

FIRST = "CallTIRRewrite"
"""Before this pass a module has no memory operations."""


def modules(layers: int) -> Iterator[tuple[str, Any]]:
    """Names and modules as they are written; the transformer has `layers` layers."""
    from tests.programs import transformer
    from tests.totals.corpus import CASES

    yield from operators()
    yield from imported()
    yield from ((victim.name, victim.module) for victim in victims(0))
    for case in CASES:
        if "by hand" not in case.name and not case.name.startswith(("decoder", "storage of", "scalar")):
            yield case.name, case.make()
    for bounded in (True, False):
        name = f"transformer, {layers} layers, {'bounded' if bounded else 'unbounded'}"
        yield name, transformer.exported(layers, bounded=bounded)


Key = tuple[str, str, str]
"""Rule, verdict and severity."""


def key_of(one: Check) -> Key:
    return one.rule, one.verdict.value, one.severity.value


def confirmed(folder: Path) -> list[Check]:
    """The findings in the saved modules, with what running them showed; each message of a module once."""
    config = Config()
    report = confirm(check(str(folder), config), config)
    first: dict[tuple[str, ...], Check] = {}
    for one in report.checks:
        if is_finding(one):
            module = Path(one.path).name.partition("-")[0]
            first.setdefault((module, *key_of(one), str(one.function), one.message), one)
    return list(first.values())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--layers", type=int, default=2)
    options = parser.parse_args()
    judged: Counter[str] = Counter()
    reported: Counter[Key] = Counter()
    where: dict[Key, set[str]] = {}
    programs = versions = 0
    failures = []
    with tempfile.TemporaryDirectory() as temporary:
        for name, module in modules(options.layers):
            programs += 1
            stage, memory, seen = "as written", False, set()
            try:
                for stage, lowered in stages(module):
                    memory = memory or stage == FIRST
                    if not memory:
                        continue
                    versions += 1
                    found = checks(lowered, Config())
                    judged.update(one.rule for one in found)
                    here = findings(found)
                    reported.update(map(key_of, here))
                    for one in here:
                        where.setdefault(key_of(one), set()).add(name)
                    messages = {(one.function, one.message) for one in here}
                    if not messages <= seen:
                        seen |= messages
                        text = tvm.ir.save_json(lowered)
                        Path(temporary, f"{programs}-{versions}.json").write_text(text, encoding="utf-8")
            except Exception as error:
                failures.append(f"{name}, after {stage}: {type(error).__name__}: {str(error).strip()[:80]}")
        shown = confirmed(Path(temporary))
    print(f"TVM {tvm.__version__}: {programs} modules, {versions} of them and their stages,", end=" ")
    print(f"{sum(judged.values())} operations judged, {sum(reported.values())} findings,", end=" ")
    print(f"{len(shown)} of them distinct\n")
    show(shown, judged, reported, where)
    print("\n" + "\n".join(failures))


def show(
    shown: list[Check], judged: Counter[str], reported: Counter[Key], where: dict[Key, set[str]]
) -> None:
    """One row per rule, verdict and severity, and why findings were not confirmed."""
    status: Counter[tuple[Key, str]] = Counter()
    reasons: Counter[tuple[str, str, str]] = Counter()
    for one in shown:
        assert one.confirmation is not None
        name = one.confirmation.status.value
        status[key_of(one), name] += 1
        if name != "confirmed":
            reasons[one.rule, name, one.confirmation.reason] += 1
    states = ("confirmed", "not-confirmed", "not-runnable")
    heads = ("rule", "judged", "verdict", "severity", "findings", "distinct", *states, "modules")
    print(f"| {' | '.join(heads)} |\n{'|---' * len(heads)}|")
    for rule in sorted(judged):
        for key in sorted(key for key in where if key[0] == rule):
            counts = [status[key, state] for state in states]
            names = sorted(where[key])
            listed = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
            cells = [rule, judged[rule], key[1], key[2], reported[key], sum(counts), *counts, listed]
            print(f"| {' | '.join(map(str, cells))} |")
        if not any(key[0] == rule for key in where):
            print(f"| {rule} | {judged[rule]} | | | 0 |{' |' * (len(heads) - 5)}")
    print()
    for (rule, name, reason), count in sorted(reasons.items()):
        print(f"{count:4} {rule} {name}: {reason}")


if __name__ == "__main__":
    main()
