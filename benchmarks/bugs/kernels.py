"""Kernels over vectors that several programs call: a program that names one gets it."""

from __future__ import annotations

import re

_TEXT = """
@T.prim_func(private=True)
def double(a: T.handle, b: T.handle):
    n = T.int64()
    x = T.match_buffer(a, (n,), "float32")
    y = T.match_buffer(b, (n,), "float32")
    for i in range(n):
        y[i] = x[i] * T.float32(2)

@T.prim_func(private=True)
def triple(a: T.handle):
    n = T.int64()
    x = T.match_buffer(a, (n,), "float32")
    for i in range(n):
        x[i] = x[i] * T.float32(3)

@T.prim_func(private=True)
def add(a: T.handle, b: T.handle, c: T.handle):
    n = T.int64()
    x = T.match_buffer(a, (n,), "float32")
    y = T.match_buffer(b, (n,), "float32")
    z = T.match_buffer(c, (n,), "float32")
    for i in range(n):
        z[i] = x[i] + y[i]

@T.prim_func(private=True)
def reverse(a: T.handle, b: T.handle):
    n = T.int64()
    x = T.match_buffer(a, (n,), "float32")
    y = T.match_buffer(b, (n,), "float32")
    for i in range(n):
        y[i] = x[n - 1 - i]
"""
KERNELS = {re.findall(r"def (\w+)", text)[0]: f"{text.strip()}\n" for text in re.findall(r"@T[^@]+", _TEXT)}
