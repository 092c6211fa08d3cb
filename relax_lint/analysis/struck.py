"""Which elements of a tensor a write has struck: what is damaged may be a part of what is read, and whoever
reads may look at another part.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import sympy

from relax_lint.analysis.certainty import Certainty
from relax_lint.analysis.observed_parts import Flow
from relax_lint.analysis.trial_sizes import Sizes, distance_at
from relax_lint.analysis.trial_tensors import TrialTensor, Unclear
from relax_lint.model.operations import FunctionCall, KernelCall, Op, ValueId
from relax_lint.model.types import TensorType, ValueType
from relax_lint.symbolic.quantity import Unknown

IsStruck: TypeAlias = "Callable[[int], bool]"
"""Whether an element was written over."""


def strikes_all(op: Op, written: ValueId, read: ValueId, flow: Flow) -> bool:
    """Whether an operation that writes one tensor for sure writes all that another one holds."""
    if written == read:
        return _is_whole(op, written, flow)
    one, other = flow.memory.range(written), flow.memory.range(read)
    if isinstance(one.start, Unknown) or isinstance(other.start, Unknown) or not _is_whole(op, written, flow):
        return False
    if isinstance(one.length, Unknown) or isinstance(other.length, Unknown):
        return False
    before, behind = other.start - one.start, one.start + one.length - other.start - other.length
    return bool((before >= 0) == sympy.true and (behind >= 0) == sympy.true)


def may_miss(op: Op, written: ValueId, read: ValueId, flow: Flow) -> bool:
    """Whether an operation that writes something of one tensor may write nothing of what another one holds,
    which has some bytes of it.
    """
    if read not in flow.aliases.windows or _is_whole(op, written, flow):
        return False
    one, other = flow.memory.range(written), flow.memory.range(read)
    if isinstance(one.start, Unknown) or isinstance(other.start, Unknown):
        return True
    if isinstance(one.length, Unknown) or isinstance(other.length, Unknown):
        return True
    # Where each begins, counted from the first byte of the one that is read.
    start, end = one.start - other.start, other.length
    if (start >= 0) == sympy.true and (start + one.length <= end) == sympy.true:
        return False
    kernel = flow.effects.kernel_of(op) if isinstance(op, KernelCall) else None
    if kernel is None or not isinstance(op, KernelCall):
        return True
    try:
        width = _width(flow.function.type_of(written))
    except Unclear:
        return True
    first_blocks = (
        (start + fill.start * width, fill.block * width)
        for position, fills in kernel.parts.stored.items()
        if position < len(op.arguments) and op.arguments[position] == written
        for fill in fills
        if fill.steps == sympy.true
    )
    return not any(
        (begin < end) == sympy.true and (begin + block > 0) == sympy.true and (block > 0) == sympy.true
        for begin, block in first_blocks
    )


def _is_whole(op: Op, written: ValueId, flow: Flow) -> bool:
    if isinstance(op, FunctionCall):
        summary = flow.summary_of(op)
        touched = () if summary is None else summary.touched(summary.writes)
        return any(
            certainty is Certainty.MUST and flow.aliases.leaf(path) == written for path, certainty in touched
        )
    if not isinstance(op, KernelCall):
        return True
    whole = flow.effect_of(op).whole
    return any(whole.get(at) == sympy.true for at, value in enumerate(op.arguments) if value == written)


def struck(
    op: Op,
    written: tuple[ValueId, ValueType, TrialTensor | None],
    read: tuple[ValueId, ValueType],
    sizes: Sizes,
    flow: Flow,
) -> IsStruck:
    """Which elements of a tensor that is read an operation wrote over, by the name `written` and with what it
    holds behind it (None: that is not known). Raises `Unclear` where that is not found out.
    """
    name, type_, held = written
    stored: set[int] | None = None
    if not _is_whole(op, name, flow):
        if held is None:
            raise Unclear
        stored = held.both[0].stored | held.both[0].chosen
    start = distance_at(flow.memory.range(name).start, flow.memory.range(read[0]).start, sizes)
    if start is None:
        raise Unclear
    width, own = _width(type_), _width(read[1])
    end = start + _count(type_) * width
    if stored is None:
        return lambda cell: cell * own < end and (cell + 1) * own > start
    bytes_ = {start + at * width + byte for at in stored for byte in range(width)}
    return lambda cell: any(byte in bytes_ for byte in range(cell * own, (cell + 1) * own))


def _width(type_: ValueType) -> int:
    """The bytes of one element."""
    if not isinstance(type_, TensorType) or type_.dtype is None or type_.dtype.bits * type_.dtype.lanes % 8:
        raise Unclear
    return type_.dtype.storage_bytes


def _count(type_: ValueType) -> int:
    shape = type_.shape if isinstance(type_, TensorType) else None
    if shape is None or not all(extent.is_Integer for extent in shape):
        raise Unclear
    return int(sympy.prod(shape))
