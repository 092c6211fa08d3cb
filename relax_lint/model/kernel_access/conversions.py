"""Integers that are made of floats: two equal conversions are one number while nothing is stored to what they
load, and the logarithms of constants are numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from relax_lint.model.kernel_access.polynomials import Poly
from relax_lint.vm import comparing, nodes

Moment: TypeAlias = "tuple[tuple[int, int], ...]"
"""What is loaded: each buffer, and how often something was stored to it before."""

MAX_NODES = 60
_PARTS = {
    "Add": ("a", "b"),
    "Sub": ("a", "b"),
    "Mul": ("a", "b"),
    "Div": ("a", "b"),
    "Min": ("a", "b"),
    "Max": ("a", "b"),
    "Cast": ("value",),
    "FloatImm": (),
    "IntImm": (),
    "Var": (),
    "SizeVar": (),
}
_FUNCTIONS = frozenset(("floor", "ceil", "round", "trunc", "nearbyint", "fabs"))

MAX_LOGARITHM = 2**40
"""Up to here the logarithm of an integer is rounded to a whole number only where it is one."""


def rounded_up_logarithm(node: Any) -> int | None:
    """The value of `ceil(log2(c))` for a whole constant."""
    inner = _argument(node, "ceil")
    found = None if inner is None else _argument(inner, "log2")
    # In 32 bits the logarithm of 2**20 + 1 is 20.
    if found is None or str(found.ty.dtype) != "float64":
        return None
    constant = found.value if type(found).__name__ == "Cast" else found
    if type(constant).__name__ not in ("FloatImm", "IntImm"):
        return None
    value = float(constant.value)
    return (int(value) - 1).bit_length() if 1 <= value <= MAX_LOGARITHM and value.is_integer() else None


def _argument(node: Any, name: str) -> Any:
    """The argument of a function of one; None if the node is no call of it."""
    is_call = type(node).__name__ == "Call" and str(getattr(node.op, "name", "")).endswith(f".{name}")
    return node.args[0] if is_call else None


class Conversions:
    """The conversions that were read, with the numbers that stand for them."""

    def __init__(self) -> None:
        self._known: dict[int, list[tuple[Any, Moment, Poly]]] = {}

    def of(self, node: Any, moment_of: Callable[[Any], tuple[int, int]], make: Callable[[], Poly]) -> Poly:
        """The number that a conversion gives; `moment_of` tells the buffer of a load."""
        found = _loads(node)
        if found is None:
            return make()
        moment = tuple(moment_of(load) for load in found)
        alike = self._known.setdefault(comparing.structural_hash(node), [])
        for other, then, number in alike:
            if then == moment and comparing.structural_equal(node, other):
                return number
        alike.append((node, moment, make()))
        return alike[-1][2]


def _loads(node: Any) -> list[Any] | None:
    """The loads of an expression in their order; None if it is large, or may give another value each time."""
    found, todo, count = [], [node], 0
    while todo:
        one = todo.pop()
        count += 1
        parts = _parts(one)
        if parts is None or count > MAX_NODES:
            return None
        if nodes.is_load(one):
            found.append(one)
        todo += parts
    return found


def _parts(node: Any) -> tuple[Any, ...] | None:
    if nodes.is_load(node):
        return tuple(node.indices)
    if type(node).__name__ == "Call":
        name = str(getattr(node.op, "name", "")).rpartition(".")[2]
        return tuple(node.args) if name in _FUNCTIONS else None
    names = _PARTS.get(type(node).__name__)
    return None if names is None else tuple(getattr(node, name) for name in names)
