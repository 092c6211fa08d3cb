"""Attacks, and what came of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from relax_lint.results.report import UnitResult
from relax_lint.rule import rule_of
from relax_lint.running.messages import FileData, UnitList, read_answer
from relax_lint.running.pool import Failed, FailureKind, Item, WorkerPool
from relax_lint.settings.config import Config
from tests.attack import audited
from tests.attack.payloads import CANARY
from tests.kept_workers import held

LIMIT_S = 20.0
CONFIG = Config()


@dataclass(frozen=True)
class Attack:
    """A file that is up to something. `kind` is python, notebook, markdown or json."""

    name: str
    data: bytes
    kind: str = "python"


@dataclass
class Outcome:
    """What a worker answered: the rules of what could not be read, how many functions were judged, how the
    worker failed, and what it was asked to do besides.
    """

    rules: set[str] = field(default_factory=set)
    functions: int = 0
    failure: str = ""
    events: list[str] = field(default_factory=list)

    @property
    def refused(self) -> bool:
        """Whether the user hears that something could not be read or analysed."""
        return bool(self.failure) or any(rule.startswith("RLX90") for rule in self.rules)


def placed(template: str, expression: str, canary: Path) -> str:
    """A file with an expression in it."""
    quoted = expression.replace("\\", "\\\\").replace('"', '\\"').replace("'", "\\'")
    text = template.replace("{P}", expression).replace("{Q}", quoted)
    return text.replace(CANARY, str(canary))


def attempt(
    attacks: Iterable[Attack],
    *,
    jobs: int = 1,
    limit_s: float = LIMIT_S,
    function: str = audited.FUNCTION,
) -> dict[str, Outcome]:
    """Let workers analyse the files, one by one, under audit. They are kept for the next attacks on the same
    function: whatever one does to its process is there for the others, as it is for the files of a folder.
    """
    outcomes: dict[str, Outcome] = {}

    def new() -> WorkerPool:
        # Without the sandbox: what is tried here must not get as far as that.
        memory = CONFIG.memory_limit
        return WorkerPool(jobs, time_limit_s=limit_s, memory_limit_bytes=memory, sandbox="off")

    with held((function, jobs, limit_s), new) as pool:
        names: dict[int, str] = {}
        for attack in attacks:
            assert attack.name not in outcomes, attack.name
            outcomes[attack.name] = Outcome()
            file = FileData(attack.data, f"{attack.name}.py", attack.kind, named=True)
            names[pool.submit(function, file, CONFIG, 0)] = attack.name
        for event in pool.events():
            outcome = outcomes[names[event.task]]
            if isinstance(event, Failed):
                outcome.failure = f"{event.failure.kind.value}: {event.failure.message}"
                # An exception of ours is no way to refuse a file.
                if event.failure.kind is FailureKind.EXCEPTION:
                    outcome.events.append(outcome.failure)
            elif isinstance(event, Item):
                _take(outcome, event.value)
    return outcomes


def _take(outcome: Outcome, value: list[object]) -> None:
    if value[0] == audited.EVENTS:
        assert isinstance(value[1], list)
        outcome.events += value[1]
        return
    answer = read_answer(value)
    if isinstance(answer, UnitList):
        outcome.rules |= {rule_of(problem.kind).code for problem in answer.problems}
    elif isinstance(answer, UnitResult):
        outcome.rules |= {check.rule for check in answer.checks if check.rule.startswith("RLX90")}
        outcome.functions += answer.functions


def matrix(positions: Mapping[str, str], expressions: Mapping[str, str], canary: Path) -> Iterator[Attack]:
    """Every expression at every position."""
    for position, template in positions.items():
        for name, expression in expressions.items():
            yield Attack(f"{position}-{name}", placed(template, expression, canary).encode())
