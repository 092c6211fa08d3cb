"""Which storages of a function somebody may put tensors on who is not looked at with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from relax_lint.analysis.flow import FunctionFlow
from relax_lint.model.operations import AllocStorage, ValueId


def handed_on(storages: Sequence[AllocStorage], flow: FunctionFlow) -> AllocStorage | None:
    """The first storage of a function that is returned, held by a function inside, or goes to a function that
    is not known; None where there is none. What the tensors on it hand on is another matter.
    """
    given = frozenset[ValueId]().union(*_given(flow))
    return next((one for one in storages if one.result in given), None)


def _given(flow: FunctionFlow) -> Iterator[frozenset[ValueId]]:
    """The memory that goes to others."""
    roots = flow.aliases.roots
    yield flow.returned
    yield flow.used_inside
    for call in flow.calls:
        if flow.effects.kernel_of(call) is None:
            yield from map(flow.aliases.roots_of, call.arguments)
    for invoked in flow.function_calls:
        summary = flow.summary_of(invoked)
        if summary is None:
            yield from map(flow.aliases.roots_of, invoked.arguments)
        else:
            paths = (*summary.passed, *summary.handed_on)
            yield from (roots.of(summary.path(path)) for path in paths)
