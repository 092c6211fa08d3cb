"""Workspaces where branches call different kernels: the most of all paths, added up by hand in pages of 4,096 bytes."""

from __future__ import annotations

import pytest

from relax_lint.model.builder import build_program
from relax_lint.symbolic.quantity import Unknown
from relax_lint.totals.kernel_memory import KernelMemory
from relax_lint.totals.over_ranges import limits_of
from relax_lint.totals.workspaces import concrete_workspaces, held_at_most, measure_workspaces
from relax_lint.vm.allocators import Allocator
from tests.rules.checking import parse
from tests.totals.corpus_calls import TRUTH, VECTOR, storage, tensor


def kernel(name: str, elements: int, loop: str = "range") -> str:
    """One that makes a buffer of so many floats for itself, which the stack does not hold if they are many."""
    return f"""
@T.prim_func(private=True, s_tir=True)
def {name}(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
    for j in {loop}(2):
        with T.sblock("{name}"):
            b = T.alloc_buffer(({elements},), "float32")
            for i in range({elements}):
                b[i] = x[i % 4]
            for i in range(2):
                y[j * 2 + i] = b[i + 1]
"""


SMALL, LARGE, THREADS = 4 * 1000, 4 * 5000, 4 * 3000
KERNELS = (
    kernel("small", 1000)
    + kernel("large", 5000)
    + kernel("threads", 3000, "T.parallel")
    + kernel("nothing", 2)
)
INNER = f"""
@R.function(private=True, pure=False)
def inner(x: {VECTOR}, t: {VECTOR}):
    w = Module.small(x, t)
    return x
"""
MAIN = """
@R.function(pure=False)
def main(x: VECTOR, c: TRUTH):
    cls = Module
    s = STORAGE
    t = TENSOR
    LINES
    return t
"""


def either(one: str, other: str) -> str:
    """A call of one kernel or of another."""
    return f"if c:;     w = cls.{one}(x, t);     r = x; else:;     w = cls.{other}(x, t);     r = x"


@pytest.mark.parametrize(
    ("lines", "asked", "held", "of_a_worker", "calls"),
    [
        ("w = cls.nothing(x, t)", 0, 0, 0, []),
        ("w = cls.small(x, t)", SMALL, 4096, 0, ["small"]),
        ("w = cls.threads(x, t)", THREADS, 12288, 12288, ["threads"]),
        (either("small", "large"), LARGE, 20480, 0, ["small", "large"]),
        (either("large", "small"), LARGE, 20480, 0, ["large", "small"]),
        (either("nothing", "large"), LARGE, 20480, 0, ["large"]),
        (either("large", "nothing"), LARGE, 20480, 0, ["large"]),
        (either("threads", "small"), THREADS, 12288, 12288, ["threads", "small"]),
        (either("small", "threads"), THREADS, 12288, 12288, ["small", "threads"]),
        # A larger request takes the place of a smaller buffer, a smaller one is served from what is there.
        ("w = cls.small(x, t); w1 = cls.large(x, t)", LARGE, 20480, 0, ["small", "large"]),
        ("w = cls.large(x, t); w1 = cls.small(x, t)", LARGE, 20480, 0, ["large", "small"]),
        # What two paths have in common is listed once, as a function is that is called twice.
        (f"{either('small', 'large')}; w1 = cls.small(x, t)", LARGE, 20480, 0, ["small", "small", "large"]),
        ("w = cls.inner(x, t); w1 = cls.inner(x, t)", SMALL, 4096, 0, ["small"]),
    ],
)
def test_the_most_of_all_paths(lines: str, asked: int, held: int, of_a_worker: int, calls: list[str]) -> None:
    text = MAIN.replace("LINES", lines.replace("; ", "\n    ")).replace("VECTOR", VECTOR)
    text = text.replace("TRUTH", TRUTH).replace("STORAGE", storage(16)).replace("TENSOR", tensor("s"))
    module = parse(KERNELS + INNER + text)
    program = build_program(module)
    function = next(function for function in program.functions if function.name == "main")
    kernels = KernelMemory(module, "llvm")
    found = measure_workspaces(program, function, kernels)
    assert (found.requested, found.held, found.per_worker) == (asked, held, of_a_worker)
    # The storage of 16 bytes, or of one page.
    assert found.together == {Allocator.NAIVE: held + 16, Allocator.POOLED: held + 4096}
    assert sorted(call.op.callee for call in found.calls) == sorted(calls)
    followed = concrete_workspaces(program, function, kernels)
    assert followed is not None
    assert followed.at({}) == {
        "workspaces.held": held,
        "workspaces.per_worker": of_a_worker,
        "workspaces.together.naive": held + 16,
        "workspaces.together.pooled": held + 4096,
    }
    assert held_at_most(program, function, kernels) == held


NOT_KNOWN = Unknown("which branch is taken decides")
POOLED, HELD, TOGETHER = "reserved.pooled", "workspaces.held", "workspaces.together."


@pytest.mark.parametrize(
    ("known", "limits"),
    [
        ({}, {POOLED: 4096, HELD: 20480, TOGETHER + "pooled": 24576}),
        (
            {"reserved.naive": 16},
            {POOLED: 4096, HELD: 20480, TOGETHER + "pooled": 24576, TOGETHER + "naive": 20496},
        ),
        ({"reserved.naive": 16, HELD: 8}, {POOLED: 4096, TOGETHER + "pooled": 4104, TOGETHER + "naive": 24}),
        ({POOLED: 8192}, {HELD: 20480, TOGETHER + "pooled": 28672}),
        ({POOLED: 8192, TOGETHER + "pooled": 9000}, {HELD: 20480}),
        (
            {"reserved.naive": 16, TOGETHER + "naive": 17},
            {POOLED: 4096, HELD: 20480, TOGETHER + "pooled": 24576},
        ),
    ],
)
def test_what_has_no_formula_has_a_limit(known: dict[str, int], limits: dict[str, int]) -> None:
    """The larger buffer in five pages, and one page for the storage; what is known is not limited."""
    text = MAIN.replace("LINES", either("small", "large").replace("; ", "\n    ")).replace("VECTOR", VECTOR)
    text = text.replace("TRUTH", TRUTH).replace("STORAGE", storage(16)).replace("TENSOR", tensor("s"))
    module = parse(KERNELS + INNER + text)
    program = build_program(module)
    function = next(function for function in program.functions if function.name == "main")
    names = ("reserved.naive", POOLED, HELD, TOGETHER + "naive", TOGETHER + "pooled")
    every = {name: known.get(name, NOT_KNOWN) for name in names}
    assert limits_of(program, function, KernelMemory(module, "llvm"), every, 4096) == limits
