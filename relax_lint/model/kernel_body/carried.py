"""Which loops carry a value from step to step that is more than a sum or an extremum: doubled a hundred times
an integer is zero, so a few of their steps tell nothing of all of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from relax_lint.model.kernel_body.cells import key_of
from relax_lint.support.lazy_dataclass import record
from relax_lint.vm import nodes

_GATHERS = {"Add": "sum", "Sub": "sum", "Max": "Max", "Min": "Min", "BitwiseAnd": "and", "BitwiseOr": "or"}
"""Of what these gather each step remains to be seen, or may."""
_STATEMENTS = ("seq", "body", "then_case", "else_case", "block", "init")


@record(frozen=True)
class _Store:
    """A store to one element in all steps: its buffer, the buffers that it loads for it, and whether it
    `gathers` something in that element.
    """

    buffer: int
    at: str
    loads: frozenset[int]
    gathers: bool


def is_carried(loop: Any) -> bool:
    """Whether a loop carries a value round, in one buffer or through several ones, in another way than by
    adding to it, or taking the largest.
    """
    moving = {key_of(loop.loop_var)}
    stores = list(_fixed_stores(loop.body, moving))
    kept = {one.buffer for one in stores} - set(_begun_anew(loop.body, stores))
    sources: dict[int, set[int]] = {buffer: set() for buffer in kept}
    for one in stores:
        if one.buffer not in kept:
            continue
        sources[one.buffer] |= one.loads & kept - ({one.buffer} if one.gathers else set())
    return any(_reaches(buffer, buffer, sources) for buffer in sources)


def _reaches(start: int, end: int, sources: dict[int, set[int]]) -> bool:
    seen, waiting = set[int](), list(sources[start])
    while waiting:
        one = waiting.pop()
        if one == end:
            return True
        if one not in seen:
            seen.add(one)
            waiting += sources[one]
    return False


def _begun_anew(body: Any, stores: Sequence[_Store]) -> Iterator[int]:
    """The buffers of which one element is stored, and in each step first to something that is none of it."""
    places = Counter(buffer for buffer, _ in {(one.buffer, one.at) for one in stores})
    met = set[int]()
    for node in _first_statements(body):
        met |= _loaded_by(node.value, *getattr(node, "indices", ()))
        if type(node).__name__ == "BufferStore":
            own = key_of(node.buffer)
            if own not in met and places[own] == 1:
                yield own


def _first_statements(node: Any) -> Iterator[Any]:
    """The stores and names that a step begins with, before it goes in a loop or branches."""
    kind = type(node).__name__
    if kind == "SeqStmt":
        for one in node.seq:
            if type(one).__name__ in ("BufferStore", "Bind"):
                yield one
            elif type(one).__name__ not in ("AllocBuffer",):
                yield from _first_statements(one)
                return
    elif kind in ("BufferStore", "Bind"):
        yield node
    elif kind == "SBlockRealize" and node.block.init is None:
        yield from _first_statements(node.block.body)


def _fixed_stores(node: Any, moving: set[int]) -> Iterator[_Store]:
    """The stores whose indices do not move with the variables in `moving`, to which more are added."""
    kind = type(node).__name__
    if kind == "Bind" and _moves(node.value, moving):
        moving.add(key_of(node.var))
    if kind == "SBlockRealize":
        for axis, value in zip(node.block.iter_vars, node.iter_values, strict=True):
            if _moves(value, moving):
                moving.add(key_of(axis.var))
    if kind == "BufferStore":
        if not any(_moves(index, moving) for index in node.indices):
            yield _store(node)
        return
    if kind == "SeqStmt":
        for one in node.seq:
            yield from _fixed_stores(one, moving)
        return
    for name in _STATEMENTS:
        child = getattr(node, name, None)
        if child is not None and name != "seq":
            yield from _fixed_stores(child, moving)


def _store(node: Any) -> _Store:
    own, loads = key_of(node.buffer), _loaded_by(node.value)
    return _Store(own, str(node.indices), loads, own in loads and _gathers(node.value, own))


def _gathers(value: Any, own: int) -> bool:
    """Whether a value is what the buffer held, and something else that is gathered there. Small integers
    overflow soon.
    """
    how = _GATHERS.get(nodes.expression_kind(value))
    if how is None or re.fullmatch(r"u?int(8|16)", str(value.ty.dtype)):
        return False
    while _GATHERS.get(nodes.expression_kind(value)) == how:
        one = (nodes.bit_operation(value) if nodes.is_call(value) else None) or value
        parts = [part for part in (one.a, one.b) if own in _loaded_by(part)]
        if len(parts) != 1:
            return False
        (value,) = parts
    return nodes.is_load(value) and key_of(nodes.loaded_buffer(value)) == own


def _loaded_by(*values: Any) -> frozenset[int]:
    """The buffers that some values load from."""
    loads = (one for value in values for one in nodes.nodes_of(value) if nodes.is_load(one))
    return frozenset(key_of(nodes.loaded_buffer(one)) for one in loads)


def _moves(value: Any, moving: set[int]) -> bool:
    return any(type(one).__name__ == "Var" and key_of(one) in moving for one in nodes.nodes_of(value))
