"""Integer expressions of a kernel as functions of the steps of its loops: between which numbers they lie.

The numbers may grow with sizes that are left open: what is said then holds for each of these sizes.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeAlias

from relax_lint.model.kernel_body.growing import Growing, NotOrdered, Whole, divided, greatest, least
from relax_lint.vm import nodes

Interval: TypeAlias = "tuple[Whole, Whole]"
"""The least and the greatest of some integers."""
Steps: TypeAlias = "Mapping[int, Interval | None]"
"""Between which numbers each variable lies; None where that is not known."""
Number: TypeAlias = "Callable[[Steps], Interval | None]"
"""Between which numbers an expression lies; None where it looks at data, or that is not known."""

_FALSE, _TRUE, _EITHER = (0, 0), (1, 1), (0, 1)
_MOST_BITS = 64
_WIDE = 32
"""Of so many bits and more a size does not run out."""
_MAY_GROW = frozenset(("Add", "Sub", "Mul", "LShift", "Cast"))
"""What may have a value that its type does not hold."""


def is_point(one: Interval | None) -> bool:
    """Whether there is one number only."""
    return one is not None and one[0] == one[1]


def _multiplied(a: Interval, b: Interval) -> Interval:
    if a[0] >= 0 and b[0] >= 0:
        return a[0] * b[0], a[1] * b[1]
    ends = [x * y for x in a for y in b]
    return least(*ends), greatest(*ends)


def _divided(a: Interval, b: Interval) -> Interval | None:
    (low, high), (divisor, most) = a, b
    if not divisor > 0:
        return None
    if divisor == most:
        try:
            return divided(low, divisor)[0], divided(high, divisor)[1]
        except NotOrdered:
            pass
    return (0, high) if low >= 0 else None


def _rest(a: Interval, b: Interval) -> Interval | None:
    (low, high), (divisor, most) = a, b
    if not divisor > 0:
        return None
    if divisor == most:
        try:
            quotient, *others = (*divided(low, divisor), *divided(high, divisor))
            if all(other == quotient for other in others):
                return low - quotient * divisor, high - quotient * divisor
        except NotOrdered:
            pass
    return 0, high if low >= 0 and high < most else most - 1


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
        one, other = a[0], b[0]
        if not (is_point(a) and is_point(b)) or isinstance(one, Growing) or isinstance(other, Growing):
            return None
        if one < 0 or other < 0:
            return None
        number = operation(one, other)
        return number, number

    return found


def _shifted(number: int, bits: int) -> int:
    if bits > _MOST_BITS:
        raise NotOrdered
    return number << bits


_BINARY: dict[str, Callable[[Interval, Interval], Interval | None]] = {
    "Add": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "Sub": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "Mul": _multiplied,
    "FloorDiv": _divided,
    "FloorMod": _rest,
    "Div": _not_negative(_divided),
    "Mod": _not_negative(_rest),
    "Min": lambda a, b: (least(a[0], b[0]), least(a[1], b[1])),
    "Max": lambda a, b: (greatest(a[0], b[0]), greatest(a[1], b[1])),
    "LT": _less,
    "GE": lambda a, b: _opposite(_less(a, b)),
    "GT": lambda a, b: _less(b, a),
    "LE": lambda a, b: _opposite(_less(b, a)),
    "EQ": _equal,
    "NE": lambda a, b: _opposite(_equal(a, b)),
    "LShift": _of_points(_shifted),
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
        self._held: Mapping[tuple[Any, tuple[int, ...]], Number] = {}

    @contextmanager
    def holding(self, held: Mapping[tuple[Any, tuple[int, ...]], Number]) -> Iterator[None]:
        """Inside it is known what some elements of buffers hold."""
        self._held = held
        yield
        self._held = {}

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
        found = self._of_kind(node, kind)
        if kind in _MAY_GROW and found is not unknown:
            return _held_by(str(node.ty.dtype), found)
        return found

    def _of_kind(self, node: Any, kind: str) -> Number:
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
        if kind == "BufferLoad" and self._held:
            indices = nodes.integers(node.indices)
            return (
                unknown if indices is None else self._held.get((nodes.loaded_buffer(node), indices), unknown)
            )
        hinted = nodes.without_hint(node)
        return unknown if hinted is node else self.number(hinted)


def _is_integer(node: Any) -> bool:
    return str(node.ty.dtype).startswith(("int", "uint", "bool"))


def _held_by(dtype: str, number: Number) -> Number:
    """A number of a type; what the type does not hold is not known."""
    if dtype == "int64":
        return number
    unsigned, bits = dtype.startswith("uint"), dtype.lstrip("uint")
    if dtype == "bool":
        low, high, width = 0, 1, 1
    elif not bits.isdigit():
        return unknown
    else:
        width = int(bits)
        low, high = (0, 2**width - 1) if unsigned else (-(2 ** (width - 1)), 2 ** (width - 1) - 1)

    def found(steps: Steps) -> Interval | None:
        reached = number(steps)
        if reached is None:
            return None
        lowest, most = reached
        is_open = width >= _WIDE
        from_below = (is_open and not unsigned and isinstance(lowest, Growing)) or low <= lowest
        return reached if from_below and ((is_open and isinstance(most, Growing)) or most <= high) else None

    return found


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
        try:
            return None if a is None or b is None else operation(a, b)
        except NotOrdered:
            return None

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
        if holds is not None and holds[0] == holds[1]:
            return one(steps) if holds[0] else other(steps)
        a, b = one(steps), other(steps)
        try:
            return None if a is None or b is None else (least(a[0], b[0]), greatest(a[1], b[1]))
        except NotOrdered:
            return None

    return found
