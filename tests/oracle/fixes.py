"""Programs before and after their fixes: what the linter says of them, and what the virtual machine does.

What a run should give is known from the evaluator, which follows the program as it was before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import tvm

import relax_lint
from relax_lint.replay import Machine, Module
from relax_lint.replay.machine import RunResult
from relax_lint.replay.modules import load_module
from relax_lint.results.check import Check
from relax_lint.results.verdict import Verdict
from relax_lint.rule import load_rules
from relax_lint.settings.config import Config
from tests.fixes.fixing import fixed
from tests.fixes.round_trips import is_same
from tests.oracle.answers import NOT_COMPARED, is_answer
from tests.oracle.compare import Disagreement, as_inputs, claim, compare_results, ended, points
from tests.oracle.evaluator import Call, Outcome, Point
from tests.oracle.program import (
    Branch,
    Function,
    Invoke,
    Kill,
    Program,
    Step,
    Tensor,
    is_planned_across_branches,
    named,
    text,
)

STRATEGIES = ("assert", "dynamic", "auto")
ALLOCATORS = ("naive", "pooled")
KERNELS = ("fill", "double", "accumulate")

SAME = "right before, and the same after"
RIGHT = "wrong before, right after"
STOPPED = "wrong before, stopped after"
ENDED = "ended by its own check, as before"
BEYOND = "right, but stopped beyond a declared bound"
GROW = "make the storage as large as its tensors"
REMAINS = "wrong before, and still reported"
OUTCOMES = (SAME, RIGHT, STOPPED, ENDED, BEYOND)
"""Of calls that are run."""


@dataclass(frozen=True)
class Fixed:
    """A program after its fixes in one way, with what was said of it before and what is then."""

    way: str
    strategy: str
    module: Any
    before: tuple[Check, ...]
    checks: tuple[Check, ...]


def compare_fixes(program: Program, strategy: str, machine: Machine | None = None) -> Counter[str]:
    """Both halves, the module and the text, with one strategy; without a machine only what is said of the
    results. How often what came about. Raises Disagreement.
    """
    seen: Counter[str] = Counter()
    config = Config(fix_strategy=strategy)
    module = load_module(text(program), "script")
    done: list[Any] = [module]
    for way in _ways(program, module, config):
        _require_progress(program, way, config)
        if not any(is_same(way.module, other) for other in done):
            done.append(way.module)
            seen["fixed modules"] += 1
            if machine is not None and not is_planned_across_branches(program):
                seen += _compare_calls(program, way, machine)
    return seen


def _ways(program: Program, module: Any, config: Config) -> Iterator[Fixed]:
    def judged(half: str, made: Any) -> Fixed:
        strategy, after = config.fix_strategy, relax_lint.check(made, config).checks
        return Fixed(f"{strategy} in the {half}", strategy, made, before, after)

    before = relax_lint.check(module, config).checks
    yield judged("module", relax_lint.fix(module, config))
    yield judged("text", load_module(fixed(text(program), config).text, "script"))


def _require_progress(program: Program, way: Fixed, config: Config) -> None:
    """Nothing is said that was not said before, and fixing again changes nothing."""
    new = _findings(way.checks) - _findings(way.before)
    if new:
        raise Disagreement(f"new with {way.way}: {new}\n{text(program)}\n{way.module.script()}")
    again = relax_lint.fix(way.module, config)
    if _without_lines_of_kills(again) != _without_lines_of_kills(way.module):
        raise Disagreement(f"not all at once with {way.way}:\n{text(program)}\n{way.module.script()}")

    _require_checks_first(way)


def _require_checks_first(way: Fixed) -> None:
    """All symbols are those of the signature: what is checked outside of branches is checked before any kernel."""
    computed = False
    for line in way.module.script().splitlines():
        if line.strip().startswith("def "):
            computed = False
        computed = computed or any(f"cls.{kernel}(" in line for kernel in KERNELS)
        inserted = (
            line.startswith(("        R.assert_op(", "        R.call_packed(")) and " is needed" in line
        )
        if computed and inserted:
            raise Disagreement(f"checked late with {way.way}: {line}\n{way.module.script()}")


def _without_lines_of_kills(module: Any) -> list[str]:
    """What a module says besides kills: where one tensor is killed twice too early, one may be left for later."""
    return [line for line in module.script().splitlines() if "R.memory.kill_" not in line]


def _findings(checks: Iterable[Check]) -> Counter[tuple[str, str | None, str | None]]:
    return Counter(
        (check.rule, check.function, check.binding)
        for check in checks
        if check.verdict is not Verdict.ALWAYS_FINE
    )


def _compare_calls(program: Program, way: Fixed, machine: Machine) -> Counter[str]:
    """Every call that was right, and every call of which nothing bad is said any more, on both allocators."""
    seen: Counter[str] = Counter()
    saved = Module(tvm.ir.save_json(way.module), "json")
    whole = Program(tuple(replace(f, steps=_without_kills(f.steps)) for f in program.functions))
    for function in program.functions:
        about = _about(function, way.checks)
        for point in points():
            beyond = _is_beyond(program, function, point)
            if beyond and _is_planned_by_tvm(program):
                continue
            before = follow(program, function, point)
            if not before.right and not all(claim(check, point) == "fine" for check in about):
                seen[REMAINS] += 1
                continue
            wanted = before if before.right else follow(whole, named(whole, function.name), point)
            for allocator in ALLOCATORS:
                result = machine.run(saved, function.name, as_inputs(point), allocator=allocator)
                if not is_answer(result):
                    seen[NOT_COMPARED] += 1
                    continue
                context = f"{function.name} at {point} on {allocator}, {way.way}\n{text(program)}\n"
                outcome = _outcome(before, beyond, result)
                seen[outcome] += 1
                expected = _promised(way, function, before.outcome)
                if outcome in (STOPPED, RIGHT) and expected and not beyond and outcome != expected:
                    raise Disagreement(f"{outcome}, not {expected}: {context}{way.module.script()}")
                if outcome in (SAME, RIGHT):
                    compare_results(wanted.outcome, result, f"{context}{way.module.script()}")
    return seen


def _promised(way: Fixed, function: Function, before: Outcome) -> str | None:
    """What the fixes of the operations that go wrong in a call make of it, where all fixes of the function are of
    one kind and none of the operations is dropped.
    """
    left = {(check.function, check.rule, check.binding) for check in way.checks}
    first = {
        (check.rule, check.binding): _first_fix(check)
        for check in way.before
        if check.function == function.name and (check.function, check.rule, check.binding) in left
    }
    titles = [first.get((rule, name), "") for name, rules in before.wrong.items() for rule in rules]
    grows = any(_first_fix(check) == GROW for check in way.before)
    if (
        way.strategy == "assert"
        and not grows
        and titles
        and all(title.startswith("check ") for title in titles)
    ):
        return STOPPED
    if way.strategy == "dynamic" and titles and all(title == GROW for title in titles):
        return RIGHT
    return None


def _first_fix(check: Check) -> str:
    safe = (fix.title for fix in check.fixes if fix.applicability == "safe")
    return next(safe, "")


def _outcome(before: Followed, beyond: bool, result: RunResult) -> str:
    ends = ended(result)
    if before.right:
        return BEYOND if ends == "stopped" and beyond else SAME
    if before.ends != "ok" and ends in ("stopped", "refused"):
        return ENDED
    return STOPPED if ends == "stopped" else RIGHT


def _names(function: Function) -> set[str]:
    """The function and those that it calls."""
    return {function.name} | {step.function for step in function.walk() if isinstance(step, Invoke)}


def _about(function: Function, checks: Iterable[Check]) -> list[Check]:
    """What is said of memory in a function and in those that it calls."""
    return [c for c in checks if c.function in _names(function) and load_rules()[c.rule].symptoms]


def _is_beyond(program: Program, function: Function, point: Point) -> bool:
    """Whether a value is larger than a bound that is declared."""
    called = (f for f in program.functions if f.name in _names(function))
    return any(getattr(point, name) > limit for f in called for name, limit in f.upper)


@dataclass(frozen=True)
class Followed:
    """A call that goes on whatever is wrong with it: how it `ends` (a refused extent, a failing assertion, ok),
    here or in a function that it calls, and whether nothing was wrong with any of them.
    """

    outcome: Outcome
    ends: str
    right: bool


def follow(program: Program, function: Function, point: Point) -> Followed:
    """Follow a call to its end, and those that it makes."""
    outcome = Call(program, function, point, "naive", faithful=False).run()
    ends, right = outcome.ends, not any(outcome.wrong.values())
    for step in function.walk():
        if isinstance(step, Invoke) and step.name in outcome.reached:
            inner = follow(program, named(program, step.function), point)
            ends = ends if inner.ends == "ok" else inner.ends
            right = right and inner.right
    return Followed(outcome, ends, right and ends == "ok")


def _is_planned_by_tvm(program: Program) -> bool:
    """Whether there are tensors without a storage: what TVM's planner makes of them relies on declared bounds."""
    steps = (step for function in program.functions for step in function.walk())
    return any(isinstance(step, Tensor) and step.storage is None for step in steps)


def _without_kills(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    found: list[Step] = []
    for step in steps:
        if isinstance(step, Branch):
            found.append(replace(step, then=_without_kills(step.then), other=_without_kills(step.other)))
        elif not isinstance(step, Kill):
            found.append(step)
    return tuple(found)
