"""Whether steps of a loop that store to one element may leave another value there than one step alone.

The steps of `for i in T.parallel(16): y[0] = i // 16` all store 0, and however many of them make
`y[0] = T.max(y[0], x[0])`, in whatever order, the same is left.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import tvm

from relax_lint.model.kernel_inside.walk import Loop, key_of
from relax_lint.vm import nodes, versions
from relax_lint.vm.nodes import is_call, is_plain_call

_NEUTRAL = {"Add": (0,), "Sub": (0,), "Mul": (0, 1)}
_IDEMPOTENT = frozenset(("Max", "Min", "And", "Or", "BitwiseAnd", "BitwiseOr"))


def changes(value: Any, loop: Loop, loops: Sequence[Loop], bound: Sequence[tuple[Any, Any]]) -> bool:
    """Whether a value that names a loop plainly changes with its steps; `bound` are variables that stand for
    other values.
    """
    if any(is_call(node) and not is_plain_call(node) for node in nodes.nodes_of(value)):
        return False
    analyzer = versions.arithmetic().Analyzer()
    try:
        if type(loop.extent).__name__ == "Var":
            # Two steps are the fewest that can be in each other's way.
            analyzer.bind(loop.extent, tvm.tirx.IntImm(loop.extent.ty.dtype, 2))
        for one in loops:
            if one.var is not None and one.step is None:
                analyzer.bind(one.var, _steps(one))
        for var, meant in bound:
            analyzer.bind(var, meant)
        simpler = analyzer.simplify(value)
    except Exception:
        # TVM's bound arithmetic raises InternalError on sums of huge bounds. In doubt nothing is said.
        return False
    return any(type(node).__name__ == "Var" and key_of(node) == loop.key for node in nodes.nodes_of(simpler))


def repeats(value: Any, element: Any, stored: Collection[int]) -> bool:
    """Whether a second store of a value made of the element itself leaves what the first one did. `stored`
    are the buffers that the kernel stores to.
    """
    if nodes.is_load(value):
        return same_element(value, element)
    if nodes.expression_kind(value) not in _IDEMPOTENT:
        return False
    sides = value.args if is_call(value) else (value.a, value.b)
    return any(
        repeats(side, element, stored) and not _looks_at(other, stored)
        for side, other in ((sides[0], sides[1]), (sides[1], sides[0]))
    )


def neutral(value: Any, element: Any) -> tuple[Any, tuple[int, ...]] | None:
    """What a value that is made of the element itself adds to it or multiplies it with, and the numbers of
    which any leaves the same however many steps store it; None for any other value, and where that is made
    of contents.
    """
    kind = nodes.expression_kind(value)
    pairs = ((value.a, value.b), (value.b, value.a)) if kind in _NEUTRAL else ()
    for own, other in pairs[:1] if kind == "Sub" else pairs:
        if _is_element(own, element) and not _has_loads(other):
            return other, _NEUTRAL[kind]
    return None


def may_keep(value: Any, element: Any) -> bool:
    """Whether a value is the element itself on one side of a condition that is not about contents."""
    if nodes.expression_kind(value) != "Select":
        return False
    condition, *sides = (
        value.args if is_call(value) else (value.condition, value.true_value, value.false_value)
    )
    return not _has_loads(condition) and any(_is_element(side, element) for side in sides)


def _is_element(value: Any, element: Any) -> bool:
    return nodes.is_load(value) and same_element(value, element)


def _has_loads(value: Any) -> bool:
    return any(map(nodes.is_load, nodes.nodes_of(value)))


def same_element(load: Any, store: Any) -> bool:
    """Whether a load plainly is from the element that a store stores to."""
    if key_of(nodes.loaded_buffer(load)) != key_of(store.buffer) or len(load.indices) != len(store.indices):
        return False
    return all(str(a) == str(b) for a, b in zip(load.indices, store.indices, strict=True))


def _steps(loop: Loop) -> Any:
    if isinstance(loop.first, int):
        return tvm.ir.Range(loop.extent)
    return tvm.ir.Range.from_min_extent(loop.first, loop.extent)


def _looks_at(value: Any, buffers: Collection[int]) -> bool:
    return any(
        nodes.is_load(node) and key_of(nodes.loaded_buffer(node)) in buffers for node in nodes.nodes_of(value)
    )
