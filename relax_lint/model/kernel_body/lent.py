"""The addresses of parameters that a kernel gives away by access pointers, which say what for: nothing makes
that true.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relax_lint.vm import nodes

_FOREIGN = frozenset(("call_extern", "call_pure_extern", "tvm_call_packed", "tvm_call_cpacked"))
_WRITE = 2
_NAMES = """
acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim
floor fma fmax fmin fmod hypot ldexp lgamma log log10 log1p log2 logb nearbyint pow remainder rint round
sin sinh sqrt tan tanh tgamma trunc
"""
_MATHEMATICAL = frozenset(f"{name}{ending}" for name in _NAMES.split() for ending in ("", "f"))
"""What C's library for mathematics computes from all that it is given."""


def is_access_pointer(node: Any) -> bool:
    """Whether an expression is one. By a name for it anything may be done, whatever the pointer says."""
    return str(getattr(getattr(node, "op", None), "name", "")).endswith(".tvm_access_ptr")


def lend(call: Any, name: str, positions: Mapping[Any, int | None], lent: dict[int, bool]) -> None:
    """Note what a call of the operator called `name` gets, or of another kernel, which has no name here: True
    in `lent` where it is to be read only. What `positions` knows are parameters, by their buffers.
    """
    if name and name not in _FOREIGN:
        return
    for node in filter(is_access_pointer, nodes.nodes_of(call)):
        mask = node.args[4]
        position = positions.get(nodes.data_of_buffer(node.args[1]))
        if position is not None and type(mask).__name__ == "IntImm":
            lent[position] = lent.get(position, True) and not int(mask.value) & _WRITE


def may_ignore(call: Any, name: str) -> bool:
    """Whether a call of the operator called `name`, or of another kernel, which has no name here, may not
    look at what it is given, because it is not known what is called.
    """
    if name and name not in _FOREIGN:
        return False
    return not call.args or str(getattr(call.args[0], "value", "")) not in _MATHEMATICAL
