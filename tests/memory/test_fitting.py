"""The values that keep to a budget where the pool has no formula, and how they are told."""

from __future__ import annotations

import re

import pytest
import sympy
from tvm.script import from_source

from relax_lint.facts.fitting import Span, bracketed, solution
from relax_lint.model.builder import build_program
from relax_lint.symbolic.quantity import Unknown
from relax_lint.totals.compute import measure
from relax_lint.totals.pool_limits import PoolLimits
from relax_lint.vm.allocators import Allocator
from relax_lint.vm.versions import as_module
from tests.memory.conftest import Memory
from tests.memory.programs import HEADER

N = sympy.Symbol("n", integer=True)
SPAN = Span(N, 0, 4096)

# Three sizes that are equal, in pages, for some values of `n`: the pool has no formula.
EQUALS = (
    HEADER
    + """@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32")):
        R.func_attr({"tir_var_upper_bound": {"n": 131072}})
        n = T.int64()
"""
    + "".join(
        f"""        s{number} = R.memory.alloc_storage(R.shape([{size}]), 0, "global", "uint8")
        a{number} = R.memory.alloc_tensor(s{number}, 0, R.shape([1]), "float32")
        k{number} = R.memory.kill_tensor(a{number})
        l{number} = R.memory.kill_storage(s{number})
"""
        for number, size in enumerate(("4 * n", "6 * n", "9000"))
    )
    + """        s = R.memory.alloc_storage(R.shape([7 * n]), 0, "global", "uint8")
        a = R.memory.alloc_tensor(s, 0, R.shape([n]), "float32")
        return a
"""
)


@pytest.mark.parametrize("kib", [20, 64])
def test_what_fits_is_decided_where_the_pool_has_no_formula(memory: Memory, kib: int) -> None:
    found = memory(EQUALS, "--max-memory", f"{kib}KiB", "--output-format", "json")
    (check,) = found.report["checks"]
    assert not check["undecided"]
    assert re.search(r"fits for n <= \d+ and n = \d+..\d+; first over budget: n = \d+", check["message"])
    module = as_module(from_source(EQUALS.removeprefix(HEADER)))
    program = build_program(module)
    for n in (0, 1, 585, 586, 1024, 1025, 1755, 1756, 3072, 3073, 3413, 3414, 3510, 3511, 9000):
        size = measure(program, program.functions[0], binding={"n": n}).reserved[Allocator.POOLED]
        assert isinstance(size, int)
        assert eval(check["safe_when"], {"n": n}) == (size <= kib << 10), n


def test_a_budget_above_every_limit_is_kept_under_the_declared_bound(memory: Memory) -> None:
    (check,) = memory(EQUALS, "--max-memory", "3MiB", "--output-format", "json").report["checks"]
    assert check["verdict"] == "always-fine"
    assert any("131072" in assumed for assumed in check["assumes"])


def test_a_budget_below_every_limit_is_exceeded_always(memory: Memory) -> None:
    (check,) = memory(EQUALS, "--max-memory", "8KiB", "--output-format", "json").report["checks"]
    assert check["verdict"] == "always-wrong"


def test_between_the_limits_the_total_is_measured() -> None:
    limits = PoolLimits(100 * N, 120 * N)
    found = bracketed(limits, 1000, SPAN, lambda n: 110 * n)
    assert not isinstance(found, Unknown)
    assert [n for n in range(4097) if bool(found.subs({N: n}))] == list(range(10))


def test_where_too_much_lies_between_the_bracket_is_told() -> None:
    found = bracketed(PoolLimits(10 * N, 20 * N), 20480, SPAN, lambda n: 15 * n)
    assert isinstance(found, Unknown)
    assert found.reason == "it fits up to n = 1,024; fails from 2,049"


def test_a_limit_that_may_shrink_decides_nothing() -> None:
    found = bracketed(PoolLimits(100 - N, 200 - N), 150, SPAN, lambda n: 150 - n)
    assert isinstance(found, Unknown)


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (
            sympy.Or(N <= 896, sympy.And(N >= 1017, N <= 1024)),
            "fits for n <= 896 and n = 1017..1024; first over budget: n = 897",
        ),
        (sympy.And(N >= 5, N <= 5), "fits for n = 5; first over budget: n = 0"),
        (sympy.Le(N * N, 100), "fits for n <= 10; first over budget: n = 11"),
        (sympy.Le(N, 5000), None),
    ],
)
def test_a_condition_on_one_symbol_is_solved(condition: object, text: str | None) -> None:
    assert solution(condition, SPAN) == text
