"""Judge a minimal program of each known bug, run it on the virtual machine, and write docs/known-bugs.md.

python -m benchmarks.known_bugs                            measure with this Python's TVM, and print
python -m benchmarks.known_bugs --write [--pythons PYTHON ...]   also with others, and write the table

Each PYTHON is an interpreter with another version of TVM.
"""

from __future__ import annotations

import datetime
import json
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import tvm

import relax_lint
from benchmarks.bugs import COMPILED, HAND_WRITTEN, NOT_JUDGED, Bug
from benchmarks.common import ROOT, options, table, write
from benchmarks.lowering import checks, findings, stages
from relax_lint.replay import Machine, Module, describe, parse_line
from relax_lint.replay.modules import load_module
from relax_lint.results.check import Check
from relax_lint.settings.config import Config
from relax_lint.settings.memory_request import WHOLE

PAGE = ROOT / "docs" / "known-bugs.md"


@dataclass
class Measured:
    """What one version of TVM gave: findings (rule and verdict) by the pass after which they are there, and
    what the machine did with each call.
    """

    findings: dict[str, list[str]] = field(default_factory=dict)
    runs: list[str] = field(default_factory=list)
    failure: str = ""

    def first(self, bug: Bug) -> tuple[str, str] | None:
        """Where the expected rule first reports, and with which verdict."""
        for stage, found in self.findings.items():
            for rule, _, verdict in (finding.partition(" ") for finding in found):
                if rule == bug.rule:
                    return stage, verdict
        return None


Results = dict[str, Measured]


def _said(check: Check) -> str:
    return f"{check.rule} {check.verdict.value}"


def _settings(bug: Bug) -> Config:
    """Every rule where one is expected, the ones that are on by default where nothing is to be reported."""
    limits = () if bug.max_memory is None else ((WHOLE, bug.max_memory),)
    return Config(select=("RLX",) if bug.rule else (), max_memory=limits)


def measure_text(bugs: tuple[Bug, ...]) -> Results:
    """Lint the programs as files, those with the same settings in one run."""
    result = {bug.name: Measured() for bug in bugs}
    for settings in dict.fromkeys(map(_settings, bugs)):
        with tempfile.TemporaryDirectory() as folder:
            write(folder, {bug.name: bug.text for bug in bugs if _settings(bug) == settings})
            for check in findings(list(relax_lint.check(folder, settings).checks)):
                result[Path(check.path).stem].findings.setdefault("as written", []).append(_said(check))
    return result


def measure_compiled(bugs: tuple[Bug, ...]) -> Results:
    """Lint the programs after each pass of the default pipeline."""
    result = {bug.name: Measured() for bug in bugs}
    for bug in bugs:
        stage = "parsing"
        try:
            for stage, module in stages(load_module(bug.text, "script")):
                found = findings(checks(module, _settings(bug)))
                result[bug.name].findings[stage] = list(map(_said, found))
        except Exception as error:
            said = f"{type(error).__name__}: {str(error).strip()[:90]}"
            result[bug.name].failure = f"after {stage}: {said}"
    return result


def run_calls(bugs: tuple[Bug, ...], measured: Results) -> None:
    """What the virtual machine does with each call."""
    with Machine() as machine:
        for bug in bugs:
            for call in bug.calls:
                line = parse_line(f"{call}: ok")
                module, allocator = Module(bug.text), line.allocators[0]
                result = machine.run(module, line.function, line.inputs, allocator=allocator)
                measured[bug.name].runs.append(describe(result)[:150])
            # A run that wrote outside of its memory may harm the ones after it.
            machine.restart()


def measure() -> Results:
    """All that this Python's TVM gives."""
    measured = measure_text(HAND_WRITTEN) | measure_compiled(COMPILED)
    run_calls(HAND_WRITTEN + COMPILED, measured)
    return measured


def measure_elsewhere(python: str) -> tuple[str, Results]:
    """The version of TVM that another interpreter has, and what it gives."""
    command = [python, "-m", "benchmarks.known_bugs", "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, cwd=ROOT, encoding="utf-8")
    version, measured = json.loads(done.stdout.splitlines()[-1])
    return version, {name: Measured(**values) for name, values in measured.items()}


def caught(bug: Bug, measured: Measured) -> str:
    """`yes` (with the verdict where another was expected), `no` (and why, where the IR does not tell), or `-`
    where nothing is to be reported.
    """
    if not bug.rule:
        others = sorted({f for found in measured.findings.values() for f in found})
        return "-" if not others else f"reported: {', '.join(others)}"
    first = measured.first(bug)
    if first is None:
        return f"no: {bug.undecidable}" if bug.undecidable else "no"
    return "yes" if first[1] == bug.verdict else f"yes, as {first[1]}"


def introduced(bug: Bug, measured: Measured) -> str:
    """The pass after which the expected finding is there for the first time."""
    first = measured.first(bug)
    text = "not there" if first is None else f"{first[0]} ({first[1]})"
    text = text if bug.rule else caught(bug, measured)
    return "; ".join(filter(None, (text, measured.failure.replace("|", "\\|"))))


def shown(bug: Bug, measured: Measured) -> str:
    """The calls and what came of them, one line each."""
    lines = [
        f"{call}: {run}".replace("|", "\\|") for call, run in zip(bug.calls, measured.runs, strict=False)
    ]
    return "<br>".join([*lines, *([f"right: {bug.right}"] if bug.right else [])])


def page(results: Sequence[tuple[str, Results]]) -> str:
    """docs/known-bugs.md."""
    versions = [version for version, _ in results]
    written = [
        [bug.rows, bug.pattern, bug.rule or "none", bug.verdict or "-"]
        + [caught(bug, measured[bug.name]) for _, measured in results]
        + [shown(bug, results[0][1][bug.name])]
        for bug in HAND_WRITTEN
    ]
    compiled = [
        [bug.rows, bug.pattern, bug.rule or "none"]
        + [introduced(bug, measured[bug.name]) for _, measured in results]
        + ["<br>".join(f"{v}: {shown(bug, measured[bug.name])}" for v, measured in results if bug.calls)]
        for bug in COMPILED
    ]
    heads = [f"caught ({version})" for version in versions]
    return f"""\
# Known bugs

Memory bugs of public threads, fixes and TVM's sources, a minimal program of our own for each pattern that
the IR shows, and whether relax-lint reports it. Written by `python -m benchmarks.known_bugs --write` on
{datetime.date.today().isoformat()} with TVM {", ".join(versions)}; the programs are in `benchmarks/bugs/`.
All rules were on, also those that are off by default (where `none` is expected: the default ones).
The last column is what the virtual machine of TVM {versions[0]} did; `ok` there means that no error was
raised, not that the numbers are right: where they are wrong, the right ones stand below.

{chr(10).join(_summary(version, measured) for version, measured in results)}

## Programs as somebody or some pass wrote them

{table(["reference", "pattern", "rule", "verdict", *heads, "at run time"], written)}

## What TVM's passes make of right programs

The program is linted as it is written and after each pass of the default CPU pipeline. A cell
names the pass after which the expected finding is there for the first time; `not there` means that
this version makes no such mistake, or that it is missed.

{table(["reference", "program", "rule", *versions, "at run time"], compiled)}

## Not judged

{table(["reference", "pattern", "why"], [(row.rows, row.pattern, row.reason) for row in NOT_JUDGED])}
"""


def _summary(version: str, measured: Results) -> str:
    wanted = [bug for bug in HAND_WRITTEN if bug.rule]
    found = [bug for bug in wanted if measured[bug.name].first(bug)]
    exact = [bug for bug in found if caught(bug, measured[bug.name]) == "yes"]
    missed = ", ".join(bug.name for bug in wanted if bug not in found) or "none"
    return (
        f"- TVM {version}: {len(found)} of {len(wanted)} written programs caught,"
        f" {len(exact)} with the expected verdict; not caught: {missed}."
    )


def main() -> None:
    arguments = options(__doc__, write=False, json=False, pythons=[])
    own = measure()
    if arguments.json:
        print("\n" + json.dumps([tvm.__version__, {name: asdict(result) for name, result in own.items()}]))
        return
    text = page([(tvm.__version__, own), *map(measure_elsewhere, arguments.pythons)])
    if arguments.write:
        PAGE.write_text(text, encoding="utf-8")
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
