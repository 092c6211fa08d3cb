"""An index, or a condition around it, that a constant decides: of the constant its least and its greatest element are
known, not which of them is used.
"""

from __future__ import annotations

import pytest
import sympy

from relax_lint.facts.kernel_access_verdicts import Status
from relax_lint.facts.kernel_memory import leaves_memory_too
from relax_lint.judging.module import ModuleJudge
from relax_lint.settings.config import Config
from relax_lint.symbolic.quantity import Unknown
from tests.rules.checking import parse

KERNEL = """
@T.prim_func(private=True, s_tir=True)
def kernel(b: T.handle, p: T.Buffer((4,), "int32"), y: T.Buffer((16,), "float32")):
    m = T.int64()
    x = T.match_buffer(b, (m,), "float32")
    for i in range(8):
        if {guard}:
            y[i] = x[{index}]

@R.function
def main(x: R.Tensor(({n},), "float32")):
    y = R.call_tir(Module.kernel, (x, R.const([4, 0, 0, 0], "int32")), R.Tensor((16,), "float32"))
    return y
"""
INDICES = "the indices in argument 1 stay inside `x` (indices of `kernel`, not checked)"
COMPUTED = "the indices that `kernel` computes from data stay inside `x`"
UNDECIDED, ASSUMED, PROVED = Status.UNDECIDED, Status.ASSUMED, Status.PROVED


@pytest.mark.parametrize(
    ("guard", "index", "n", "status", "assumed"),
    [
        # As far as is known `i` is 3 at most; no index is an element of the constant.
        ("i < p[i % 4]", "i + 3", "7", PROVED, ""),
        ("i < p[i % 4]", "i + 3", "6", UNDECIDED, ""),
        ("i < p[i % 4]", "i + 3", '"n"', UNDECIDED, ""),
        ("i < p[i % 4] and i < p[0]", "i + 3", "6", UNDECIDED, ""),
        ("True", "p[i % 4] + i", "12", PROVED, ""),
        ("True", "p[i % 4] + i", "11", ASSUMED, INDICES),
        ("i < p[i % 4]", "p[i % 4] * i", "12", ASSUMED, INDICES),
        ("True", "p[i % 4] * p[i % 4]", "16", ASSUMED, COMPUTED),
    ],
)
def test_the_indices_of_a_constant_are_assumed_and_its_guards_are_not(
    guard: str, index: str, n: str, status: Status, assumed: str
) -> None:
    module = parse(KERNEL.format(guard=guard, index=index, n=n))
    judge = ModuleJudge(module, Config(select=("RLX306",)))
    (found,) = (
        one
        for function in judge.functions()
        for use in function.facts.kernels.uses
        for one in function.facts.indices.verdict(use).open
        if one.access.buffer.name == "x"
    )
    assert found.status is status
    assert [one.text for one in found.assumptions] == ([assumed] if assumed else [])


BEYOND = """
@T.prim_func(private=True, s_tir=True)
def kernel(b: T.handle, y: T.Buffer((16,), "float32")):
    m = T.int64()
    x = T.match_buffer(b, (m, 4), "float32")
    for i in range(8):
        y[i] = x[i, 4]

@R.function
def main(x: R.Tensor(("n", 4), "float32")):
    y = R.call_tir(Module.kernel, (x,), R.Tensor((16,), "float32"))
    return y
"""
NOBODY_KNOWS = Unknown("nobody knows it")


@pytest.mark.parametrize(
    ("stays", "inside", "leaves"),
    [
        (sympy.false, sympy.false, True),
        (sympy.true, sympy.true, True),
        (sympy.false, sympy.true, False),
        (NOBODY_KNOWS, sympy.false, False),
        (sympy.false, NOBODY_KNOWS, False),
        (sympy.true, NOBODY_KNOWS, False),
        (NOBODY_KNOWS, NOBODY_KNOWS, False),
    ],
)
def test_of_what_is_not_known_it_is_not_said_that_it_leaves_the_memory(
    stays: sympy.Basic | Unknown, inside: sympy.Basic | Unknown, leaves: bool
) -> None:
    judge = ModuleJudge(parse(BEYOND), Config(select=("RLX306",)))
    (facts,) = (function.facts for function in judge.functions())
    (use,) = facts.kernels.uses
    (access,) = (one for one in use.kernel.accesses.accesses if one.memory is not None and one.obligations)
    assert leaves_memory_too(facts.prover, use, access, stays, lambda _: inside) is leaves
