"""Calls of a module before and after its fix, on the virtual machine, and what is to be expected of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import sympy
import tvm

import relax_lint
from relax_lint.fixes.wording import assert_format
from relax_lint.model.builder import build_program
from relax_lint.model.operations import Assert, KernelCall, MatchCast
from relax_lint.model.program import Function
from relax_lint.model.types import PrimType, ShapeType, TensorType, ValueType
from relax_lint.replay import Input, Machine, Module, Outcome, RunResult, Scalar, Shape, Tensor, parse_input
from relax_lint.replay.calls import Calls
from relax_lint.replay.cases import Sought
from relax_lint.replay.reference import without_sharing
from relax_lint.results.check import Check
from relax_lint.results.verdict import Verdict
from relax_lint.rule import load_rules
from relax_lint.settings.config import Config
from relax_lint.symbolic.evaluation import compile_condition
from relax_lint.symbolic.parsing import parse_condition

STRATEGIES = ("assert", "dynamic")
ALLOCATORS = ("naive", "pooled")
FILL = 0x5A
"""What new memory holds, so that what is read before it is written is the same in every run."""
HUGE = 2**30
"""Extents from which on there may not be enough memory."""

SAME = "the same result"
REFUSED = "refused, with symbol, value and limit"
RIGHT = "the right result, where it failed or was wrong before"
STOPPED = "stopped by its own assertion, as before"
EXHAUSTED = "more memory than there is, where it failed before"
REMAINS = "the same failure: no safe fix for it"
OUTCOMES = (SAME, REFUSED, RIGHT, STOPPED, EXHAUSTED, REMAINS)


class BrokenFix(AssertionError):
    """A fixed module that does something else than it should."""


@dataclass(frozen=True)
class Call:
    """A call of one function."""

    function: str
    inputs: tuple[Input, ...]

    def __str__(self) -> str:
        return f"{self.function}({', '.join(map(str, self.inputs))})"


@dataclass(frozen=True)
class Trip:
    """One call on one allocator, before and after a fix."""

    way: str
    allocator: str
    call: Call
    outcome: str


class RoundTrips:
    """Calls one module before and after its fix in one way (a `fix-strategy`, and of what).

    `expected` gives the elements of what a call should return, where that is known; else the same module
    without any sharing of memory is asked.
    """

    def __init__(
        self,
        machine: Machine,
        module: Any,
        fixed: Any,
        config: Config,
        way: str,
        expected: Callable[[Call], tuple[float, ...] | None] = lambda call: None,
    ) -> None:
        self._machine = machine
        self._expected = expected
        self._way = way
        self._config = config
        self._old_checks = relax_lint.check(module, config).checks
        self._new_checks = relax_lint.check(fixed, config).checks
        self.fixed = fixed
        self._functions = {function.name: function for function in build_program(module).functions}
        self._fixed_functions = {function.name: function for function in build_program(fixed).functions}
        self._old, self._new = _saved(module), _saved(fixed)
        reference = without_sharing(module)
        self._reference = None if reference is None else _saved(reference)

    def calls(self) -> tuple[Call, ...]:
        """Calls at the examples of the findings: the fine ones, the wrong ones, and the first failures."""
        found: dict[Call, None] = {}
        for check in self._old_checks:
            if check.verdict is Verdict.NEEDS_RUNTIME_CHECK:
                failures = (failure.first_failure for failure in check.allocators.values())
                for example in (check.fine, check.wrong, *failures):
                    call = None if example is None else self.call(str(check.function), example)
                    if call is not None:
                        found[call] = None
        return tuple(found)

    def call(self, function: str, assignment: Mapping[str, int]) -> Call | None:
        """A call with values for some symbols; None where there is none."""
        sought = Sought(0, None, function, None, None, None, assignment, {})
        case = Calls(self._functions[function], self._config).case(sought)
        return Call(function, tuple(map(parse_input, case.wrong[0]))) if case.wrong else None

    def trips(self, calls: Iterable[Call]) -> Iterator[Trip]:
        """Every call on both allocators. Raises `BrokenFix`."""
        for call in calls:
            for allocator in ALLOCATORS:
                yield Trip(self._way, allocator, call, self._outcome(call, allocator))

    def _outcome(self, call: Call, allocator: str) -> str:
        symbols = _symbols(self._functions[call.function], call.inputs)
        old, new = (self._run(module, call, allocator) for module in (self._old, self._new))
        surely, perhaps = self._violated(call.function, symbols)
        refused = new.error_type == "AssertionError" and new.message in surely | perhaps
        refused = refused or (bool(surely | perhaps) and _is_refused(new, symbols))
        if surely or refused:
            return self._expect(refused, REFUSED, call, old, new)
        if old.error_type == "AssertionError":
            return self._expect(new.message == old.message, STOPPED, call, old, new)
        if self._is_safe(call.function, symbols) and old.outcome is Outcome.OK:
            return self._expect(self._same(call, old, new), SAME, call, old, new)
        if self._is_fixed(call.function, symbols):
            if max(symbols.values(), default=0) > HUGE and "bad_alloc" in str(new.message):
                return self._expect(old.outcome is not Outcome.OK, EXHAUSTED, call, old, new)
            right = new.outcome is Outcome.OK and self._is_right(call, allocator, new)
            return self._expect(right, RIGHT, call, old, new)
        same = (old.outcome, old.error_type, old.signal) == (new.outcome, new.error_type, new.signal)
        return self._expect(same, REMAINS, call, old, new)

    def _is_right(self, call: Call, allocator: str, new: RunResult) -> bool:
        expected = self._expected(call)
        if expected is not None:
            return [output.values for output in new.outputs] == [expected]
        right = None if self._reference is None else self._run(self._reference, call, allocator)
        return right is None or right.outcome is not Outcome.OK or self._same(call, right, new)

    def _same(self, call: Call, a: RunResult, b: RunResult) -> bool:
        """Whether two runs returned the same; without any kernel nobody has written what an allocation holds."""
        kernels = any(isinstance(op, KernelCall) for op in self._functions[call.function].body.walk())
        if kernels:
            return a.digest == b.digest != ""
        return [output.text for output in a.outputs] == [output.text for output in b.outputs]

    def _expect(self, holds: bool, outcome: str, call: Call, old: RunResult, new: RunResult) -> str:
        if not holds:
            raise BrokenFix(
                f"expected {outcome} of {call} with {self._way}\nbefore: {old}\nafter: {new}\n{self.fixed.script()}"
            )
        return outcome

    def _run(self, module: Module, call: Call, allocator: str) -> RunResult:
        return self._machine.run(module, call.function, call.inputs, allocator=allocator, fill=FILL)

    def inserted(self, function: str) -> list[Assert]:
        """The assertions of the fixed function that the old one does not have."""
        old = [op.fact.condition for op in _asserts(self._functions[function]) if op.fact is not None]
        return [
            op
            for op in _asserts(self._fixed_functions[function])
            if op.fact is not None and op.fact.condition not in old
        ]

    def _violated(self, function: str, values: Mapping[str, int]) -> tuple[set[str], set[str]]:
        """The messages of the inserted assertions that these values do not satisfy: of those that are always
        reached, and of those in branches.
        """
        surely: set[str] = set()
        perhaps: set[str] = set()
        always = self._fixed_functions[function].body.ops
        for op in self.inserted(function):
            assert op.fact is not None
            symbols = tuple(sorted(op.fact.condition.free_symbols, key=str))
            known = [values[str(symbol)] for symbol in symbols]
            if compile_condition(op.fact.condition, symbols)(*known) is False:
                message = assert_format(op.fact.condition, symbols).format(*known)
                (surely if op in always else perhaps).add(message)
        return surely, perhaps

    def _is_safe(self, function: str, values: Mapping[str, int]) -> bool:
        return all(_holds(check, values) for check in self._old_checks if check.function == function)

    def _is_fixed(self, function: str, values: Mapping[str, int]) -> bool:
        return all(_holds(check, values) for check in self._new_checks if check.function == function)

    def assert_before_kernels(self) -> None:
        """Inserted assertions about the signature stand before every call of a kernel."""
        for name, function in self._fixed_functions.items():
            signature = {info.symbol for info in function.symbols if info.in_signature}
            kernels = [op.place.index for op in function.body.walk() if isinstance(op, KernelCall)]
            for op in self.inserted(name):
                assert op.fact is not None
                if op.fact.condition.free_symbols <= signature and op.place.index > min(
                    kernels, default=op.place.index
                ):
                    raise BrokenFix(f"{op.fact.condition} is checked behind a kernel\n{self.fixed.script()}")


def is_same(one: Any, other: Any) -> bool:
    """Whether two modules have the same structure."""
    try:
        tvm.ir.assert_structural_equal(one, other)
    except ValueError:
        return False
    return True


def _saved(module: Any) -> Module:
    return Module(tvm.ir.save_json(module), "json")


def _asserts(function: Function) -> list[Assert]:
    return [op for op in function.body.walk() if isinstance(op, Assert)]


def _is_refused(result: RunResult, values: Mapping[str, int]) -> bool:
    """Whether `match_shape` refused a call for a condition that its values do not satisfy."""
    found = re.search(r"\(-?\d+ vs. -?\d+\) : (.*?) is needed.*; match_cast error", str(result.message))
    return found is not None and not _is_satisfied(found[1], values)


def _is_satisfied(text: str, values: Mapping[str, int]) -> bool:
    symbols = {name: sympy.Symbol(name, integer=True) for name in values}
    condition = parse_condition(text, symbols)
    return bool(compile_condition(condition, tuple(symbols.values()))(*values.values()))


def _holds(check: Check, values: Mapping[str, int]) -> bool:
    """Whether a check says that its operation is safe at these values."""
    if check.verdict is Verdict.ALWAYS_FINE or not load_rules()[check.rule].symptoms:
        return True
    if check.safe_when is None:
        return False
    return _is_satisfied(check.safe_when, values)


def _symbols(function: Function, inputs: Iterable[Input]) -> dict[str, int]:
    """The symbols to which the arguments of a call give values."""
    found: dict[str, int] = {}
    casts = {op.source: op.type for op in function.body.walk() if isinstance(op, MatchCast)}
    for value, argument in zip(function.parameters, inputs, strict=True):
        for type_ in (function.values[value].type, casts.get(value)):
            for extent, number in () if type_ is None else _matched(type_, argument):
                if extent.is_Symbol:
                    found.setdefault(str(extent), number)
    return found


def _matched(type_: ValueType, argument: Input) -> Iterator[tuple[Any, int]]:
    if isinstance(type_, TensorType) and isinstance(argument, Tensor):
        yield from zip(type_.shape or (), argument.extents, strict=False)
    elif isinstance(type_, ShapeType) and isinstance(argument, Shape):
        yield from zip(type_.extents or (), argument.extents, strict=False)
    elif isinstance(type_, PrimType) and isinstance(argument, Scalar) and type_.value is not None:
        yield type_.value, int(argument.value)
