"""Indices that are an element of a buffer, as it is, or with a constant added to it, or as another type."""

from __future__ import annotations

from typing import Any

from relax_lint.support.lazy_dataclass import record
from relax_lint.vm import nodes, versions

_SIGN = {"Add": 1, "Sub": -1}


@record(frozen=True)
class LookedUp:
    """The `load` of an element, to which `added` is added. Unless `span` is None, the index is their sum only
    for the elements between its ends: another one does not fit into a type on the way.
    """

    load: Any
    added: int = 0
    span: tuple[int, int] | None = None


def looked_up(index: Any) -> LookedUp | None:
    """The element that an index is made of; None for any other index."""
    steps: list[tuple[int, Any]] = []
    while not nodes.is_load(index):
        kind = type(index).__name__
        if kind == "Cast":
            steps.append((0, index))
            index = index.value
        elif kind in _SIGN and type(index.b).__name__ == "IntImm":
            steps.append((_SIGN[kind] * int(index.b.value), index))
            index = index.a
        elif kind == "Add" and type(index.a).__name__ == "IntImm":
            steps.append((int(index.a.value), index))
            index = index.b
        else:
            return None
    added, span = 0, None
    for number, node in reversed(steps):
        added += number
        ends = _ends(str(node.ty.dtype))
        if ends is None:
            return None
        low, high = (end - added for end in ends)
        span = (low, high) if span is None else (max(span[0], low), min(span[1], high))
    return LookedUp(index, added, span)


def _ends(dtype: str) -> tuple[int, int] | None:
    """The least and the greatest integer of a type; None for what is no plain integer."""
    if not dtype.startswith(("int", "uint")):
        return None
    bits, lanes = versions.dtype_bits(dtype)
    if lanes != 1:
        return None
    return (0, 2**bits - 1) if dtype.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
