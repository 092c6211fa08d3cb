"""The last operation in program order that uses the bytes of each value."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from relax_lint.analysis.access_paths import AccessPath
from relax_lint.analysis.aliases import Aliases
from relax_lint.analysis.liveness import operands
from relax_lint.analysis.roots import Roots
from relax_lint.model.operations import FunctionCall, ValueId
from relax_lint.model.program import Function

END = 1 << 62
"""A use after the last operation: the result."""


def last_uses(
    function: Function,
    aliases: Aliases,
    roots: Roots,
    captured_by: Callable[[FunctionCall], Iterable[AccessPath]],
) -> dict[ValueId, int]:
    """By root: the index of the operation; `END` for what the result holds."""
    last: dict[ValueId, int] = {}
    for op in function.body.walk():
        used = [aliases.roots_of(value) for value in operands(op, function)]
        if isinstance(op, FunctionCall):
            used += [roots.of(path) for path in captured_by(op)]
        _note(used, op.place.index, roots, last)
    _note([aliases.roots_of(function.result)], END, roots, last)
    return last


def _note(used: Iterable[Iterable[ValueId]], index: int, roots: Roots, last: dict[ValueId, int]) -> None:
    has_perhaps = roots.has_perhaps
    for one in used:
        for root in one:
            last[root] = index
            for other, _ in roots.perhaps_of(root) if has_perhaps else ():
                last[other] = index
