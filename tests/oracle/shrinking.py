"""A smaller program that fails in the same way: without a function, or without a step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.oracle.program import Branch, Program, Step


def smallest(program: Program, fails: Callable[[Program], bool]) -> Program:
    """Leave out what can be left out. Candidates that make no sense fail in another way, and are not taken."""
    found = program
    while (smaller := next(filter(fails, _smaller(found)), None)) is not None:
        found = smaller
    return found


def _smaller(program: Program) -> Iterator[Program]:
    for index, function in enumerate(program.functions):
        others = (*program.functions[:index], *program.functions[index + 1 :])
        if others:
            yield Program(others)
        for steps in _without_one(function.steps):
            changed = replace(function, steps=steps)
            yield Program((*program.functions[:index], changed, *program.functions[index + 1 :]))
        if function.result != ("x",):
            changed = replace(function, result=("x",))
            yield Program((*program.functions[:index], changed, *program.functions[index + 1 :]))


def _without_one(steps: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
    for index, step in enumerate(steps):
        before, after = steps[:index], steps[index + 1 :]
        yield (*before, *after)
        if isinstance(step, Branch):
            for then in _without_one(step.then):
                yield (*before, replace(step, then=then), *after)
            for other in _without_one(step.other):
                yield (*before, replace(step, other=other), *after)
