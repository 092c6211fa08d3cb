"""Functions that a later pass takes as a whole: they hold nothing but what it knows, so no check."""

from __future__ import annotations

from relax_lint.model.operations import FunctionCall
from relax_lint.model.program import Program
from relax_lint.vm import versions


def is_taken_as_a_whole(program: Program, name: str) -> bool:
    """Whether a later pass makes one kernel of a function, or hands it to another code generator: it says so,
    or one does that has it inside or calls it.
    """
    if taken_as_a_whole not in program.kept:
        program.kept[taken_as_a_whole] = taken_as_a_whole(program)
    found: frozenset[str] = program.kept[taken_as_a_whole]
    return name in found


def taken_as_a_whole(program: Program) -> frozenset[str]:
    """The names of all such functions."""
    functions = program.by_name
    pending = [function.name for function in program.functions if _says_so(function.node)]
    found: set[str] = set()
    while pending:
        name = pending.pop()
        if name in found or name not in functions:
            continue
        found.add(name)
        pending += (inner for inner in functions if inner.startswith(f"{name}."))
        pending += (op.target for op in functions[name].body.of(FunctionCall) if op.target is not None)
    return frozenset(found)


def _says_so(node: object) -> bool:
    return node is not None and versions.is_taken_as_a_whole(node)
