"""A worker's task with one layer or both switched off, and what comes of attacks then."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from relax_lint.running.messages import FileData
from relax_lint.settings.config import Config
from relax_lint.sources import evaluation, parsing, permissions
from tests.attack import audited
from tests.attack.trying import Attack, attempt

MODES = ("both", "only the gate", "only the interpreter", "none")


@contextmanager
def _without_gate() -> Iterator[None]:
    with (
        mock.patch.object(parsing, "check_unit", return_value=None),
        mock.patch.object(parsing, "check_expression", return_value=None),
        mock.patch.object(evaluation, "check_shape_text", return_value=None),
    ):
        yield


@contextmanager
def _without_permissions() -> Iterator[None]:
    with mock.patch.object(permissions, "refuse", return_value=None):
        yield


def analyse(file: FileData, config: Config, first: int) -> Iterator[Any]:
    """Both layers, which is what a worker does."""
    yield from audited.analyse(file, config, first)


def analyse_gate(file: FileData, config: Config, first: int) -> Iterator[Any]:
    """The gate alone."""
    with _without_permissions():
        yield from audited.analyse(file, config, first)


def analyse_interpreter(file: FileData, config: Config, first: int) -> Iterator[Any]:
    """The interpreter's permissions alone."""
    with _without_gate():
        yield from audited.analyse(file, config, first)


def analyse_nothing(file: FileData, config: Config, first: int) -> Iterator[Any]:
    """Neither: what the payloads do when nobody stops them."""
    with ExitStack() as stack:
        stack.enter_context(_without_gate())
        stack.enter_context(_without_permissions())
        yield from audited.analyse(file, config, first)


_TASKS = dict(zip(MODES, ("analyse", "analyse_gate", "analyse_interpreter", "analyse_nothing"), strict=True))


class Tally:
    """Counts by class of payload: tried, refused, executed; and the names of what was executed."""

    def __init__(self) -> None:
        self.tried: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.executed: Counter[str] = Counter()
        self.examples: dict[str, list[str]] = {}


def tallied(attacks: Iterable[tuple[str, Attack]], mode: str, canary: Path) -> Tally:
    """What comes of the attacks while only some layers work."""
    listed = list(attacks)
    kinds = {attack.name: kind for kind, attack in listed}
    tally = Tally()
    outcomes = attempt((attack for _, attack in listed), function=f"{__name__}:{_TASKS[mode]}")
    for name, outcome in outcomes.items():
        kind = kinds[name]
        tally.tried[kind] += 1
        tally.refused[kind] += outcome.refused
        if outcome.events:
            tally.executed[kind] += 1
            tally.examples[name] = outcome.events
    if canary.exists():
        canary.unlink()
        tally.examples["canary"] = ["written"]
    return tally


def table(tallies: dict[str, Tally]) -> str:
    """A row for each class of payloads: refused and executed, by the layers that worked."""
    width = max(len(kind) for kind in tallies[MODES[0]].tried)
    head = f"{'class':{width}} {'tried':>6}" + "".join(f"  {mode:>22}" for mode in tallies)
    rows = [head, f"{'':{width}} {'':>6}" + f"  {'refused / executed':>22}" * len(tallies)]
    for kind, tried in tallies[MODES[0]].tried.items():
        cells = "".join(f"  {f'{t.refused[kind]} / {t.executed[kind]}':>22}" for t in tallies.values())
        rows.append(f"{kind:{width}} {tried:>6}{cells}")
    total = sum(tallies[MODES[0]].tried.values())
    cells = "".join(
        f"  {f'{sum(t.refused.values())} / {sum(t.executed.values())}':>22}" for t in tallies.values()
    )
    return "\n".join([*rows, f"{'all':{width}} {total:>6}{cells}"])


def main(every: int, canary: Path) -> int:
    """Print the table; 1 where anything is executed while a layer works."""
    from tests.attack.rebinding import attacks

    tallies = {mode: tallied(attacks(canary, every), mode, canary) for mode in MODES}
    sys.stdout.write(table(tallies) + "\n")
    failed = {name: events for mode in MODES[:3] for name, events in tallies[mode].examples.items()}
    for name, events in list(failed.items())[:40]:
        sys.stdout.write(f"executed: {name}: {events[:2]}\n")
    return 1 if failed else 0
