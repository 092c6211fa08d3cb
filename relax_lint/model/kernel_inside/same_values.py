"""When the steps of a loop that store to one element store the same value.

The steps of `for i in T.parallel(4): y[0] = i // n` do from `n == 4` on, those of `y[0] = i * n` if `n` is 0.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import tvm

from relax_lint.model.kernel_inside.walk import Loop, children_of, key_of
from relax_lint.vm import nodes, versions

_EXACT_BITS = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}
"""How many bits of an integer a float holds."""
_FORMATS = {"float16": "e", "float32": "f", "float64": "d"}


@dataclass(frozen=True)
class Same:
    """The steps store the same only where the `differences` are 0, and exactly there if it is `exact`."""

    differences: tuple[Any, ...] = ()
    exact: bool = False


def when_same(value: Any, loop: Loop, loops: Sequence[Loop], bound: Sequence[tuple[Any, Any]]) -> Same | None:
    """When a value that names a loop is the same in all steps; None where two of them differ in any case.
    `loops` are those around the store, `bound` variables that stand for other values. What buffers hold at
    different places counts as different.
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


def _simplified(value: Any, loops: Sequence[Loop], bound: Sequence[tuple[Any, Any]]) -> Any:
    """A value for the steps of some loops, with others in the place of variables."""
    return _analyzer(loops, bound).simplify(value)


def _analyzer(loops: Sequence[Loop], bound: Sequence[tuple[Any, Any]]) -> Any:
    analyzer = versions.arithmetic().Analyzer()
    for one in loops:
        if one.var is not None and one.step is None and one.extent is not None:
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
        loads = [node for node in _nodes(value) if nodes.is_load(node)]
        if loads:
            indices = [index for load in loads for index in load.indices[:] if self._changes(index)]
            # Nothing but the places may change; what is made of what they hold may be anything.
            compared = [self._integer(index) for index in indices]
            return None if not indices or None in compared else Same()
        if self._numbers_differ(value):
            return None
        inner, dtypes = value, list[str]()
        while type(inner).__name__ == "Cast" and _is_integer(inner.value):
            dtypes.append(str(inner.ty.dtype))
            inner = inner.value
        return self._integer(inner, dtypes) if _is_integer(inner) else Same()

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
        return all(not _is(node, key_of(step)) for node in _nodes(self._simplified(after)))

    def _numbers_differ(self, value: Any) -> bool:
        """Whether the first two steps make different numbers."""
        one, two = (_stored(self._at(value, step)) for step in (0, 1))
        return one is not None and two is not None and one != two

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
        return any(_is(node, self._loop.key) for node in _nodes(value))

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


def _stored(value: Any) -> int | bytes | None:
    """What memory holds of a number: TVM keeps more of a float than its type does. None where it is not
    known.
    """
    if type(value).__name__ == "IntImm":
        return int(value.value)
    layout = _FORMATS.get(str(value.ty.dtype))
    if type(value).__name__ != "FloatImm" or layout is None:
        return None
    try:
        # 0 and -0 are alike.
        return struct.pack(layout, float(value.value) + 0.0)
    except OverflowError:
        return None


def _is(node: Any, key: int) -> bool:
    return type(node).__name__ == "Var" and key_of(node) == key


def _narrows(value: Any) -> bool:
    """Whether a cast may make something else of an integer: not one to a float, which only rounds."""
    while type(value).__name__ == "Cast":
        if _is_integer(value):
            return True
        value = value.value
    return False


def _is_integer(value: Any) -> bool:
    dtype = str(value.ty.dtype)
    return dtype.startswith(("int", "uint"))


def _nodes(value: Any) -> Iterator[Any]:
    """An expression and all that it is made of."""
    if isinstance(value, (int, float, str)):
        return
    yield value
    for child in children_of(value):
        yield from _nodes(child)
