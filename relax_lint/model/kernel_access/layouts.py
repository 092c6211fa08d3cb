"""Buffers as they lie in memory, and what an access of one must not do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import isfinite

from relax_lint.model.kernel_access.accesses import BufferRef
from relax_lint.model.kernel_access.atoms import Span
from relax_lint.model.kernel_access.outside import Claim
from relax_lint.model.kernel_access.polynomials import ONE, ZERO, Poly, constant
from relax_lint.support.lazy_dataclass import record

_INT32 = 2**31


@record(frozen=True, eq=False)
class Buffer:
    """A buffer. A window shows what its source has from `starts` on, its last axes those of the source; a
    `view` shows the memory of its source from `offset` elements on, with `strides`. One that is allocated has
    `strides` and an `offset` where it says so.
    """

    ref: BufferRef
    shape: tuple[Poly | None, ...]
    span: tuple[int | None, int | None] | None
    source: Buffer | None = None
    starts: tuple[Poly | None, ...] = ()
    view: bool = False
    offset: Poly | None = None
    strides: tuple[Poly | None, ...] = ()
    item: int = 0
    """Bits of an element."""
    is_compact: bool = True
    """Whether the memory of a parameter is in row-major order without gaps."""
    may_move: bool = False
    """Whether TVM allocates only the region that is used (`CompactBufferAllocation`): indices count from its
    start, and what was beyond the end may be inside.
    """


@record(frozen=True, eq=False)
class MemoryPointer:
    """A place in the memory of a buffer, so many of its elements behind the start; None: anywhere."""

    buffer: Buffer
    begin: Poly | None

    def counted(self, item: int) -> Poly | None:
        """How many elements of so many bits it is behind the start."""
        own = self.buffer.item
        if self.begin is None or self.begin == ZERO or own == item:
            return self.begin
        return self.begin.scale(own // item) if item and not own % item else None


def narrow_claims(wraps: Sequence[Poly]) -> list[Claim]:
    """What must not be: numbers beyond 32 bits."""
    return [
        (None, below, (-wrapped).shift(-_INT32 - 1) if below else wrapped.shift(-_INT32))
        for wrapped in wraps
        for below in (True, False)
    ]


def outside_claims(buffer: Buffer, indices: Sequence[Poly | None]) -> Iterator[Claim]:
    """What must not be: the indices of the buffer, and of those whose memory it shows, outside."""
    known = [index for index in indices if index is not None]
    for axis, (index, extent) in enumerate(zip(known, buffer.shape, strict=True)):
        assert extent is not None
        yield axis, True, (-index).shift(-1)
        yield axis, False, index - extent
    source = buffer.source
    if source is None:
        return
    if not buffer.view:
        inner = _in_source(buffer, known)
        if inner is not None:
            yield from outside_claims(source, inner)
        return
    flat, size = _flat(buffer, known), count_of(source.shape)
    if flat is not None and size is not None and buffer.item and source.item:
        yield from _outside_memory(buffer, flat, source, size)


def layout_claims(buffer: Buffer, indices: Sequence[Poly | None]) -> Iterator[Claim]:
    """What must not be where memory of the kernel's own is laid out by strides or begins at an offset. The
    first extent times the first stride is the number of elements allocated, unless TVM lays it out anew.
    """
    known = [index for index in indices if index is not None]
    source = buffer.source
    if source is not None and not buffer.view:
        inner = _in_source(buffer, known)
        if inner is not None:
            yield from layout_claims(source, inner)
        return
    memory = buffer if source is None else source
    if memory.ref.parameter is not None or (memory is not buffer and not memory.strides):
        return
    if memory is buffer and not buffer.strides and buffer.offset is None:
        return
    flat, size = _flat(buffer, known), allocated(memory)
    if flat is None or size is None:
        # Never shown: nobody knows where the element is.
        yield None, False, constant(0)
        return
    yield from _outside_memory(buffer, flat, memory, size)


def memory_claims(buffer: Buffer, indices: Sequence[Poly | None]) -> Iterator[Claim]:
    """What must not be: the element outside the memory, whatever the axes. None where that is not known."""
    known = [index for index in indices if index is not None]
    source = buffer.source
    if source is not None and not buffer.view:
        inner = _in_source(buffer, known)
        if inner is not None:
            yield from memory_claims(source, inner)
        return
    memory = buffer if source is None else source
    flat, size = _flat(buffer, known), allocated(memory)
    if (
        flat is None
        or size is None
        or memory.may_move
        or not (memory.is_compact and buffer.item and memory.item)
    ):
        return
    yield from _outside_memory(buffer, flat, memory, size)


def _outside_memory(buffer: Buffer, flat: Poly, memory: Buffer, size: Poly) -> Iterator[Claim]:
    """What must not be: element `flat` of a buffer before or behind the `size` elements of its memory."""
    yield None, True, (-flat).shift(-1)
    yield None, False, flat.shift(1).scale(buffer.item) - size.scale(memory.item).shift(1)


def position_claims(buffer: Buffer, position: Poly) -> Iterator[Claim]:
    """What must not be: an element so many behind the start of the memory outside of it. None where that is
    not known.
    """
    memory = memory_of(buffer)
    size = allocated(memory)
    if size is not None and memory.is_compact and buffer.item and memory.item:
        yield from _outside_memory(buffer, position, memory, size)


def range_claims(buffer: Buffer, first: Poly, count: Poly, item: int) -> Iterator[Claim]:
    """What must not be: so many elements of `item` bits, from so many behind the start of the memory on,
    outside of it.
    """
    memory = memory_of(buffer)
    size = allocated(memory)
    if size is not None and item and memory.item:
        yield None, True, (-first).shift(-1)
        yield None, False, ((first + count).scale(item) - size.scale(memory.item)).shift(-1)


def start_of(window: Buffer) -> Poly | None:
    """The position of the first element of a window in its memory."""
    return position_of(window, [ZERO] * len(window.shape))


def position_of(buffer: Buffer, indices: Sequence[Poly]) -> Poly | None:
    """The position of an element in its memory, in elements of the buffer."""
    found: list[Poly] | None = [*indices]
    while buffer.source is not None and not buffer.view and found is not None:
        found = _in_source(buffer, found)
        buffer = buffer.source
    return None if found is None else _flat(buffer, found)


def is_leading(buffer: Buffer, ends: Iterable[tuple[int | None, bool]]) -> bool:
    """Whether leaving these axes only, each perhaps `below`, is leaving the memory."""
    left = tuple(ends)
    if memory_of(buffer).may_move and not all(below for _, below in left):
        return False
    is_plain = buffer.source is None and not buffer.strides and buffer.offset is None
    return {axis for axis, _ in left} <= ({None, 0} if is_plain else {None})


def _in_source(window: Buffer, indices: Sequence[Poly]) -> list[Poly] | None:
    """The indices of a window in its source."""
    starts = [start for start in window.starts if start is not None]
    if len(starts) != len(window.starts):
        return None
    lead = len(starts) - len(indices)
    return [*starts[:lead], *(start + index for start, index in zip(starts[lead:], indices, strict=True))]


def allocated(buffer: Buffer) -> Poly | None:
    """The number of elements that are allocated for a buffer."""
    if not buffer.strides:
        return count_of(buffer.shape)
    extent, stride = buffer.shape[0], buffer.strides[0]
    return None if extent is None or stride is None else extent * stride


def count_of(shape: Sequence[Poly | None]) -> Poly | None:
    """The number of elements."""
    found = ONE
    for extent in shape:
        if extent is None:
            return None
        found = found * extent
    return found


def _flat(buffer: Buffer, indices: Sequence[Poly]) -> Poly | None:
    """The position of an element in the memory of a view, in its own elements."""
    if buffer.offset is None:
        if buffer.view:
            return None
        position = constant(0)
    else:
        position = buffer.offset
    if buffer.strides:
        for index, stride in zip(indices, buffer.strides, strict=True):
            if stride is None:
                return None
            position = position + index * stride
        return position
    flat = constant(0)
    for index, extent in zip(indices, buffer.shape, strict=True):
        if extent is None:
            return None
        flat = flat * extent + index
    return position + flat


def memory_of(buffer: Buffer) -> Buffer:
    """The buffer whose memory one shows: itself, or what it is a window or view of."""
    return buffer if buffer.source is None else memory_of(buffer.source)


def unreadable(buffer: Buffer, indices: tuple[Poly | None, ...]) -> str:
    """Why nothing can be said of an access with these indices, if so."""
    if len(indices) != len(buffer.shape):
        return "it has another number of indices than its buffer has axes"
    for axis, (index, extent) in enumerate(zip(indices, buffer.shape, strict=True)):
        if index is None:
            return f"its index of axis {axis} is not an integer expression that can be read"
        if extent is None:
            return f"extent {axis} of its buffer is not an integer expression that can be read"
    return "" if _is_placed(buffer) else "what its buffer shows begins at a place that cannot be read"


def _is_placed(buffer: Buffer) -> bool:
    """Whether it is known which part of its memory a buffer shows."""
    source = buffer.source
    if source is None:
        return True
    if not buffer.view:
        return None not in buffer.starts and _is_placed(source)
    sizes = (*buffer.shape, *buffer.strides, *source.shape, buffer.offset)
    return None not in sizes and bool(buffer.item and source.item)


def narrowed(span: Span, learned: tuple[float, float] | None) -> Span:
    """A range and what was learned of it."""
    if learned is None:
        return span
    low, high = (int(end) if isfinite(end) else None for end in learned)
    return low if low is not None else span[0], high if high is not None else span[1]
