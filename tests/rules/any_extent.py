"""Kernels over tensors of any number of elements, at any offset."""

from __future__ import annotations

KERNELS = """
@T.prim_func(private=True, s_tir=True)
def fill(a: T.handle):
    n = T.int64()
    x = T.match_buffer(a, (n,), "float32", offset_factor=1)
    for i in range(n):
        x[i] = T.float32(2)

@T.prim_func(private=True, s_tir=True)
def one_more(a: T.handle, b: T.handle):
    n = T.int64()
    x = T.match_buffer(a, (n,), "float32", offset_factor=1)
    y = T.match_buffer(b, (n,), "float32", offset_factor=1)
    for i in range(n):
        y[i] = x[i] + T.float32(1)
"""
