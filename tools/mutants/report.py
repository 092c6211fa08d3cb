"""What became of the mutants: kept line by line, and printed by package."""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from tools.mutants.explained import entry
from tools.mutants.generating import Key, Mutant
from tools.mutants.running import ILL_TYPED, KILLED, SURVIVED, UNTESTED, UNUSABLE, Outcome

EXPLAINED = "explained"
NOT_RUN = "not run"
_COLUMNS = (KILLED, ILL_TYPED, EXPLAINED, SURVIVED, UNTESTED, NOT_RUN)


class Log:
    """Outcomes by mutant, in a file of lines of JSON that several processes append to."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.found: dict[Key, Outcome] = {}
        self.read()

    def read(self) -> None:
        """Take in what the file holds."""
        if self._path.exists():
            for line in self._path.read_text(encoding="utf-8").splitlines():
                data = json.loads(line)
                key = Key(**data["key"])
                self.found[key] = Outcome(key, data["status"], data["test"])

    def add(self, outcome: Outcome) -> None:
        """Keep an outcome, and show one that is bad."""
        self.found[outcome.key] = outcome
        with self._path.open("a", encoding="utf-8") as file:
            data = {"key": asdict(outcome.key), "status": outcome.status, "test": outcome.test}
            file.write(f"{json.dumps(data)}\n")

    def status(self, mutant: Mutant, known: Mapping[Key, str]) -> str:
        """What became of a mutant."""
        if mutant.key in known:
            return EXPLAINED
        outcome = self.found.get(mutant.key)
        return NOT_RUN if outcome is None else outcome.status


def survivors(log: Log, chosen: Sequence[Mutant], known: Mapping[Key, str]) -> list[Mutant]:
    """Those that no test noticed and nobody explained."""
    return [mutant for mutant in chosen if log.status(mutant, known) in (SURVIVED, UNTESTED)]


def folder(mutant: Mutant) -> str:
    """The package of a mutant."""
    return mutant.key.file.rpartition("/")[0]


def operator(mutant: Mutant) -> str:
    """What kind of fault a mutant is."""
    return mutant.key.operator


def table(
    log: Log, chosen: Iterable[Mutant], known: Mapping[Key, str], by: Callable[[Mutant], str] = folder
) -> str:
    """How many by package or operator, and the share killed of those that were run and are faults: what the
    type checker refuses is killed too.
    """
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for mutant in chosen:
        status = log.status(mutant, known)
        if status != UNUSABLE:
            for name in (by(mutant), "all"):
                found[name].update([status, "generated"])
    columns = ("generated", *_COLUMNS)
    lines = [f"{'':32}" + "".join(f"{column:>17}" for column in columns) + f"{'share killed':>14}"]
    for name in (*sorted(set(found) - {"all"}), "all"):
        counts = found[name]
        noticed = counts[KILLED] + counts[ILL_TYPED]
        run = noticed + counts[SURVIVED] + counts[UNTESTED]
        share = f"{noticed / run:14.1%}" if run else f"{'-':>14}"
        lines.append(f"{name:32}" + "".join(f"{counts[column]:17,}" for column in columns) + share)
    return "\n".join(lines)


def tell(log: Log, chosen: Sequence[Mutant], known: Mapping[Key, str]) -> int:
    """Print what survived, as entries that wait for their reason, and the table; the exit code."""
    left = survivors(log, chosen, known)
    for mutant in left:
        sys.stdout.write(f"# {mutant.key.file}:{mutant.lineno}\n{entry(mutant.key, '')}\n")
    for by in (operator, folder):
        sys.stdout.write(f"{table(log, chosen, known, by)}\n")
    return 1 if left else 0
