"""Integer expressions of a kernel as functions of the steps of its loops: between which numbers they lie."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from relax_lint.vm import nodes

Interval: TypeAlias = "tuple[int, int]"
"""The least and the greatest of some integers."""
Steps: TypeAlias = "Mapping[int, Interval | None]"
"""Between which numbers each variable lies; None where that is not known."""
Number: TypeAlias = "Callable[[Steps], Interval | None]"
"""Between which numbers an expression lies; None where it looks at data, or that is not known."""

_FALSE, _TRUE, _EITHER = (0, 0), (1, 1), (0, 1)


def is_point(one: Interval | None) -> bool:
    """Whether there is one number only."""
    return one is not None and one[0] == one[1]


def _multiplied(a: Interval, b: Interval) -> Interval:
    ends = [x * y for x in a for y in b]
    return min(ends), max(ends)


def _divided(a: Interval, b: Interval) -> Interval | None:
    return (a[0] // b[0], a[1] // b[0]) if is_point(b) and b[0] > 0 else None


def _rest(a: Interval, b: Interval) -> Interval | None:
    if not is_point(b) or b[0] <= 0:
        return None
    width = b[0]
    return (a[0] % width, a[1] % width) if a[0] // width == a[1] // width else (0, width - 1)


def _not_negative(division: Callable[[Interval, Interval], Interval | None]) -> Any:
    """Division that rounds to zero is that which rounds down, where nothing is negative."""
    return lambda a, b: division(a, b) if a[0] >= 0 else None


def _less(a: Interval, b: Interval) -> Interval:
    return _TRUE if a[1] < b[0] else _FALSE if a[0] >= b[1] else _EITHER


def _equal(a: Interval, b: Interval) -> Interval:
    if a[1] < b[0] or b[1] < a[0]:
        return _FALSE
    return _TRUE if is_point(a) and a == b else _EITHER


def _opposite(a: Interval) -> Interval:
    return 1 - a[1], 1 - a[0]


def _of_points(operation: Callable[[int, int], int]) -> Any:
    def found(a: Interval, b: Interval) -> Interval | None:
        if not (is_point(a) and is_point(b)) or min(a[0], b[0]) < 0:
            return None
        number = operation(a[0], b[0])
        return number, number

    return found


_BINARY: dict[str, Callable[[Interval, Interval], Interval | None]] = {
    "Add": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "Sub": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "Mul": _multiplied,
    "FloorDiv": _divided,
    "FloorMod": _rest,
    "Div": _not_negative(_divided),
    "Mod": _not_negative(_rest),
    "Min": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    "Max": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
    "LT": _less,
    "GE": lambda a, b: _opposite(_less(a, b)),
    "GT": lambda a, b: _less(b, a),
    "LE": lambda a, b: _opposite(_less(b, a)),
    "EQ": _equal,
    "NE": lambda a, b: _opposite(_equal(a, b)),
    "LShift": _of_points(operator.lshift),
    "RShift": _of_points(operator.rshift),
    "BitwiseAnd": _of_points(operator.and_),
    "BitwiseOr": _of_points(operator.or_),
    "BitwiseXor": _of_points(operator.xor),
}


def unknown(_: Steps) -> Interval | None:
    """What is not known."""
    return None


class Numbers:
    """Reads expressions; `names` are what variables stand for that are not steps of loops."""

    def __init__(self) -> None:
        self.names: dict[Any, Number] = {}
        self.constants: set[int] = set()
        """The constants that were met."""
        self._variables: dict[Any, int] = {}

    def variable(self, var: Any) -> int:
        """What a variable or buffer is called."""
        return self._variables.setdefault(var, len(self._variables))

    def all_equal(self, pairs: Iterable[tuple[Any, Any]]) -> Number:
        """Whether the two expressions of each pair are equal."""
        found = _constant(1)
        for one, other in pairs:
            found = _both(found, _computed(_equal, self.number(one), self.number(other)), _FALSE)
        return found

    def number(self, node: Any) -> Number:
        """An expression."""
        if isinstance(node, int):
            return _constant(node)
        kind = nodes.expression_kind(node)
        if kind == "IntImm":
            self.constants.add(int(node.value))
            return _constant(int(node.value))
        if kind == "Var":
            return self.names.get(node) or _variable(self.variable(node))
        if kind in ("And", "Or"):
            return _both(self.number(node.a), self.number(node.b), _FALSE if kind == "And" else _TRUE)
        if kind in _BINARY:
            bits = nodes.bit_operation(node) if nodes.is_call(node) else None
            one = bits or node
            return _computed(_BINARY[kind], self.number(one.a), self.number(one.b))
        if kind == "Not":
            return _computed(lambda a, _: _opposite(a), self.number(node.a), _constant(0))
        if kind == "Cast":
            return self.number(node.value) if _is_integer(node) and _is_integer(node.value) else unknown
        if kind == "Select":
            return _chosen(*map(self.number, nodes.parts_of_choice(node)))
        hinted = nodes.without_hint(node)
        return unknown if hinted is node else self.number(hinted)


def _is_integer(node: Any) -> bool:
    return str(node.ty.dtype).startswith(("int", "uint", "bool"))


def _constant(value: int) -> Number:
    found = (value, value)
    return lambda _: found


def _variable(name: int) -> Number:
    return lambda steps: steps.get(name)


def _computed(
    operation: Callable[[Interval, Interval], Interval | None], one: Number, other: Number
) -> Number:
    def found(steps: Steps) -> Interval | None:
        a, b = one(steps), other(steps)
        return None if a is None or b is None else operation(a, b)

    return found


def _both(one: Number, other: Number, decisive: Interval) -> Number:
    """Of two conditions one that is `decisive` tells, whatever the other is."""

    def found(steps: Steps) -> Interval | None:
        a, b = one(steps), other(steps)
        if decisive in (a, b):
            return decisive
        if a is None or b is None:
            return None
        return _EITHER if _EITHER in (a, b) else _opposite(decisive)

    return found


def _chosen(condition: Number, one: Number, other: Number) -> Number:
    def found(steps: Steps) -> Interval | None:
        holds = condition(steps)
        if holds is not None and is_point(holds):
            return one(steps) if holds[0] else other(steps)
        a, b = one(steps), other(steps)
        return None if a is None or b is None else (min(a[0], b[0]), max(a[1], b[1]))

    return found
