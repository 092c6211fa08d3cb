"""A module without sharing answers what the module answers, where sharing does no harm."""

from __future__ import annotations

import pytest
import tvm
from tvm import relax

from relax_lint.replay import Machine, Module, Tensor, describe
from relax_lint.replay.modules import load_module
from relax_lint.replay.reference import without_sharing

REUSE = """
from tvm.script import ir as I, relax as R, tirx as T


@I.ir_module
class Module:
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

    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32"), c: R.Tensor((), "bool")):
        n = T.int64()
        s = R.memory.alloc_storage(R.shape([n * 4]), 0, "global", "uint8")
        a = R.memory.alloc_tensor(s, 0, R.shape([n]), "float32")
        Module.add(x, x, a)
        t = R.vm.alloc_storage(R.shape([n * 4]), R.prim_value(0), "uint8")
        b = R.vm.alloc_tensor(t, R.prim_value(0), R.shape([n]), "float32")
        Module.add(a, x, b)
        R.memory.kill_tensor(a)
        R.memory.kill_storage(s)
        Module.triple(b)
        if c:
            y = R.call_tir_inplace(Module.triple, (b,), inplace_indices=[0], out_ty=[R.Tensor((n,), "float32")])
        else:
            y = b
        return y
"""


@pytest.mark.vm
def test_kills_reuse_and_in_place_calls_do_not_change_the_answer() -> None:
    reference = without_sharing(load_module(REUSE, "script"))
    assert reference is not None
    text = reference.script()
    assert "kill" not in text
    assert text.count("alloc_storage") == 4
    with Machine() as machine:
        for condition in (0, 1):
            inputs = [Tensor("float32", (3,)), Tensor("bool", (), condition)]
            shared = machine.run(Module(REUSE), "main", inputs)
            apart = machine.run(Module(tvm.ir.save_json(reference), "json"), "main", inputs)
            expected = (0, 9 * 3**condition, 18 * 3**condition)
            assert shared.outputs[0].values == apart.outputs[0].values == expected, describe(apart)


def test_there_is_no_reference_after_memory_has_become_runtime_calls() -> None:
    # VMShapeLower refuses an in-place call of a tensor that has lost its shape.
    text = REUSE.split("        if c:")[0] + "        return b\n"
    passes = [
        relax.transform.ComputePrimValue(),
        relax.transform.VMShapeLower(),
        relax.transform.LowerRuntimeBuiltin(),
    ]
    lowered = tvm.transform.Sequential(passes)(load_module(text, "script"))
    assert without_sharing(lowered) is None
