"""The addresses of parameters that a kernel gives away by access pointers, which say what for: nothing makes
that true.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relax_lint.vm import nodes

_FOREIGN = frozenset(("call_extern", "call_pure_extern", "tvm_call_packed", "tvm_call_cpacked"))
_WRITE = 2


def lend(call: Any, name: str, positions: Mapping[Any, int | None], lent: dict[int, bool]) -> None:
    """Note what a call of the function called `name` gets: True in `lent` where it is to be read only. What
    `positions` knows are parameters, by their buffers.
    """
    if name not in _FOREIGN:
        return
    for node in nodes.nodes_of(call):
        if not str(getattr(getattr(node, "op", None), "name", "")).endswith(".tvm_access_ptr"):
            continue
        mask = node.args[4]
        position = positions.get(nodes.data_of_buffer(node.args[1]))
        if position is not None and type(mask).__name__ == "IntImm":
            lent[position] = lent.get(position, True) and not int(mask.value) & _WRITE
