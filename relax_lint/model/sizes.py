"""Bytes and elements: the size of a tensor, and what an allocator makes of the size of a storage."""

from __future__ import annotations

from collections.abc import Iterable

import sympy

from relax_lint.model.types import DType
from relax_lint.symbolic.functions import FloorDiv
from relax_lint.symbolic.quantity import Shape, Size, Unknown
from relax_lint.vm.allocators import Allocator

BITS_PER_BYTE = 8


def elements(shape: Iterable[sympy.Expr]) -> sympy.Expr:
    """The number of elements of a shape: the product of its extents."""
    return sympy.Mul(*shape)


def tensor_bytes(shape: Iterable[sympy.Expr], dtype: DType) -> sympy.Expr:
    """Bytes of a tensor: ceil(product(shape) * bits * lanes / 8), as the runtime's `GetDataSize`."""
    bits = dtype.bits * dtype.lanes
    if bits % BITS_PER_BYTE == 0:
        return elements(shape) * (bits // BITS_PER_BYTE)
    return FloorDiv(elements(shape) * bits + (BITS_PER_BYTE - 1), sympy.Integer(BITS_PER_BYTE))


def size_in_bytes(shape: Shape, dtype: DType) -> Size:
    """Bytes of a tensor of a shape and dtype; Unknown where either is not known."""
    if isinstance(shape, Unknown):
        return shape
    if dtype.lanes == 0:
        return Unknown(f"`{dtype.name}` has no fixed size")
    return tensor_bytes(shape, dtype)


def is_packed(dtype: DType) -> bool:
    """Whether kernels on a CPU access more than the runtime counts: of a lane of few bits a whole byte."""
    return dtype.lanes > 0 and dtype.bits % BITS_PER_BYTE != 0


def kernel_bytes(shape: Iterable[sympy.Expr], dtype: DType) -> sympy.Expr:
    """Bytes from the first to the last that a kernel accesses of a tensor at offset 0: elements are as many
    bytes apart as they have lanes, where a lane has few bits, and of the last one its packed bits count.
    It is not positive for a tensor without elements.
    """
    if not is_packed(dtype):
        return tensor_bytes(shape, dtype)
    return elements(shape) * dtype.lanes - dtype.lanes + dtype.storage_bytes


def effective_capacity(allocator: Allocator, declared: sympy.Expr, page_size: int) -> sympy.Expr:
    """Bytes that a storage of `declared` bytes really offers."""
    return allocator.obtains(declared, page_size, _divide)


def _divide(size: sympy.Expr, page_size: int) -> sympy.Expr:
    return FloorDiv(size, sympy.Integer(page_size))
