"""What a kernel gets in a call: its arguments, and an output for each that the call makes for it."""

from __future__ import annotations

import pytest

from relax_lint.analysis.kernel_operands import operand_types, operands_of
from relax_lint.model.builder import build_program
from relax_lint.model.operations import KernelCall
from tests.rules.checking import parse
from tests.rules.four_elements import KERNELS, T4


@pytest.mark.parametrize(
    ("call", "arguments", "outputs"),
    [
        ("R.call_tir(Module.double, (x,), T4)", 1, 1),
        ("R.call_tir(Module.double, (x,), [T4, T4])", 1, 2),
        ("R.call_tir_inplace(Module.double, (x, z), inplace_indices=[1], out_ty=[T4])", 2, 0),
        ("R.call_tir_inplace(Module.add, (x, z), inplace_indices=[0, -1], out_ty=[T4, T4])", 2, 1),
        ("R.call_tir_inplace(Module.add, (x, z), inplace_indices=[-1, -1], out_ty=[T4, T4])", 2, 2),
        ("Module.add(x, z, x)", 3, 0),
        # A packed function returns what it makes.
        ('R.call_inplace_packed("my.f", x, z, inplace_indices=[0, -1], ty_args=[T4, T4])', 2, 0),
        ('R.call_pure_packed("my.f", x, z, ty_args=T4)', 2, 0),
        ("R.add(x, z)", 2, 0),
    ],
)
def test_outputs_stand_behind_the_arguments(call: str, arguments: int, outputs: int) -> None:
    module = parse(
        KERNELS
        + f"""
@R.function(pure=False)
def main(x: {T4}, z: {T4}):
    r = {call.replace("T4", T4)}
    return r
"""
    )
    function = next(one for one in build_program(module).functions if one.name == "main")
    (made,) = function.body.of(KernelCall)
    operands = operands_of(made, function)
    assert [one.value is None for one in operands] == [False] * arguments + [True] * outputs
    assert operand_types(made, function)[: len(operands)] == [one.type for one in operands]
