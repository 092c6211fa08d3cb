"""Calls by which each thread of a warp moves or multiplies its part of a matrix: what a thread touches.

From TVM's `CodeGenCUDA`, `PrintMMAAssembly` and `PrintLoadMatrixAssembly` (`ptx.cc`), and the code that is
printed for `cp_async_raw`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any

from relax_lint.support.lazy_dataclass import record

_WARP = 32
_REGISTER = 32
_ROW = 128
"""Bits of a row of the 8 x 8 matrices of 16 bits that `ldmatrix` loads."""
_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)")
_BITS = {
    **dict.fromkeys(("int8", "uint8", ".s8", ".u8", "e4m3", "e5m2", ".e4m3", ".e5m2"), 8),
    **dict.fromkeys(("float8_e4m3fn", "float8_e5m2"), 8),
    **dict.fromkeys(("float16", "fp16", ".f16", "bfloat16", "bf16", ".b16"), 16),
    **dict.fromkeys(("float32", "fp32", ".f32", "tf32", "int32", ".s32"), 32),
    **dict.fromkeys(("float64", "fp64", ".f64"), 64),
}
_BYTES_AT_ONCE = (4, 8, 16)


class Pattern(Enum):
    """Which elements of a tile a thread touches."""

    STORED = "those of a 16 x 16 tile that `mma_store` stores"
    GATHERED = "those of a 32 x 16 tile that `ldmatrix` gathers where it cannot transpose"


@record(frozen=True)
class Part:
    """Elements one behind the other, from `offset` elements behind a pointer on: so many `bits` of them, or
    so many `elements`. They are touched if `guard` holds, where there is one; if not `surely`, perhaps not by
    every thread.
    """

    pointer: Any
    offset: Any
    stores: bool
    bits: int = 0
    elements: Any = None
    guard: Any = None
    surely: bool = True


@record(frozen=True)
class Tile:
    """Elements of a tile in memory, whose rows are `stride` elements apart, in a pattern."""

    pointer: Any
    stride: Any
    pattern: Pattern
    stores: bool


@record(frozen=True)
class WarpCall:
    """What a call touches."""

    name: str
    parts: tuple[Part, ...]
    tile: Tile | None = None


def warp_call(call: Any) -> WarpCall | None:
    """What a call touches; None if it is any other, or not all of it is known."""
    name = str(getattr(call.op, "name", ""))
    row = _ROWS.get(name.partition(".")[2])
    if row is None or len(call.args) not in row[0]:
        return None
    return row[1](name.rpartition(".")[2], list(call.args), call)


def _multiply(name: str, args: Sequence[Any], _: Any) -> WarpCall | None:
    found = _SHAPE.fullmatch(str(getattr(args[0], "value", "")))
    widths = [_BITS.get(str(getattr(one, "value", "")), 0) for one in args[3:6]]
    if found is None or 0 in widths:
        return None
    m, n, k = map(int, found.groups())
    # Of this one a warp makes four at once.
    threads = _WARP // 4 if (m, n, k, widths[0]) == (8, 8, 4, 16) else _WARP
    sizes = (m * k, k * n, m * n)
    parts = [
        Part(args[6 + 2 * at], args[7 + 2 * at], stores, bits=size * width // threads)
        for at, size, width, stores in zip(
            (0, 1, 2, 2), (*sizes, sizes[2]), (*widths, widths[2]), _READ, strict=True
        )
    ]
    return WarpCall(name, tuple(parts))


_READ = (False, False, False, True)


def _load(name: str, args: Sequence[Any], call: Any) -> WarpCall | None:
    transposed, number = (getattr(one, "value", None) for one in args[:2])
    if number is None or int(number) not in (1, 2, 4) or transposed is None:
        return None
    kind = str(call.ty.dtype)
    if bool(transposed) and kind.endswith("8") and not kind.startswith("float8"):
        local = Part(args[3], args[4], True, elements=16)
        return WarpCall(name, (local,), Tile(args[5], args[6], Pattern.GATHERED, False))
    if bool(transposed) and kind.startswith("float8"):
        return None
    local = Part(args[3], args[4], True, bits=_REGISTER * int(number))
    # The threads of the first rows give their addresses.
    memory = Part(args[5], args[6], False, bits=_ROW, surely=int(number) == 4)
    return WarpCall(name, (local, memory))


def _store(name: str, args: Sequence[Any], _: Any) -> WarpCall | None:
    if any(getattr(one, "value", None) != 16 for one in args[:2]):
        return None
    part = Part(args[3], args[4], False, elements=8)
    return WarpCall(name, (part,), Tile(args[2], args[5], Pattern.STORED, True))


def _fill(name: str, args: Sequence[Any], _: Any) -> WarpCall:
    return WarpCall(name, (Part(args[1], args[2], True, elements=args[0]),))


def _copy(name: str, args: Sequence[Any], _: Any) -> WarpCall | None:
    size = getattr(args[4], "value", None)
    if size not in _BYTES_AT_ONCE:
        return None
    guard = args[5] if len(args) > 5 else None
    read = Part(args[2], args[3], False, bits=8 * int(size), guard=guard)
    return WarpCall(name, (read, Part(args[0], args[1], True, bits=8 * int(size))))


_Reader = Callable[[str, Sequence[Any], Any], "WarpCall | None"]
_ROWS: dict[str, tuple[tuple[int, ...], _Reader]] = {
    **dict.fromkeys(("ptx_legacy.mma", "ptx.mma_legacy"), ((13, 14), _multiply)),
    **dict.fromkeys(("ptx_legacy.ldmatrix", "ptx.ldmatrix_legacy"), ((7,), _load)),
    **dict.fromkeys(("mma_store", "mma_store_legacy"), ((6,), _store)),
    **dict.fromkeys(("mma_fill", "mma_fill_legacy"), ((3,), _fill)),
    **dict.fromkeys(("s_tir.cp_async_raw", "ptx.cp_async_raw"), ((5, 6), _copy)),
}
"""By their names without the namespace (those before TVM 0.27 too): how many arguments they have, and what
they say.
"""
