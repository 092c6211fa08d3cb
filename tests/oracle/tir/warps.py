"""Calls that the threads of a warp make together, as TVM prints them for CUDA: what each thread touches.

What they compute is left out: what is stored is zero.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from tests.oracle.tir.expressions import Declined, Frame, Value, buffer_of, dtype_of, key, name_of, value
from tests.oracle.tir.matrices import Place, matrix_call, place
from tests.oracle.tir.memory import View
from tests.oracle.tir.numbers import bits_of

Steps: TypeAlias = "Callable[[Frame, View], Iterator[int]]"
_WIDTHS = {"fp16": 16, "fp32": 32, "fp64": 64, "int8": 8, "int32": 32, "bf16": 16, "tf32": 32}


def called(node: Any) -> Value | None:
    """A call on matrices, of one thread or of a warp; None for any other."""
    return matrix_call(node) or warp_call(node)


def warp_call(node: Any) -> Value | None:
    """Such a call; None for any other."""
    name, args = str(getattr(node.op, "name", "")), list(node.args)
    if name.endswith(("ptx_legacy.mma", "ptx.mma_legacy")):
        m, n, k = map(int, re.findall(r"\d+", str(args[0].value)))
        widths = [_WIDTHS[str(one.value)] for one in args[3:6]]
        threads = 8 if (m, n, k, widths[0]) == (8, 8, 4, 16) else 32
        sizes = [size * width // threads for size, width in zip((m * k, k * n, m * n), widths, strict=True)]
        read = [_touch(args[6 + 2 * at], _bits(args[7 + 2 * at], sizes[at]), False) for at in range(3)]
        # The operand that is stored is a site of its own.
        return _all(*read, _touch(list(node.args)[10], _bits(args[11], sizes[2]), True))
    if name.endswith(("ptx_legacy.ldmatrix", "ptx.ldmatrix_legacy")):
        return _ldmatrix(node, args)
    if name.endswith(("mma_store", "mma_store_legacy")):
        stored = _tile(
            args[5], lambda thread, i: (8 * (i % 4 // 2) + thread // 4, 8 * (i // 4) + thread % 4 * 2 + i % 2)
        )
        return _all(_touch(args[3], _count(args[4], 8), False), _touch(args[2], stored(8), True))
    if name.endswith(("mma_fill", "mma_fill_legacy")):
        return _touch(args[1], _count(args[2], int(args[0].value)), True)
    if name.endswith("cp_async_raw"):
        size = 8 * int(args[4].value)
        source, target = (
            _touch(args[2], _bits(args[3], size), False),
            _touch(args[0], _bits(args[1], size), True),
        )
        guard = value(args[5]) if len(args) > 5 else (lambda frame: 1)
        return _all(lambda frame: source(frame) if guard(frame) else 0, target)
    return None


def _ldmatrix(node: Any, args: list[Any]) -> Value:
    if int(args[0].value) and bits_of(dtype_of(node)) == 8:
        gathered = _tile(
            args[6], lambda thread, i: (i % 8 // 4 * 16 + thread % 4 * 4 + i % 4, thread // 4 + i // 8 * 8)
        )
        return _all(_touch(args[3], _count(args[4], 16), True), _touch(args[5], gathered(16), False))
    number = int(args[1].value)
    rows, local = (
        _touch(args[5], _bits(args[6], 128), False),
        _touch(args[3], _bits(args[4], 32 * number), True),
    )
    return _all(lambda frame: rows(frame) if _thread(frame) < 8 * number else 0, local)


def _all(*calls: Value) -> Value:
    def run(frame: Frame) -> int:
        for call in calls:
            call(frame)
        return 0

    return run


def _thread(frame: Frame) -> int:
    if "threadIdx.x" not in frame.threads:
        raise Declined("no thread")
    return frame.threads["threadIdx.x"]


def _count(offset: Any, count: int) -> Steps:
    start = value(offset)
    return lambda frame, view: iter(range(start(frame), start(frame) + count))


def _bits(offset: Any, bits: int) -> Steps:
    start = value(offset)
    return lambda frame, view: iter(range(start(frame), start(frame) + bits // 8 // view.width))


def _tile(stride: Any, element: Callable[[int, int], tuple[int, int]]) -> Callable[[int], Steps]:
    step = value(stride)

    def steps(frame: Frame, view: View, count: int) -> Iterator[int]:
        for i in range(count):
            row, column = element(_thread(frame), i)
            yield row * step(frame) + column

    return lambda count: lambda frame, view: steps(frame, view, count)


def _touch(pointer: Any, steps: Steps, stores: bool) -> Value:
    """The elements so many steps behind a pointer."""
    start = _start(pointer)

    def run(frame: Frame) -> int:
        view, first = start(frame)
        for step in steps(frame, view):
            frame.step()
            cell = (first + step) * view.width
            at = first + step - view.offset
            if (
                view.source is not None
                and not 0 <= at - at % view.strides[0] < view.shape[0] * view.strides[0]
            ):
                frame.access.leaves(pointer, view, (at,), frame.where, stores)
            if not 0 <= cell <= view.memory.size - view.width:
                frame.access.leaves(pointer, view, (at,), frame.where, stores)
            elif stores:
                view.memory.cells[cell] = 0.0
        return 0

    return run


def _start(pointer: Any) -> Place:
    if name_of(pointer) == "buffer_data":
        buffer = key(pointer.args[0])
        return lambda frame: (buffer_of(frame, buffer), 0)
    return place(pointer)
