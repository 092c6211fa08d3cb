"""What the linter says of a program, what it does in each call, and what the VM does."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import sympy
import tvm
from tvm import relax

from relax_lint.judging.report import check_module
from relax_lint.results.check import Check
from relax_lint.results.verdict import Verdict
from relax_lint.settings.config import Config
from relax_lint.symbolic.evaluation import compile_condition
from relax_lint.symbolic.parsing import parse_condition
from tests.oracle.handed.contents import Chain, Outcome, Point, Senseless
from tests.oracle.handed.evaluator import Run
from tests.oracle.handed.program import (
    FILL_KEPT,
    FIRST,
    KEEP,
    KEPT,
    TWINS,
    Branch,
    Closure,
    Function,
    Kill,
    Program,
    all_steps,
    walk,
)
from tests.oracle.passing import Disagreement, Unusable, _compiled

BY_OPERATION = ("RLX101", "RLX301", "RLX303")
BY_HISTORY = ("RLX201", "RLX203", "RLX205", "RLX206")
RULES = (*BY_OPERATION, *BY_HISTORY)
_MADE = re.compile(r" *([b-gil-yu]\d+)\b.* = ")
_MATTERS = re.compile(r"alloc_tensor|call_tir|call_dps|Module\.f\d|invoke_closure| = g\d|match_cast")
_WRITES = re.compile(r"call_tir_inplace|Module\.f\d|invoke_closure| = g\d")
_N = sympy.Symbol("n", integer=True)


def points() -> list[Point]:
    """The calls that are tried."""
    return [Point(n, c) for n in (0, 3, 4) for c in (False, True)]


def register() -> None:
    """The packed functions that the programs call."""
    kept: list[Any] = []

    def keep(one: Any) -> Any:
        kept.append(one)
        return one

    def fill(one: Any) -> Any:
        kept[-1].copyfrom(np.full(kept[-1].shape, 9, "float32"))
        return one

    def twins(one: Any, first: Any, second: Any) -> None:
        first.copyfrom(one.numpy())
        second.copyfrom(np.full(4, 8, "float32"))

    tvm.register_global_func(TWINS, twins, override=True)
    tvm.register_global_func(FIRST, lambda one, *others: one, override=True)
    tvm.register_global_func(KEEP, keep, override=True)
    tvm.register_global_func(KEPT, lambda: kept[-1], override=True)
    tvm.register_global_func(FILL_KEPT, fill, override=True)


def followed(program: Program) -> dict[Point, Outcome]:
    """What each call does. Raises `Unusable`."""
    steps = list(all_steps(program))
    inside = [one for step in steps if isinstance(step, Branch) for one in walk((*step.then, *step.other))]
    if any(isinstance(step, Kill) for step in inside):
        raise Unusable("a kill in a branch")
    try:
        return {point: Run(program, point).call() for point in points()}
    except Senseless as error:
        raise Unusable(f"senseless: {error.__cause__!r}") from None


def compare(program: Program, *, machine: bool) -> Counter[str]:
    """Each verdict at each call, and (`machine`) the calls on the VM. Raises `Disagreement` or `Unusable`."""
    outcomes = followed(program)
    try:
        module = tvm.script.from_source(program.text)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        raise Unusable(f"not parsed: {error}") from None
    seen = Counter({"programs": 1})
    lifts = any(isinstance(step, Function | Closure) for step in walk(program.steps))
    stages = [module, relax.transform.LambdaLift()(module)] if lifts else [module]
    if lifts and _is_well_formed(module) and not _is_well_formed(stages[1]):
        # It forgets to define what it captures where the type of that is known better by then.
        seen["not lifted well"] += 1
        stages.pop()
    for stage in stages:
        # No two bindings of a program have one name, and functions that are lifted have others.
        checks: dict[str, list[Check]] = defaultdict(list)
        for check in check_module(stage, Config(select=RULES)).checks:
            checks[str(check.binding)].append(check)
        for point, outcome in outcomes.items():
            _compare_operations(point, outcome, checks, seen)
            _compare_history(point, outcome, checks, seen, program)
    if machine:
        _compare_machine(program, module, outcomes, seen)
    return seen


def _is_well_formed(module: tvm.IRModule) -> bool:
    try:
        return relax.analysis.well_formed(module) is not False
    except ValueError:
        # TVM 0.27 says so like this.
        return False


def _said(checks: Sequence[Check], rules: Sequence[str], point: Point) -> set[str]:
    """`wrong`, `unknown`, `assumed` and `fine`: what checks say of one call."""
    return {_claim(check, point) for check in checks if check.rule in rules}


def _claim(check: Check, point: Point) -> str:
    if check.verdict is Verdict.ALWAYS_WRONG:
        return "wrong"
    fine = "assumed" if check.assumes else "fine"
    if check.verdict is Verdict.ALWAYS_FINE:
        return fine
    if check.safe_when is None or check.function != "main":
        return "unknown"
    holds = _condition(check.safe_when)
    found = holds(point.n) if holds is not None else None
    return "unknown" if found is None else fine if found else "wrong"


@lru_cache(maxsize=256)
def _condition(safe_when: str) -> Callable[[int], bool | None] | None:
    try:
        return compile_condition(parse_condition(safe_when, {"n": _N}), (_N,))
    except Exception:
        # Of a symbol that the program computes.
        return None


def _compare_operations(
    point: Point, outcome: Outcome, checks: dict[str, list[Check]], seen: Counter[str]
) -> None:
    for where, chains in outcome.reached.items():
        wrong = outcome.wrong.get(where, [])
        if "RLX201" in wrong:
            continue
        for rule in BY_OPERATION:
            said = _said(checks[where[1]], [rule], point)
            broken = wrong.count(rule)
            if broken and not said - {"fine"} and not _around(chains, rule, checks, point):
                raise Disagreement(f"missed: {rule} of {where} at {point}")
            certain = any(
                c.rule == rule and c.verdict is Verdict.ALWAYS_WRONG and not c.assumes
                for c in checks[where[1]]
            )
            if not wrong and certain:
                raise Disagreement(f"false: {rule} of {where} at {point}")
            if where[0] == "main" and not wrong and said == {"wrong"}:
                raise Disagreement(f"false region: {rule} of {where} at {point}")
            seen[f"{rule} {'wrong' if broken else 'fine'}"] += bool(said)


def _around(chains: list[Chain], rule: str, checks: dict[str, list[Check]], point: Point) -> bool:
    """Whether a call around says something."""
    return any(_said(checks[where[1]], [rule], point) - {"fine"} for chain in chains for where in chain)


def _compare_history(
    point: Point, outcome: Outcome, checks: dict[str, list[Check]], seen: Counter[str], program: Program
) -> None:
    for where, broken in outcome.wrong.items():
        if "RLX201" in broken and not _said(checks[where[1]], ["RLX201"], point) - {"fine"}:
            found = [
                c
                for of in checks.values()
                for c in of
                if c.rule == "RLX201" and c.verdict is not Verdict.ALWAYS_FINE
            ]
            if not found:
                raise Disagreement(f"missed: RLX201 of {where} at {point}")
    for event in outcome.overwritten:
        if not _said([check for of in checks.values() for check in of], BY_HISTORY, point) - {"fine"}:
            raise Disagreement(f"missed: {event} at {point}")
        seen["overwritten" if event.writer else "unwritten"] += 1
    if outcome.ends != "ok" or outcome.overwritten:
        return
    used = program.text
    for where in outcome.reached:
        # What nothing uses is wrong with nobody to see it.
        for check in checks[where[1]] if len(re.findall(rf"\b{where[1]}\b", used)) > 1 else ():
            certain = check.rule in BY_HISTORY and check.verdict is Verdict.ALWAYS_WRONG and not check.assumes
            # What a function gives back for its caller to fill, packed functions are taken to fill.
            for_caller = where[0] != "main" and check.message.endswith("before it is returned")
            if certain and not for_caller and check.rule not in outcome.wrong.get(where, ()):
                raise Disagreement(f"false: {check.rule} of {where} at {point}: {check.message}")
    seen["right calls"] += 1


def _compare_machine(
    program: Program, module: Any, outcomes: dict[Point, Outcome], seen: Counter[str]
) -> None:
    left_out = _left_out(program)
    if any(_WRITES.search(line) for line in left_out):
        seen["dead calls: not run"] += 1
        return
    register()
    try:
        _, compiled = _compiled(relax.transform.LambdaLift()(module), planned=False)
        machine = relax.VirtualMachine(compiled, tvm.cpu(), memory_cfg="naive")
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        seen[f"not taken by TVM: {str(error)[:60]!r}"] += 1
        return
    for point, outcome in outcomes.items():
        # What is left out refuses nothing.
        if outcome.ends == "undefined" or outcome.overwritten or (left_out and outcome.ends != "ok"):
            continue
        inputs = (
            np.arange(1, point.n + 1, dtype="float32"),
            np.array([5, 15, 25, 35], "float32"),
            np.array(point.c),
        )
        try:
            found = machine["main"](*map(tvm.runtime.tensor, inputs))
            happened = "ok"
        except Exception as error:
            happened = "stopped" if isinstance(error, AssertionError) else "refused"
            told = str(error)
        if happened != outcome.ends:
            raise Disagreement(
                f"at {point} {outcome.ends} was expected, {happened} happened: {told if happened != 'ok' else ''}"
            )
        seen[f"calls on the machine: {happened}"] += 1
        if happened == "ok":
            several = [found] if len(program.result) == 1 else list(found)
            for expected, real in zip(outcome.results, several, strict=True):
                values = real.numpy().tolist()
                pairs = zip(expected, values, strict=True)
                if any(one is not None and one != value for one, value in pairs):
                    raise Disagreement(f"at {point} {expected} was expected, {values} is returned")


def _left_out(program: Program) -> list[str]:
    """The lines of calls, allocations and casts that TVM leaves out, as nothing uses what they make."""
    lines, found = program.text.splitlines(), list[str]()
    while True:
        text = "\n".join(lines)
        dead = [line for line in lines if (made := _MADE.match(line)) and _uses(made.group(1), text) == 1]
        if not dead:
            return found
        found += [line for line in dead if _MATTERS.search(line)]
        lines = [line for line in lines if line not in dead]


def _uses(name: str, text: str) -> int:
    return len(re.findall(rf"\b{name}\b", text))
