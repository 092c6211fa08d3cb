"""What operators that sort leave out, and on which axis the positions are that they return."""

from __future__ import annotations

from typing import Any

import pytest
import sympy

from relax_lint.analysis.partial_results import partial_results, positions
from relax_lint.model.builder import build_program
from relax_lint.model.operations import KernelCall
from tests.rules.checking import checks, parse
from tests.rules.four_elements import KERNELS, T4

M, N = (sympy.Symbol(name, integer=True) for name in "mn")
ENDS = sympy.Ge(2, 3, evaluate=False)
PROGRAM = """
@R.function
def main(x: R.Tensor(("m", "n"), "float32"), two: R.Tensor((2,), "float32"), any: R.Tensor("float32", ndim=2)):
    m, n = T.int64(), T.int64()
    r = {}
    return r
"""


def _call(text: str) -> tuple[KernelCall, Any]:
    (function,) = build_program(parse(PROGRAM.format(text))).functions
    (call,) = function.body.of(KernelCall)
    return call, function


def _named(expr: Any) -> Any:
    """With symbols that are equal where their names are."""
    return expr.subs({s: sympy.Symbol(s.name, integer=True) for s in expr.free_symbols}, simultaneous=True)


@pytest.mark.parametrize(
    ("text", "partly", "of"),
    [
        # The axis, from either end; that of `m` is the first.
        ("R.argsort(x, axis=0)", {}, {0: M}),
        ("R.argsort(x, axis=1)", {}, {0: N}),
        ("R.argsort(x, axis=-1)", {}, {0: N}),
        ("R.argsort(x, axis=-2)", {}, {0: M}),
        ("R.argsort(two, axis=0)", {}, {0: 2}),
        ("R.argsort(any, axis=0)", {}, {}),
        ("R.sort(x, axis=0)", {}, {}),
        ("R.add(x, x)", {}, {}),
        # All of an axis, or a part that it has: the positions are the second result, or the only one.
        ('R.topk(x, k=-1, axis=1, ret_type="both")', {}, {1: N}),
        ('R.topk(x, k=-1, axis=1, ret_type="indices")', {}, {0: N}),
        ('R.topk(x, k=-1, axis=1, ret_type="values")', {}, {}),
        ('R.topk(two, k=2, axis=0, ret_type="both")', {}, {1: 2}),
        ('R.topk(two, k=1, axis=0, ret_type="indices")', {}, {0: 2}),
        ('R.topk(any, k=3, axis=0, ret_type="both")', {}, {}),
        # More than it may have.
        ('R.topk(x, k=3, axis=1, ret_type="both")', {0: N >= 3, 1: N >= 3}, {}),
        ('R.topk(x, k=3, axis=-2, ret_type="values")', {0: M >= 3}, {}),
        ('R.topk(two, k=3, axis=0, ret_type="indices")', {0: ENDS}, {}),
    ],
)
def test_what_is_sorted(text: str, partly: Any, of: Any) -> None:
    call, function = _call(text)
    found = partial_results(call, function)
    assert {number: str(_named(when)) for number, when in found.items()} == {
        number: str(when) for number, when in partly.items()
    }
    assert {number: _named(extent) for number, extent in positions(call, function).items()} == of


def test_that_a_packed_function_fills_all_its_results_is_presumed_of_each() -> None:
    text = f"""
@R.function(pure=False)
def main(x: T4):
    p = R.call_dps_packed("f", (x,), out_ty=[{T4}, {T4}])
    a = p[0]
    b = p[1]
    r = R.call_tir(Module.add, (a, b), T4)
    return r
"""
    found = checks(parse(KERNELS + text.replace("T4", T4)), "RLX205")
    assert [(check.verdict.value, check.assumes) for check in found] == [
        ("always-fine", ("`f` writes all of what it returns",))
    ] * 2


@pytest.mark.parametrize("steps", [(4, 3), (3, 4), (4, 4)])
def test_each_result_of_a_kernel_is_filled_or_not_by_itself(steps: tuple[int, int]) -> None:
    text = f"""
@T.prim_func(private=True, s_tir=True)
def fill(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32"), z: T.Buffer((4,), "float32")):
    for i in range({steps[0]}):
        y[i] = x[i]
    for i in range({steps[1]}):
        z[i] = x[i]

@R.function
def main(x: T4):
    p = R.call_tir(Module.fill, (x,), out_ty=[T4, T4])
    a = p[0]
    b = p[1]
    r = R.call_tir(Module.add, (a, a), T4)
    q = R.call_tir(Module.add, (b, b), T4)
    return (r, q)
"""
    found = checks(parse(KERNELS + text.replace("T4", T4)), "RLX205")
    said = {check.binding: check.verdict.value for check in found if check.binding in ("r", "q")}
    told = {name for name, count in zip("rq", steps, strict=True) if count < 4}
    assert {name for name, verdict in said.items() if verdict != "always-fine"} == told
