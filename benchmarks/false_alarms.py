"""Lint what TVM makes of right modules, after each pass of its default pipeline: every finding is suspect.

python -m benchmarks.false_alarms [--layers N]

Prints by rule what is judged and what is reported, and what the virtual machine showed of it: each module
with a finding is saved, and its findings are run as `relax-lint check --confirm` runs them. Modules of the
ONNX and the torch importer are there where these libraries are installed.
"""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tvm

from benchmarks.common import options, table
from benchmarks.importers import imported
from benchmarks.lowering import checks, findings, stages
from benchmarks.operators import operators
from benchmarks.victims import victims
from relax_lint import check
from relax_lint.replay.confirm import confirm
from relax_lint.results.check import Check, is_finding
from relax_lint.settings.config import Config
from tests.programs import transformer
from tests.totals.corpus import CASES

FIRST = "CallTIRRewrite"
"""Before this pass a module has no memory operations."""
STATES = ("confirmed", "not-confirmed", "not-runnable")
HEAD = ("rule", "judged", "verdict", "severity", "findings", "distinct", *STATES, "modules")
Key = tuple[str, str, str]
"""Rule, verdict and severity."""


def modules(layers: int) -> Iterator[tuple[str, Any]]:
    """Names and modules as they are written; the transformer has `layers` layers."""
    yield from operators()
    yield from imported()
    yield from ((victim.name, victim.module) for victim in victims(0))
    for case in CASES:
        if "by hand" not in case.name and not case.name.startswith(("decoder", "storage of", "scalar")):
            yield case.name, case.make()
    for bounded in (True, False):
        name = f"transformer, {layers} layers, {'bounded' if bounded else 'unbounded'}"
        yield name, transformer.exported(layers, bounded=bounded)


def key_of(one: Check) -> Key:
    return one.rule, one.verdict.value, one.severity.value


class Seen:
    """What was judged and reported, and the modules with a finding, saved in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.programs = self.versions = 0
        self.judged: Counter[str] = Counter()
        self.reported: Counter[Key] = Counter()
        self.where: dict[Key, set[str]] = defaultdict(set)
        self.failures: list[str] = []

    def lint(self, name: str, module: Any) -> None:
        """A module and all that TVM makes of it."""
        self.programs += 1
        stage, memory, seen = "as written", False, set[tuple[str | None, str]]()
        try:
            for stage, lowered in stages(module):
                memory = memory or stage == FIRST
                if memory:
                    seen |= self._stage(name, lowered, seen)
        except Exception as error:
            self.failures.append(f"{name}, after {stage}: {type(error).__name__}: {str(error).strip()[:80]}")

    def _stage(
        self, name: str, lowered: Any, seen: set[tuple[str | None, str]]
    ) -> set[tuple[str | None, str]]:
        self.versions += 1
        found = checks(lowered, Config())
        self.judged.update(one.rule for one in found)
        here = findings(found)
        for one in here:
            self.reported[key_of(one)] += 1
            self.where[key_of(one)].add(name)
        messages = {(one.function, one.message) for one in here}
        if not messages <= seen:
            text = tvm.ir.save_json(lowered)
            Path(self.folder, f"{self.programs}-{self.versions}.json").write_text(text, encoding="utf-8")
        return messages

    def confirmed(self) -> list[Check]:
        """The findings in the saved modules, with what running them showed; each message of a module once."""
        config = Config()
        report = confirm(check(str(self.folder), config), config)
        first: dict[tuple[str, ...], Check] = {}
        for one in filter(is_finding, report.checks):
            module = Path(one.path).name.partition("-")[0]
            first.setdefault((module, *key_of(one), str(one.function), one.message), one)
        return list(first.values())

    def rows(self, status: Counter[tuple[Key, str]]) -> Iterator[list[Any]]:
        """One per rule, verdict and severity."""
        for rule in sorted(self.judged):
            keys = sorted(key for key in self.where if key[0] == rule)
            for key in keys:
                states = [status[key, state] for state in STATES]
                names = sorted(self.where[key])
                listed = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
                yield [rule, self.judged[rule], *key[1:], self.reported[key], sum(states), *states, listed]
            if not keys:
                yield [rule, self.judged[rule], "", "", 0, *[""] * (len(HEAD) - 5)]


def main() -> None:
    layers = options(__doc__, layers=2).layers
    with tempfile.TemporaryDirectory() as folder:
        seen = Seen(Path(folder))
        for name, module in modules(layers):
            seen.lint(name, module)
        shown = seen.confirmed()
    status: Counter[tuple[Key, str]] = Counter()
    reasons: Counter[str] = Counter()
    for one in shown:
        assert one.confirmation is not None
        state = one.confirmation.status.value
        status[key_of(one), state] += 1
        if state != "confirmed":
            reasons[f"{one.rule} {state}: {one.confirmation.reason}"] += 1
    print(
        f"TVM {tvm.__version__}: {seen.programs} modules, {seen.versions} of them and their stages,"
        f" {seen.judged.total()} operations judged, {seen.reported.total()} findings,"
        f" {len(shown)} of them distinct\n\n{table(HEAD, seen.rows(status))}\n"
    )
    print("\n".join([*(f"{count:4} {reason}" for reason, count in sorted(reasons.items())), *seen.failures]))


if __name__ == "__main__":
    main()
