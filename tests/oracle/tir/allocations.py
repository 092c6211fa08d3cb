"""The buffers that kernels make: their own memory, and regions of others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tests.oracle.tir.expressions import Declined, Frame, buffer_of, key, value
from tests.oracle.tir.memory import Memory, View, compact_strides
from tests.oracle.tir.numbers import lanes_of

MAX_ELEMENTS = 100_000


def region(node: Any) -> Callable[[Frame], None]:
    """A buffer that is a region of another; its free extents, strides and offset are those of the region."""
    region, buffer = node.source, node.buffer
    source = key(region.source if hasattr(region, "source") else region.buffer)
    starts = [value(part.min) for part in region.region]
    extents = [value(part.extent) for part in region.region]
    number, name = key(buffer), str(buffer.name)

    def run(frame: Frame) -> None:
        view = buffer_of(frame, source)
        shape, strides = tuple([extent(frame) for extent in extents]), view.strides
        first = tuple([start(frame) for start in starts])
        offset = view.position(first)
        missing = len(shape) - len(buffer.shape)
        if missing < 0 or any(extent != 1 for extent in shape[:missing]):
            raise Declined("a region of another rank")
        shape, strides = shape[missing:], strides[missing:]
        _bind(frame, buffer.shape, shape)
        _bind(frame, buffer.strides, strides, again=True)
        _bind(frame, [buffer.elem_offset], [offset], again=True)
        frame.buffers[number] = View(
            name, view.memory, str(buffer.dtype), shape, strides, offset, view, first
        )

    return run


def _bind(frame: Frame, wanted: Sequence[Any], have: Sequence[int], *, again: bool = False) -> None:
    for one, number in zip(wanted, have, strict=False):
        if type(one).__name__ == "Var" and (again or key(one) not in frame.values):
            frame.values[key(one)] = number


def scope_of(buffer: Any) -> str:
    """The storage scope of a buffer."""
    return str(buffer.scope() if callable(buffer.scope) else buffer.scope)


def allocation(buffer: Any) -> Callable[[Frame], None]:
    extents = [value(extent) for extent in buffer.shape]
    strides = [value(stride) for stride in buffer.strides]
    offset = None if type(buffer.elem_offset).__name__ == "Var" else value(buffer.elem_offset)
    scope, name, dtype, number = scope_of(buffer), str(buffer.name), str(buffer.dtype), key(buffer)

    def run(frame: Frame) -> None:
        shape = tuple([extent(frame) for extent in extents])
        steps = tuple([stride(frame) for stride in strides]) or compact_strides(shape)
        start = frame.values.get(key(buffer.elem_offset), 0) if offset is None else offset(frame)
        # The memory is not larger for it.
        memory = _memory(frame, number, scope, dtype, shape, steps)
        frame.buffers[number] = View(name, memory, dtype, shape, steps, start)

    return run


def _memory(
    frame: Frame, buffer: int, scope: str, dtype: str, shape: tuple[int, ...], steps: tuple[int, ...]
) -> Memory:
    """Fresh memory; shared memory is one for the threads of a block."""
    together = next((loop for loop, _ in frame.path if loop.is_of_threads), None)
    if together is not None and scope.startswith("shared") and buffer in together.shared:
        return together.shared[buffer]
    if lanes_of(dtype) > 1:
        raise Declined("a buffer of vectors")
    count = 1 + sum((extent - 1) * step for extent, step in zip(shape, steps, strict=True))
    count = 0 if 0 in shape else count
    if count > MAX_ELEMENTS or min(shape, default=0) < 0:
        raise Declined("the size of an internal buffer")
    width = View("", Memory(0, True, True), dtype, (), ()).width
    is_own = scope.startswith(("local", "warp", "wmma"))
    memory = Memory(max(count, 0) * width, watched=True, races=not is_own)
    if together is not None and scope.startswith("shared"):
        together.shared[buffer] = memory
    return memory
