"""Whether two nodes are alike, for each version of TVM. Importing it imports TVM."""

from __future__ import annotations

from typing import Any

import tvm
import tvm_ffi


def without_name(function: Any) -> Any:
    """A PrimFunc without the name by which others know it."""
    named = function.attrs is not None and "global_symbol" in function.attrs
    return function.without_attr("global_symbol") if named else function


def structural_hash(node: Any) -> int:
    """The same number for nodes that only differ in the names of variables."""
    return int(_structure().structural_hash(node))


def structural_equal(one: Any, other: Any) -> bool:
    """Whether nodes only differ in the names of variables."""
    return bool(_structure().structural_equal(one, other))


def are_equal(one: Any, other: Any) -> bool:
    """Whether two statements or expressions of one kernel are written alike, of the same buffers: TVM 0.26
    takes two that lie outside of both for one with two names.
    """
    if not structural_equal(one, other):
        return False
    functor = getattr(tvm.tirx, "stmt_functor", None)
    if functor is None:
        # From 0.27 on they are variables, which it tells from each other.
        return True
    pairs = zip(_buffers_of(one, functor), _buffers_of(other, functor), strict=True)
    return all(first.same_as(second) for first, second in pairs)


def _buffers_of(node: Any, functor: Any) -> list[Any]:
    found: list[Any] = []

    def visit(one: Any) -> None:
        buffer = getattr(one, "buffer", None)
        if buffer is not None:
            found.append(buffer)

    functor.post_order_visit(node, visit)
    return found


def saved(node: Any) -> str:
    """All of a node as text, the names of variables included."""
    return str(tvm.ir.save_json(node))


def _structure() -> Any:
    """The module that compares nodes: `tvm_ffi` from 0.27 on, `tvm.ir` before."""
    return tvm.ir if hasattr(tvm.ir, "structural_hash") else tvm_ffi
