"""Judge a minimal program of each known bug, run it on the virtual machine, and write docs/known-bugs.md.

python benchmarks/known_bugs.py                        measure with this Python's TVM, and print
python benchmarks/known_bugs.py --write [PYTHON ...]   also with others, and write the table

Each PYTHON is an interpreter with another version of TVM.
"""

from __future__ import annotations

import argparse
import datetime
import json
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.bugs import COMPILED, HAND_WRITTEN, NOT_JUDGED, Bug  # noqa: E402
from relax_lint.settings.config import Config  # noqa: E402
from relax_lint.settings.memory_request import WHOLE  # noqa: E402

TABLE = ROOT / "docs" / "known-bugs.md"


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
            for finding in found:
                rule, _, verdict = finding.partition(" ")
                if rule == bug.rule:
                    return stage, verdict
        return None


def measure_text(bugs: tuple[Bug, ...]) -> dict[str, Measured]:
    """Lint the programs as files, those with the same settings in one run."""
    import relax_lint

    result = {bug.name: Measured() for bug in bugs}
    with tempfile.TemporaryDirectory() as folder:
        for settings in dict.fromkeys(map(_settings, bugs)):
            part = Path(tempfile.mkdtemp(dir=folder))
            for bug in bugs:
                if _settings(bug) == settings:
                    Path(part, f"{bug.name}.py").write_text(bug.text, encoding="utf-8")
            report = relax_lint.check(str(part), settings)
            for check in report.checks:
                if check.severity.value != "none":
                    found = result[Path(check.path).stem].findings.setdefault("as written", [])
                    found.append(f"{check.rule} {check.verdict.value}")
    return result


def _settings(bug: Bug) -> Config:
    """Every rule where one is expected, the ones that are on by default where nothing is to be reported."""
    limits = () if bug.max_memory is None else ((WHOLE, bug.max_memory),)
    return Config(select=("RLX",) if bug.rule else (), max_memory=limits)


def measure_compiled(bugs: tuple[Bug, ...]) -> dict[str, Measured]:
    """Lint the programs after each pass of the default pipeline."""
    from benchmarks.lowering import checks, findings, stages
    from relax_lint.replay.modules import load_module

    result: dict[str, Measured] = {}
    for bug in bugs:
        measured = result[bug.name] = Measured()
        stage = "parsing"
        try:
            for stage, module in stages(load_module(bug.text, "script")):
                found = findings(checks(module, _settings(bug)))
                measured.findings[stage] = [f"{check.rule} {check.verdict.value}" for check in found]
        except Exception as error:
            measured.failure = f"after {stage}: {type(error).__name__}: {str(error).strip()[:90]}"
    return result


def run_calls(bugs: tuple[Bug, ...], measured: dict[str, Measured]) -> None:
    """What the virtual machine does with each call."""
    from relax_lint.replay import Machine, Module, describe, parse_line

    with Machine() as machine:
        for bug in bugs:
            for call in bug.calls:
                line = parse_line(f"{call}: ok")
                result = machine.run(
                    Module(bug.text), line.function, line.inputs, allocator=line.allocators[0]
                )
                measured[bug.name].runs.append(describe(result)[:150])
            # A run that wrote outside of its memory may harm the ones after it.
            machine.restart()


def measure() -> dict[str, Any]:
    """All that this Python's TVM gives, as plain data."""
    import tvm

    measured = measure_text(HAND_WRITTEN) | measure_compiled(COMPILED)
    run_calls(HAND_WRITTEN + COMPILED, measured)
    return {
        "version": tvm.__version__,
        "measured": {name: asdict(result) for name, result in measured.items()},
    }


def measure_elsewhere(python: str) -> dict[str, Any]:
    """The same by another interpreter."""
    done = subprocess.run(
        [python, __file__, "--json"], stdout=subprocess.PIPE, check=True, cwd=ROOT, encoding="utf-8"
    )
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def read(data: dict[str, Any]) -> dict[str, Measured]:
    """The measurements in what `measure` returned."""
    return {name: Measured(**values) for name, values in data["measured"].items()}


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


def shown(bug: Bug, measured: Measured) -> str:
    """The calls and what came of them, one line each."""
    lines = [
        f"{call}: {result}".replace("|", "\\|")
        for call, result in zip(bug.calls, measured.runs, strict=False)
    ]
    if bug.right:
        lines.append(f"right: {bug.right}")
    return "<br>".join(lines)


def table(results: list[dict[str, Any]]) -> str:
    """The page."""
    versions = [result["version"] for result in results]
    newest, every = read(results[0]), [read(result) for result in results]
    lines = [
        "# Known bugs",
        "",
        "Memory bugs of public threads, fixes and TVM's sources, a minimal program of our own for each"
        " pattern that the IR",
        "shows, and whether relax-lint reports it. Written by `python benchmarks/known_bugs.py --write`"
        f" on {datetime.date.today().isoformat()}",
        f"with TVM {', '.join(versions)}; the programs are in `benchmarks/bugs/`. All rules were on, also"
        " those that are off by default (where `none` is expected: the default ones).",
        f"The last column is what the virtual machine of TVM {versions[0]} did; `ok` there means that no"
        " error was raised, not",
        "that the numbers are right: where they are wrong, the right ones stand below.",
        "",
        *_summary(results),
        "",
        "## Programs as somebody or some pass wrote them",
        "",
        "| reference | pattern | rule | verdict | "
        + " | ".join(f"caught ({v})" for v in versions)
        + " | at run time |",
        "|---|---|---|---|" + "---|" * len(versions) + "---|",
    ]
    for bug in HAND_WRITTEN:
        yes = " | ".join(caught(bug, results_of[bug.name]) for results_of in every)
        lines.append(
            f"| {bug.rows} | {bug.pattern} | {bug.rule or 'none'} | {bug.verdict or '-'} | {yes}"
            f" | {shown(bug, newest[bug.name])} |"
        )
    lines += [
        "",
        "## What TVM's passes make of right programs",
        "",
        "The program is linted as it is written and after each pass of the default CPU pipeline. A cell",
        "names the pass after which the expected finding is there for the first time; `not there` means that",
        "this version makes no such mistake, or that it is missed.",
        "",
        "| reference | program | rule | " + " | ".join(versions) + " | at run time |",
        "|---|---|---|" + "---|" * len(versions) + "---|",
    ]
    for bug in COMPILED:
        cells = " | ".join(_introduced(bug, results_of[bug.name]) for results_of in every)
        runs = "<br>".join(
            f"{version}: {shown(bug, results_of[bug.name])}"
            for version, results_of in zip(versions, every, strict=False)
            if bug.calls
        )
        lines.append(f"| {bug.rows} | {bug.pattern} | {bug.rule or 'none'} | {cells} | {runs} |")
    lines += [
        "",
        "## Not judged",
        "",
        "| reference | pattern | why |",
        "|---|---|---|",
        *(f"| {row.rows} | {row.pattern} | {row.reason} |" for row in NOT_JUDGED),
        "",
    ]
    return "\n".join(lines)


def _summary(results: list[dict[str, Any]]) -> list[str]:
    lines = []
    for result in results:
        measured = read(result)
        wanted = [bug for bug in HAND_WRITTEN if bug.rule]
        found = [bug for bug in wanted if measured[bug.name].first(bug)]
        exact = [bug for bug in found if caught(bug, measured[bug.name]) == "yes"]
        missed = ", ".join(bug.name for bug in wanted if bug not in found) or "none"
        lines.append(
            f"- TVM {result['version']}: {len(found)} of {len(wanted)} written programs caught,"
            f" {len(exact)} with the expected verdict; not caught: {missed}."
        )
    return lines


def _introduced(bug: Bug, measured: Measured) -> str:
    first = measured.first(bug)
    text = "not there" if first is None else f"{first[0]} ({first[1]})"
    if not bug.rule:
        text = caught(bug, measured)
    failure = measured.failure.replace("|", "\\|")
    return f"{text}; {failure}" if failure else text


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="write docs/known-bugs.md")
    parser.add_argument("--json", action="store_true", help="print the measurements as one line of JSON")
    parser.add_argument("pythons", nargs="*", help="interpreters with other versions of TVM")
    options = parser.parse_args()
    own = measure()
    if options.json:
        print("\n" + json.dumps(own))
        return
    page = table([own, *map(measure_elsewhere, options.pythons)])
    if options.write:
        TABLE.write_text(page, encoding="utf-8")
    else:
        print(page)


if __name__ == "__main__":
    main()
