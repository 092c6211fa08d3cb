"""Whether several writes, each of a part of a tensor, together reach all that is read of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, permutations

import sympy
from sympy.logic.boolalg import Boolean

from relax_lint.analysis.events import Mending, Reading
from relax_lint.analysis.flow import FunctionFlow
from relax_lint.analysis.kernel_operands import operand_types
from relax_lint.analysis.overlaps import ByteRange
from relax_lint.analysis.partial_results import partial_results
from relax_lint.facts.kernel_entry import bind
from relax_lint.model.kernel_body.fills import merged
from relax_lint.model.kernel_body.loops import Loops
from relax_lint.model.kernel_parts import Fill, Repeat
from relax_lint.model.kernels import BufferParameter, Kernel
from relax_lint.model.operations import KernelCall, ValueId
from relax_lint.model.types import DType
from relax_lint.symbolic.quantity import Unknown
from relax_lint.symbolic.relations import at_most

_MOST_BLOCKS = 3
"""So many parts that are each in a row are looked at together."""


def reach_together(mended: Sequence[Mending], reading: Reading, flow: FunctionFlow) -> Boolean:
    """When several writes, each of a part of a tensor, have together written all bytes that are read; false
    where that cannot be stated.
    """
    wanted = _wanted(reading, flow)
    is_one = len(mended) == 1 and not mended[0].branches
    if not wanted or (is_one and _is_all(wanted, reading, flow)):
        return sympy.false
    return _reached(mended, wanted, reading.value, flow)


def reads_all(reading: Reading, flow: FunctionFlow) -> bool:
    """Whether it is not known that a part of the tensor is not read."""
    return _is_all(_wanted(reading, flow), reading, flow)


def _is_all(wanted: Sequence[Fill], reading: Reading, flow: FunctionFlow) -> bool:
    (root, *more) = sorted(flow.aliases.roots_of(reading.value))
    tensor = reading.value if more or root not in flow.function.values else root
    everything = _all_of(tensor, reading.value, flow)
    return not wanted or all(_are_among(one, wanted) == sympy.true for one in everything)


def reads_elsewhere(reading: Reading, written: Sequence[ByteRange], flow: FunctionFlow) -> Boolean:
    """When nothing that is read of a tensor lies among bytes that were written; false where that cannot be
    stated, or all of it is read.
    """
    root, *more = sorted(flow.aliases.roots_of(reading.value))
    wanted, everything = _wanted(reading, flow), _all_of(reading.value, reading.value, flow)
    if more or root not in flow.function.values or not wanted or set(everything) <= set(wanted):
        return sympy.false
    begin = flow.memory.range(root).start
    if isinstance(begin, Unknown):
        return sympy.false
    apart = []
    for part in wanted:
        # From the first byte to the last one: what lies between is taken to be read, too.
        steps = sympy.Add(*(one.distance * (one.trips - 1) for one in part.repeats))
        read = ByteRange(sympy.expand(begin + part.start), sympy.expand(part.block + steps))
        apart += [one.disjoint(read) for one in written]
    stated = [one for one in apart if not isinstance(one, Unknown)]
    return sympy.And(*stated) if len(stated) == len(apart) else sympy.false


def has_parts_by_size(call: KernelCall, position: int | None, flow: FunctionFlow) -> bool:
    """Whether it depends on the sizes of what a kernel is given which parts of an argument it fills, or
    (None) which parts it loads of any.
    """
    kernel = flow.effects.kernel_of(call)
    if kernel is None:
        return False
    loaded = [fill for fills in kernel.parts.loaded.values() for fill in fills]
    fills = loaded if position is None else kernel.parts.stored.get(position, ())
    return any(_symbols_of(fill) for fill in fills)


def _symbols_of(fill: Fill) -> set[sympy.Basic]:
    repeats = [expr for one in fill.repeats for expr in (one.distance, one.trips)]
    exprs = (fill.start, fill.block, fill.steps, *repeats)
    return set[sympy.Basic]().union(*(expr.free_symbols for expr in exprs))


def whole_write(mending: Mending, flow: FunctionFlow) -> Boolean:
    """When a write reaches all of the value that it is to, in the symbols of the function."""
    call, position = mending.op, mending.position
    if mending.whole:
        return sympy.true
    if not isinstance(call, KernelCall) or position is None:
        return sympy.false
    condition = flow.effect_of(call).whole.get(position, sympy.false)
    kernel = flow.effects.kernel_of(call)
    if kernel is None:
        partial = partial_results(call, flow.function)
        return partial.get(position - len(call.arguments), condition)
    bound = bind(kernel, operand_types(call, flow.function))
    known = condition.free_symbols <= bound.values.keys()
    return condition.xreplace(bound.values) if known else sympy.false


def _reached(mended: Sequence[Mending], wanted: Sequence[Fill], read: ValueId, flow: FunctionFlow) -> Boolean:
    always = [one for one in mended if not one.branches]
    written = [part for one in always for part in _stored(one, read, flow)]
    found = sympy.And(*(_are_among(part, written) for part in wanted))
    for one in mended if found != sympy.true else ():
        if one.branches:
            ways = (_reached((*always, *branch), wanted, read, flow) for branch in one.branches)
            found = sympy.Or(found, sympy.And(*ways))
    return found


def _stored(mending: Mending, read: ValueId, flow: FunctionFlow) -> Iterator[Fill]:
    """The bytes of a tensor that a write is certain to fill."""
    call, position, value = mending.op, mending.position, mending.value
    start = _start(value, read, flow)
    if start is None or mending.presumed is not None:
        return
    length = _length(value, flow) if whole_write(mending, flow) == sympy.true else None
    if length is not None:
        yield Fill(start, length, ())
    kernel = flow.effects.kernel_of(call) if isinstance(call, KernelCall) else None
    if kernel is not None and isinstance(call, KernelCall) and position is not None:
        fills = kernel.parts.stored.get(position, ())
        yield from _bound(kernel, call, position, fills, flow, start)


def _wanted(reading: Reading, flow: FunctionFlow) -> list[Fill]:
    """The bytes of a tensor that are read at most; none where that is not known."""
    call, roots = reading.op, flow.aliases.roots_of(reading.value)
    kernel = flow.effects.kernel_of(call) if isinstance(call, KernelCall) else None
    if kernel is None or not isinstance(call, KernelCall):
        return _all_of(reading.value, reading.value, flow)
    found: list[Fill] = []
    for position, argument in enumerate(call.arguments):
        if position not in kernel.reads or roots.isdisjoint(flow.aliases.roots_of(argument)):
            continue
        start, loaded = _start(argument, reading.value, flow), kernel.parts.loaded.get(position, ())
        parts = [] if start is None else list(_bound(kernel, call, position, loaded, flow, start))
        if not parts or len(parts) < len(loaded):
            parts = _all_of(argument, reading.value, flow)
        if not parts:
            return []
        found += parts
    return found


def _all_of(value: ValueId, read: ValueId, flow: FunctionFlow) -> list[Fill]:
    """All bytes of a value."""
    start, length = _start(value, read, flow), _length(value, flow)
    return [] if start is None or length is None else [Fill(start, length, ())]


def _length(value: ValueId, flow: FunctionFlow) -> sympy.Expr | None:
    length = flow.memory.range(value).length if value in flow.function.values else None
    return None if isinstance(length, Unknown) else length


def _start(value: ValueId, read: ValueId, flow: FunctionFlow) -> sympy.Expr | None:
    """The first byte of a value, counted from where the tensor begins that is read."""
    # One tensor of several that a call returns is no value of its own.
    known, roots = flow.function.values, flow.aliases.roots_of(read)
    (root, *more) = sorted(roots)
    if more or roots != (flow.aliases.roots_of(value) if value in known else {value}):
        return None
    if value not in flow.aliases.windows:
        return sympy.Integer(0)
    begin = flow.memory.range(root).start if root in known else sympy.Integer(0)
    start = flow.memory.range(value).start
    return None if isinstance(begin, Unknown) or isinstance(start, Unknown) else sympy.expand(start - begin)


def _bound(
    kernel: Kernel,
    call: KernelCall,
    position: int,
    fills: Iterable[Fill],
    flow: FunctionFlow,
    start: sympy.Expr,
) -> Iterator[Fill]:
    """Parts of an argument, which begins at `start`, in bytes and in the symbols of the caller; no part that
    is not known there.
    """
    parameter = kernel.parameters[position]
    dtype = parameter.dtype if isinstance(parameter, BufferParameter) else None
    if not isinstance(dtype, DType) or dtype.bits % 8:
        return
    values = bind(kernel, operand_types(call, flow.function)).values
    for fill in fills:
        sizes = [size for repeat in fill.repeats for size in (repeat.distance, repeat.trips)]
        if all(one.free_symbols <= values.keys() for one in (fill.start, fill.block, fill.steps, *sizes)):
            yield _in_bytes(fill, values, dtype.storage_bytes, start)


def _in_bytes(fill: Fill, values: Mapping[sympy.Symbol, sympy.Expr], width: int, start: sympy.Expr) -> Fill:
    def bound(expr: sympy.Expr) -> sympy.Expr:
        return sympy.expand(expr.xreplace(values))

    repeats = tuple(Repeat(bound(width * one.distance), bound(one.trips)) for one in fill.repeats)
    first = sympy.expand(start + bound(width * fill.start))
    return Fill(first, bound(width * fill.block), repeats, fill.steps.xreplace(values))


def _are_among(wanted: Fill, written: Sequence[Fill]) -> Boolean:
    """When all bytes are among those that were written."""
    several = merged(written, Loops())
    blocks = list(_overlapping([one for one in several if not one.repeats]))[:_MOST_BLOCKS]
    rows = (
        row
        for count in range(1, len(blocks) + 1)
        for row in permutations(blocks, count)
        if _is_increasing(row)
    )
    alike = (one for one in several if one.repeats)
    return sympy.Or(
        *(_is_in_a_row(wanted, row) for row in rows),
        *(_is_in_each_step(wanted, one) for one in alike),
    )


def _overlapping(blocks: Sequence[Fill]) -> Iterator[Fill]:
    """The same bytes, with one block for those of known numbers that overlap."""
    known = [
        one for one in blocks if one.steps == sympy.true and one.start.is_Integer and one.block.is_Integer
    ]
    yield from (one for one in blocks if one not in known)
    begin = end = None
    for one in sorted(known, key=lambda one: one.start):
        if end is None or one.start > end:
            if end is not None:
                yield Fill(begin, end - begin, ())
            begin, end = one.start, one.start + one.block
        end = max(end, one.start + one.block)
    if end is not None:
        yield Fill(begin, end - begin, ())


def _is_in_a_row(wanted: Fill, row: Sequence[Fill]) -> Boolean:
    """When bytes lie in blocks each of which begins at the end of the one before, or earlier."""
    steps = [one.distance * (one.trips - 1) for one in wanted.repeats]
    end = sympy.expand(wanted.start + wanted.block + sympy.Add(*steps))
    ends = [one.start + one.block for one in row]
    return sympy.And(
        at_most(row[0].start, wanted.start),
        *(at_most(later.start, before) for later, before in zip(row[1:], ends, strict=False)),
        at_most(end, ends[-1]),
        *(one.steps for one in row),
    )


def _is_increasing(row: Sequence[Fill]) -> bool:
    """Whether nothing is known against it that blocks begin one behind the other."""
    return all(not (b.start - a.start).is_negative for a, b in pairwise(row))


def _is_in_each_step(wanted: Fill, written: Fill) -> Boolean:
    """When blocks lie in those of as many steps of equal distances."""
    if len(wanted.repeats) != len(written.repeats):
        return sympy.false
    pairs = [
        (mine, next((its for its in written.repeats if its.distance == mine.distance), None))
        for mine in wanted.repeats
    ]
    if len({its for _, its in pairs}) < len(pairs):
        return sympy.false
    return sympy.And(
        *(sympy.false if its is None else at_most(mine.trips, its.trips) for mine, its in pairs),
        at_most(written.start, wanted.start),
        at_most(wanted.start + wanted.block, written.start + written.block),
        written.steps,
    )
