"""RLX314 internal-too-large where its page does not reach: the limits of targets, scopes and blocks."""

from __future__ import annotations

import pytest

import relax_lint
from tests.rules.checking import checks, parse

MODULE = """
@T.prim_func(private=True, s_tir=True)
def kernel(a: T.handle, b: T.handle):
    {target}
    x = T.match_buffer(a, (8,), "float32")
    y = T.match_buffer(b, (8,), "float32")
    t = T.launch_thread("threadIdx.x", 8)
    s = T.alloc_buffer(({extent},), "{dtype}", scope="{scope}")
    s[0] = T.{dtype}(1)
    y[t] = x[t]

@R.function
def main(x: R.Tensor((8,), "float32")):
    y = R.call_tir(Module.kernel, (x,), R.Tensor((8,), "float32"))
    return y
"""
CUDA = 'T.func_attr({"target": T.target({"kind": "cuda", "arch": "sm_80", "max_shared_memory_per_block": 4096})})'

ROCM = 'T.func_attr({"target": T.target({"kind": "rocm", "mcpu": "gfx900", "max_shared_memory_per_block": 4096})})'


@pytest.mark.parametrize(
    ("target", "scope", "dtype", "extent", "count"),
    [
        (CUDA, "shared", "float32", 1025, 1),
        (CUDA, "shared", "float32", 1024, 0),
        (CUDA, "shared", "float16", 2049, 1),
        (CUDA, "shared.dyn", "float32", 1025, 0),
        (ROCM, "shared.dyn", "float32", 1025, 1),
        (CUDA, "global", "float32", 5000, 0),
        ("T.evaluate(0)", "shared", "float32", 1025, 0),
    ],
)
def test_the_bytes_are_compared_with_the_limit(
    target: str, scope: str, dtype: str, extent: int, count: int
) -> None:
    text = MODULE.format(target=target, scope=scope, dtype=dtype, extent=extent)
    assert len(checks(parse(text), "RLX314")) == count


METAL = 'T.func_attr({"target": T.target({"kind": "metal", "max_shared_memory_per_block": 65536})})'


@pytest.mark.parametrize(
    ("own", "target", "scope", "extent", "count"),
    [
        ("T.evaluate(0)", "metal", "shared", 8193, 1),
        ("T.evaluate(0)", "metal", "shared", 8192, 0),
        ("T.evaluate(0)", "metal", "global", 8193, 0),
        ("T.evaluate(0)", "llvm", "shared", 8193, 0),
        ("T.evaluate(0)", '{"kind": "cuda", "max_shared_memory_per_block": 4096}', "shared", 1025, 1),
        (METAL, "metal", "shared", 8193, 0),
    ],
)
def test_the_target_that_the_user_names_counts_where_a_kernel_names_none(
    own: str, target: str, scope: str, extent: int, count: int
) -> None:
    text = MODULE.format(target=own, scope=scope, dtype="float32", extent=extent)
    report = relax_lint.check(parse(text), {"select": ["RLX314"], "target": target})
    assert len(report.findings) == count
