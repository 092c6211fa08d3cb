"""What is known of one input while workers judge it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from relax_lint.judging.problems import problem_checks
from relax_lint.judging.unplanned import unplanned_note
from relax_lint.results.accesses import FunctionAccesses
from relax_lint.results.check import Check
from relax_lint.results.memory_figures import Estimate, MemoryTotals
from relax_lint.results.report import FileResult, InputStatus, UnitResult
from relax_lint.rule import load_rules, unreadable_codes
from relax_lint.running.messages import (
    LOWERING,
    Answer,
    Doing,
    FileData,
    Impossible,
    Loaded,
    UnitList,
    read_answer,
)
from relax_lint.running.order import Order
from relax_lint.running.outcome import Outcome, require_known_rules
from relax_lint.settings.config import Config
from relax_lint.support.errors import RunError

INTERRUPTED = "interrupted before all of it was judged"
"""Why an input failed that nobody waited for."""

_NO_RELAX = "no Relax function in it"


@dataclass
class Progress:
    """What is known so far of one input. `unit` is the number of the next unit that is to be judged,
    `first` the one that the present attempt began with, `retries` how often this unit was begun again.
    `known` is the outcome where the work was done before or elsewhere, `finished` says that it was done here.
    `is_lowering` while TVM lowers the
    unit for `target`; `is_unlowered` where that did not end well, and what is left is judged as it stands.
    """

    path: str
    file: FileData | None = None
    known: Outcome | None = None
    found: UnitList | None = None
    order: Order | None = None
    loaded: bool = False
    first: int = 0
    unit: int = 0
    retries: int = 0
    functions: int = 0
    checks: list[Check] = field(default_factory=list)
    memory: list[MemoryTotals] = field(default_factory=list)
    estimates: list[tuple[Estimate, ...]] = field(default_factory=list)
    accesses: list[FunctionAccesses] = field(default_factory=list)
    repeatable: bool = True
    is_lowering: bool = False
    is_unlowered: bool = False
    target: str = ""
    tvm_version: str | None = None
    notes: list[str] = field(default_factory=list)
    assumptions: set[str] = field(default_factory=set)
    unplanned: list[str] = field(default_factory=list)
    finished: bool = False
    lines: dict[int, str] = field(default_factory=dict)

    def read(self, value: Any) -> Answer:
        """What a worker answered. Raises ValueError for what is none, or cannot come now."""
        answer = read_answer(value)
        assert self.order is not None
        self.order.admit(answer)
        if isinstance(answer, UnitResult):
            require_known_rules(answer.checks)
        return answer

    def take(self, answer: Answer, config: Config) -> None:
        """Add what a worker answered. Raises RunError."""
        if isinstance(answer, Impossible):
            raise RunError(answer.reason)
        if isinstance(answer, Doing):
            self.is_lowering = answer.what.startswith(LOWERING)
            self.target = config.target_or_default
            return
        if isinstance(answer, Loaded):
            if answer.rules != tuple(load_rules()):
                # A rule that is missing there would be silence here.
                raise RunError(
                    "a worker found different rules than this process: it runs a different installation"
                )
            self.loaded = True
            self.tvm_version = answer.tvm_version
            return
        self.lines.update(answer.lines)
        if isinstance(answer, UnitList):
            if self.found is None:
                self.checks += problem_checks(answer.problems, self.path, config)
                self.notes += answer.notes
            self.found = answer
            return
        self.checks += answer.checks
        self.memory += answer.memory
        self.accesses += answer.accesses
        if answer.estimates:
            self.estimates.append(answer.estimates)
        self.notes += answer.notes
        self.unplanned += answer.unplanned
        self.assumptions.update(answer.assumptions)
        self.functions += answer.functions
        self.unit += 1
        self.retries = 0

    @property
    def is_known(self) -> bool:
        """Whether nothing is left to be done."""
        return self.finished or self.file is None or self.known is not None

    @property
    def outcome(self) -> Outcome:
        """What became of the input, once all is known."""
        return self.known or Outcome(
            _result(self),
            self.found.comments if self.found is not None else (),
            tuple(sorted(self.assumptions)),
            self.repeatable,
            self.tvm_version,
        )


class Skipped:
    """An input that holds no Relax for certain: of most runs nearly all are."""

    __slots__ = ("path",)
    file: FileData | None = None
    is_known = True

    def __init__(self, path: str) -> None:
        self.path = path

    @property
    def outcome(self) -> Outcome:
        """What became of it."""
        return Outcome(_skipped(self.path))


def interrupted_outcome(one: Progress | Skipped, reason: str = INTERRUPTED) -> Outcome:
    """What became of an input where the run was interrupted, for this reason: all, or nothing."""
    if one.is_known:
        return one.outcome
    return Outcome(FileResult(InputStatus(one.path, 0, "failed", reason)), repeatable=False)


def _result(one: Progress) -> FileResult:
    if one.file is None and not one.checks:
        return _skipped(one.path)
    unreadable = unreadable_codes()
    reason = next((check.message for check in one.checks if check.rule in unreadable), None)
    if one.functions:
        status, reason = "checked", None
    elif reason is not None:
        status = "failed"
    else:
        status, reason = "skipped", _NO_RELAX
    return FileResult(
        InputStatus(one.path, one.functions, status, reason, _notes(one)),
        tuple(one.checks),
        tuple(one.memory),
        one.lines,
        tuple(one.estimates),
        tuple(one.accesses),
    )


def _skipped(path: str) -> FileResult:
    return FileResult(InputStatus(path, 0, "skipped", _NO_RELAX))


def _notes(one: Progress) -> tuple[str, ...]:
    return (*dict.fromkeys(one.notes), *unplanned_note(one.unplanned))
