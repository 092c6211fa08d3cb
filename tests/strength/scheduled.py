"""Kernels as TVM's schedules and its lowering make them, for the CPU and for a GPU, and some that were written."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from tvm import relax
from tvm.s_tir import dlight

from benchmarks import own_kernels
from benchmarks.kernel_callers import called
from benchmarks.kernel_corpora import lowered_kernels, target_of
from benchmarks.operator_corpus import random_operators
from tests.strength.claims import Said, said_of

EVERY = 29
"""One of so many calls of operators."""
_RULES = {
    "llvm": (dlight.cpu.GEMV(), dlight.cpu.Reduction()),
    "cuda": (dlight.gpu.Matmul(), dlight.gpu.GEMV(), dlight.gpu.Reduction(), dlight.gpu.Fallback()),
}


def scheduled() -> Iterator[tuple[str, Any]]:
    """Names of what can be scheduled: a target, whether it is lowered too, and an operator."""
    for place, name in enumerate(_operators()):
        yield f"{('llvm', 'cuda')[place % 2]} {('lowered', 'scheduled')[place // 2 % 2]} {name}", name
    for name in own_kernels.KERNELS:
        yield f"own {name}", name


@lru_cache(maxsize=1)
def _operators() -> dict[str, Any]:
    found = list(random_operators(1))
    return dict(found[::EVERY])


def said_of_scheduled(name: str, source: str) -> Said:
    """What is said of a call of the kernels."""
    if name.startswith("own "):
        return said_of(called(own_kernels.KERNELS[source]))
    target, _, rest = name.partition(" ")
    with target_of(target):
        module = relax.transform.LegalizeOps()(_operators()[source])
        module = dlight.ApplyDefaultSchedule(*_RULES[target])(module)
        if rest.startswith("lowered"):
            module = lowered_kernels(module, target_of(target))
    return said_of(module)
