"""Measure what docs/figures.md publishes, and write the page.

python benchmarks/figures.py [SECTION ...]   measure these sections (default: all), then write the page
python benchmarks/figures.py --write         write the page from what was measured before
python benchmarks/figures.py --sources FOLDER...   the section on public sources that are kept elsewhere

What was measured is kept in build/figures.json, section by section with date and versions, so that a run
that was interrupted goes on with the sections that are named. A section that was never measured says so.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

PAGE = ROOT / "docs" / "figures.md"
KEPT = ROOT / "build" / "figures.json"


def _output(*command: str) -> str:
    done = subprocess.run(
        [sys.executable, *command], cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8", check=False
    )
    return done.stdout.strip()


def _corpus(folder: str) -> None:
    """The programs of the rule pages and of the known bugs, and the examples, as files of a folder."""
    from benchmarks.confirm import programs

    for name, text in programs().items():
        Path(folder, f"{name}.py").write_text(text, encoding="utf-8")
    for path in (ROOT / "examples").glob("*.py"):
        shutil.copy(path, folder)


def verdicts() -> dict[str, Any]:
    """Verdicts by rule and prover, and how many needs-runtime-check are mixed."""
    import relax_lint

    with tempfile.TemporaryDirectory() as folder:
        _corpus(folder)
        report = relax_lint.check(folder)
    table: dict[str, Counter[str]] = defaultdict(Counter)
    total: Counter[str] = Counter()
    for check in report.checks:
        table[f"{check.rule} {check.name}"][check.prover.value] += 1
        table[f"{check.rule} {check.name}"][check.verdict.value] += 1
        total[check.verdict.value] += 1
        if check.verdict.value == "needs-runtime-check":
            total["mixed"] += not check.undecided
    return {
        "files": len(report.files),
        "functions": sum(file.input.functions for file in report.files),
        "total": total,
        "table": dict(sorted(table.items())),
    }


def proofs() -> dict[str, Any]:
    """How many proof records Z3 confirms."""
    z3 = shutil.which("z3", path=str(Path(sys.executable).parent)) or "z3"
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "in").mkdir()
        _corpus(f"{folder}/in")
        _output("-m", "relax_lint.cli", "check", "--quiet", "--proofs", f"{folder}/out", f"{folder}/in")
        files = sorted(Path(folder, "out").glob("*.smt2"))
        in_words = len(list(Path(folder, "out").glob("*.txt")))
        script = "\n(reset)\n".join(path.read_text(encoding="utf-8") for path in files)
        done = subprocess.run(
            [z3, "-in"], input=script, stdout=subprocess.PIPE, encoding="utf-8", check=False
        )
    return {"scripts": len(files), "in words": in_words, "answers": Counter(done.stdout.split())}


def oracle() -> dict[str, Any]:
    """Random programs against the evaluator and the machine."""
    lines = _output("-m", "tests.oracle", "--json", "--minutes", "10", "--machine-every", "10").splitlines()
    found: dict[str, Any] = json.loads(lines[-1])
    return found


def confirmed() -> dict[str, Any]:
    """Which findings a run confirms, by rule."""
    from benchmarks.confirm import measure

    return measure()


def _printed(*command: str) -> Callable[[], str]:
    return lambda: _output(*command)


SECTIONS: Mapping[str, Callable[[], Any]] = {
    "verdicts": verdicts,
    "proofs": proofs,
    "oracle": oracle,
    "confirmed": confirmed,
    "provers": _printed("benchmarks/prover_soundness.py", "5000"),
    "false-alarms": _printed("benchmarks/false_alarms.py"),
    "faults": _printed("benchmarks/fault_injection.py"),
    "fixes": _printed("benchmarks/fixes.py"),
    "fixes-on-vm": _printed("benchmarks/fixes_on_vm.py"),
    "memory": _printed("benchmarks/models.py"),
    "speed": _printed("benchmarks/analysis_time.py", "--layers", "2", "8", "32"),
    "startup": _printed("benchmarks/startup.py"),
}

SOURCES = "sources"
_TITLES = {
    SOURCES: "Public sources that are read",
    "verdicts": "Verdicts by rule and prover",
    "proofs": "Proof records checked again",
    "oracle": "Soundness: random programs",
    "confirmed": "Findings that a run confirms",
    "provers": "Random claims against brute force",
    "false-alarms": "Findings on what TVM's own pipeline makes of right modules",
    "faults": "Injected faults",
    "fixes": "Findings that have a fix",
    "fixes-on-vm": "Calls before and after a fix",
    "memory": "Predicted against measured memory",
    "speed": "Analysis against TVM's parse",
    "startup": "The whole command against an interpreter that does nothing",
}
_PROVERS = ("constant", "polynomial", "interval", "analyzer", "z3", "undecided")
_VERDICTS = ("always-fine", "always-wrong", "needs-runtime-check")


def sources(folders: Sequence[str]) -> str:
    """Which share of the units in folders of public sources is read, without the reasons where one is not;
    each folder by its name alone.
    """
    found = _output("benchmarks/corpus.py", "parse", *folders)
    for folder in folders:
        found = found.replace(folder, Path(folder).name)
    return "\n".join(line for line in found.splitlines() if " reason: " not in line)


def page(kept: Mapping[str, Any]) -> str:
    """docs/figures.md from what was measured."""
    lines = [
        "# Figures",
        "",
        "Written by `python benchmarks/figures.py`; each section says when and with what it was measured.",
        "Times are ratios inside one run.",
    ]
    for name in (SOURCES, *SECTIONS):
        lines += ["", f"## {_TITLES[name]}", ""]
        entry = kept.get(name)
        if entry is None:
            lines.append("not measured")
            continue
        lines += [f"Measured {entry['when']}, {entry['with']}.", "", *_body(name, entry["found"])]
    return "\n".join([*lines, "", "## Known bugs", "", *_known_bugs(), ""])


def _body(name: str, found: Any) -> list[str]:
    if name == "verdicts":
        return _verdict_table(found)
    if name == "confirmed":
        words = ("confirmed", "not-confirmed", "not-runnable")
        total: Counter[str] = Counter()
        rows = []
        for rule, counts in found.items():
            total.update(counts)
            rows.append((rule, *(counts.get(word, 0) for word in words)))
        return _table(("rule", *words), [*rows, ("all", *(total[word] for word in words))])
    if isinstance(found, str):
        return _printed_figures(found.split("\n\n")[-1] if name == "faults" else found)
    return _table(("", ""), [(word, json.dumps(value).strip('"')) for word, value in found.items()])


def _printed_figures(printed: str) -> list[str]:
    """What a command printed: tables in Markdown as they are, and everything else to the letter."""
    lines = []
    for is_table, group in groupby(printed.splitlines(), key=lambda line: line.startswith("|")):
        text = "\n".join(group).strip("\n")
        if text:
            lines += [text, ""] if is_table else ["```text", text, "```", ""]
    return lines[:-1]


def _verdict_table(found: Mapping[str, Any]) -> list[str]:
    total = found["total"]
    checks = sum(total.get(verdict, 0) for verdict in _VERDICTS)
    open_ = total.get("needs-runtime-check", 0)
    rows = [
        (rule, *(counts.get(word, 0) for word in (*_VERDICTS, *_PROVERS)))
        for rule, counts in found["table"].items()
    ]
    return [
        f"{found['files']} files (rule pages, known bugs, examples), {found['functions']} functions,"
        f" {checks} checks, of which {checks - open_} ({100 * (checks - open_) / checks:.1f} %) are decided"
        f" without a run-time check. Of the {open_} others {total.get('mixed', 0)} are mixed: a fine and"
        " a wrong example, or a fine and a wrong path, are known.",
        "",
        *_table(("rule", *_VERDICTS, *(f"by {prover}" for prover in _PROVERS)), rows),
    ]


def _table(head: tuple[str, ...], rows: list[tuple[Any, ...]]) -> list[str]:
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return [*lines, *(f"| {' | '.join(map(str, row))} |" for row in rows)]


def _known_bugs() -> list[str]:
    text = (ROOT / "docs" / "known-bugs.md").read_text(encoding="utf-8")
    found = [line for line in text.splitlines() if line.startswith("- TVM ")]
    return [*(found or ["not measured"]), "", "See [the table](known-bugs.md)."]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=", ".join(SECTIONS))
    parser.add_argument("--write", action="store_true", help="measure nothing")
    parser.add_argument("--sources", nargs="+", metavar="FOLDER", help="measure only how these are read")
    options = parser.parse_args()
    if unknown := [name for name in options.sections if name not in SECTIONS]:
        parser.error(f"unknown section `{unknown[0]}`")
    kept: dict[str, Any] = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    import tvm

    wanted = {name: SECTIONS[name] for name in options.sections or SECTIONS}
    if options.sources:
        wanted = {SOURCES: lambda: sources(options.sources)}
    for name, measure in () if options.write else wanted.items():
        print(f"measuring {name}", file=sys.stderr)
        kept[name] = {
            "when": datetime.date.today().isoformat(),
            "with": f"TVM {tvm.__version__}, Python {platform.python_version()}, {platform.system()}",
            "found": measure(),
        }
        KEPT.parent.mkdir(exist_ok=True)
        KEPT.write_text(json.dumps(kept, indent=1), encoding="utf-8")
    PAGE.write_text(page(kept), encoding="utf-8")


if __name__ == "__main__":
    main()
