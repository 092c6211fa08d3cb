"""Numbers, repetitions and ranges that would be too large to compute, found before they are computed."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Mapping
from typing import Any

from relax_lint.sources.literal import NotLiteralError, TooLargeError, binary, literal_value
from relax_lint.sources.refusal import Refusal

_MAX_RANGE = 65536


def check_arithmetic(node: ast.expr, plain: Mapping[str, Any]) -> Iterator[Refusal]:
    """What is too large in an operation; `plain` are the plain values of the names in it."""
    if not isinstance(node, ast.BinOp):
        return
    if isinstance(node.op, ast.Mod) and _is_text(node.left):
        yield Refusal(node, "string formatting")
    if isinstance(node.op, ast.Mult) and (_is_sequence(node.left) or _is_sequence(node.right)):
        yield from _repetition(node, plain)
    try:
        literal_value(node, plain)
    except TooLargeError:
        yield Refusal(node, "a number that is too large to compute")
    except NotLiteralError:
        yield from _partial(node, plain)


def check_range(node: ast.Call, plain: Mapping[str, Any]) -> Iterator[Refusal]:
    """A range that Python walks through, as opposed to the loop of a kernel."""
    for argument in node.args:
        value = _known(argument, plain)
        if not isinstance(value, int) or abs(value) > _MAX_RANGE:
            yield Refusal(node, "a range whose length is not known to be small")
            return


def check_comprehension(node: ast.ListComp, plain: Mapping[str, Any]) -> Iterator[Refusal]:
    """A comprehension that goes through more combinations than any source text needs, the comprehensions in
    it included.
    """
    times = 1
    for inner in ast.walk(node):
        if isinstance(inner, ast.ListComp):
            times *= math.prod(_steps(generator.iter, plain) for generator in inner.generators)
    if times > _MAX_RANGE:
        yield Refusal(node, "a comprehension over too many combinations")


def _steps(sequence: ast.expr, plain: Mapping[str, Any]) -> int:
    value = _known(sequence, plain)
    return len(value) if isinstance(value, list | tuple | str) else 1


def _repetition(node: ast.BinOp, plain: Mapping[str, Any]) -> Iterator[Refusal]:
    sequence, count = (node.left, node.right) if _is_sequence(node.left) else (node.right, node.left)
    times = _known(count, plain)
    if not isinstance(times, int) or _weight(sequence, plain) * times > _MAX_RANGE:
        yield Refusal(node, "a repetition whose length is not known to be small")


def _weight(node: ast.expr, plain: Mapping[str, Any]) -> int:
    """The values in a sequence as it is written, those of its parts included."""
    if isinstance(node, ast.List | ast.Tuple):
        return sum(_weight(item, plain) for item in node.elts)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and _is_sequence(node):
        sequence, count = (node.left, node.right) if _is_sequence(node.left) else (node.right, node.left)
        times = _known(count, plain)
        return _weight(sequence, plain) * (times if isinstance(times, int) else _MAX_RANGE + 1)
    return 1


def _partial(node: ast.BinOp, plain: Mapping[str, Any]) -> Iterator[Refusal]:
    """A power or shift of which only one side is a plain number: that side has to be small."""
    if not isinstance(node.op, ast.Pow | ast.LShift):
        return
    try:
        amount = literal_value(node.right, plain)
        if isinstance(amount, int):
            binary(node.op, 2, amount)
    except TooLargeError:
        yield Refusal(node, "a number that is too large to compute")
    except NotLiteralError:
        if _known(node.left, plain) is not None:
            yield Refusal(node, "a power or shift by an unknown amount")


def _known(node: ast.expr, plain: Mapping[str, Any]) -> Any:
    try:
        return literal_value(node, plain)
    except (NotLiteralError, TooLargeError):
        return None


def _is_text(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str | bytes)
    return isinstance(node, ast.JoinedStr)


def _is_sequence(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return _is_sequence(node.left) or _is_sequence(node.right)
    return isinstance(node, ast.List | ast.Tuple) or _is_text(node)
