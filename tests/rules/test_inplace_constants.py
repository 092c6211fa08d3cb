"""Constants of which nothing is known any more, as one of several calls may have changed them."""

from __future__ import annotations

from itertools import product

import pytest

from relax_lint.analysis.flow import FunctionFlow, ProgramFlow
from relax_lint.facts.outside_writes import handed_over_constants, overwritten_constants
from relax_lint.model.builder import build_program
from tests.rules.checking import parse
from tests.rules.four_elements import KERNELS, T4

TEXT = f"""
@R.function(private=True, pure=False)
def keeps(t: {T4}) -> {T4}:
    w = R.call_tir(Module.double, (t,), out_ty={T4})
    return w

@R.function(private=True, pure=False)
def hands_on(t: {T4}) -> {T4}:
    k = R.call_packed("tests.anything", t, ty_args=R.Any)
    return t

@R.function(private=True, pure=False)
def writes(t: {T4}) -> {T4}:
    w = R.call_tir_inplace(Module.twice, (t,), inplace_indices=[0], out_ty={T4})
    return w

@R.function(pure=False)
def main(x: {T4}):
    a = R.const([1.0, 2.0, 3.0, 4.0])
    b = R.const([5.0, 6.0, 7.0, 8.0])
    v = Module.FIRST(a)
    w = Module.SECOND(b)
    return x
"""


@pytest.mark.parametrize(("first", "second"), [*product(("keeps", "hands_on", "writes"), repeat=2)])
def test_each_of_two_calls_counts(first: str, second: str) -> None:
    text = TEXT.replace("FIRST", first).replace("SECOND", second)
    program = build_program(parse(KERNELS + text))
    main = next(function for function in program.functions if function.name == "main")
    flow = FunctionFlow(ProgramFlow(program), main)
    for callee, found in (("hands_on", handed_over_constants(flow)), ("writes", overwritten_constants(flow))):
        names = {main.values[value].name for value in found}
        assert names == {name for name, one in (("a", first), ("b", second)) if one == callee}
