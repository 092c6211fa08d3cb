"""Run the findings of the rule pages' examples and of the programs of known bugs on the virtual machine.

python benchmarks/confirm.py [--list]

Counts how many are confirmed, not confirmed and not runnable, by rule. `--list` shows every finding that is
not confirmed, with its runs. All rules are on.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.bugs import HAND_WRITTEN  # noqa: E402
from relax_lint.results.check import Check  # noqa: E402
from relax_lint.results.confirmation import Status  # noqa: E402

Counts = Mapping[str, Counter[str]]


def programs() -> dict[str, str]:
    """Every program, by the name that its file gets."""
    from tests.pages.page import examples

    pages = {f"page_{example.name}": example.text for example in examples()}
    return pages | {f"bug_{bug.name}": bug.text for bug in HAND_WRITTEN}


def replayed(texts: Mapping[str, str]) -> list[Check]:
    """The findings in the programs, each with its confirmation."""
    import relax_lint
    from relax_lint.replay.confirm import confirm
    from relax_lint.settings.config import Config

    config = Config(select=("RLX",))
    with tempfile.TemporaryDirectory() as folder:
        for name, text in texts.items():
            Path(folder, f"{name}.py").write_text(text, encoding="utf-8")
        report = confirm(relax_lint.check(folder, config), config)
    return [check for check in report.checks if check.confirmation is not None]


def by_rule(checks: Iterable[Check]) -> Counts:
    """How many findings of each rule have which status."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for check in checks:
        if check.confirmation is not None:
            found[check.rule][check.confirmation.status.value] += 1
    return dict(sorted(found.items()))


def measure() -> dict[str, dict[str, int]]:
    """The counts as plain data."""
    return {rule: dict(counts) for rule, counts in by_rule(replayed(programs())).items()}


def _show(check: Check) -> None:
    confirmation = check.confirmation
    assert confirmation is not None
    print(f"{Path(check.path).stem}: {check.rule} {check.verdict.value}: {confirmation.status.value}")
    print(f"    {confirmation.reason}")
    for run in confirmation.runs:
        print(f"    {run.example}: {run.call} on {run.how}: {run.outcome}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--list", action="store_true", help="show what is not confirmed")
    parser.add_argument("--json", action="store_true", help="print the counts as one line of JSON")
    options = parser.parse_args()
    checks = replayed(programs())
    counts = by_rule(checks)
    if options.list:
        for check in checks:
            if check.confirmation is not None and check.confirmation.status is not Status.CONFIRMED:
                _show(check)
    if options.json:
        print(json.dumps(counts))
        return
    total: Counter[str] = Counter()
    print(f"{'rule':8}" + "".join(f"{status.value:>15}" for status in Status))
    for rule, of_rule in counts.items():
        total += of_rule
        print(f"{rule:8}" + "".join(f"{of_rule[status.value]:15}" for status in Status))
    print(f"{'all':8}" + "".join(f"{total[status.value]:15}" for status in Status))


if __name__ == "__main__":
    main()
