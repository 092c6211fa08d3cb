"""What the linter says of a heap program, what its slots really hold, and what the VM does."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product

from relax_lint.judging.report import check_module
from relax_lint.replay import Input, Machine, Module, Outcome, Shape, Tensor
from relax_lint.replay.modules import load_module
from relax_lint.results.check import Check
from relax_lint.results.verdict import Verdict
from relax_lint.settings.config import Config
from tests.oracle.answers import NOT_COMPARED, is_answer

from . import here
from .program import (
    CONSTANT,
    PUTS,
    SAME,
    SLOTS,
    STORE,
    Allocate,
    Branch,
    Compute,
    Escape,
    Match,
    Program,
    Rename,
    Step,
    text,
    walk,
)

RULES = ("RLX101", "RLX104", "RLX106", "RLX205")


class Disagreement(AssertionError):
    """Two of the three do not say the same."""


@dataclass(frozen=True)
class Point:
    """The arguments of a call: the extents of x and z, the value of k, and the condition."""

    n: int
    m: int
    k: int
    c: bool


def points() -> list[Point]:
    """The calls that are tried."""
    return [Point(*each) for each in product((0, 2, 4, 9), (0, 4), (-1, 2, 8), (False, True))]


class Stopped(Exception):
    """A check or an allocation ends the call."""


class Lost(Exception):
    """What happens from here on is not determined."""


@dataclass
class Run:
    """One call, slot by slot: what is wrong with which operation, by rule."""

    point: Point
    reached: set[str] = field(default_factory=set)
    wrong: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    error: str | None = None
    known: bool = True
    _slots: dict[int, int] = field(default_factory=dict)
    _count: int = SLOTS

    def uses(self) -> Iterable[tuple[str, set[str]]]:
        """Each operation that was reached, and the rules that it breaks there."""
        return ((name, self.wrong.get(name, set())) for name in self.reached)

    def call(self, program: Program) -> Run:
        """Run the program."""
        self._guarded(partial(self._block, program))
        return self

    def _guarded(self, body: Callable[[], object]) -> None:
        try:
            body()
        except Stopped as stopped:
            self.error = str(stopped)
        except Lost:
            self.known = False

    def _block(self, steps: Sequence[Step]) -> None:
        for step in steps:
            if isinstance(step, Branch):
                self._block(step.then if self.point.c else step.other)
            elif isinstance(step, Escape):
                self._slots[step.slot] = PUTS
            elif not isinstance(step, Rename):
                self._use(step)

    def _use(self, step: Match | Compute | Allocate) -> None:
        if isinstance(step, Match):
            self._match(step)
        elif isinstance(step, Compute):
            self._compute(step)
        else:
            self._allocate(step)

    def _read(self, name: str, slot: int) -> int:
        self.reached.add(name)
        if not 0 <= slot < self._count:
            self.wrong[name].add("RLX106")
            raise Lost
        if slot not in self._slots:
            self.wrong[name].add("RLX205")
            raise Lost
        return self._slots[slot]

    def _match(self, step: Match) -> None:
        self.reached.add(step.name)
        value = {"x": self.point.n, "z": self.point.m, "k": self.point.k}[step.source]
        if step.code == STORE:
            if not 0 <= step.operand < self._count:
                self.wrong[step.name].add("RLX106")
                raise Lost
            self._slots[step.operand] = value
        elif (step.code == SAME and self._read(step.name, step.operand) != value) or (
            step.code == CONSTANT and step.operand != value
        ):
            raise Stopped("RuntimeError")

    def _compute(self, step: Compute) -> None:
        name = f"{step.name}_v"
        self.reached.add(name)
        if step.kernel == "all":
            self._slots.update(dict.fromkeys(range(SLOTS), 6))
        elif step.kernel == "twice":
            self._slots[step.a] = self._read(name, step.b) * 2
            self._slots[step.b] = self._slots[step.a] + 1
        elif step.kernel == "eight":
            self._slots[step.a] = self._read(name, step.b) * 8
        elif step.b not in self._slots:
            raise Lost
        elif self._slots[step.b] > 2:
            self._slots[step.a] = 7

    def _allocate(self, step: Allocate) -> None:
        size = self._read(f"{step.name}_s", step.size)
        extent = self._read(f"{step.name}_e", step.extent)
        self.reached |= {f"{step.name}_m", step.name}
        for name, quantity in ((f"{step.name}_m", size), (step.name, extent)):
            if quantity < 0:
                self.wrong[name].add("RLX104")
        if size < 0 or extent < 0:
            raise Lost
        if extent * 4 > size:
            self.wrong[step.name].add("RLX101")
            raise Stopped("InternalError")


def compare(program: Program, machine: Machine | None = None) -> Counter[str]:
    """Each verdict at each call that reaches its operation. Raises Disagreement."""
    escapes = any(isinstance(step, Escape) for step in walk(program))
    runs = [Run(point).call(program) for point in points()]
    return compare_runs(text(program), runs, None if escapes else machine, with_calls=machine is not None)


def compare_runs(
    written: str, runs: Sequence[Run], machine: Machine | None, *, with_calls: bool
) -> Counter[str]:
    """The verdicts on a module at each of its runs; `with_calls`: some of these happen, too, without a machine in this
    process. Raises Disagreement.
    """
    module = Module(written)
    checks: dict[tuple[str, str], list[Check]] = defaultdict(list)
    for check in check_module(load_module(module.text, "script"), Config(select=RULES)).checks:
        checks[check.rule, str(check.binding)].append(check)
    seen: Counter[str] = Counter()
    for run in runs:
        for name, wrong in run.uses():
            for rule in RULES:
                where = f"{rule} of {name} at {run.point}"
                _compare_one(rule, checks.get((rule, name), []), wrong, where, seen)
    if with_calls:
        for run in runs[:: max(1, len(runs) // 12)]:
            _run_on(machine, module, run, seen)
    return seen


def _compare_one(rule: str, checks: list[Check], wrong: set[str], where: str, seen: Counter[str]) -> None:
    broken = rule in wrong
    judged = {check.verdict for check in checks}
    seen[f"{rule} {'wrong' if broken else 'fine'}"] += 1
    seen["verdicts"] += bool(checks)
    if Verdict.NEEDS_RUNTIME_CHECK not in judged:
        seen[f"{rule} {'wrong' if broken else 'fine'}, and said so"] += bool(checks)
    if broken and judged <= {Verdict.ALWAYS_FINE}:
        raise Disagreement(f"{where}: wrong, but said to be fine: {judged}")
    # What follows an operation that goes wrong, and what it does else, is not known.
    if not broken and Verdict.ALWAYS_WRONG in judged and not wrong:
        raise Disagreement(f"{where}: fine, but said to be wrong")


def _run_on(machine: Machine | None, module: Module, run: Run, seen: Counter[str]) -> None:
    if not run.known:
        return
    p = run.point
    if machine is None:
        happened = here.ended(module.text, (p.n, p.m), p.k, p.c)
        seen["calls here"] += 1
        if happened != run.error:
            raise Disagreement(f"at {p}: {run.error} was expected, {happened} happened")
        return
    inputs: list[Input] = [
        Tensor("float32", (p.n,)),
        Tensor("float32", (p.m,)),
        Shape((p.k,)),
        Tensor("bool", (), int(p.c)),
    ]
    result = machine.run(module, "main", inputs, allocator="naive")
    if not is_answer(result):
        seen[NOT_COMPARED] += 1
        return
    seen["calls on the machine"] += 1
    happened = None if result.outcome is Outcome.OK else result.error_type or str(result.outcome)
    if happened != run.error:
        raise Disagreement(f"at {p}: {run.error} was expected, {happened} happened: {result.message}")
