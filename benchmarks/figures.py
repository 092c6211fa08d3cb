"""Measure what docs/figures.md publishes, and write the page.

python -m benchmarks.figures [SECTION ...]   measure these sections (default: all), then write the page
python -m benchmarks.figures --write         write the page from what was measured before
python -m benchmarks.figures --sources FOLDER...   the section on public sources that are kept elsewhere
python -m benchmarks.figures --mlc FOLDER   the section on mlc-llm's models, from a checkout of mlc-ai/mlc-llm

What was measured is kept in build/figures.json, section by section with date and versions, so that a run
that was interrupted goes on with the sections that are named. What is not there stays as the page has it. A
section that was never measured says so.
"""

from __future__ import annotations

import datetime
import json
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import tvm

import relax_lint
from benchmarks.common import COMMAND, ROOT, options, table, write
from benchmarks.confirm import programs

PAGE = ROOT / "docs" / "figures.md"
KEPT = ROOT / "build" / "figures.json"
_PROVERS = ("constant", "polynomial", "interval", "analyzer", "z3", "undecided")
_VERDICTS = ("always-fine", "always-wrong", "needs-runtime-check")


def _output(*command: str) -> str:
    command = (sys.executable, *command)
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8", check=False)
    return done.stdout.strip()


def _module(name: str, *arguments: str) -> Callable[[], str]:
    return lambda: _output("-m", f"benchmarks.{name}", *arguments)


def _corpus(folder: str) -> None:
    """The programs of the rule pages and of the known bugs, and the examples, as files of a folder."""
    write(folder, programs())
    for path in (ROOT / "examples").glob("*.py"):
        shutil.copy(path, folder)


def verdicts() -> str:
    """Verdicts by rule and prover, and how many needs-runtime-check are mixed."""
    with tempfile.TemporaryDirectory() as folder:
        _corpus(folder)
        report = relax_lint.check(folder)
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for check in report.checks:
        found[f"{check.rule} {check.name}"].update((check.prover.value, check.verdict.value))
    words = (*_VERDICTS, *_PROVERS)
    rows = [(rule, *(count[word] for word in words)) for rule, count in sorted(found.items())]
    left = [check for check in report.checks if check.verdict.value == "needs-runtime-check"]
    decided, mixed = len(report.checks) - len(left), sum(not check.undecided for check in left)
    return (
        f"{len(report.files)} files (rule pages, known bugs, examples),"
        f" {sum(file.input.functions for file in report.files)} functions, {len(report.checks)} checks,"
        f" of which {decided} ({100 * decided / len(report.checks):.1f} %) are decided without a run-time"
        f" check. Of the {len(left)} others {mixed} are mixed: a fine and a wrong example, or a fine and a"
        f" wrong path, are known.\n\n"
        + table(("rule", *_VERDICTS, *(f"by {prover}" for prover in _PROVERS)), rows)
    )


def proofs() -> str:
    """How many proof records Z3 confirms."""
    z3 = shutil.which("z3", path=str(Path(sys.executable).parent)) or "z3"
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "in").mkdir()
        _corpus(f"{folder}/in")
        _output(*COMMAND[1:], "check", "--quiet", "--proofs", f"{folder}/out", f"{folder}/in")
        files = sorted(Path(folder, "out").glob("*.smt2"))
        in_words = len(list(Path(folder, "out").glob("*.txt")))
        script = "\n(reset)\n".join(path.read_text(encoding="utf-8") for path in files)
        done = subprocess.run(
            [z3, "-in"], input=script, stdout=subprocess.PIPE, encoding="utf-8", check=False
        )
    return _pairs({"scripts": len(files), "in words": in_words, "answers": Counter(done.stdout.split())})


def oracle() -> str:
    """Random programs against the evaluator and the machine."""
    lines = _output("-m", "tests.oracle", "--json", "--minutes", "10", "--machine-every", "10").splitlines()
    return _pairs(json.loads(lines[-1]))


def sources(folders: Sequence[str]) -> str:
    """Which share of the units in folders of public sources is read, without the reasons where one is not;
    each folder by its name alone.
    """
    found = _module("corpus", "parse", *folders)()
    for folder in folders:
        found = found.replace(folder, Path(folder).name)
    return "\n".join(line for line in found.splitlines() if " reason: " not in line)


def _pairs(found: Mapping[str, Any]) -> str:
    return table(("", ""), [(word, json.dumps(value).strip('"')) for word, value in found.items()])


SECTIONS: Mapping[str, tuple[str, Callable[[], str]]] = {
    "verdicts": ("Verdicts by rule and prover", verdicts),
    "proofs": ("Proof records checked again", proofs),
    "oracle": ("Soundness: random programs", oracle),
    "confirmed": ("Findings that a run confirms", _module("confirm")),
    "provers": ("Random claims against brute force", _module("prover_soundness", "--claims", "5000")),
    "false-alarms": (
        "Findings on what TVM's own pipeline makes of right modules",
        _module("false_alarms"),
    ),
    "faults": ("Injected faults", lambda: _module("fault_injection")().split("\n\n", 1)[-1]),
    "fixes": ("Findings that have a fix", _module("fixes")),
    "fixes-on-vm": ("Calls before and after a fix", _module("fixes_on_vm")),
    "memory": ("Predicted against measured memory", _module("models")),
    "speed": (
        "The work of a worker against TVM's parse",
        _module("analysis_time", "--layers", "2", "8", "32"),
    ),
    "bench": (
        "The speed guard",
        _module(
            "bench", "--only", "command", "judging", "instrument", "memory", "folders", "dask", "exponents"
        ),
    ),
    "startup": (
        "The whole command against an interpreter that does nothing",
        lambda: _output("benchmarks/startup.py"),
    ),
}
_SOURCES, _MLC = "sources", "mlc"
_TITLES = {
    _SOURCES: "Public sources that are read",
    _MLC: "Accesses of the kernels of mlc-llm's models",
    **{name: title for name, (title, _) in SECTIONS.items()},
}


def page(kept: Mapping[str, Any]) -> str:
    """docs/figures.md from what was measured."""
    lines = [
        "# Figures",
        "",
        "Written by `python -m benchmarks.figures`; each section says when and with what it was measured.",
        "Times are ratios inside one run.",
    ]
    for name, title in _TITLES.items():
        entry = kept.get(name)
        lines += ["", f"## {title}", ""]
        lines += _printed(entry) if entry and "section" in entry else ["not measured"]
    text = (ROOT / "docs" / "known-bugs.md").read_text(encoding="utf-8")
    known = [line for line in text.splitlines() if line.startswith("- TVM ")] or ["not measured"]
    return "\n".join([*lines, "", "## Known bugs", "", *known, "", "See [the table](known-bugs.md).", ""])


def _printed(entry: Mapping[str, str]) -> list[str]:
    """What a section found: tables and prose as they are, what a command printed to the letter."""
    lines = [f"Measured {entry['when']}, {entry['with']}.", ""]
    for is_table, group in groupby(entry["found"].splitlines(), key=lambda line: line.startswith("|")):
        text = "\n".join(group).strip("\n")
        if text:
            as_it_is = is_table or entry["section"] == "verdicts"
            lines += [text, ""] if as_it_is else ["```text", text, "```", ""]
    return lines[:-1]


def published(text: str) -> dict[str, dict[str, str]]:
    """What the page holds: the opposite of `page`."""
    found = {}
    for name, title in _TITLES.items():
        section = re.search(
            rf"^## {re.escape(title)}\n\nMeasured ([^,\n]*), ([^\n]*)\.\n\n(.*?)(?=^## |\Z)",
            text,
            re.MULTILINE | re.DOTALL,
        )
        if section is not None:
            when, made_with, body = section.groups()
            lines = "\n".join(line for line in body.splitlines() if not line.startswith("```"))
            found[name] = {"section": name, "when": when, "with": made_with, "found": lines}
    return found


def main() -> None:
    arguments = options(__doc__, "sections?", write=False, sources=[], mlc="")
    if unknown := set(arguments.sections) - set(SECTIONS):
        raise SystemExit(f"not a section: {', '.join(unknown)}; there are {', '.join(SECTIONS)}")
    kept: dict[str, Any] = published(PAGE.read_text(encoding="utf-8"))
    kept |= json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    wanted = {name: SECTIONS[name][1] for name in arguments.sections or SECTIONS}
    if arguments.sources:
        wanted = {_SOURCES: lambda: sources(arguments.sources)}
    if arguments.mlc:
        wanted = {_MLC: _module("kernel_accesses", "--mlc", arguments.mlc)}
    for name, measure in () if arguments.write else wanted.items():
        print(f"measuring {name}", file=sys.stderr)
        kept[name] = {
            "section": name,
            "when": datetime.date.today().isoformat(),
            "with": f"TVM {tvm.__version__}, Python {platform.python_version()}, {platform.system()}",
            "found": measure(),
        }
        KEPT.parent.mkdir(exist_ok=True)
        KEPT.write_text(json.dumps(kept, indent=1), encoding="utf-8")
    PAGE.write_text(page(kept), encoding="utf-8")


if __name__ == "__main__":
    main()
