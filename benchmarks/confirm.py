"""Run the findings of the rule pages' examples and of the programs of known bugs on the virtual machine.

python -m benchmarks.confirm [--list]

Counts how many are confirmed, not confirmed and not runnable, by rule. `--list` shows every finding that is
not confirmed, with its runs. All rules are on.
"""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import relax_lint
from benchmarks.bugs import HAND_WRITTEN
from benchmarks.common import counts, options, write
from relax_lint.replay.confirm import confirm
from relax_lint.results.check import Check
from relax_lint.results.confirmation import Status
from relax_lint.settings.config import Config
from tests.pages.page import examples


def programs() -> dict[str, str]:
    """Every program, by the name that its file gets."""
    pages = {f"page_{example.name}": example.text for example in examples()}
    return pages | {f"bug_{bug.name}": bug.text for bug in HAND_WRITTEN}


def measure(show: bool = False) -> str:
    """A table of how many findings of each rule have which status."""
    config = Config(select=("RLX",))
    with tempfile.TemporaryDirectory() as folder:
        write(folder, programs())
        report = confirm(relax_lint.check(folder, config), config)
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for check in report.checks:
        if check.confirmation is not None:
            found[check.rule][check.confirmation.status.value] += 1
            if show and check.confirmation.status is not Status.CONFIRMED:
                _show(check)
    return counts("rule", [status.value for status in Status], dict(sorted(found.items())))


def _show(check: Check) -> None:
    confirmation = check.confirmation
    assert confirmation is not None
    print(f"{Path(check.path).stem}: {check.rule} {check.verdict.value}: {confirmation.status.value}")
    print(f"    {confirmation.reason}")
    for run in confirmation.runs:
        print(f"    {run.example}: {run.call} on {run.how}: {run.outcome}")


if __name__ == "__main__":
    print(measure(options(__doc__, list=False).list))
