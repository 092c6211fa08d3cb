"""Which results TVM may make views of an argument."""

from __future__ import annotations

import pytest
import tvm
from tvm import relax

from relax_lint.judging.report import check_module
from relax_lint.results.verdict import Verdict
from relax_lint.settings.config import Config

PROGRAM = """
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def twice(x: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.sblock("b"):
                v = T.axis.spatial(4, i)
                x[v] = x[v] * T.float32(2)

    @T.prim_func(private=True, s_tir=True)
    def shaped(x: T.Buffer((4,), "float32"), u: T.Buffer((4,), "float32"), y: T.Buffer((2, 2), "float32")):
        for i in range(4):
            with T.sblock("b"):
                v = T.axis.spatial(4, i)
                y[v // 2, v % 2] = x[v]

    @T.prim_func(private=True, s_tir=True)
    def turned(x: T.Buffer((4,), "float32"), u: T.Buffer((4,), "float32"), y: T.Buffer((2, 2), "float32")):
        for i in range(4):
            with T.sblock("b"):
                v = T.axis.spatial(4, i)
                y[v % 2, v // 2] = x[v]

    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")):
        with R.dataflow():
            a = R.negative(x)
            v = VALUE
            d = R.call_tir_inplace(Module.twice, (a,), [0], R.Tensor((4,), "float32"))
            w = R.negative(v)
            R.output(w, d)
        return (w, d)
"""


def verdict(value: str, program: str = PROGRAM) -> Verdict:
    """The worst verdict on the in-place call."""
    module = tvm.script.from_source(program.replace("VALUE", value))
    checks = check_module(module, Config(select=("RLX206",))).checks
    found = [check.verdict for check in checks if check.binding == "d"]
    return next((v for v in found if v is not Verdict.ALWAYS_FINE), Verdict.ALWAYS_FINE)


SHAPED = 'R.call_tir(Module.{}, (a, x), R.Tensor((2, 2), "float32"))'


@pytest.mark.parametrize(
    "value",
    [
        SHAPED.format("shaped"),
        "R.flatten(a)",
        "R.multiply(a, R.const(1.0))",
        "R.add(a, R.const(0.0))",
        'R.astype(a, "float32")',
        "R.broadcast_to(a, R.shape([4]))",
        "R.concat((a,), axis=0)",
        "R.permute_dims(a)",
        "R.nn.leakyrelu(a, 1.0)",
        "R.strided_slice(a, axes=[0], begin=[0], end=[4])",
    ],
)
def test_what_may_become_a_view_may_not_outlive_its_argument(value: str) -> None:
    assert verdict(value) is Verdict.NEEDS_RUNTIME_CHECK


@pytest.mark.parametrize(
    "value",
    [
        SHAPED.format("turned"),
        "R.multiply(a, R.const(3.0))",
        "R.multiply(a, x)",
        'R.astype(a, "float16")',
        "R.broadcast_to(a, R.shape([2, 4]))",
        "R.concat((a, x), axis=0)",
        "R.strided_slice(a, axes=[0], begin=[0], end=[3])",
        "R.sum(a)",
    ],
)
def test_what_a_kernel_computes_is_a_tensor_of_its_own(value: str) -> None:
    assert verdict(value) is Verdict.ALWAYS_FINE


def test_a_constant_that_is_overwritten_on_one_path_only_is_not_always_overwritten() -> None:
    program = PROGRAM.replace(
        "        with R.dataflow():\n            a = R.negative(x)\n            v = VALUE\n",
        '        k = R.const([1.0, 2.0, 3.0, 4.0], "float32")\n'
        "        if c:\n            a = k\n        else:\n            a = R.negative(x)\n"
        "        with R.dataflow():\n            v = VALUE\n",
    )
    assert verdict("R.negative(x)", program) is Verdict.NEEDS_RUNTIME_CHECK
    assert verdict("R.negative(x)", program.replace("a = R.negative(x)", "a = k")) is Verdict.ALWAYS_WRONG


@pytest.mark.parametrize("value", ["R.flatten(a)", SHAPED.format("shaped")])
@pytest.mark.parametrize(
    ("lines", "said"),
    [
        # RewriteDataflowReshape leaves alone what is used outside of the block.
        ("v = VALUE", Verdict.ALWAYS_FINE),
        ("v1 = VALUE\n            v = v1", Verdict.NEEDS_RUNTIME_CHECK),
        ("v1 = VALUE\n            v2 = (v1, a)\n            v = v2[0]", Verdict.NEEDS_RUNTIME_CHECK),
    ],
)
def test_what_leaves_its_dataflow_block_by_its_own_name_is_no_view(
    value: str, lines: str, said: Verdict
) -> None:
    program = PROGRAM.replace("            w = R.negative(v)\n", "").replace(
        "R.output(w, d)", "R.output(v, d)"
    )
    program = program.replace("return (w, d)", "return (v, d)").replace("v = VALUE", lines)
    assert verdict(value, program) is said
    with tvm.target.Target("llvm"):
        module = tvm.script.from_source(program.replace("VALUE", value))
        module = relax.transform.RewriteDataflowReshape()(relax.transform.LegalizeOps()(module))
    assert ("R.reshape(a" in module.script()) is (said is not Verdict.ALWAYS_FINE)
