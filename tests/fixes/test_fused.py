"""Functions that a later pass takes as a whole: what fuses operators makes one kernel of them, and knows only
calls of kernels. No check is put into one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

import relax_lint
from relax_lint.replay.modules import load_module
from tests.fixes.fixing import findings, fixed

MODULE = """
from tvm.script import ir as I, relax as R, tirx as T


@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def shift(xh: T.handle, yh: T.handle):
        n = T.int64()
        x = T.match_buffer(xh, (n,), "float32")
        y = T.match_buffer(yh, (n,), "float32")
        for i in range(n):
            with T.sblock("b"):
                v = T.axis.spatial(n, i)
                y[v] = x[v] + x[3]

    @R.function
    def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.shift, (x,), out_ty=R.Tensor((n,), "float32"))
            b = R.exp(a)
            R.output(b)
        return b
"""
"""`x[3]` is outside where 1 <= n <= 3."""
PASSES = (
    relax.transform.LegalizeOps(),
    relax.transform.AnnotateTIROpPattern(),
    relax.transform.FoldConstant(),
    relax.transform.FuseOps(),
    relax.transform.FuseTIR(),
    relax.transform.ToNonDataflow(),
    relax.transform.RemovePurityChecking(),
    relax.transform.CallTIRRewrite(),
    relax.transform.LowerAllocTensor(),
    relax.transform.KillAfterLastUse(),
    relax.transform.LowerRuntimeBuiltin(),
    relax.transform.ComputePrimValue(),
    relax.transform.VMShapeLower(),
    relax.transform.AttachGlobalSymbol(),
)
FUSED = 4
"""So many of the passes leave functions behind that are to become kernels."""


def after(count: int) -> Any:
    """The module behind so many passes."""
    with tvm.target.Target("llvm"):
        return tvm.transform.Sequential(list(PASSES[:count]))(load_module(MODULE, "script"))


def calls(module: Any, count: int) -> Iterator[bool]:
    """Whether calls with 2 and with 6 elements run, of a module that is so far behind the passes."""
    with tvm.target.Target("llvm"):
        lowered = tvm.transform.Sequential(list(PASSES[count:]))(module)
    executable = relax.build(lowered, "llvm", relax_pipeline=tvm.transform.Sequential([]))
    machine = relax.VirtualMachine(executable, tvm.cpu())
    for length in (2, 6):
        try:
            machine["main"](tvm.runtime.tensor(np.ones(length, "float32")))
            yield True
        except (AssertionError, RuntimeError):
            yield False


@pytest.mark.vm
def test_a_fused_function_gets_no_check_and_can_still_be_built() -> None:
    module = after(FUSED)
    (finding,) = relax_lint.check(module).findings
    assert finding.function is not None
    assert finding.function.startswith("fused_")
    made = relax_lint.insert_memory_checks(module)
    assert made.same_as(module)
    assert list(calls(made, FUSED)) == [True, True]


@pytest.mark.vm
@pytest.mark.parametrize("count", [1, FUSED - 1, FUSED + 1, FUSED + 4])
def test_before_and_behind_fusion_it_does(count: int) -> None:
    made = relax_lint.insert_memory_checks(after(count))
    assert not relax_lint.check(made).findings
    assert list(calls(made, count)) == [False, True]


@pytest.mark.parametrize("attribute", ["Primitive", "Composite", "Codegen"])
def test_in_a_text_the_check_is_only_told(attribute: str) -> None:
    value = "True" if attribute == "Primitive" else '"own"'
    text = MODULE.replace("        cls", f'        R.func_attr({{"{attribute}": {value}}})\n        cls')
    (finding,) = findings(text)
    assert [(fix.applicability, fix.edits) for fix in finding.fixes] == [("display", ())]
    assert any("R.assert_op(" in line for line in finding.help)
    assert fixed(text).text == text


COPIED = """
    @R.function(private=True)
    def callee(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()

        @R.function
        def inner(z: R.Tensor(("k",), "float32")) -> R.Tensor(("k",), "float32"):
            k = T.int64()
            a = R.call_tir(Module.shift, (z,), out_ty=R.Tensor((k,), "float32"))
            return a

        b = inner(x)
        return b

    @R.function
    def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        y = Module.callee(x)
        return y
"""
COPYING = [(), (relax.transform.LiftTransformParams(),)]


@pytest.mark.vm
@pytest.mark.parametrize("form", ["assert-op", "builtin"])
@pytest.mark.parametrize("copying", COPYING, ids=["lift", "parameters"])
def test_passes_that_copy_a_function_copy_its_check(copying: tuple[Any, ...], form: str) -> None:
    """`LambdaLift` and its like ask for the type of all that they copy: that of `T.if_then_else` nobody knows."""
    head, _, _ = MODULE.partition("    @R.function")
    module = load_module(head + COPIED.lstrip("\n"), "script")
    made = relax_lint.insert_memory_checks(module, form=form)
    assert not relax_lint.check(made).findings
    lifted = tvm.transform.Sequential([relax.transform.LambdaLift(), *copying])(made)
    assert list(calls(lifted, 0)) == [False, True]


HOLDER = """
    @R.function(private=True)
    def part(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        R.func_attr(ATTRIBUTES)

        @R.function
        def inner(z: R.Tensor(("k",), "float32")) -> R.Tensor(("k",), "float32"):
            k = T.int64()
            a = R.call_tir(Module.shift, (z,), out_ty=R.Tensor((k,), "float32"))
            return a

        b = inner(x)
        c = Module.main(b)
        return c
"""


def _fixed_functions(attributes: str) -> set[str | None]:
    """The functions of which nothing is said any more."""
    module = load_module(MODULE + HOLDER.replace("ATTRIBUTES", attributes), "script")
    left = {finding.function for finding in relax_lint.check(relax_lint.fix(module)).findings}
    return {finding.function for finding in relax_lint.check(module).findings} - left


@pytest.mark.parametrize("attribute", ["Primitive", "Composite", "Codegen"])
def test_nor_does_what_is_inside_such_a_function_or_called_by_it(attribute: str) -> None:
    value = "True" if attribute == "Primitive" else '"own"'
    assert _fixed_functions(f'{{"{attribute}": {value}}}') == set()


def test_what_is_inside_another_function_or_called_by_it_gets_one() -> None:
    assert _fixed_functions('{"num_input": 1}') == {"main", "part.inner"}
