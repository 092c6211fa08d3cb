"""Vectors of indices in vectorised loops, of which some end TVM.

Where the base of a `T.Ramp` becomes a vector, `VectorizeLoop` takes it for another ramp without looking: of
`T.Ramp(i * 4, 1, 4)` it becomes one, of `T.Ramp(i // 2, 1, 4)` it does not, and the process ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_VECTORIZED = 2
"""`ForKind.VECTORIZED`."""
_LINEAR = ("Add", "Sub", "Mul")
_BINDING = ("Bind", "Let", "LetStmt")
_LISTS = ("seq", "indices", "args")
_INSIDE = (
    *("body", "then_case", "else_case", "value", "condition", "true_value", "false_value", "a", "b"),
    *("base", "stride", "min", "extent", *_LISTS),
)


def ends_vectorizing(function: Any) -> bool:
    """Whether the pass may end the process at a function."""
    body = getattr(function, "body", None)
    return body is not None and any(
        not _stays_ramp(ramp.base, *_changing(loop))
        for loop in _nodes(body, "For")
        if int(loop.kind) == _VECTORIZED
        for ramp in _nodes(loop.body, "Ramp")
    )


def _changing(loop: Any) -> tuple[Any, list[Any]]:
    """The variable of a loop, and those that are bound in it."""
    return loop.loop_var, [node.var for kind in _BINDING for node in _nodes(loop.body, kind)]


def _nodes(root: Any, kind: str) -> Iterator[Any]:
    """What is of a kind in a statement or an expression. Blocks are gone where this is asked."""
    todo = [root]
    while todo:
        node = todo.pop()
        if type(node).__name__ == kind:
            yield node
        for name in _INSIDE:
            part = getattr(node, name, None)
            if part is not None:
                todo.extend(part if name in _LISTS else (part,))


def _stays_ramp(base: Any, variable: Any, bound: list[Any]) -> bool:
    """Whether an expression is one number in all steps of a loop, or moves by one number in each."""
    variables = list(_nodes(base, "Var"))
    if any(one.same_as(other) for one in variables for other in bound):
        return False
    count = sum(one.same_as(variable) for one in variables)
    return count == 0 or (count == 1 and _is_linear(base, variable))


def _is_linear(node: Any, variable: Any) -> bool:
    """Of an expression in which a variable stands once: whether it moves by one number in each step."""
    if node.same_as(variable):
        return True
    if type(node).__name__ not in _LINEAR:
        return False
    (moving,) = (side for side in (node.a, node.b) if any(v.same_as(variable) for v in _nodes(side, "Var")))
    return _is_linear(moving, variable)
