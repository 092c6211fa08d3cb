"""When the steps of a loop that store to one element store the same value.

The steps of `for i in T.parallel(4): y[0] = i // n` do from `n == 4` on, those of `y[0] = i * n` if `n` is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from operator import add, mul, sub, truediv
from typing import Any

import tvm

from relax_lint.model.kernel_inside.walk import Loop, key_of
from relax_lint.vm import comparing, nodes, versions
from relax_lint.vm.nodes import children_of, is_call, is_plain_call

_EXACT_BITS = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}
"""How many bits of an integer a float holds."""
_EXPONENT = {"float16": 15, "bfloat16": 127, "float32": 127, "float64": 1023}
"""The largest power of two of a float; what is below the reciprocal of half of it may become 0."""
_COMPUTED: dict[str, Callable[[Any, Any], Any]] = {
    "Add": add,
    "Sub": sub,
    "Mul": mul,
    "Div": truediv,
    "Max": max,
    "Min": min,
}


class _Part(Enum):
    """What becomes of an integer that names the loop in a value with loads."""

    PLACE = "it tells the place of a load"
    KEPT = "another number makes another value"
    LOST = "another number may make the same value"


@dataclass(frozen=True)
class Same:
    """The steps store the same only where the `differences` are 0, and exactly there if it is `exact`."""

    differences: tuple[Any, ...] = ()
    exact: bool = False


def when_same(value: Any, loop: Loop, loops: Sequence[Loop], bound: Sequence[tuple[Any, Any]]) -> Same | None:
    """When a value that names a loop is the same in all steps; None where two of them differ in any case.
    `loops` are those around the store, none of which is a `while` loop or has steps of more than one; `bound`
    are variables that stand for other values. What buffers hold at different places counts as different.
    """
    try:
        return _Steps(loop, loops).compared(_simplified(value, loops, bound))
    except Exception:
        # TVM's bound arithmetic raises InternalError on sums of huge bounds.
        return Same()


def when_neutral(
    value: Any, number: int, loop: Loop, loops: Sequence[Loop], bound: Sequence[tuple[Any, Any]]
) -> Same | None:
    """When a value is a number in all steps; None where it is not in any case."""
    try:
        return _Steps(loop, loops).are(_simplified(value, loops, bound), number)
    except Exception:
        # As above.
        return Same()


def is_same_at_first(value: Any, loop: Loop, loops: Sequence[Loop], bound: Sequence[tuple[Any, Any]]) -> bool:
    """Whether a value plainly is the same in the first two steps of a loop, all others being in one step."""
    if any(is_call(node) and not is_plain_call(node) for node in nodes.nodes_of(value)):
        return False
    try:
        return _Steps(loop, loops).are_alike_at_first(_simplified(value, loops, bound))
    except Exception:
        # As above.
        return False


def _simplified(value: Any, loops: Sequence[Loop], bound: Sequence[tuple[Any, Any]]) -> Any:
    """A value for the steps of some loops, with others in the place of variables."""
    return _analyzer(loops, bound).simplify(value)


def _analyzer(loops: Sequence[Loop], bound: Sequence[tuple[Any, Any]]) -> Any:
    analyzer = versions.arithmetic().Analyzer()
    for one in loops:
        analyzer.bind(one.var, tvm.ir.Range.from_min_extent(one.first, one.extent))
    for var, meant in bound:
        analyzer.bind(var, meant)
    return analyzer


class _Steps:
    """Compares what the steps of one loop make of an expression."""

    def __init__(self, loop: Loop, loops: Sequence[Loop]) -> None:
        self._loop = loop
        self._loops = loops
        self._others = [one for one in loops if one is not loop]

    def compared(self, value: Any) -> Same | None:
        """When the value is the same in all steps."""
        if any(nodes.is_load(node) for node in nodes.nodes_of(value)):
            # What is made of what places hold may be anything, but is something else where they are others.
            parts = list(self._varying(value))
            several = len(parts) > 1 and not any(kind is _Part.PLACE for _, kind in parts)
            sure = [] if several else [part for part, kind in parts if kind is not _Part.LOST]
            return None if None in map(self._integer, sure) else Same()
        if self._numbers_differ(value):
            return None
        inner, dtypes = value, list[str]()
        while type(inner).__name__ == "Cast" and _is_integer(inner.value):
            dtypes.append(str(inner.ty.dtype))
            inner = inner.value
        return self._integer(inner, dtypes) if _is_integer(inner) else Same()

    def are_alike_at_first(self, value: Any) -> bool:
        """Whether a value plainly is the same in the first two steps."""
        first, second = self._at(value, 0), self._at(value, 1)
        if comparing.structural_equal(first, second):
            return True
        if not _is_integer(value):
            return False
        difference = self._simplified(second - first)
        return type(difference).__name__ == "IntImm" and int(difference) == 0

    def are(self, value: Any, number: int) -> Same | None:
        """When the value is the number in all steps."""
        first = self._at(value, 0)
        if type(first).__name__ in ("FloatImm", "IntImm") and float(first.value) != number:
            return None
        same, inner = self.compared(value), first
        while type(inner).__name__ == "Cast" and _is_integer(inner.value):
            inner = inner.value
        if same is None or not _is_integer(inner):
            return same and Same()
        difference = self._simplified(inner - tvm.tirx.IntImm(str(inner.ty.dtype), number))
        return Same((*same.differences, difference), same.exact and (inner is first or not _narrows(first)))

    def _varying(self, value: Any, *, is_lost: bool = False) -> Iterator[tuple[Any, _Part]]:
        """The integers in a value that name the loop, and what becomes of them; without those that count only
        where a condition holds.
        """
        if nodes.is_load(value):
            yield from ((index, _Part.PLACE) for index in value.indices if self._changes(index))
        elif not _is_choice(value) and self._changes(value):
            if _is_integer(value) and not any(nodes.is_load(node) for node in nodes.nodes_of(value)):
                yield value, _Part.LOST if is_lost else _Part.KEPT
            else:
                for child in children_of(value):
                    yield from self._varying(child, is_lost=is_lost or not _keeps_apart(value))

    def _integer(self, value: Any, dtypes: Sequence[str] = ()) -> Same | None:
        """When an integer is the same in all steps, cast to some types."""
        first, second, last = self._at(value, 0), self._at(value, 1), self._at_last(value)
        if not all(self._fits(each, dtype) for each in (first, second) for dtype in dtypes):
            return Same()
        found = [self._simplified(second - first)]
        if all(self._fits(last, dtype) for dtype in dtypes):
            found.append(self._simplified(last - first))
        if any(type(each).__name__ == "IntImm" and int(each) != 0 for each in found):
            return None
        return Same(tuple(found[:1]), exact=True) if self._is_even(value) else Same(tuple(found))

    def _is_even(self, value: Any) -> bool:
        """Whether an integer grows by the same amount in each step."""
        step = tvm.tirx.Var("step", str(self._loop.var.ty.dtype))
        after = self._with(value, step + self._number(1)) - self._with(value, step)
        return all(not _is(node, key_of(step)) for node in nodes.nodes_of(self._simplified(after)))

    def _numbers_differ(self, value: Any) -> bool:
        """Whether the first two steps make different numbers."""
        one, two = (self._number_of(value, step) for step in (0, 1))
        return one is not None and two is not None and abs(one[0] - two[0]) > one[1] + two[1]

    def _number_of(self, value: Any, step: int) -> tuple[float, float] | None:
        """What a step makes of a value, as exact arithmetic has it, and how far off it may be rounded; None
        where that is not known.
        """
        kind, dtype = type(value).__name__, str(value.ty.dtype)
        if kind == "Select":
            chosen = self._whole(value.condition, step)
            if chosen is None:
                return None
            return self._number_of(value.true_value if chosen else value.false_value, step)
        if dtype not in _EXACT_BITS:
            whole = self._whole(value, step)
            return None if whole is None else (whole, 0)
        if kind == "FloatImm":
            return _rounded(float(value.value), 0, dtype)
        operands = [value.value] if kind == "Cast" else [value.a, value.b] if kind in _COMPUTED else []
        known = [each for one in operands if (each := self._number_of(one, step)) is not None]
        if not known or len(known) < len(operands):
            return None
        if kind == "Cast":
            return _rounded(*known[0], dtype)
        (a, off_a), (b, off_b) = known
        off = off_a + off_b
        if kind == "Mul":
            off = abs(a) * off_b + abs(b) * off_a + off_a * off_b
        elif kind == "Div":
            if off_b or not b:
                return None
            off = off_a / abs(b)
        return _rounded(_COMPUTED[kind](a, b), off, dtype)

    def _whole(self, value: Any, step: int) -> int | None:
        """An integer, or 1 for true, that no float decides."""
        if not all(str(node.ty.dtype).startswith(("int", "uint", "bool")) for node in nodes.nodes_of(value)):
            return None
        found = self._at(value, step)
        return int(found.value) if type(found).__name__ == "IntImm" else None

    def _fits(self, value: Any, dtype: str) -> bool:
        """Whether a type holds each of the values of an integer."""
        bits = _EXACT_BITS.get(dtype)
        if bits is not None:
            low, high = -(1 << bits), 1 << bits
        elif dtype.startswith(("int", "uint")) and dtype.lstrip("uint").isdigit():
            wide = int(dtype.lstrip("uint"))
            low, high = (0, (1 << wide) - 1) if dtype[0] == "u" else (-(1 << wide - 1), (1 << wide - 1) - 1)
        else:
            return False
        found = _analyzer(self._loops, ()).const_int_bound(value)
        return low <= int(found.min_value) and int(found.max_value) <= high

    def _changes(self, value: Any) -> bool:
        return any(_is(node, self._loop.key) for node in nodes.nodes_of(value))

    def _at(self, value: Any, step: int) -> Any:
        return self._with(value, self._loop.first + self._number(step))

    def _at_last(self, value: Any) -> Any:
        return self._with(value, self._loop.first + self._loop.extent - self._number(1))

    def _with(self, value: Any, step: Any) -> Any:
        return _simplified(value, self._others, [(self._loop.var, step)])

    def _simplified(self, value: Any) -> Any:
        return _simplified(value, self._others, ())

    def _number(self, value: int) -> Any:
        return tvm.tirx.IntImm(str(self._loop.var.ty.dtype), value)


def _rounded(value: float, off: float, dtype: str) -> tuple[float, float] | None:
    """A number that is so far off at most, where a float of some type is made of it; None where that may be
    infinite.
    """
    bits, exponent = _EXACT_BITS[dtype], _EXPONENT[dtype]
    if not abs(value) + off < 2.0**exponent:
        return None
    if not off and value == int(value) and abs(value) <= 1 << bits:
        return value, 0
    return value, off + (abs(value) + off) * 2.0**-bits + 2.0 ** (1 - exponent)


def _is(node: Any, key: int) -> bool:
    return type(node).__name__ == "Var" and key_of(node) == key


def _narrows(value: Any) -> bool:
    """Whether a cast may make something else of an integer: not one to a float, which only rounds."""
    while type(value).__name__ == "Cast":
        if _is_integer(value):
            return True
        value = value.value
    return False


def _keeps_apart(value: Any) -> bool:
    """Whether an operation makes different numbers of different ones, whatever the other operand is that is
    no constant: a sum does, but as much of something as data says may be nothing.
    """
    kind = type(value).__name__
    if kind == "Cast":
        return _is_integer(value.value) and str(value.ty.dtype) in _EXACT_BITS
    if kind in ("Mul", "Div"):
        return any(nodes.is_kernel_constant(one) and float(one.value) != 0 for one in (value.a, value.b))
    return kind in ("Add", "Sub")


def _is_choice(value: Any) -> bool:
    """Whether a value is one of two, or says only which of two something is."""
    is_call = type(value).__name__ == "Call" and str(getattr(value.op, "name", "")).endswith("if_then_else")
    return is_call or type(value).__name__ == "Select" or str(value.ty.dtype) == "bool"


def _is_integer(value: Any) -> bool:
    dtype = str(value.ty.dtype)
    return dtype.startswith(("int", "uint"))
