"""Verdicts against the evaluator, and the evaluator against the virtual machine, call by call."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, product

import sympy

from relax_lint.judging.report import check_module
from relax_lint.replay import Input, Machine, Module, Outcome, Scalar, Tensor
from relax_lint.replay.machine import RunResult
from relax_lint.replay.modules import load_module
from relax_lint.results.check import Check
from relax_lint.results.verdict import Verdict
from relax_lint.settings.config import Config
from relax_lint.symbolic.evaluation import compile_condition
from relax_lint.symbolic.parsing import parse_condition
from tests.oracle import evaluator
from tests.oracle.answers import NOT_COMPARED, is_answer
from tests.oracle.evaluator import Call, Point
from tests.oracle.program import (
    Function,
    Helper,
    InPlace,
    Invoke,
    Kernel,
    Other,
    Program,
    is_planned_across_branches,
    named,
    text,
)

BY_OPERATION = ("RLX101", "RLX102", "RLX104", "RLX303", "RLX304")
"""Rules that judge what an operation does by its own sizes and offsets."""
BY_HISTORY = ("RLX201", "RLX203", "RLX205")
"""Rules that judge what became of memory."""
# RLX206 is about the same thing as RLX203, within a call and for in-place calls.
_SAME = {"RLX206": "RLX203"}
SYMBOLS = {name: sympy.Symbol(name, integer=True) for name in ("m", "n", "k")}


class Disagreement(AssertionError):
    """Two of the three do not say the same."""


def points() -> list[Point]:
    """The calls that are tried: every condition, small extents, and scalars of either sign."""
    values = product((0, 1, 2, 3, 5, 9), (0, 1, 4), (-2, 0, 1, 3, 6), (False, True))
    return [Point(m, n, k, c) for m, n, k, c in values]


@lru_cache(maxsize=1)
def verdicts(program: Program) -> tuple[Check, ...]:
    """What the linter says of every operation."""
    rules = (*BY_OPERATION, *BY_HISTORY, "RLX206")
    return check_module(load_module(text(program), "script"), Config(select=rules)).checks


def compare_verdicts(program: Program) -> Counter[str]:
    """Each verdict at each call that it is about; how many there were of each kind. Raises Disagreement."""
    checks: dict[tuple[str, str, str], list[Check]] = defaultdict(list)
    for check in verdicts(program):
        # What another name takes two bindings to make (`o5_p`, `o5_q`) is one step of the program.
        name = str(check.binding).removesuffix("_p").removesuffix("_q")
        key = str(check.function), _SAME.get(check.rule, check.rule), name
        checks[key].append(check)
    seen: Counter[str] = Counter()
    for function in program.functions:
        allowed = [p for p in points() if all(getattr(p, name) <= limit for name, limit in function.upper)]
        runs = [(p, Call(program, function, p, "naive", faithful=False).run()) for p in allowed]
        outcomes = [(p, outcome, {*chain(*outcome.wrong.values())}) for p, outcome in runs]
        for key in _keys(function, checks):
            _compare_one(program, key, checks, outcomes, seen)
    return seen


def _keys(function: Function, checks: dict[tuple[str, str, str], list[Check]]) -> list[tuple[str, str, str]]:
    names = [step.name for step in function.walk()]
    return [(function.name, rule, name) for rule in (*BY_OPERATION, *BY_HISTORY) for name in names]


def _compare_one(
    program: Program,
    key: tuple[str, str, str],
    all_checks: dict[tuple[str, str, str], list[Check]],
    outcomes: Sequence[tuple[Point, evaluator.Outcome, set[str]]],
    seen: Counter[str],
) -> None:
    """The last of each outcome are the rules of all that goes wrong in it."""
    function, rule, name = key
    if rule == "RLX205" and _only_allocates(program, function):
        # What it returns is for those who call it to write.
        return
    in_place = {step.name for step in named(program, function).walk() if isinstance(step, InPlace)}
    checks = all_checks.get(key, [])
    for point, outcome, anywhere in outcomes:
        if name not in outcome.reached or (rule in ("RLX101", "RLX304") and name in outcome.meaningless):
            continue
        broken = outcome.wrong.get(name, set())
        if rule == "RLX203" and "RLX201" in broken:
            # The kernel gets nothing.
            continue
        if rule in ("RLX203", "RLX205") and "RLX304" in anywhere:
            # There are elements that no tensor has.
            continue
        uses_killed = "RLX201" in anywhere
        if rule in ("RLX205", "RLX303", "RLX304") and uses_killed:
            # A tensor that was killed is not read either, nor what is made of it.
            continue
        wrong = rule in broken
        if not checks and not wrong:
            continue
        # What is said of a returned value is said of the calls that return.
        about = [check for check in checks if outcome.ends == "ok" or "returned" not in check.message]
        said = [claim(check, point) for check in about]
        # What several reads, or a return after several kills, do wrong is reported at one of them.
        tensor = {"RLX205": outcome.unwritten, "RLX201": outcome.returned}.get(rule, {}).get(name)
        elsewhere = tensor is not None and _is_reported_elsewhere(all_checks, function, rule, tensor)
        if rule == "RLX203" and name in in_place:
            # Of in-place calls one after another, one is reported.
            elsewhere = any(
                check.verdict is not Verdict.ALWAYS_FINE
                for other in in_place
                if rule in outcome.wrong.get(other, ())
                for check in all_checks.get((function, rule, other), ())
            )
        if wrong and not elsewhere and not any(word in ("wrong", "unknown") for word in said):
            # An unreached or unreported operation that goes wrong is as bad as one that is called fine.
            raise Disagreement(f"missed: {key} at {point}: evaluator says wrong, {checks}\n{text(program)}")
        if not wrong and rule in BY_OPERATION and "wrong" in said:
            raise Disagreement(f"false: {key} at {point}: evaluator says fine, {checks}\n{text(program)}")
        # An overwritten value does no harm in a call that a later check, or a kill, stops from being read.
        certain = any(check.verdict is Verdict.ALWAYS_WRONG for check in about)
        read = outcome.ends == "ok" and not uses_killed
        # A return after several kills is reported at one of them.
        returned = outcome.returned.values() if rule == "RLX201" else ()
        if any(check.message.startswith(f"`{value}` is returned") for value in returned for check in about):
            continue
        if rule == "RLX205" and name in outcome.still_unwritten:
            # It is the return that does harm where nobody needs what was computed of it before.
            continue
        if not wrong and certain and (rule != "RLX203" or read):
            raise Disagreement(
                f"not always wrong: {key} at {point}: evaluator says fine, {checks}\n{text(program)}"
            )
        seen[f"{rule} {'wrong' if wrong else 'fine'}"] += bool(about or (wrong and elsewhere))


def _only_allocates(program: Program, name: str) -> bool:
    """Whether a function computes nothing, and another one calls it."""
    steps = [(f.name, step) for f in program.functions for step in f.walk()]
    own = [step for function, step in steps if function == name]
    is_called = any(isinstance(step, Invoke) and step.function == name for _, step in steps)
    calls = any(isinstance(step, Kernel | InPlace | Helper | Invoke) for step in own)
    calls = calls or any(isinstance(step, Other) and step.kind == "back" for step in own)
    return is_called and not calls


def _is_reported_elsewhere(
    checks: dict[tuple[str, str, str], list[Check]], function: str, rule: str, tensor: str
) -> bool:
    found = [check for key, of in checks.items() if key[:2] == (function, rule) for check in of]
    return any(f"`{tensor}`" in check.message for check in found if check.verdict is not Verdict.ALWAYS_FINE)


def claim(check: Check, point: Point) -> str:
    """`fine`, `wrong` or `unknown`: what a check says of one call."""
    if check.verdict is Verdict.ALWAYS_FINE:
        return "fine"
    if check.verdict is Verdict.ALWAYS_WRONG:
        return "wrong"
    if check.safe_when is None:
        return "unknown"
    return "fine" if _condition(check.safe_when)(point.m, point.n, point.k) else "wrong"


@lru_cache(maxsize=64)
def _condition(safe_when: str) -> Callable[..., bool | None]:
    return compile_condition(parse_condition(safe_when, SYMBOLS), tuple(SYMBOLS.values()))


def compare_first_failures(program: Program) -> Counter[str]:
    """The first failure of each allocator against the smallest one among the calls that were tried."""
    seen: Counter[str] = Counter()
    for check in verdicts(program):
        if check.rule != "RLX101" or not check.allocators:
            continue
        function = next((f for f in program.functions if f.name == check.function), None)
        if function is None:
            # One of the helpers: what they do is noted where they are called.
            continue
        for allocator, failure in check.allocators.items():
            if not failure.known:
                continue
            smallest = _smallest(program, function, str(check.binding), allocator)
            at = failure.first_failure
            context = f"{check.binding} on {allocator}: {at} against {smallest}\n{text(program)}"
            if at is None and smallest is not None:
                raise Disagreement(f"never fails? {context}")
            if at is not None and smallest is not None and sum(at.values()) > sum(smallest.values()):
                raise Disagreement(f"fails earlier: {context}")
            seen[allocator] += 1
    return seen


def _smallest(program: Program, function: Function, name: str, allocator: str) -> dict[str, int] | None:
    """The smallest call of values that are not negative at which the tensor does not fit."""
    found = []
    for point in points():
        if point.k < 0:
            continue
        outcome = Call(program, function, point, allocator, faithful=False).run()
        if "RLX101" in outcome.wrong.get(name, ()) and allocator == "naive":
            found.append({"m": point.m, "n": point.n, "k": point.k})
    return min(found, key=lambda values: sum(values.values()), default=None)


def compare_machine(programs: list[Program], machine: Machine, allocator: str) -> Counter[str]:
    """The evaluator against the machine: how each call ends, and every element that it returns."""
    seen: Counter[str] = Counter()
    for program in programs:
        if is_planned_across_branches(program):
            seen["planned across branches: not run"] += 1
            continue
        module = Module(text(program))
        for function in program.functions:
            for point in points():
                if any(getattr(point, name) > limit for f in program.functions for name, limit in f.upper):
                    # What TVM's planner makes of tensors without a storage relies on declared bounds.
                    continue
                outcome = Call(program, function, point, allocator, faithful=True).run()
                if outcome.ends in ("undefined", "crash"):
                    seen[f"{outcome.ends}: not run"] += 1
                    continue
                result = machine.run(module, function.name, as_inputs(point), allocator=allocator)
                if not is_answer(result):
                    seen[NOT_COMPARED] += 1
                    continue
                compare_results(
                    outcome, result, f"{function.name} at {point} on {allocator}\n{text(program)}"
                )
                seen[outcome.ends] += 1
    return seen


def as_inputs(point: Point) -> list[Input]:
    """The arguments of a call."""
    return [
        Tensor("float32", (point.m,)),
        Tensor("int8", (point.n,)),
        Scalar(point.k),
        Tensor("bool", (), int(point.c)),
    ]


def compare_results(outcome: evaluator.Outcome, result: RunResult, context: str) -> None:
    """How a call ended, and all elements that are known. Raises Disagreement."""
    ends = ended(result)
    if outcome.ends != ends:
        raise Disagreement(f"evaluator: {outcome.ends}, machine: {result} for {context}")
    if ends == "ok":
        for expected, output in zip(outcome.results, result.outputs, strict=True):
            if output.values is None:
                # More elements than a run reports.
                continue
            known = zip(expected, output.values, strict=True)
            if any(value is not None and value != real for value, real in known):
                raise Disagreement(f"evaluator: {outcome.results}, machine: {result.outputs} for {context}")


def ended(result: RunResult) -> str:
    """How a run ended, in the evaluator's words."""
    if result.outcome is Outcome.OK:
        return "ok"
    if result.outcome is Outcome.SIGNAL:
        return "crash"
    if result.error_type == "RuntimeError" and " is needed" in str(result.message):
        # An inserted check in the form of a builtin.
        return "stopped"
    return {"AssertionError": "stopped", "TypeError": "type error"}.get(str(result.error_type), "refused")


def failures(program: Program) -> Iterator[str]:
    """What the comparisons that need no machine complain of."""
    for compare in (compare_verdicts, compare_first_failures):
        try:
            compare(program)
        except Disagreement as error:
            yield str(error)
