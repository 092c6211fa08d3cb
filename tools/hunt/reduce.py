"""The smallest program with the same signature."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from tools.hunt.program import Function, Program, Type, without_unused

TRIALS = 50
"""How often a program is tried, at most."""


def reduced(program: Program, still: Callable[[Program], bool], trials: int = TRIALS) -> Program:
    """A smaller program for which `still` holds, as it does for `program`."""
    tried = 0
    found = True
    while found:
        found = False
        for candidate in candidates(program):
            smaller = without_unused(candidate)
            if smaller == program:
                continue
            tried += 1
            if tried > trials:
                return program
            if still(smaller):
                program, found = smaller, True
                break
    return program


def candidates(program: Program) -> Iterator[Program]:
    """Programs that are a little smaller, the much smaller ones first."""
    main = program.main
    if len(program.extents) > 1:
        yield replace(program, extents=program.extents[:1])
    for index in range(len(main.results) if len(main.results) > 1 else 0):
        yield _with_main(program, replace(main, results=main.results[:index] + main.results[index + 1 :]))
    for number, function in enumerate(program.functions[:-1]):
        if not any(f"cls.{function.name}(" in s.template for s in main.statements):
            functions = program.functions
            yield replace(program, functions=functions[:number] + functions[number + 1 :])
    for number, function in enumerate(program.functions):
        for smaller in _smaller(function):
            functions = program.functions
            yield replace(program, functions=(*functions[:number], smaller, *functions[number + 1 :]))


def _with_main(program: Program, main: Function) -> Program:
    return replace(program, functions=(*program.functions[:-1], main))


def _smaller(function: Function) -> Iterator[Function]:
    if function.bound is not None:
        yield replace(function, bound=None)
    for index in reversed(range(len(function.statements))):
        statement = function.statements[index]
        for other in _stand_ins(function, index):
            rest = [s.renamed({statement.name: other}) for s in function.statements[index + 1 :]]
            results = tuple(other if name == statement.name else name for name in function.results)
            yield replace(
                function,
                statements=(*function.statements[:index], *rest),
                results=tuple(dict.fromkeys(results)),
            )
        if statement.branches is not None:
            for body, result in zip(statement.branches.bodies, statement.branches.results, strict=True):
                rest = [s.renamed({statement.name: result}) for s in function.statements[index + 1 :]]
                results = tuple(result if name == statement.name else name for name in function.results)
                yield replace(
                    function, statements=(*function.statements[:index], *body, *rest), results=results
                )


def _stand_ins(function: Function, index: int) -> list[str]:
    """Values of the same type that were there before: an operand, the latest ones, and a parameter."""
    statement = function.statements[index]
    used = {name for s in function.statements[index + 1 :] for name in s.used()}.union(function.results)
    if statement.name not in used:
        return [statement.name]
    earlier = function.statements[:index]
    consumed = {name for s in earlier if s.consumes for name in s.operands}
    known: dict[str, Type] = {**dict(function.parameters), **{s.name: s.type for s in earlier}}
    same = [name for name, kind in known.items() if kind == statement.type and name not in consumed]
    chosen = [name for name in same if name in statement.operands] + list(reversed(same))
    return list(dict.fromkeys(chosen))[:2]


def size(program: Program) -> int:
    """How many statements there are."""
    return sum(len(function.statements) for function in program.functions)
