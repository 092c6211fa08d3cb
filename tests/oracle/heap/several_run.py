"""Calls of a program with several shape heaps, slot by slot, and what the linter says of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

from relax_lint.replay import Machine

from .compare import Lost, Run, compare_runs, points
from .program import PUTS, SLOTS, Compute
from .several import (
    Again,
    Body,
    Call,
    Choose,
    Function,
    New,
    On,
    Pack,
    Put,
    Several,
    Step,
    Unpack,
    text,
    walk,
)


@dataclass
class Heap:
    """A heap: how many slots it has, and what they hold."""

    count: int
    slots: dict[int, int] = field(default_factory=dict)


Value: TypeAlias = "Heap | tuple[Value, ...] | None"
"""A heap, a tensor of which no more is asked, or a tuple."""


@dataclass
class SeveralRun(Run):
    """One call. An operation of a function is reached as often as this is called."""

    _uses: list[tuple[str, set[str]]] = field(default_factory=list)
    _functions: dict[str, Function] = field(default_factory=dict)

    def call_main(self, program: Several) -> SeveralRun:
        """Run the program."""
        self._functions = {function.name: function for function in program.functions}
        self._guarded(partial(self._steps, program.steps, {"x": None, "z": None}))
        return self

    def uses(self) -> Iterable[tuple[str, set[str]]]:
        """Each operation as often as it was reached, and the rules that it breaks there."""
        return self._uses

    def _steps(self, steps: Sequence[Step], values: dict[str, Value]) -> None:
        for step in steps:
            if isinstance(step, On):
                self._on(values[step.heap], step)
            elif isinstance(step, Put):
                for heap in _heaps(values[step.value]):
                    heap.slots[step.slot] = PUTS
            else:
                values[step.name] = self._value(step, values)

    def _value(self, step: New | Again | Pack | Unpack | Choose | Call, values: dict[str, Value]) -> Value:
        if isinstance(step, New):
            return Heap(step.slots)
        if isinstance(step, Again):
            return self._again(step, values[step.source])
        if isinstance(step, Pack):
            return tuple(values[item] for item in step.items)
        if isinstance(step, Unpack):
            source = values[step.source]
            assert isinstance(source, tuple)
            return source[step.index]
        if isinstance(step, Choose):
            return self._body(step.then if self.point.c else step.other, dict(values))
        function = self._functions[step.function]
        arguments: list[Value] = [values[argument] for argument in step.arguments]
        names = [name for name, _ in function.parameters]
        given: dict[str, Value] = {"x": None, "z": None, **dict(zip(names, arguments, strict=True))}
        return self._body(function.body, given)

    def _body(self, body: Body, values: dict[str, Value]) -> Value:
        self._steps(body.steps, values)
        return values[body.result]

    def _again(self, step: Again, source: Value) -> Value:
        if step.way not in ("alias", "copy") and isinstance(source, Heap) and source.count != SLOTS:
            raise Lost
        return source

    def _on(self, heap: Value, step: On) -> None:
        assert isinstance(heap, Heap)
        if isinstance(step.step, Compute) and heap.count != SLOTS:
            raise Lost
        self._slots, self._count = heap.slots, heap.count
        try:
            self._use(step.step)
        finally:
            self._uses += super().uses()
            self.reached, self.wrong = set(), defaultdict(set)


def _heaps(value: Value) -> Iterable[Heap]:
    if isinstance(value, tuple):
        for each in value:
            yield from _heaps(each)
    elif value is not None:
        yield value


def compare_several(program: Several, machine: Machine | None = None) -> Counter[str]:
    """Each verdict at each call that reaches its operation. Raises Disagreement."""
    runs = [SeveralRun(point).call_main(program) for point in points()]
    escapes = any(isinstance(step, Put) for step in walk(program))
    on = None if escapes else machine
    return compare_runs(text(program), runs, on, with_calls=machine is not None)
