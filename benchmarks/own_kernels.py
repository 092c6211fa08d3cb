"""Kernels in the manner of language models: gathers, quantised products, caches and sampling.

Written for the measurements: each has an index that is computed, packed, guarded or read from a tensor.
"""
# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tvm.script import tirx as T


@T.prim_func(s_tir=True)
def embedding(a: T.handle, b: T.handle, c: T.handle) -> None:
    """Rows of a table, by tokens that nothing checks."""
    vocabulary, n = T.int64(), T.int64()
    table = T.match_buffer(a, (vocabulary, 64), "float16")
    tokens = T.match_buffer(b, (n,), "int32")
    rows = T.match_buffer(c, (n, 64), "float16")
    for i, j in T.grid(n, T.int64(64)):
        with T.sblock("take"):
            vi, vj = T.axis.remap("SS", [i, j])
            rows[vi, vj] = table[tokens[vi], vj]


@T.prim_func(s_tir=True)
def embedding_clamped(a: T.handle, b: T.handle, c: T.handle) -> None:
    """Rows of a table, by tokens that are clamped."""
    vocabulary, n = T.int64(), T.int64()
    table = T.match_buffer(a, (vocabulary, 64), "float16")
    tokens = T.match_buffer(b, (n,), "int64")
    rows = T.match_buffer(c, (n, 64), "float16")
    for i, j in T.grid(n, T.int64(64)):
        with T.sblock("take"):
            vi, vj = T.axis.remap("SS", [i, j])
            if vocabulary > 0:
                rows[vi, vj] = table[T.max(T.min(tokens[vi], vocabulary - 1), T.int64(0)), vj]


@T.prim_func(s_tir=True)
def paged_gather(a: T.handle, b: T.handle, c: T.handle, d: T.handle) -> None:
    """The keys of a sequence out of pages of 16, by a table of pages."""
    pages, n, slots = T.int64(), T.int64(), T.int64()
    store = T.match_buffer(a, (pages, 4, 16, 64), "float16")
    table = T.match_buffer(b, (slots,), "int32")
    positions = T.match_buffer(c, (n,), "int32")
    keys = T.match_buffer(d, (n, 4, 64), "float16")
    for i, h, j in T.grid(n, T.int64(4), T.int64(64)):
        with T.sblock("gather"):
            vi, vh, vj = T.axis.remap("SSS", [i, h, j])
            if positions[vi] >= 0:
                keys[vi, vh, vj] = store[table[positions[vi] // 16], vh, positions[vi] % 16, vj]


@T.prim_func(s_tir=True)
def cache_append(a: T.handle, b: T.handle, c: T.handle) -> None:
    """New keys behind those of a cache: safe while there is room."""
    capacity, length, n = T.int64(), T.int64(), T.int64()
    cache = T.match_buffer(a, (capacity, 4, 64), "float16")
    keys = T.match_buffer(b, (n, 4, 64), "float16")
    before = T.match_buffer(c, (length,), "int32")
    for i, h, j in T.grid(n, T.int64(4), T.int64(64)):
        with T.sblock("append"):
            vi, vh, vj = T.axis.remap("SSS", [i, h, j])
            T.reads(keys[vi, vh, vj], before[0:length])
            T.writes(cache[length + vi, vh, vj])
            cache[length + vi, vh, vj] = keys[vi, vh, vj]


@T.prim_func(s_tir=True)
def rope(a: T.handle, b: T.handle, c: T.handle, d: T.handle) -> None:
    """Rotated halves: each element with the one that lies half a row away."""
    n = T.int64()
    x = T.match_buffer(a, (n, 8, 64), "float32")
    cos = T.match_buffer(b, (n, 32), "float32")
    sin = T.match_buffer(c, (n, 32), "float32")
    y = T.match_buffer(d, (n, 8, 64), "float32")
    for i, h, j in T.grid(n, T.int64(8), T.int64(64)):
        with T.sblock("rotate"):
            vi, vh, vj = T.axis.remap("SSS", [i, h, j])
            y[vi, vh, vj] = cos[vi, vj % 32] * x[vi, vh, vj] + sin[vi, vj % 32] * T.if_then_else(
                vj < 32, x[vi, vh, vj + 32] * T.float32(-1), x[vi, vh, vj - 32]
            )


@T.prim_func(s_tir=True)
def int4_matmul(a: T.handle, b: T.handle, c: T.handle, d: T.handle) -> None:
    """A product with weights of four bits, eight in a word, and a scale for 32 of them."""
    n = T.int64()
    x = T.match_buffer(a, (n, 256), "float32")
    words = T.match_buffer(b, (128, 32), "uint32")
    scales = T.match_buffer(c, (128, 8), "float32")
    y = T.match_buffer(d, (n, 128), "float32")
    weights = T.sblock_alloc_buffer((128, 256), "float32")
    for i, j in T.grid(T.int64(128), T.int64(256)):
        with T.sblock("unpack"):
            vi, vj = T.axis.remap("SS", [i, j])
            weights[vi, vj] = (
                T.Cast(
                    "float32",
                    T.bitwise_and(
                        T.shift_right(words[vi, vj // 8], T.Cast("uint32", vj % 8 * 4)), T.uint32(15)
                    ),
                )
                - T.float32(7)
            ) * scales[vi, vj // 32]
    for i, j, k in T.grid(n, T.int64(128), T.int64(256)):
        with T.sblock("product"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                y[vi, vj] = T.float32(0)
            y[vi, vj] = y[vi, vj] + x[vi, vk] * weights[vj, vk]


@T.prim_func(s_tir=True)
def padded_int3(a: T.handle, b: T.handle) -> None:
    """Numbers of three bits, ten in a word: the last word of a row holds fewer."""
    n, k = T.int64(), T.int64()
    words = T.match_buffer(a, (n, (k + 9) // 10), "uint32")
    y = T.match_buffer(b, (n, k), "float32")
    for i, j in T.grid(n, k):
        with T.sblock("unpack"):
            vi, vj = T.axis.remap("SS", [i, j])
            y[vi, vj] = T.Cast(
                "float32",
                T.bitwise_and(T.shift_right(words[vi, vj // 10], T.Cast("uint32", vj % 10 * 3)), T.uint32(7)),
            )


@T.prim_func(s_tir=True)
def top_p(a: T.handle, b: T.handle, c: T.handle, d: T.handle) -> None:
    """The first token at which the probabilities that come before exceed a limit."""
    n, vocabulary = T.int64(), T.int64()
    sums = T.match_buffer(a, (n, vocabulary), "float32")
    order = T.match_buffer(b, (n, vocabulary), "int64")
    limits = T.match_buffer(c, (n,), "float32")
    chosen = T.match_buffer(d, (n,), "int64")
    for i, j in T.grid(n, vocabulary):
        with T.sblock("choose"):
            vi, vj = T.axis.remap("SS", [i, j])
            if limits[vi] < sums[vi, vj] and (vj == 0 or limits[vi] >= sums[vi, T.max(vj - 1, T.int64(0))]):
                chosen[vi] = order[vi, vj]


@T.prim_func(s_tir=True)
def ring_cache(a: T.handle, b: T.handle, start: T.int64) -> None:
    """A sliding window: positions wrap around in the cache."""
    window, n = T.int64(), T.int64()
    cache = T.match_buffer(a, (window, 64), "float16")
    keys = T.match_buffer(b, (n, 64), "float16")
    for i, j in T.grid(n, T.int64(64)):
        with T.sblock("append"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.writes(cache[(start + vi) % window, vj])
            cache[(start + vi) % window, vj] = keys[vi, vj]


@T.prim_func(s_tir=True)
def tiled_sum(a: T.handle, b: T.handle) -> None:
    """Partial sums of 128 in shared memory, with a guard on the tail."""
    n = T.int64()
    x = T.match_buffer(a, (n,), "float32")
    y = T.match_buffer(b, ((n + 127) // 128,), "float32")
    for block in T.thread_binding((n + 127) // 128, thread="blockIdx.x"):
        with T.sblock("tile"):
            vb = T.axis.spatial((n + 127) // 128, block)
            T.reads(x[vb * 128 : vb * 128 + 128])
            T.writes(y[vb])
            tile = T.sblock_alloc_buffer((128,), "float32", scope="shared")
            for t in T.thread_binding(128, thread="threadIdx.x"):
                with T.sblock("load"):
                    vt = T.axis.spatial(128, t)
                    tile[vt] = T.if_then_else(vb * 128 + vt < n, x[vb * 128 + vt], T.float32(0))
            for t in T.thread_binding(128, thread="threadIdx.x"):
                with T.sblock("sum"):
                    vt = T.axis.reduce(128, t)
                    with T.init():
                        y[vb] = T.float32(0)
                    y[vb] = y[vb] + tile[vt]


@T.prim_func(s_tir=True)
def expert_gather(a: T.handle, b: T.handle, c: T.handle) -> None:
    """The rows of a mixture of experts in the order of their experts."""
    n, k = T.int64(), T.int64()
    x = T.match_buffer(a, (n, 64), "float16")
    order = T.match_buffer(b, (n * k,), "int32")
    y = T.match_buffer(c, (n * k, 64), "float16")
    for i, j in T.grid(n * k, T.int64(64)):
        with T.sblock("take"):
            vi, vj = T.axis.remap("SS", [i, j])
            y[vi, vj] = x[T.Cast("int64", order[vi]) // k, vj]


KERNELS: Mapping[str, Any] = {
    "embedding": embedding,
    "embedding, clamped": embedding_clamped,
    "paged gather": paged_gather,
    "cache append": cache_append,
    "rope": rope,
    "int4 product": int4_matmul,
    "int3 with a tail": padded_int3,
    "top p": top_p,
    "ring cache": ring_cache,
    "tiled sum": tiled_sum,
    "expert gather": expert_gather,
}
