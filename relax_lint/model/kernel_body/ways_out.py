"""Ways out of a step of a loop, of the loop or of the kernel: when they are taken, what they leave out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.symbolic.translate import Translator, Untranslatable
from relax_lint.vm import nodes
from relax_lint.vm.exits import CONTINUE, RETURN, exit_of, exits_in


def left_if(node: Any, translator: Translator) -> Boolean:
    """When a statement may be the last one that a step comes to, in terms of sizes and of the loops around;
    what depends on data may always.
    """
    kind = type(node).__name__
    if kind == "SeqStmt":
        return sympy.Or(*(left_if(part, translator) for part in node.seq))
    if kind in ("For", "While"):
        return sympy.true if RETURN in exits_in(node.body) else sympy.false
    if kind == "IfThenElse":
        return _left_in_a_branch(node, translator)
    if kind == "AttrStmt":
        return left_if(node.body, translator)
    if kind == "SBlockRealize":
        return left_if(node.block.body, translator)
    return sympy.false if exit_of(node) is None else sympy.true


def _left_in_a_branch(node: Any, translator: Translator) -> Boolean:
    then = left_if(node.then_case, translator)
    other = sympy.false if node.else_case is None else left_if(node.else_case, translator)
    if then == other:
        return then
    try:
        condition = translator.condition(nodes.without_hint(node.condition))
    except (Untranslatable, AttributeError):
        return sympy.Or(then, other)
    return sympy.Or(sympy.And(condition, then), sympy.And(sympy.Not(condition), other))


class Around:
    """What stands around a statement of a body, and what comes after it."""

    def __init__(self, body: Any) -> None:
        self._body = body
        self._after: list[Sequence[Any]] = []
        """The statements that come next in what is around, from outside to inside; for a loop, its body."""
        self._loops: list[int] = []
        """The places of the loops in that list."""

    @contextmanager
    def before(self, statements: Sequence[Any]) -> Iterator[None]:
        """Inside of what comes right before some statements."""
        self._after.append(statements)
        yield
        self._after.pop()

    @contextmanager
    def loop(self, body: Any) -> Iterator[None]:
        """Inside of a loop."""
        self._loops.append(len(self._after))
        self._after.append((body,))
        yield
        self._after.pop()
        self._loops.pop()

    def skips(self, way_out: str) -> bool:
        """Whether anything is left undone for sure where a way out is taken here. A store to what nothing
        loads does not count, nor does what another step of a loop around may make up for.
        """
        if len(self._loops) > 1:
            return False
        since = 0 if way_out == RETURN or not self._loops else self._loops[-1] + (way_out == CONTINUE)
        done = (one for statements in self._after[since:] for part in statements for one in _acts(part))
        return any(type(one).__name__ != "BufferStore" or one.buffer not in self._unseen for one in done)

    @cached_property
    def _unseen(self) -> set[Any]:
        """The body's own buffers whose elements nothing loads but what stores in such buffers, and whose
        address nothing takes; all that may be own ones where that cannot be told.
        """
        own, loaded, is_open = set[Any](), Counter[Any](), False
        stores: list[tuple[Any, Counter[Any]]] = []
        for one in _parts(self._body):
            kind = type(one).__name__
            if kind == "AllocBuffer":
                own.add(one.buffer)
            elif kind == "SBlock":
                own.update(one.alloc_buffers)
            elif kind in ("DeclBuffer", "MatchBufferRegion"):
                own.add(one.buffer)
                is_open = True
            elif kind == "BufferStore":
                stores.append((one.buffer, _loaded_in(one)))
            elif nodes.is_load(one):
                loaded[nodes.loaded_buffer(one)] += 1
            elif nodes.is_call(one) and not nodes.is_plain_call(one):
                is_open = True
        unseen = set(own)
        while not is_open:
            for_nothing = sum((loads for buffer, loads in stores if buffer in unseen), Counter[Any]())
            seen = {buffer for buffer in unseen if loaded[buffer] > for_nothing[buffer]}
            if not seen:
                break
            unseen -= seen
        return unseen


def _loaded_in(store: Any) -> Counter[Any]:
    """The buffers from which a store loads, and how often."""
    parts = (part for one in (store.value, *store.indices) for part in _parts(one))
    return Counter(nodes.loaded_buffer(part) for part in parts if nodes.is_load(part))


_PARTS = {
    "SeqStmt": ("seq",),
    "For": ("min", "extent", "step", "body"),
    "While": ("condition", "body"),
    "IfThenElse": ("condition", "then_case", "else_case"),
    "AttrStmt": ("value", "body"),
    "SBlockRealize": ("iter_values", "predicate", "block"),
    "SBlock": ("match_buffers", "init", "body"),
    "BufferStore": ("value", "indices", "predicate"),
    "Evaluate": ("value",),
    "Bind": ("value",),
    "AssertStmt": ("condition",),
}
"""What statements are made of."""
_WHOLE = ("AllocBuffer", "DeclBuffer", "MatchBufferRegion", "Break", "Continue", "Return")


def _parts(node: Any) -> Iterator[Any]:
    """A statement or an expression, and all that it is made of."""
    kind = type(node).__name__
    if exit_of(node) is not None:
        return
    if kind in _PARTS or kind in _WHOLE:
        yield node
        for name in _PARTS.get(kind, ()):
            found: Any = getattr(node, name, None)
            for part in found if type(found).__name__ == "Array" else (found,):
                yield from _parts(part)
    elif node is not None:
        yield from nodes.nodes_of(node)


def _acts(node: Any) -> Iterator[Any]:
    """The statements in a statement that do something which may be seen after it, whatever is asked."""
    kind = type(node).__name__
    if kind == "SeqStmt":
        parts = tuple(node.seq)
    elif kind in ("For", "While", "AttrStmt"):
        parts = (node.body,)
    elif kind == "SBlockRealize":
        parts = (node.block.body,)
    else:
        if kind != "IfThenElse" and not _only_computes(node, kind):
            yield node
        return
    for part in parts:
        yield from _acts(part)


def _only_computes(node: Any, kind: str) -> bool:
    if exit_of(node) is not None or kind in ("AllocBuffer", "DeclBuffer", "Bind"):
        return True
    return kind == "Evaluate" and bool(nodes.only_computes(node.value))
